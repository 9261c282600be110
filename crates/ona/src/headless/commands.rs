//! Prompts that are commands for the program, not words for the model.

/// `/clear` and the names it also goes by (section 2.9). What follows the name is a wish
/// for a title, which a session without a terminal has nobody to show to.
pub fn clears(prompt: &str) -> bool {
    matches!(prompt.split_whitespace().next(), Some("/clear" | "/reset" | "/new"))
}

/// `/compact`, with what the summary is to keep in particular, if anything is said.
pub fn compacts(prompt: &str) -> Option<Option<&str>> {
    let rest = prompt.trim().strip_prefix("/compact")?;
    let wish = rest.trim();
    match rest.chars().next() {
        None => Some(None),
        Some(c) if c.is_whitespace() => Some(Some(wish).filter(|wish| !wish.is_empty())),
        Some(_) => None,
    }
}

/// The names of the commands above, for whoever lists what can be typed.
pub const BUILTIN: [(&str, &str); 2] = [
    ("clear", "Begin again with an empty context; the session stays on record"),
    ("compact", "Put a summary in the place of the conversation so far"),
];

/// A prompt that begins like a command: its name and what follows. A path, a comment and a
/// lone slash are words for the model.
pub fn typed(prompt: &str) -> Option<(&str, &str)> {
    let line = prompt.trim_start().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let is_name = name.starts_with(char::is_alphanumeric) && name.chars().all(plain);
    is_name.then(|| (name, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::{clears, compacts, typed};

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
            assert_eq!(typed(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn a_wish_may_follow_the_word_compact() {
        assert_eq!(compacts("/compact"), Some(None));
        assert_eq!(compacts(" /compact keep the names \n"), Some(Some("keep the names")));
        for prompt in ["/compacted", "compact", "see /compact"] {
            assert_eq!(compacts(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn only_the_word_itself_clears() {
        for prompt in ["/clear", " /reset\n", "/new the parser"] {
            assert!(clears(prompt), "{prompt}");
        }
        for prompt in ["", "/clearly", "clear", "see /clear", "/compact"] {
            assert!(!clears(prompt), "{prompt}");
        }
    }
}
