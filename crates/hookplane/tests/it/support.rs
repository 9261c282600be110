//! A dialect, a runner with a table of results, and short names for what tests build often.

use ona_api::{Env, EventKind, EventName, Mode, Ordinal, Redactor, Ruling};
use ona_hookplane::{
    Base, Dialect, Exit, Firing, Hook, HookAction, HookContext, HookEngine, HookEnvironment, HookExecution, HookList,
    HookOutcome, HookOutput, HookShell, Injection, LogEntry, OnTimeout, ResultChange, Runner, Timeouts,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Reads JSON whose keys are the fields of `HookOutput`.
#[derive(Clone)]
pub(crate) struct Plain {
    pub name: &'static str,
    pub on_timeout: OnTimeout,
    /// Hooks with the same command count as duplicates.
    pub deduplicates: bool,
    pub exit_two_blocks: bool,
    pub ignored_exit: Option<i32>,
    pub truncated_denies: bool,
    pub transcripts: bool,
    /// Warnings of its own log; `None`: it has no log.
    pub log: Option<Vec<String>>,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            name: "plain",
            on_timeout: OnTimeout::Block,
            deduplicates: false,
            exit_two_blocks: true,
            ignored_exit: None,
            truncated_denies: false,
            transcripts: false,
            log: None,
        }
    }
}

impl Dialect for Plain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        firing.stdin(input).into()
    }

    fn parse_output(&self, _: EventName, ran: &HookExecution) -> HookOutput {
        let text = ran.stdout.trim();
        if text.is_empty() {
            return HookOutput::default();
        }
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return HookOutput {
                unreadable: true,
                notes: vec![(EventKind::HookOutputInvalid, "not an object".into())],
                ..HookOutput::default()
            };
        };
        let word = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        HookOutput {
            ruling: word("ruling").map(|ruling| match ruling.as_str() {
                "allow" => Ruling::Allow,
                "ask" => Ruling::Ask,
                _ => Ruling::Deny,
            }),
            reason: word("reason").unwrap_or_default(),
            block: word("block"),
            input: fields.get("input").and_then(Value::as_object).cloned(),
            context: word("context").map(|text| HookContext { text, whole: None }),
            result: word("result").map(|text| ResultChange { content: Some(text), is_error: None }),
            injected: word("inject").map(Injection::ToolResult).into_iter().collect(),
            stop: word("stop"),
            system_message: word("message"),
            specific: fields.get("specific").and_then(Value::as_object).cloned().unwrap_or_default(),
            ..HookOutput::default()
        }
    }

    fn updated(&self, current: &Value, update: Map<String, Value>) -> Value {
        let mut updated = current.clone();
        updated.as_object_mut().unwrap().extend(update);
        updated
    }

    fn timeout(&self, event: EventName, timeouts: &Timeouts) -> Duration {
        timeouts.of(event, ona_hookplane::contract::of(event).default_timeout)
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        self.on_timeout
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        ran.stderr.trim_end().to_owned()
    }

    fn exit_two_blocks(&self) -> bool {
        self.exit_two_blocks
    }

    fn truncated_answer_denies(&self) -> bool {
        self.truncated_denies
    }

    fn ignores_exit_code(&self, _: EventName, code: i32) -> bool {
        self.ignored_exit == Some(code)
    }

    fn log(&self, _: &Hook, _: &HookExecution, _: Duration) -> Option<LogEntry> {
        self.log.clone().map(|warnings| LogEntry { record: Map::new(), warnings })
    }

    fn reads_transcripts(&self) -> bool {
        self.transcripts
    }

    fn is_duplicate(&self, one: &Hook, other: &Hook) -> bool {
        self.deduplicates && one.command() == other.command()
    }
}

/// A hook of the sh shell that applies to every firing of its event.
pub(crate) fn hook(event: EventName, command: &str) -> Hook {
    hook_of(Plain::default(), event, command)
}

pub(crate) fn hook_of(dialect: Plain, event: EventName, command: &str) -> Hook {
    Hook {
        ordinal: Ordinal(0),
        event,
        matcher: String::new(),
        condition: String::new(),
        action: HookAction::Shell { shell: HookShell::Sh, command: command.to_owned() },
        timeout: None,
        dialect: Arc::new(dialect),
        source: "user:settings".to_owned(),
        disabled: None,
        fail_closed: false,
        detached: false,
        plugin: None,
        once: None,
        registered: None,
        applies: Arc::new(|_, _| true),
    }
}

