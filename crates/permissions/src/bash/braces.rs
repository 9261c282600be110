//! Brace lists: `{a,b}` makes several words of one.

use super::nesting::skip;
use super::words::HOLE;

/// Longer words stay as they are, with a hole where a list stands.
pub(super) const LONGEST: usize = 500;

/// Takes unquoted lists `{a,b}` apart. A word without one is its only alternative.
pub(super) fn braces(raw: &str) -> Vec<String> {
    const MOST: usize = 64;
    if raw.len() > LONGEST || !raw.contains('{') {
        return vec![raw.to_owned()];
    }
    let mut open = vec![raw.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = open.pop() {
        match first_list(&word) {
            Some((start, end, items)) if done.len() + open.len() + items.len() <= MOST => {
                open.extend(items.iter().rev().map(|item| format!("{}{item}{}", &word[..start], &word[end..])));
            }
            // Too many to list them: what is left of this one cannot be told.
            Some((start, end, _)) => done.push(format!("{}{HOLE}{}", &word[..start], &word[end..])),
            None => done.push(word),
        }
    }
    done
}

/// Returns the first `{a,b}`: where it starts, where it ends, and its items.
fn first_list(word: &str) -> Option<(usize, usize, Vec<String>)> {
    let bytes = word.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                if let Some((end, items)) = list_at(word, at) {
                    return Some((at, end, items));
                }
                at += 1;
            }
            _ => at = skip(word, at),
        }
    }
    None
}

fn list_at(word: &str, open: usize) -> Option<(usize, Vec<String>)> {
    let bytes = word.as_bytes();
    let (mut at, mut from, mut depth) = (open + 1, open + 1, 0);
    let mut items = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'{' => {
                depth += 1;
                at += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b'}' => {
                items.push(word[from..at].to_owned());
                return (items.len() > 1).then_some((at + 1, items));
            }
            b',' if depth == 0 => {
                items.push(word[from..at].to_owned());
                at += 1;
                from = at;
            }
            _ => at = skip(word, at),
        }
    }
    None
}
