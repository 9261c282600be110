//! The known word that was probably meant by an unknown one.

/// Returns the nearest of the candidates, if one is near enough to be what was meant: at most
/// two edits and less than half of the word away, letter case and `_`, `-` not counted.
/// Of equally near ones the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let limit = 2.min(word.len().saturating_sub(1) / 2);
    let measured = candidates.into_iter().map(|one| (edits(&word, &plain(one)), one));
    let mut best: Option<(usize, &str)> = None;
    for (distance, one) in measured.filter(|(distance, _)| *distance <= limit) {
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, one));
        }
    }
    best.map(|(_, one)| one)
}

fn plain(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Insertions, removals, replacements and swapped neighbours that turn one into the other.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut next = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = row[j] + usize::from(a != b);
            next[j + 1] = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                next[j + 1] = next[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let words = ["Bash", "Read", "Write", "WebFetch", "WebSearch"];
        for (written, meant) in [
            ("Bahs", Some("Bash")),
            ("bash", Some("Bash")),
            ("Web_Fetch", Some("WebFetch")),
            ("WebFetsch", Some("WebFetch")),
            ("Wriet", Some("Write")),
            ("Deploy", None),
            ("", None),
            ("B", None),
        ] {
            assert_eq!(nearest(written, words), meant, "{written}");
        }
    }
}
