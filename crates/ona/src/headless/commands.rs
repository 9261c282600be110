//! Prompts that are commands for the program, not words for the model.

/// `/clear` and the names it also goes by (section 2.9). What follows the name is a wish
/// for a title, which a session without a terminal has nobody to show to.
pub fn clears(prompt: &str) -> bool {
    matches!(prompt.split_whitespace().next(), Some("/clear" | "/reset" | "/new"))
}

#[cfg(test)]
mod tests {
    use super::clears;

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
