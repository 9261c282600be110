//! Splits a command line into words, with the quotes and backslashes of a shell and
//! nothing else (DEC-152).

/// Returns the words, or `None` if a quote is not closed.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quotes_hold_words_together_and_operators_mean_nothing() {
        let joined = |line| split(line).map(|words| words.join("|"));
        assert_eq!(joined(r#"./a.py  --x 'b c' "d \"e\" $F" g\ h"#).as_deref(), Some(r#"./a.py|--x|b c|d "e" $F|g h"#));
        assert_eq!(joined("a && b; c").as_deref(), Some("a|&&|b;|c"));
        assert_eq!(joined("a ''").as_deref(), Some("a|"));
        assert_eq!(joined("a 'b"), None);
        assert_eq!(joined("  ").as_deref(), Some(""));
    }
}
