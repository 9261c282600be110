//! Removes quotes as bash does.

/// Without the backslashes. Inside double quotes only some characters can be escaped.
pub(super) fn unescape(raw: &str, double: bool) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.next() {
            Some('\n') => {}
            Some(next) if double && !matches!(next, '$' | '`' | '"' | '\\') => text.extend(['\\', next]),
            Some(next) => text.push(next),
            None => text.push('\\'),
        }
    }
    text
}

/// Returns the text of `$'…'`.
pub(super) fn ansi(raw: &str) -> String {
    let inside = raw.trim().trim_start_matches("$'");
    let inside = inside.strip_suffix('\'').unwrap_or(inside);
    let mut text = String::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match rest.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('e' | 'E') => '\u{1b}',
            Some('f') => '\u{c}',
            Some('v') => '\u{b}',
            Some('x') => escape(&mut rest, 16, 2, None),
            Some('u') => escape(&mut rest, 16, 4, None),
            Some('U') => escape(&mut rest, 16, 8, None),
            Some(digit @ '0'..='7') => escape(&mut rest, 8, 3, Some(digit)),
            Some(other) => other,
            None => '\\',
        });
    }
    text
}

fn escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, first: Option<char>) -> char {
    let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
    let mut left = most - usize::from(first.is_some());
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)).filter(|_| left > 0) {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        left -= 1;
        rest.next();
    }
    char::from_u32(value).unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_as_bash_reads_them() {
        assert_eq!(unescape(r"a\ b\$\\", false), r"a b$\");
        assert_eq!(unescape(r#"a\ b\$\"\n"#, true), r#"a\ b$"\n"#);
        assert_eq!(ansi(r"$'a\n\x41\101\u00e4\'b'"), "a\nAAä'b");
    }
}
