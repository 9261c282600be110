//! Guards that do not work: the one list that a start, `ona doctor` and `ona hooks lint`
//! go by (DEC-181).
//!
//! A finding is a guard that is configured and does not work: a deny rule that was dropped,
//! a hook whose program is missing, a module that does not load, a key that is misspelt.
//! The list is a function of a runtime whose modules are loaded; nothing of it is stored.
//! Under `"guards": "warn"` a start prints one line for each, under `"strict"` it refuses.
//!
//! What is wrong with the command line is refused in both (`flags`).

pub mod flags;
mod known_tools;
mod platform;
mod programs;

use crate::failure::Failure;
use crate::hook_sources::LoadedSource;
use crate::launch::{Launch, OpenProject};
use crate::mcp::called_by;
use crate::runtime::Runtime;
use ona_api::environment;
use ona_api::permission_update::Behavior;
use ona_dialects::lint::{MatcherReach, UnknownField};
use ona_dialects::{LoadedHooks, Rejected};
use ona_hookplane::{Hook, HookAction};
use ona_permissions::DroppedRule;
use ona_settings::Settings;
use ona_trust::{Notice, NoticeKind};
use serde_json::Value;

use platform::Platform;
pub use programs::ProgramContext;
use programs::unstartable;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A short name for the kind, for programs that read the list.
    pub rule: &'static str,
    /// Which hook, module or file, in a few words; empty where the message says it.
    pub place: String,
    pub message: String,
    /// What a start prints, and whether it may refuse because of it.
    pub at_start: AtStart,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtStart {
    /// One line; under strict the reason to refuse.
    Line(String),
    /// Printed where it is found, and never a reason to refuse: an invalid pi source does
    /// not end a run (000).
    SaidElsewhere,
}

impl Finding {
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { rule, place: String::new(), at_start: AtStart::Line(message.clone()), message }
    }

    /// About one hook of the effective list.
    pub fn of_hook(rule: &'static str, hook: &Hook, message: String) -> Self {
        let line = format!("the {} hook {} ({}): {message}", hook.event, hook.command(), hook.source);
        Self { rule, place: hook_place(hook), message, at_start: AtStart::Line(line) }
    }

    /// The finding as one line for people.
    pub fn line(&self) -> &str {
        match &self.at_start {
            AtStart::Line(line) => line,
            AtStart::SaidElsewhere => &self.message,
        }
    }
}

/// A hook in a few words.
pub fn hook_place(hook: &Hook) -> String {
    format!("{} {} {:?} {}", hook.ordinal, hook.event, hook.matcher, hook.command())
}

/// What of the permissions has no effect.
#[derive(Default)]
pub struct IneffectivePermissions {
    /// Rules of the settings.
    pub rules: Vec<DroppedRule>,
    /// Keys and values under `permissions`.
    pub values: Vec<String>,
}

