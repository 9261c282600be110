//! Why a hook probably failed, in a sentence for people. Pure.

use crate::hook::{Hook, HookAction};
use crate::runner::{Exit, HookExecution};
use std::path::Path;

/// The likely cause of a failure, where there is one that people run into.
pub(crate) fn probable(hook: &Hook, ran: &HookExecution, cwd: &Path) -> Option<String> {
    let command = text(&hook.action);
    if ran.stderr.contains("transcript_path") || is_launch(ran) && command.contains("transcript_path") {
        return Some("hooks that read a transcript need the setting claudeCompat.transcriptPath".to_owned());
    }
    if !is_launch(ran) {
        return None;
    }
    if !cwd.is_dir() {
        return Some(format!("the session's directory {} is gone", cwd.display()));
    }
    if let Some(path) = relative(&command) {
        let below = path.trim_start_matches("./");
        return Some(format!(
            "{path} is looked for in the session's directory, now {}; write \"$CLAUDE_PROJECT_DIR\"/{below}",
            cwd.display()
        ));
    }
    match ran.exit {
        Exit::Code(126) => Some("the file is not executable (chmod +x), or is not a program".to_owned()),
        Exit::Code(127) => Some("a program it starts was not found on the hook's search path".to_owned()),
        _ => None,
    }
}

/// Whether something could not be started: the hook, or what it starts.
fn is_launch(ran: &HookExecution) -> bool {
    matches!(ran.exit, Exit::Code(126 | 127) | Exit::NotStarted(_))
}

fn text(action: &HookAction) -> String {
    match action {
        HookAction::Shell { command, .. } => command.clone(),
        HookAction::Exec { program, args } => {
            std::iter::once(program).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        HookAction::Handler(handler) => match handler.action() {
            Some(action) => text(action),
            None => handler.label().rsplit(':').next().unwrap_or_default().to_owned(),
        },
    }
}

/// The first of the leading words that names a file by a relative path.
fn relative(command: &str) -> Option<&str> {
    // What follows an operator runs elsewhere as soon as the first command is a `cd`.
    let first = command.split([';', '&', '|', '<', '>', '\n']).next()?;
    let words = first.split_whitespace().take(2).map(|word| word.trim_matches(['"', '\'']));
    words.into_iter().find(|word| word.contains('/') && !word.starts_with(['/', '~', '$']) && !word.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn a_relative_path_is_one_of_the_first_two_words() {
        for (command, path) in [
            ("./guard.sh", Some("./guard.sh")),
            ("python3 hooks/guard.py --strict", Some("hooks/guard.py")),
            ("\"$CLAUDE_PROJECT_DIR\"/hooks/guard", None),
            ("/usr/bin/guard a/b", Some("a/b")),
            ("guard", None),
            ("cd x && ./guard.sh", None),
            ("~/guard.sh", None),
        ] {
            assert_eq!(relative(command), path, "{command}");
        }
    }
}
