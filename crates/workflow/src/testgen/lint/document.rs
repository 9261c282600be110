//! The expansions in a here-document: data, but for `$NAME`, `${…}`, `$(…)` and backticks.

use super::parse::read_within;
use super::syntax::{Expansion, StatementKind, Unreadable, WordPart};

/// Returns the parts of a body whose first line has the number `line`.
pub(super) fn parts(body: &str, line: u32, level: u8) -> Result<Vec<WordPart>, Unreadable> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    let mut here = line;
    while let Some(c) = body[at..].chars().next() {
        let next = body.as_bytes().get(at + 1).copied().unwrap_or(0);
        let expands = c == '`' || (c == '$' && (matches!(next, b'{' | b'(' | b'_') || next.is_ascii_alphanumeric()));
        if c == '\\' && matches!(next, b'$' | b'`' | b'\\') {
            text.push(next as char);
            at += 2;
        } else if expands || (c == '$' && matches!(next, b'?' | b'@' | b'*' | b'#' | b'!' | b'$')) {
            parts.push(WordPart::Text { text: std::mem::take(&mut text), quoted: true });
            let length = length(&body[at..]).ok_or(Unreadable { line: here, why: "A bracket is never closed" })?;
            let word = &body[at..at + length];
            // The grammar reads it best where it knows it: as a word in double quotes.
            match read_within(&format!(": \"{word}\"\n"), here, level)?
                .into_iter()
                .next()
                .map(|statement| statement.kind)
            {
                Some(StatementKind::Command(command)) => {
                    parts.extend(command.words.into_iter().skip(1).flat_map(|word| word.parts));
                }
                _ => parts.push(WordPart::Variable { name: "?".into(), how: Expansion::Plain, quoted: true }),
            }
            here += word.matches('\n').count() as u32;
            at += length;
        } else {
            text.push(c);
            here += u32::from(c == '\n');
            at += c.len_utf8();
        }
    }
    parts.push(WordPart::Text { text, quoted: true });
    Ok(parts)
}

/// Returns how long the expansion is that the text starts with.
fn length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (open, shut) = match (bytes[0], bytes.get(1)?) {
        (b'`', _) => return Some(2 + text[1..].find('`')?),
        (_, b'{') => (b'{', b'}'),
        (_, b'(') => (b'(', b')'),
        (_, first) if first.is_ascii_alphabetic() || *first == b'_' => {
            return Some(1 + bytes[1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count());
        }
        _ => return Some(2),
    };
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == shut {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}
