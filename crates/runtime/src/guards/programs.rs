//! Whether what a hook starts is there, as far as that is plain from its text.
//!
//! A hook runs in the session's directory, so a relative path is looked for where the
//! session starts, and is lost when the agent changes directory.

use crate::launch::Launch;
use crate::runtime::Runtime;
use ona_api::path::lexical;
use ona_api::shell_words;
use ona_api::{Env, environment};
use ona_hookplane::{Hook, HookAction, HookShell};
use ona_mcp::Servers;
use ona_process::find_in_path;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where hooks run.
pub struct ProgramContext<'a> {
    pub project: PathBuf,
    /// Where the session starts.
    pub start: PathBuf,
    pub home: PathBuf,
    pub env: &'a Env,
    pub servers: &'a Servers,
}

impl<'a> ProgramContext<'a> {
    pub fn of(launch: &Launch, runtime: &'a Runtime) -> Self {
        Self {
            project: runtime.project().to_owned(),
            start: runtime.start().to_owned(),
            home: launch.env.home(),
            env: &runtime.host,
            servers: &runtime.mcp.servers,
        }
    }
}

type Wrong = (&'static str, String);

/// Why the action cannot start, or will not once the agent has changed directory.
pub(super) fn unstartable(hook: &Hook, action: &HookAction, context: &ProgramContext<'_>) -> Option<Wrong> {
    let words = match action {
        HookAction::Exec { program, args } => std::iter::once(program).chain(args).cloned().collect(),
        HookAction::Shell { shell: HookShell::Bash | HookShell::Sh | HookShell::LoginSh, command } => words(command),
        HookAction::Shell { shell: HookShell::PowerShell, .. } => {
            let path = context.env.get(environment::PATH).unwrap_or_default();
            let there = ["pwsh", "powershell"].iter().any(|name| find_in_path(path, name).is_some());
            return (!there).then(|| ("missing-program", "pwsh or powershell is not on the search path".to_owned()));
        }
        HookAction::Handler(handler) => {
            if let Some(action) = handler.action() {
                return unstartable(hook, action, context);
            }
            let missing = |cwd: &Path| handler.missing(cwd, context.env);
            if let Some(why) = missing(&context.start) {
                return Some(("missing-file", why));
            }
            // Found, but only because the session is where it is.
            return missing(Path::new("/")).map(|_| {
                let start = context.start.display();
                ("relative-command", format!("it is found only while the session is in {start}; use an absolute path"))
            });
        }
    };
    let program = filled(words.first()?, hook, context)?;
    // What a profile adds to the search path is not known here.
    let in_profile = matches!(action, HookAction::Shell { shell: HookShell::LoginSh, .. }) && !program.contains('/');
    let missing = if in_profile { None } else { missing(&program, context) };
    missing.or_else(|| {
        let script = filled(script(&program, &words[1..])?, hook, context)?;
        let file = context.start.join(&script);
        match file.is_file() {
            true => relative(&script, context),
            false => Some(("missing-file", format!("{} does not exist", file.display()))),
        }
    })
}

/// A path that is right only as long as the session stays where it started.
fn relative(path: &str, context: &ProgramContext<'_>) -> Option<Wrong> {
    if Path::new(path).is_absolute() {
        return None;
    }
    let file = lexical(&context.start.join(path));
    let instead = match file.strip_prefix(&context.project) {
        Ok(below) => format!("\"$CLAUDE_PROJECT_DIR\"/{}", below.display()),
        Err(_) => file.display().to_string(),
    };
    let start = context.start.display();
    Some(("relative-command", format!("{path} is found only while the session is in {start}; write {instead}")))
}

/// A word with the variables in it that are known before a hook runs; `None` if the shell
/// would still have to work something out, which is not ours to guess.
fn filled(word: &str, hook: &Hook, context: &ProgramContext<'_>) -> Option<String> {
    let mut word = word.to_owned();
    let project = context.project.to_string_lossy();
    for name in ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR"] {
        word = word.replace(name, &project);
    }
    if let Some(plugin) = &hook.plugin {
        word = word.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.root).replace("$CLAUDE_PLUGIN_ROOT", &plugin.root);
    }
    if let Some(rest) = word.strip_prefix("~/").or_else(|| word.strip_prefix("$HOME/")) {
        word = context.home.join(rest).to_string_lossy().into_owned();
    }
    (!word.contains(['$', '`', '*', '?', '[', '(', '{'])).then_some(word)
}

/// The words of the first command of a line, quotes removed; none where it begins with an
/// assignment.
fn words(command: &str) -> Vec<String> {
    let mut words = shell_words::first_command(command);
    if words.first().is_some_and(|word| word == "exec") {
        words.remove(0);
    }
    // Reading on behind an assignment is for shells.
    if words.first().is_some_and(|word| word.contains('=')) { Vec::new() } else { words }
}

/// Programs whose first argument is the file they run.
const INTERPRETERS: [&str; 12] =
    ["bash", "sh", "dash", "zsh", "python", "python3", "node", "bun", "ruby", "perl", "php", "pwsh"];

/// The file an interpreter is told to run. With an option before it, it may be anything.
fn script<'a>(program: &str, args: &'a [String]) -> Option<&'a str> {
    let name = Path::new(program).file_name()?.to_str()?;
    let first = args.first().filter(|_| INTERPRETERS.contains(&name))?;
    (!first.starts_with('-') && Path::new(first).extension().is_some()).then_some(first)
}

/// Words a shell knows by itself.
const BUILTIN: [&str; 46] = [
    ":", ".", "[", "[[", "!", "{", "alias", "break", "builtin", "case", "cd", "command", "continue", "declare", "echo",
    "eval", "exec", "exit", "export", "false", "for", "function", "getopts", "hash", "if", "let", "local", "mapfile",
    "printf", "read", "readonly", "return", "select", "set", "shift", "source", "test", "time", "trap", "true", "type",
    "umask", "unset", "until", "wait", "while",
];

fn missing(program: &str, context: &ProgramContext<'_>) -> Option<Wrong> {
    if !program.contains('/') {
        let path = context.env.get(environment::PATH).unwrap_or_default();
        let found = BUILTIN.contains(&program) || find_in_path(path, program).is_some();
        return (!found && !program.is_empty())
            .then(|| ("missing-program", format!("{program} is not on the search path")));
    }
    let file = context.start.join(program);
    match std::fs::metadata(&file) {
        Err(_) => Some(("missing-file", format!("{} does not exist", file.display()))),
        Ok(meta) if meta.is_dir() => Some(("not-executable", format!("{} is a directory", file.display()))),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => {
            Some(("not-executable", format!("{} is not executable (chmod +x)", file.display())))
        }
        Ok(_) => relative(program, context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_command_is_split_as_a_shell_would() {
        for (command, expected) in [
            (r#""$CLAUDE_PROJECT_DIR"/hooks/a\ b.sh 'c d' | tee x"#, vec!["$CLAUDE_PROJECT_DIR/hooks/a b.sh", "c d"]),
            ("exec ./run.sh 2>/dev/null", vec!["./run.sh", "2"]),
            ("FOO=1 ./run.sh", vec![]),
            ("  bash ./x.sh; true", vec!["bash", "./x.sh"]),
            ("", vec![]),
        ] {
            assert_eq!(words(command), expected, "{command}");
        }
    }
}
