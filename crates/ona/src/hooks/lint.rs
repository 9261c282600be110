//! `ona hooks lint`: hooks that load and yet can not do what they were written for.

use super::stand::Stand;
use crate::failure::Failure;
use crate::mcp::called_by;
use crate::output;
use crate::program::{Open, Program};
use crate::workplace::runtime;
use ona_api::Env;
use ona_dialects::lint::{self, Reach};
use ona_hookplane::{Action, Hook, Shell};
use ona_mcp::Servers;
use ona_process::find_in_path;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Longer than this, and somebody will think that the agent hangs.
const LONG: Duration = Duration::from_secs(60);

struct Finding {
    rule: &'static str,
    /// Which hook, in a few words.
    place: String,
    message: String,
}

pub fn run(program: &Program, config: Option<&Path>, as_json: bool) -> Result<u8, Failure> {
    let open = program.look()?;
    runtime().block_on(async {
        let stand = Stand::new(program, &open, config, &CancellationToken::new()).await?;
        let (count, findings) = found(program, &stand).await;
        report(&open, count, &findings, as_json);
        Ok(u8::from(!findings.is_empty()))
    })
}

/// How many hooks there are, and what is wrong with them.
async fn found(program: &Program, stand: &Stand) -> (usize, Vec<Finding>) {
    let mut findings: Vec<_> = stand
        .rejected
        .iter()
        .map(|one| Finding { rule: "rejected", place: one.entry.to_string(), message: one.why.clone() })
        .collect();
    let unknown = stand.unknown.iter().cloned().chain(lint::unknown_fields(&stand.settings));
    findings.extend(unknown.map(|unknown| Finding {
        rule: "unknown-field",
        place: unknown.entry.to_string(),
        message: format!("the field {:?} means nothing here", unknown.field),
    }));
    let list = stand.engine.list();
    let hooks: Vec<_> = list.iter().collect();
    let around = Around {
        project: stand.workplace.project(),
        cwd: &program.cwd,
        home: &program.env.home(),
        env: &stand.workplace.host,
        gastown: stand.workplace.settings["gastownMode"] == true,
        servers: &stand.workplace.fleet.servers,
    };
    for (index, hook) in hooks.iter().enumerate() {
        findings.extend(judged(hook, &hooks[..index], &around));
        // A function that can not be imported denies every call it would see.
        if let Action::Handler(handler) = &hook.action
            && let Err(why) = handler.ready().await
        {
            findings.push(Finding { rule: "not-ready", place: place(hook), message: why });
        }
    }
    (hooks.len(), findings)
}

fn report(open: &Open, hooks: usize, findings: &[Finding], as_json: bool) {
    if as_json {
        let all: Vec<Value> =
            findings.iter().map(|one| json!({"rule": one.rule, "hook": one.place, "message": one.message})).collect();
        output::line(open.redactor.apply(&json!(all).to_string()));
        return;
    }
    for one in findings {
        output::line(open.redactor.apply(&format!("{}: {}\n  {}", one.rule, one.message, one.place)));
    }
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    output::note(format_args!("{}, {}", counted(hooks, "hook"), counted(findings.len(), "finding")));
}

fn place(hook: &Hook) -> String {
    format!("{} {} {:?} {}", hook.ordinal, hook.event, hook.matcher, hook.command())
}

struct Around<'a> {
    project: &'a Path,
    cwd: &'a Path,
    home: &'a Path,
    env: &'a Env,
    gastown: bool,
    servers: &'a Servers,
}

