//! Splits command lines into words: quotes and backslashes as in a POSIX shell, and nothing
//! else of a shell.
//!
//! Expansions, here-documents and keywords are not understood, and `#` does not start a
//! comment, because `#12` is a fine argument of a skill. Deciding about a script takes the
//! reading of `permissions`; this is for arguments and for finding the program of a hook.

/// Splits at white space. Returns `None` if a quote is not closed or a backslash ends the text.
pub fn split(line: &str) -> Option<Vec<String>> {
    let (words, complete) = scan(line, char::is_whitespace, |_| false);
    complete.then(|| words.into_iter().flatten().collect())
}

/// Splits at white space. A quote that is not closed ends with the text.
pub fn split_lossy(text: &str) -> Vec<String> {
    scan(text, char::is_whitespace, |_| false).0.into_iter().flatten().collect()
}

/// Returns the simple commands of a script, each as its words. Redirections stay words.
pub fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let is_operator = |c| matches!(c, ';' | '&' | '|' | '\n' | '(' | ')');
    let mut commands = scan(script, is_blank, is_operator).0;
    commands.retain(|words| !words.is_empty());
    commands
}

/// Returns the words of a script up to the first operator or redirection.
pub fn first_command(script: &str) -> Vec<String> {
    let is_operator = |c| matches!(c, ';' | '&' | '|' | '<' | '>' | '\n' | ')');
    scan(script.trim_start(), is_blank, is_operator).0.swap_remove(0)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Returns the words between operators, at least one list, and whether all quotes were closed.
fn scan(text: &str, blank: fn(char) -> bool, operator: fn(char) -> bool) -> (Vec<Vec<String>>, bool) {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut complete = true;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => complete &= single_quoted(&mut chars, word.get_or_insert_default()),
            '"' => complete &= double_quoted(&mut chars, word.get_or_insert_default()),
            '\\' => match chars.next() {
                // The line goes on.
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => complete = false,
            },
            c if operator(c) => {
                finish(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            c if blank(c) => finish(&mut commands, &mut word),
            c => word.get_or_insert_default().push(c),
        }
    }
    finish(&mut commands, &mut word);
    (commands, complete)
}

fn single_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> bool {
    for c in chars {
        match c {
            '\'' => return true,
            c => word.push(c),
        }
    }
    false
}

fn double_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> bool {
    while let Some(c) = chars.next() {
        match c {
            '"' => return true,
            '\\' => match chars.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some('\n') => {}
                Some(c) => word.extend(['\\', c]),
                None => return false,
            },
            c => word.push(c),
        }
    }
    false
}

fn finish(commands: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(words), Some(word)) = (commands.last_mut(), word.take()) {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together_and_operators_mean_nothing() {
        let joined = |line| split(line).map(|words| words.join("|"));
        assert_eq!(joined(r#"./a.py  --x 'b c' "d \"e\" $F" g\ h"#).as_deref(), Some(r#"./a.py|--x|b c|d "e" $F|g h"#));
        assert_eq!(joined("a && b; c").as_deref(), Some("a|&&|b;|c"));
        assert_eq!(joined("a ''").as_deref(), Some("a|"));
        assert_eq!(joined("fix #12\n'it\\s'").as_deref(), Some("fix|#12|it\\s"));
        assert_eq!(joined("  ").as_deref(), Some(""));
        for open in ["a 'b", "a \"b", "a \\", "\"a\\"] {
            assert_eq!(joined(open), None, "{open}");
        }
    }

    #[test]
    fn an_open_quote_ends_with_the_text() {
        assert_eq!(split_lossy("a 'b c"), ["a", "b c"]);
        assert_eq!(split_lossy("it's"), ["its"]);
        assert_eq!(split_lossy("a \"b\\"), ["a", "b"]);
    }

    #[test]
    fn commands_lose_their_operators() {
        let split = |script| simple_commands(script).iter().map(|words| words.join("|")).collect::<Vec<_>>();
        assert_eq!(split(r#""$CLAUDE_PROJECT_DIR"/.claude/a\ b.sh 'c d'"#), ["$CLAUDE_PROJECT_DIR/.claude/a b.sh|c d"]);
        assert_eq!(split("cd x && ./run.sh; python3 y.py | tee"), ["cd|x", "./run.sh", "python3|y.py", "tee"]);
        assert_eq!(split("a \\\n  b"), ["a|b"]);
        assert_eq!(split("'unclosed"), ["unclosed"]);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn the_first_command_ends_at_operators_and_redirections() {
        for (script, words) in [
            (" a b; c", "a|b"),
            ("a>out", "a"),
            ("a 'b>c' | d", "a|b>c"),
            ("\na\nb", "a"),
            ("; a", ""),
            ("(cd x)", "(cd|x"),
            ("\"a\\\"b\" c", "a\"b|c"),
        ] {
            assert_eq!(first_command(script).join("|"), words, "{script:?}");
        }
    }
}
