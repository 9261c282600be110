//! Tells a command from a prompt.

/// Returns the name and the arguments of a prompt that begins like a command. A path, a comment
/// and a lone slash are text for the model.
pub fn slash_command(prompt: &str) -> Option<(&str, &str)> {
    let line = prompt.trim_start().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let is_name = name.starts_with(char::is_alphanumeric) && name.chars().all(plain);
    is_name.then(|| (name, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::slash_command;

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
}
