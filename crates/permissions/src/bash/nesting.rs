//! Finds where quotes, substitutions and braces end.
//!
//! Tolerant: what never closes ends with the text. A wrong guess makes two
//! readings of a script differ, and then nothing is allowed (see `syntax`).

/// Returns the closing `)` of a substitution whose inside starts at `at`.
pub(super) fn close_paren(text: &str, at: usize) -> usize {
    close(text, at, b'(', b')', 0)
}

/// Returns the closing `}` of `${…}`.
pub(super) fn close_brace(text: &str, at: usize) -> usize {
    close(text, at, b'{', b'}', 0)
}

/// Deeper than anyone writes; keeps hostile text from exhausting the stack.
const DEPTH: u8 = 40;

fn close(text: &str, mut at: usize, open: u8, shut: u8, level: u8) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at] == shut {
            if depth == 0 {
                return at;
            }
            depth -= 1;
        } else if bytes[at] == open {
            depth += 1;
        }
        at = skip_at(text, at, level);
    }
    text.len()
}

pub(super) fn close_backtick(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != b'`' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// Returns the next place to look at, behind an escape or a quoted stretch if one starts here.
pub(super) fn skip(text: &str, at: usize) -> usize {
    skip_at(text, at, 0)
}

fn skip_at(text: &str, at: usize, level: u8) -> usize {
    if level > DEPTH {
        return text.len();
    }
    let bytes = text.as_bytes();
    let next = match bytes[at] {
        b'\\' => at + 2,
        b'\'' => text[at + 1..].find('\'').map_or(text.len(), |end| at + 1 + end + 1),
        b'"' => close_double(text, at + 1, level + 1) + 1,
        b'`' => close_backtick(text, at + 1) + 1,
        b'$' => match bytes.get(at + 1) {
            Some(b'(') => close(text, at + 2, b'(', b')', level + 1) + 1,
            Some(b'{') => close(text, at + 2, b'{', b'}', level + 1) + 1,
            Some(b'\'') => close_ansi(text, at + 2) + 1,
            _ => at + 1,
        },
        _ => at + 1,
    };
    boundary(text, next)
}

fn close_double(text: &str, mut at: usize, level: u8) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() {
        at = match bytes[at] {
            b'"' => return at,
            b'\'' => at + 1,
            b'$' if bytes.get(at + 1) == Some(&b'\'') => at + 1,
            _ => skip_at(text, at, level),
        };
    }
    text.len()
}

fn close_ansi(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != b'\'' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

/// Never inside a character.
fn boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitution_ends_at_its_own_parenthesis() {
        assert_eq!(close_paren("$(a ')' \")\" $(b) \\) )x", 2), 20);
        assert_eq!(close_paren("$(a", 2), 3);
        assert_eq!(close_brace("${a:-${b}}x", 2), 9);
        assert_eq!(close_backtick("`a\\`b`", 1), 5);
    }
}