pub(crate) fn pre(command: &str) -> Hook {
    hook(EventName::PreToolUse, command)
}

/// Results by command; a command that is not in it exits 0 and prints nothing.
#[derive(Default)]
pub(crate) struct Table {
    results: Mutex<HashMap<String, HookExecution>>,
    /// Commands that ran and what they read, in order.
    pub calls: Mutex<Vec<(String, String)>>,
    /// Called before each result is returned.
    pub meanwhile: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Table {
    pub(crate) fn with(self, command: &str, result: HookExecution) -> Self {
        self.results.lock().unwrap().insert(command.to_owned(), result);
        self
    }

    /// A command that prints this object and exits 0.
    pub(crate) fn says(self, command: &str, output: Value) -> Self {
        self.with(command, exited(0, &output.to_string(), ""))
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(command, _)| command.clone()).collect()
    }

    pub(crate) fn stdin(&self, nth: usize) -> Value {
        serde_json::from_str(&self.calls.lock().unwrap()[nth].1).unwrap()
    }
}

impl Runner for Table {
    fn run<'a>(
        &'a self,
        hook: &'a Hook,
        _: &'a Firing,
        stdin: String,
        _: Duration,
    ) -> Pin<Box<dyn Future<Output = HookExecution> + Send + 'a>> {
        self.calls.lock().unwrap().push((hook.command().to_owned(), stdin));
        if let Some(meanwhile) = &*self.meanwhile.lock().unwrap() {
            meanwhile();
        }
        let result = self.results.lock().unwrap().get(hook.command()).cloned();
        Box::pin(std::future::ready(result.unwrap_or_else(|| exited(0, "", ""))))
    }
}

pub(crate) fn exited(code: i32, stdout: &str, stderr: &str) -> HookExecution {
    ended(Exit::Code(code), stdout, stderr)
}

pub(crate) fn ended(exit: Exit, stdout: &str, stderr: &str) -> HookExecution {
    HookExecution::ended("2026-01-01T00:00:00.000Z".into(), exit, stdout.into(), stderr.into())
}

pub(crate) fn environment(env: Env) -> HookEnvironment {
    let (timeouts, _) = Timeouts::from_env(&env);
    HookEnvironment::new(env, "/project".into(), timeouts)
}

pub(crate) fn engine(hooks: impl IntoIterator<Item = Hook>, table: &Arc<Table>) -> HookEngine {
    let runner = Arc::clone(table);
    HookEngine::new(HookList::new(hooks), environment(Env::default()), runner, Redactor::default())
}

/// Fires one event at these hooks.
pub(crate) async fn fire(hooks: impl IntoIterator<Item = Hook>, table: Table, firing: Firing) -> HookOutcome {
    engine(hooks, &Arc::new(table)).fire(firing).await
}

/// Fires PreToolUse for `ls` at these commands, which end as the table says.
pub(crate) async fn fire_pre(commands: &[&str], table: Table) -> HookOutcome {
    fire(commands.iter().map(|command| pre(command)), table, bash("ls")).await
}

pub(crate) fn base(cwd: &Path) -> Base {
    Base {
        session: "s1".into(),
        conversation: "c1".into(),
        database: "/db/ona.db".into(),
        cwd: cwd.to_owned(),
        mode: Some(Mode::Default),
        agent_id: None,
        agent_type: None,
    }
}

pub(crate) fn firing(event: EventName, fields: Value) -> Firing {
    Firing::new(event, base(&PathBuf::from("/")), fields)
}

/// PreToolUse of a Bash call.
pub(crate) fn bash(command: &str) -> Firing {
    call(EventName::PreToolUse, command)
}

pub(crate) fn call(event: EventName, command: &str) -> Firing {
    firing(event, json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}))
}

/// (ordinal, exit code, skipped reason) of every row.
pub(crate) fn rows(outcome: &HookOutcome) -> Vec<(u32, Option<i32>, Option<&'static str>)> {
    outcome.runs.iter().map(|run| (run.ordinal.0, run.exit_code, run.skipped.map(|skip| skip.as_str()))).collect()
}

/// Kind and reason of every incident.
pub(crate) fn incidents(outcome: &HookOutcome) -> Vec<(&'static str, &str)> {
    outcome.notes.iter().map(|note| (note.kind.as_str(), note.why.as_str())).collect()
}