fn judged(hook: &Hook, before: &[&Hook], around: &Around<'_>) -> Vec<Finding> {
    let found = |rule, message: String| Finding { rule, place: place(hook), message };
    let reach = Reach::of(hook);
    let mut findings = Vec::new();
    if lint::is_a_rule(&hook.matcher) {
        // In gastown mode it is tried as that rule (DEC-044).
        findings.extend((!around.gastown).then(|| {
            found("rule-as-matcher", "a matcher is tried on the tool's name alone; move the rule to \"if\"".into())
        }));
    } else if reach.is_nowhere() {
        findings
            .push(found("never-matches", format!("the matcher {:?} fits nothing this event can have", hook.matcher)));
    }
    let twin = |other: &&&Hook| {
        other.event == hook.event
            && other.action == hook.action
            && other.condition == hook.condition
            && other.dialect.name() == hook.dialect.name()
            && Reach::of(other).covers(&reach)
    };
    if let Some(other) = before.iter().find(twin) {
        findings
            .push(found("shadowed", format!("hook {} already does the same wherever this one matches", other.ordinal)));
    }
    if let Some(timeout) = hook.timeout.filter(|timeout| *timeout > LONG) {
        findings.push(found(
            "long-timeout",
            format!("the agent may stand still for {} s while this runs", timeout.as_secs()),
        ));
    }
    if let Some(Err(server)) = called_by(hook, around.servers) {
        findings.push(found("missing-server", format!("there is no MCP server {server}")));
    }
    findings.extend(unstartable(hook, &hook.action, around).map(|(rule, message)| found(rule, message)));
    findings
}

type Wrong = (&'static str, String);

/// Why the action can not even start, as far as that is plain from its text.
fn unstartable(hook: &Hook, action: &Action, around: &Around<'_>) -> Option<Wrong> {
    let words = match action {
        Action::Exec { program, args } => std::iter::once(program).chain(args).cloned().collect(),
        Action::Shell { shell: Shell::Bash | Shell::Sh | Shell::LoginSh, command } => words(command),
        Action::Shell { shell: Shell::PowerShell, .. } => return None,
        Action::Handler(handler) => {
            return match handler.action() {
                Some(action) => unstartable(hook, action, around),
                None => handler.missing(around.cwd, around.env).map(|why| ("missing-file", why)),
            };
        }
    };
    let program = filled(words.first()?, hook, around)?;
    // What a profile adds to the search path is not known here.
    let in_profile = matches!(action, Action::Shell { shell: Shell::LoginSh, .. }) && !program.contains('/');
    let missing = if in_profile { None } else { missing(&program, around) };
    missing.or_else(|| {
        let script = filled(script(&program, &words[1..])?, hook, around)?;
        let file = around.project.join(script);
        (!file.exists()).then(|| ("missing-file", format!("{} does not exist", file.display())))
    })
}

/// A word with the variables in it that are known before a hook runs; `None` if the shell
/// would still have to work something out, which is not ours to guess.
fn filled(word: &str, hook: &Hook, around: &Around<'_>) -> Option<String> {
    let mut word = word.to_owned();
    let project = around.project.to_string_lossy();
    for name in ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR"] {
        word = word.replace(name, &project);
    }
    if let Some(plugin) = &hook.plugin {
        word = word.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.root).replace("$CLAUDE_PLUGIN_ROOT", &plugin.root);
    }
    if let Some(rest) = word.strip_prefix("~/") {
        word = around.home.join(rest).to_string_lossy().into_owned();
    }
    (!word.contains(['$', '`', '*', '(', '{', '"', '\''])).then_some(word)
}

/// The words of the first command of a line; none where it begins with an assignment.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.trim_start();
    while let Some(first) = rest.chars().next().filter(|c| !c.is_whitespace() && !";&|<>".contains(*c)) {
        let end = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ => rest.find(|c: char| c.is_whitespace() || ";&|<>".contains(c)).unwrap_or(rest.len()),
        };
        words.push(rest[..end].trim_matches(['"', '\'']).to_owned());
        rest = rest[end..].trim_start_matches([' ', '\t']);
    }
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

fn missing(program: &str, around: &Around<'_>) -> Option<(&'static str, String)> {
    if !program.contains('/') {
        let path = around.env.get("PATH").unwrap_or_default();
        let found = BUILTIN.contains(&program) || find_in_path(path, program).is_some();
        return (!found && !program.is_empty())
            .then(|| ("missing-program", format!("{program} is not on the search path")));
    }
    let file: PathBuf = around.project.join(program);
    match std::fs::metadata(&file) {
        Err(_) => Some(("missing-file", format!("{} does not exist", file.display()))),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => {
            Some(("not-executable", format!("{} is not executable", file.display())))
        }
        Ok(_) => None,
    }
}
