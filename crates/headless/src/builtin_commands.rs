//! Prompts that are commands for the program, not text for the model.

/// `/clear` and the names it also goes by (section 2.9). What follows the name is a
/// title, which has no use without a terminal.
pub(crate) fn is_clear(prompt: &str) -> bool {
    matches!(prompt.split_whitespace().next(), Some("/clear" | "/reset" | "/new"))
}

/// `/compact`, with instructions for the summary, if there are any.
pub(crate) fn compact_command(prompt: &str) -> Option<Option<&str>> {
    let rest = prompt.trim().strip_prefix("/compact")?;
    let wish = rest.trim();
    match rest.chars().next() {
        None => Some(None),
        Some(c) if c.is_whitespace() => Some(Some(wish).filter(|wish| !wish.is_empty())),
        Some(_) => None,
    }
}

/// The commands above, with descriptions.
pub(crate) const BUILTIN: [(&str, &str); 2] = [
    ("clear", "Start a new session with an empty context"),
    ("compact", "Replace the conversation so far with a summary"),
];

/// Returns the name and the arguments of a prompt that begins like a command. A path, a comment
/// and a lone slash are text for the model.
pub(crate) fn slash_command(prompt: &str) -> Option<(&str, &str)> {
    let line = prompt.trim_start().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let is_name = name.starts_with(char::is_alphanumeric) && name.chars().all(plain);
    is_name.then(|| (name, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::{compact_command, is_clear, slash_command};

    #[test]
    fn a_name_follows_the_slash() {
        for (prompt, expected) in [
            ("/a", Some(("a", ""))),
            (" /git:tidy  x y\nz ", Some(("git:tidy", "x y\nz"))),
            ("/a\nb", Some(("a", "b"))),
            ("/usr/bin/env fails", None),
            ("// a comment", None),
            ("/ text", None),
            ("/", None),
            ("/?", None),
            ("a /b", None),
        ] {
            assert_eq!(slash_command(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn a_wish_may_follow_the_word_compact() {
        assert_eq!(compact_command("/compact"), Some(None));
        assert_eq!(compact_command(" /compact keep the names \n"), Some(Some("keep the names")));
        for prompt in ["/compacted", "compact", "see /compact"] {
            assert_eq!(compact_command(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn only_the_word_itself_clears() {
        for prompt in ["/clear", " /reset\n", "/new the parser"] {
            assert!(is_clear(prompt), "{prompt}");
        }
        for prompt in ["", "/clearly", "clear", "see /clear", "/compact"] {
            assert!(!is_clear(prompt), "{prompt}");
        }
    }
}
