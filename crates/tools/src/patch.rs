//! The difference of two texts as hunks of lines, the form hooks and front ends
//! read (`structuredPatch`).
//!
//! Equal ends are cut off, then the middle is compared by Myers' greedy
//! algorithm. If the texts differ in more places than are worth finding, the
//! whole middle counts as replaced.

use serde_json::{Value, json};
use std::ops::Range;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Lines removed plus added up to which the smallest difference is looked for.
const MAX_EDITS: usize = 1000;
/// Bytes of both texts together up to which they are compared at all.
const MAX_BYTES: usize = 1024 * 1024;
/// Bytes up to which a whole file is put into a tool's data.
pub(crate) const MAX_ORIGINAL: usize = 256 * 1024;

const NO_NEWLINE: &str = "\\ No newline at end of file";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// `[{oldStart, oldLines, newStart, newLines, lines}]`; empty if there is too much to compare.
pub(crate) fn hunks(old: &str, new: &str) -> Value {
    if old.len() + new.len() > MAX_BYTES {
        return json!([]);
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = changes(&old, &new);
    changes
        .chunk_by(|a, b| b.old.start - a.old.end <= 2 * CONTEXT)
        .map(|near| hunk(near, &old, &new))
        .collect::<Vec<_>>()
        .into()
}

/// Returns how many lines a change adds and removes. Texts too long to compare count as replaced.
pub fn changed_lines(old: &str, new: &str) -> (u64, u64) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let whole = Change { old: 0..old.len(), new: 0..new.len() };
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let changes = if bytes(&old) + bytes(&new) > MAX_BYTES { vec![whole] } else { changes(&old, &new) };
    changes
        .iter()
        .fold((0, 0), |(added, removed), change| (added + change.new.len() as u64, removed + change.old.len() as u64))
}

/// Returns a text for a tool's data, or null if it is too long.
pub(crate) fn bounded(text: &str) -> Value {
    if text.len() <= MAX_ORIGINAL { text.into() } else { Value::Null }
}

fn hunk(near: &[Change], old: &[&str], new: &[&str]) -> Value {
    let (first, last) = (&near[0], &near[near.len() - 1]);
    let lead = first.old.start.min(CONTEXT);
    let trail = (old.len() - last.old.end).min(CONTEXT);
    let mut lines = Vec::new();
    let mut push = |sign: char, line: &str| {
        lines.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
        if !line.ends_with('\n') {
            lines.push(NO_NEWLINE.into());
        }
    };
    let mut at = first.old.start - lead;
    for change in near {
        old[at..change.old.start].iter().for_each(|line| push(' ', line));
        old[change.old.clone()].iter().for_each(|line| push('-', line));
        new[change.new.clone()].iter().for_each(|line| push('+', line));
        at = change.old.end;
    }
    old[at..at + trail].iter().for_each(|line| push(' ', line));

    let old_lines = last.old.end + trail - (first.old.start - lead);
    let new_lines = last.new.end + trail - (first.new.start - lead);
    // As in unified diffs, an empty side is named by the line before it.
    json!({
        "oldStart": first.old.start - lead + usize::from(old_lines > 0),
        "oldLines": old_lines,
        "newStart": first.new.start - lead + usize::from(new_lines > 0),
        "newLines": new_lines,
        "lines": lines,
    })
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..], &new[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    let whole = || vec![Change { old: 0..a.len(), new: 0..b.len() }];
    let mut found = myers(a, b).unwrap_or_else(whole);
    for change in &mut found {
        change.old = change.old.start + head..change.old.end + head;
        change.new = change.new.start + head..change.new.end + head;
    }
    found
}

/// Myers 1986, forward: `furthest[k]` is how far into `a` one gets on diagonal
/// `k` (`x - y`) with `d` edits. The rounds are kept to walk back from the end.
fn myers(a: &[&str], b: &[&str]) -> Option<Vec<Change>> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let mut rounds: Vec<Vec<isize>> = Vec::new();
    // Round d holds diagonals -d..=d; outside, nothing has been reached.
    let get = |round: &[isize], k: isize| {
        let d = (round.len() / 2) as isize;
        if k.abs() <= d { round[(k + d) as usize] } else { -1 }
    };
    // The x from which round d continues on diagonal k, before equal lines.
    let start = |previous: &[isize], k: isize| (get(previous, k - 1) + 1).max(get(previous, k + 1));
    for d in 0..=(MAX_EDITS as isize) {
        let mut round = vec![-1; (2 * d + 1) as usize];
        for k in (-d..=d).step_by(2) {
            let mut x = if d == 0 { 0 } else { start(&rounds[d as usize - 1], k) };
            while x < n && x - k < m && x - k >= 0 && a[x as usize] == b[(x - k) as usize] {
                x += 1;
            }
            round[(k + d) as usize] = x;
            if x >= n && x - k >= m {
                return Some(walk_back(&rounds, (n, m), start));
            }
        }
        rounds.push(round);
    }
    None
}

fn walk_back(
    rounds: &[Vec<isize>],
    (mut x, mut y): (isize, isize),
    start: impl Fn(&[isize], isize) -> isize,
) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for previous in rounds.iter().rev() {
        let k = x - y;
        let after = start(previous, k);
        let d = (previous.len() / 2) as isize;
        let reached = |k: isize| if k.abs() <= d { previous[(k + d) as usize] } else { -1 };
        let removed = reached(k - 1) + 1 == after && reached(k - 1) >= 0;
        let before = if removed { (after - 1, after - 1 - (k - 1)) } else { (after, after - (k + 1)) };
        let old = before.0 as usize..after as usize;
        let new = before.1 as usize..(after - k) as usize;
        match changes.last_mut() {
            Some(next) if next.old.start == old.end && next.new.start == new.end => {
                next.old.start = old.start;
                next.new.start = new.start;
            }
            _ => changes.push(Change { old, new }),
        }
        (x, y) = before;
    }
    changes.reverse();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hunk_shows_three_lines_around_a_change() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        assert_eq!(
            hunks(old, new),
            json!([{
                "oldStart": 2, "oldLines": 8, "newStart": 2, "newLines": 8,
                "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8", "-9", "+9", NO_NEWLINE],
            }])
        );
        assert_eq!(hunks("a\n", "a\n"), json!([]));
        assert_eq!(
            hunks("", "a\n"),
            json!([{"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+a"]}])
        );
    }

    proptest! {
        #[test]
        fn applying_the_changes_to_the_old_lines_gives_the_new_ones(
            old in prop::collection::vec("[abc]", 0..30), new in prop::collection::vec("[abc]", 0..30),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let mut built: Vec<&str> = Vec::new();
            let mut at = 0;
            for change in changes(&old, &new) {
                prop_assert!(change.old.start >= at);
                built.extend(&old[at..change.old.start]);
                prop_assert_eq!(built.len(), change.new.start);
                built.extend(&new[change.new.clone()]);
                at = change.old.end;
            }
            built.extend(&old[at..]);
            prop_assert_eq!(built, new);
        }
    }
}
