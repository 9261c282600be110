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

#[cfg(test)]
mod tests {
    use super::{clears, compacts};

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