/// Everything that does not work here.
pub fn findings(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Vec<Finding> {
    let mut findings: Vec<_> = of_files(launch, open).collect();
    findings.extend(of_settings(&runtime.settings));
    let ineffective = &runtime.ineffective;
    findings.extend(ineffective.values.iter().map(|text| Finding::new("refused-value", text)));
    let restricting = |one: &&DroppedRule| one.list != Behavior::Allow;
    findings.extend(ineffective.rules.iter().filter(restricting).map(of_rule));
    findings.extend(runtime.hook_sources.iter().flat_map(of_source));
    let list = runtime.hooks.list();
    let context = ProgramContext::of(launch, runtime);
    // A hook that is switched off guards nothing, and that was chosen.
    for hook in list.iter().filter(|hook| hook.disabled.is_none()) {
        findings.extend(of_hook(hook, &context));
    }
    findings
}

/// What is wrong with one source of hooks: with the source, with entries that are not hooks, and
/// with fields that guard nothing.
fn of_source(source: &LoadedSource) -> Vec<Finding> {
    let LoadedHooks { rejected, idle, unknown, .. } = &source.loaded;
    let mut findings = source.findings.clone();
    findings.extend(rejected.iter().map(of_rejected));
    findings.extend(idle.iter().map(|matcher| {
        let why = "fits no tool name; as a permission rule it counts in gastown mode only (--gastown)";
        Finding::new("idle-matcher", format!("the hook matcher {matcher:?} {why}"))
    }));
    // A field that is nearly `fail_closed` or `timeout` changes what a guard does. Other
    // unknown fields may be notes for another program; `hooks lint` names them.
    findings.extend(unknown.iter().filter(|one| one.meant().is_some()).map(of_field));
    findings
}

/// The rule of a matcher that fits nothing.
pub const SLIP: &str = "never-matches";

/// The rule of a field of a hook that nothing reads.
pub const UNKNOWN_FIELD: &str = "unknown-field";

pub fn of_field(unknown: &UnknownField) -> Finding {
    let message = unknown.to_string();
    let line = format!("{}: {message}", entry_in_words(&unknown.entry));
    Finding { rule: UNKNOWN_FIELD, place: unknown.entry.to_string(), message, at_start: AtStart::Line(line) }
}

/// Why one hook cannot run, as far as that is plain without running it.
pub fn of_hook(hook: &Hook, context: &ProgramContext<'_>) -> Vec<Finding> {
    let refused = Platform::CURRENT.refusal(hook);
    let mut findings: Vec<_> = refused.into_iter().map(|why| Finding::of_hook("platform", hook, why)).collect();
    if let Some(Err(server)) = called_by(hook, context.servers) {
        findings.push(Finding::of_hook("missing-server", hook, format!("unknown MCP server {server}")));
    }
    findings.extend(MatcherReach::of(hook).likely_typo().map(|message| Finding::of_hook(SLIP, hook, message)));
    let wrong = unstartable(hook, &hook.action, context);
    findings.extend(wrong.map(|(rule, message)| Finding::of_hook(rule, hook, message)));
    findings
}

/// What only trying tells: a Python function that cannot be imported denies every call it
/// would see. Hooks that are switched off are not tried.
pub async fn tried(runtime: &Runtime, hooks: impl IntoIterator<Item = &Hook>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all_off = runtime.host.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1");
    for hook in hooks.into_iter().filter(|hook| hook.disabled.is_none() && !all_off) {
        if let HookAction::Handler(handler) = &hook.action
            && let Err(why) = handler.ready().await
        {
            findings.push(Finding::of_hook("not-ready", hook, why));
        }
    }
    findings
}

/// Prints one line for each finding, or refuses to start with them.
pub fn announce(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Result<(), Failure> {
    Platform::CURRENT.accept(runtime.hooks.list().iter())?;
    let lines = lines(launch, open, runtime);
    if is_strict(launch, &runtime.settings) && !lines.is_empty() {
        return Err(refused(&lines));
    }
    lines.iter().for_each(|line| launch.note(format_args!("ona: {line}")));
    Ok(())
}

/// Prints the lines for commands that show hooks and start nothing.
pub fn mention(launch: &Launch, open: &OpenProject, runtime: &Runtime) {
    lines(launch, open, runtime).iter().for_each(|line| launch.note(format_args!("ona: {line}")));
}

fn lines(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Vec<String> {
    let findings = findings(launch, open, runtime);
    let line = |one: Finding| match one.at_start {
        AtStart::Line(line) => Some(open.redactor.apply(&line).into_owned()),
        AtStart::SaidElsewhere => None,
    };
    findings.into_iter().filter_map(line).collect()
}

/// `"guards": "strict"` in any scope, or the flag. A value that is neither of the two words
/// counts as strict, and is itself a finding.
pub fn is_strict(launch: &Launch, settings: &Settings) -> bool {
    launch.options.strict_guards || settings.strict_guards.value
}

fn refused(lines: &[String]) -> Failure {
    let what = if lines.len() == 1 { "a guard does not work" } else { "guards do not work" };
    Failure::usage(format_args!("{what}, and guards are strict here:\n  {}", lines.join("\n  "))).hint(
        "repair this, or start without --strict-guards and \"guards\": \"strict\"; ona doctor shows the same list",
    )
}

/// What is wrong with the files, where they are what counts.
fn of_files<'a>(launch: &Launch, open: &'a OpenProject) -> impl Iterator<Item = Finding> + 'a {
    // A row that an operator wrote counts as it is, whatever the files say (DEC-180).
    let row = open.store.reader().and_then(|reader| reader.settings_row());
    let counting = launch.options.settings.is_some() || !matches!(row, Ok(Some(row)) if !row.is_ours);
    open.merged.notices.iter().filter_map(move |notice| of_notice(notice, counting))
}

fn of_notice(notice: &Notice, counting: bool) -> Option<Finding> {
    let rule = match notice.about {
        // Said whether or not the files are in use: nobody can tell what is in them.
        NoticeKind::NotSettings | NoticeKind::Unreadable => "unreadable-settings",
        _ if !counting => return None,
        NoticeKind::UnknownKey => "unknown-key",
        NoticeKind::NoEffect => "no-effect",
        NoticeKind::BadValue | NoticeKind::Mode | NoticeKind::Scope | NoticeKind::Hook => "refused-value",
        NoticeKind::Untrusted | NoticeKind::Policy => return None,
    };
    Some(Finding::new(rule, notice.to_string()))
}

/// Problems of a settings row, regardless of who wrote it.
fn of_settings(settings: &Settings) -> impl Iterator<Item = Finding> {
    let problems = [&settings.strict_guards.problem, &settings.hooks.fail_closed.problem];
    problems.into_iter().flatten().map(|problem| Finding::new("refused-value", problem.to_string()))
}

fn of_rule(dropped: &DroppedRule) -> Finding {
    let DroppedRule { list, rule, why } = dropped;
    Finding::new("dropped-rule", format!("the {} rule {rule:?} has no effect: {why}", list.as_str()))
}

pub fn of_rejected(rejected: &Rejected) -> Finding {
    let line = match &rejected.entry {
        // A place in a MassGen configuration; the reason names it.
        Value::String(_) => format!("{} (MassGen configuration)", rejected.why),
        entry => format!("{}: {}", entry_in_words(entry), rejected.why),
    };
    let (place, message) = (rejected.entry.to_string(), rejected.why.clone());
    Finding { rule: "rejected", place, message, at_start: AtStart::Line(line) }
}

/// A configured entry in a few words.
fn entry_in_words(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().filter(|text| !text.is_empty());
    let event = text("hook_event_name").map(|event| format!(" on {event}")).unwrap_or_default();
    let source = text("source").map(|source| format!(" of {source}")).unwrap_or_default();
    format!("a hook{event}{source}")
}
