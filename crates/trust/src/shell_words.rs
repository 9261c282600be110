//! The words of a command line, well enough to find the scripts it starts.
//!
//! Not a shell parser: it protects files, it does not approve anything. Text it
//! does not understand yields words that name no file.

/// Returns the simple commands of a script, each as its words with quotes removed.
pub(crate) fn commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    match (c, chars.peek()) {
                        ('\\', Some('"' | '\\' | '$' | '`')) => word.extend(chars.next()),
                        _ => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next().filter(|c| *c != '\n')),
            ' ' | '\t' => finish(&mut commands, &mut word),
            ';' | '&' | '|' | '\n' | '(' | ')' => {
                finish(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    finish(&mut commands, &mut word);
    commands.retain(|words| !words.is_empty());
    commands
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
    fn words_lose_their_quotes_and_commands_their_operators() {
        let split = |script| commands(script).iter().map(|words| words.join("|")).collect::<Vec<_>>();
        assert_eq!(split(r#""$CLAUDE_PROJECT_DIR"/.claude/a\ b.sh 'c d'"#), ["$CLAUDE_PROJECT_DIR/.claude/a b.sh|c d"]);
        assert_eq!(split("cd x && ./run.sh; python3 y.py | tee"), ["cd|x", "./run.sh", "python3|y.py", "tee"]);
        assert_eq!(split("'unclosed"), ["unclosed"]);
        assert_eq!(split(""), [""; 0]);
    }
}
