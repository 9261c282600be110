//! `@path` in a prompt: which files and folders a person points at.
//!
//! A word is a mention only if something of that name exists, so that mail addresses,
//! decorators and diff headers stay what they are. Reading what is meant, and whether it
//! may be read, is decided in `said`.

use ona_tools::{Cx, absolute};
use std::collections::HashSet;
use std::path::PathBuf;

/// More are left out, and said so.
pub(crate) const MOST: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// As it is written, without the sign.
    pub word: String,
    pub path: PathBuf,
    pub is_folder: bool,
    /// `#L3` or `#L3-9`: the first line and how many.
    pub lines: Option<(u64, u64)>,
}

/// The files and folders a prompt names, each once, in order.
pub(crate) fn mentions(prompt: &str, cx: &Cx) -> Vec<Mention> {
    let mut seen = HashSet::new();
    words(prompt)
        .filter_map(|word| existing(word, cx))
        .filter(|mention| seen.insert((mention.path.clone(), mention.lines)))
        .collect()
}

/// What stands behind an `@` that begins a word: up to the next space, or between quotes.
fn words(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.match_indices('@').filter_map(|(at, _)| {
        let begins =
            prompt[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || "([{\"'`".contains(before));
        let rest = &prompt[at + 1..];
        let word = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?.0,
            None => rest.split(char::is_whitespace).next()?,
        };
        (begins && !word.is_empty()).then_some(word)
    })
}

/// The longest beginning of the word that exists: a mention may end a sentence.
fn existing(word: &str, cx: &Cx) -> Option<Mention> {
    let mut rest = word;
    loop {
        if let Some(mention) = found(rest, None, cx) {
            return Some(mention);
        }
        if let Some((name, lines)) = rest.rsplit_once("#L")
            && let Some(lines) = range(lines)
            && let Some(mention) = found(name, Some(lines), cx)
        {
            return Some(mention);
        }
        let shorter = rest.strip_suffix(|end: char| ".,;:!?)]}>\"'`".contains(end))?;
        rest = (!shorter.is_empty()).then_some(shorter)?;
    }
}

fn found(word: &str, lines: Option<(u64, u64)>, cx: &Cx) -> Option<Mention> {
    // `@.` and `@..` in prose are no wish to see a whole folder.
    if word.bytes().all(|byte| byte == b'.') {
        return None;
    }
    let path = absolute(word, cx);
    let meta = std::fs::metadata(&path).ok()?;
    Some(Mention { word: word.to_owned(), path, is_folder: meta.is_dir(), lines })
}

/// `3` or `3-9` or `3-L9`.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.trim_start_matches('L').parse().ok()?);
    (first > 0 && first <= last).then(|| (first, last - first + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_at_sign_counts_where_a_word_begins() {
        let prompt = "@a.txt see (@b/c.png), me@here.org \"@d\" @\"with space.md\" @@ -1,2 @ @";
        assert_eq!(words(prompt).collect::<Vec<_>>(), ["a.txt", "b/c.png),", "d\"", "with space.md", "@"]);
    }

    #[test]
    fn lines_are_counted_from_one() {
        for (text, lines) in [
            ("3", Some((3, 1))),
            ("3-9", Some((3, 7))),
            ("3-L9", Some((3, 7))),
            ("0", None),
            ("9-3", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(range(text), lines, "{text}");
        }
    }
}
