//! How well letters fit a path when they only have to occur in order.
//!
//! What people type is mostly the beginning of a file's name, or the beginnings of the parts of its path.
//! Those count most, runs of letters next, and of two equal paths the shorter one.

/// Returns how well `wanted` fits, and `None` if it does not. Both are lower case; `wanted` is not empty, and `name` is
/// where the last part of the path begins.
pub(super) fn score(path: &[u8], name: usize, wanted: &[u8]) -> Option<i32> {
    if let Some(score) = score_from(path, name, wanted) {
        return Some(score + 60);
    }
    score_from(path, 0, wanted)
}

fn score_from(path: &[u8], from: usize, wanted: &[u8]) -> Option<i32> {
    // Forward to where the last letter is found first, then back, which yields a short span.
    let mut end = from;
    for letter in wanted {
        end += path.get(end..)?.iter().position(|other| other == letter)? + 1;
    }
    let mut score = 0;
    let mut at = end;
    let mut run_end = usize::MAX;
    for letter in wanted.iter().rev() {
        at = path[..at].iter().rposition(|other| other == letter)?;
        if at + 1 == run_end {
            score += 12;
        }
        if begins_part(path, at) {
            score += 10;
        }
        run_end = at;
    }
    let span = i32::try_from(end - at).unwrap_or(i32::MAX / 2);
    let length = i32::try_from(path.len()).unwrap_or(i32::MAX / 2);
    let whole = i32::from(at == from && from > 0 || at == 0) * 20;
    Some(score + whole - span.min(100) - length.min(200) / 4)
}

fn begins_part(path: &[u8], at: usize) -> bool {
    at == 0 || matches!(path[at - 1], b'/' | b'_' | b'-' | b'.' | b' ')
}

/// Returns where the letters are, for showing them.
pub(super) fn positions(path: &str, name: usize, wanted: &str) -> Vec<usize> {
    let lower = path.to_ascii_lowercase();
    let find = |from: usize| {
        let mut end = from;
        for letter in wanted.bytes() {
            end += lower.as_bytes().get(end..)?.iter().position(|other| *other == letter)? + 1;
        }
        let mut at = end;
        let mut found = Vec::with_capacity(wanted.len());
        for letter in wanted.bytes().rev() {
            at = lower.as_bytes()[..at].iter().rposition(|other| *other == letter)?;
            found.push(at);
        }
        found.reverse();
        Some(found)
    };
    find(name).or_else(|| find(0)).unwrap_or_default()
}

/// One bit per letter and digit that occurs; other bytes share one bit.
pub(super) fn mask(text: &[u8]) -> u64 {
    text.iter().fold(0, |mask, byte| {
        mask | match byte {
            b'a'..=b'z' => 1 << (byte - b'a'),
            b'0'..=b'9' => 1 << (26 + byte - b'0'),
            b'/' => 1 << 36,
            b'_' => 1 << 37,
            b'-' => 1 << 38,
            b'.' => 1 << 39,
            _ => 1 << 40,
        }
    })
}
