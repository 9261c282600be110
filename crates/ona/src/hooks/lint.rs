//! `ona hooks lint`: hooks that load and yet can not do what they were written for.

use super::stand::Stand;
use crate::failure::Failure;
use crate::mcp::called_by;
use crate::output;
use crate::program::Program;
use crate::workplace::runtime;
use ona_api::{Env, EventName};
use ona_dialects::lint;
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
    let open = program.open()?;
    let stand = runtime().block_on(Stand::new(program, &open, config, &CancellationToken::new()))?;
    let mut findings: Vec<_> = stand
        .rejected
        .iter()
        .map(|one| Finding { rule: "rejected", place: one.entry.to_string(), message: one.why.clone() })
        .collect();
    findings.extend(lint::unknown_fields(&stand.settings).into_iter().map(|unknown| Finding {
        rule: "unknown-field",
        place: unknown.entry.to_string(),
        message: format!("the field {:?} means nothing here", unknown.field),
    }));
    let list = stand.engine.list();
    let hooks: Vec<_> = list.iter().collect();
    let around = Around {
        project: stand.workplace.project(),
        home: &program.env.home(),
        env: &stand.workplace.host,
        gastown: stand.workplace.settings["gastownMode"] == true,
        servers: &stand.workplace.fleet.servers,
    };
    for (index, hook) in hooks.iter().enumerate() {
        findings.extend(judged(hook, &hooks[..index], &around));
    }
    if as_json {
        let all: Vec<Value> =
            findings.iter().map(|one| json!({"rule": one.rule, "hook": one.place, "message": one.message})).collect();
        output::line(open.redactor.apply(&json!(all).to_string()));
    } else {
        for one in &findings {
            output::line(open.redactor.apply(&format!("{}: {}\n  {}", one.rule, one.message, one.place)));
        }
        output::note(format_args!("{} hooks, {} findings", hooks.len(), findings.len()));
    }
    Ok(u8::from(!findings.is_empty()))
}

struct Around<'a> {
    project: &'a Path,
    home: &'a Path,
    env: &'a Env,
    gastown: bool,
    servers: &'a Servers,
}

fn judged(hook: &Hook, before: &[&Hook], around: &Around<'_>) -> Vec<Finding> {
    let place = format!("{} {} {:?} {}", hook.ordinal, hook.event, hook.matcher, hook.command());
    let found = |rule, message: String| Finding { rule, place: place.clone(), message };
    let mut findings = Vec::new();
    if lint::is_a_rule(&hook.matcher) {
        // In gastown mode it is tried as that rule (DEC-044).
        findings.extend((!around.gastown).then(|| {
            found("rule-as-matcher", "a matcher is tried on the tool's name alone; move the rule to \"if\"".into())
        }));
    } else if lint::never_matches(hook) {
        findings
            .push(found("never-matches", format!("the matcher {:?} fits nothing this event can have", hook.matcher)));
    }
    let twin = |other: &&&Hook| {
        other.event == hook.event
            && other.action == hook.action
            && other.condition == hook.condition
            && covers(&other.matcher, &hook.matcher)
    };
    if let Some(other) = before.iter().find(twin) {
        findings
            .push(found("shadowed", format!("hook {} already does the same wherever this one matches", other.ordinal)));
    }
    if let Some(timeout) = hook.timeout.filter(|timeout| *timeout > LONG && holds_up(hook.event)) {
        findings.push(found(
            "long-timeout",
            format!("the agent may stand still for {} s while this runs", timeout.as_secs()),
        ));
    }
    if let Some(Err(server)) = called_by(hook, around.servers) {
        findings.push(found("missing-server", format!("there is no MCP server {server}")));
    }
    findings.extend(
        program_of(hook, around).and_then(|named| missing(&named, around)).map(|(rule, message)| found(rule, message)),
    );
    findings
}

/// Whether everything the second matcher fits, the first fits too.
fn covers(first: &str, second: &str) -> bool {
    first.is_empty() || first == "*" || first == second
}

/// Events after which somebody waits.
fn holds_up(event: EventName) -> bool {
    matches!(
        event,
        EventName::PreToolUse | EventName::PermissionRequest | EventName::UserPromptSubmit | EventName::Stop
    )
}

/// The program a hook starts, if that is plain from its text.
fn program_of(hook: &Hook, around: &Around<'_>) -> Option<String> {
    let word = match &hook.action {
        Action::Exec { program, .. } => program.as_str(),
        Action::Shell { shell: Shell::Bash | Shell::Sh, command } => first_word(command)?,
        // What a profile adds to the search path is not known here.
        Action::Shell { shell: Shell::LoginSh, command } => first_word(command).filter(|word| word.contains('/'))?,
        Action::Shell { shell: Shell::PowerShell, .. } | Action::Handler(_) => return None,
    };
    let mut word = word.trim_matches(['"', '\'']).to_owned();
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
    // What the shell would still have to work out is not ours to guess.
    (!word.contains(['$', '`', '*', '(', '{', '"', '\''])).then_some(word)
}

/// The first word of a command, up to the end of its quotes.
fn first_word(command: &str) -> Option<&str> {
    let command = command.trim_start();
    let end = match command.chars().next()? {
        quote @ ('"' | '\'') => command[1..].find(quote)? + 2,
        _ => command.find(|c: char| c.is_whitespace() || ";&|<>".contains(c)).unwrap_or(command.len()),
    };
    let word = &command[..end];
    // An assignment stands before the program; reading on is for shells.
    (!word.contains('=')).then_some(word)
}

/// Words a shell knows by itself.
const BUILTIN: [&str; 30] = [
    ":", ".", "[", "[[", "!", "{", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for",
    "if", "printf", "read", "return", "set", "source", "test", "trap", "true", "type", "umask", "unset", "until",
    "while",
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
