//! Hooks that are not a process: what they are given, and what they are asked before a tool runs.

use crate::support::*;
use ona_api::{Env, EventName, Ordinal, Redactor, Ruling};
use ona_hookplane::{
    Exit, HandlerFuture, Hook, HookAction, HookEngine, HookExecution, HookHandler, HookInvocation, HookList,
    ProcessRunner,
};
use ona_process::TurnCancellation;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Keeps what it is called with.
#[derive(Default)]
struct Recorder {
    seen: Mutex<Vec<(String, Duration, Option<String>)>>,
    not_ready: Option<String>,
}

impl HookHandler for Recorder {
    fn label(&self) -> &str {
        "test:recorder"
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        let depth = called.env.lookup("ONA_HOOK_DEPTH").map(str::to_owned);
        self.seen.lock().unwrap().push((called.stdin, called.timeout, depth));
        Box::pin(std::future::ready(exited(0, &json!({"ruling": "deny", "reason": "no"}).to_string(), "")))
    }

    fn ready(&self) -> HandlerFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(self.not_ready.clone().map_or(Ok(()), Err)))
    }
}

fn handled(event: EventName, handler: Arc<Recorder>) -> Hook {
    Hook { action: HookAction::Handler(handler), ..hook(event, "") }
}

fn engine_of(hooks: impl IntoIterator<Item = Hook>, cancellation: impl Into<TurnCancellation>) -> HookEngine {
    let environment = environment(Env::default());
    let runner = Arc::new(ProcessRunner::new(environment.clone(), cancellation));
    HookEngine::new(HookList::new(hooks), environment, runner, Redactor::default())
}

#[tokio::test]
async fn a_handler_gets_what_a_process_would_get() {
    let recorder = Arc::new(Recorder::default());
    let hook = Hook { timeout: Some(Duration::from_secs(7)), ..handled(EventName::PreToolUse, Arc::clone(&recorder)) };
    let outcome = engine_of([hook], CancellationToken::new()).fire(bash("ls")).await;
    let (stdin, timeout, depth) = recorder.seen.lock().unwrap().pop().unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&stdin).unwrap()["tool_input"], json!({"command": "ls"}));
    assert_eq!((timeout, depth.as_deref()), (Duration::from_secs(7), Some("1")));
    assert_eq!(outcome.ruling, Some((Ruling::Deny, Ordinal(0), "no".into())));
    assert_eq!(outcome.runs[0].command, "test:recorder");
}

#[tokio::test]
async fn a_handler_that_could_not_run_after_the_tool_denies_the_call_before_it() {
    let broken = Arc::new(Recorder { not_ready: Some("no interpreter".into()), ..Recorder::default() });
    let engine = engine_of([handled(EventName::PostToolUse, broken)], CancellationToken::new());
    let outcome = engine.fire(bash("ls")).await;
    assert_eq!(outcome.ruling, Some((Ruling::Deny, Ordinal(0), "no interpreter".into())));
    assert_eq!(incidents(&outcome), [("hook_error", "no interpreter")]);
    let after = engine.fire(call(EventName::PostToolUseFailure, "ls")).await;
    assert!(after.ruling.is_none(), "asked before a call only");
}

#[tokio::test]
async fn a_call_that_is_denied_already_keeps_its_reason() {
    let broken = Arc::new(Recorder { not_ready: Some("no interpreter".into()), ..Recorder::default() });
    let hooks = [handled(EventName::PreToolUse, Arc::default()), handled(EventName::PostToolUse, broken)];
    let outcome = engine_of(hooks, CancellationToken::new()).fire(bash("ls")).await;
    assert_eq!((outcome.message().as_str(), incidents(&outcome).len()), ("no", 0));
}

#[tokio::test]
async fn a_handler_that_does_not_apply_or_is_disabled_is_not_asked_whether_it_is_ready() {
    let broken = || Arc::new(Recorder { not_ready: Some("broken".into()), ..Recorder::default() });
    let mut elsewhere = handled(EventName::PostToolUse, broken());
    elsewhere.applies = Arc::new(|firing, _| firing.tool() == Some("Read"));
    let mut disabled = handled(EventName::PostToolUse, broken());
    disabled.disabled = Some(ona_api::SkipReason::ManagedOnly);
    let outcome = engine_of([elsewhere, disabled], CancellationToken::new()).fire(bash("ls")).await;
    assert!(!outcome.is_denied());
}

#[tokio::test]
async fn nothing_is_started_after_the_turn_was_cancelled() {
    let recorder = Arc::new(Recorder::default());
    let cancellation = TurnCancellation::new(CancellationToken::new());
    let engine = engine_of([handled(EventName::PreToolUse, Arc::clone(&recorder))], cancellation.clone());
    cancellation.cancel_turn();
    assert_eq!(engine.fire(bash("ls")).await.message(), "[0] [SDLC] hook interrupted");
    assert!(recorder.seen.lock().unwrap().is_empty());
    cancellation.begin_turn();
    assert_eq!(engine.fire(bash("ls")).await.message(), "no");
}

#[tokio::test]
async fn reports_and_the_end_of_a_session_run_after_an_interrupt() {
    let recorder = Arc::new(Recorder::default());
    let cancellation = TurnCancellation::new(CancellationToken::new());
    let events = [EventName::PostToolUse, EventName::SessionEnd];
    let engine = engine_of(events.map(|event| handled(event, Arc::clone(&recorder))), cancellation.clone());
    cancellation.cancel_turn();
    let mut report = call(EventName::PostToolUse, "ls");
    assert_eq!(engine.fire(report.clone()).await.runs[0].exit_code, None);
    report.lifetime = ona_hookplane::Lifetime::Report;
    assert_eq!(engine.fire(report).await.runs[0].exit_code, Some(0));
    let end = engine.fire(firing(EventName::SessionEnd, json!({"reason": "other"}))).await;
    assert_eq!(end.runs[0].exit_code, Some(0));
}

#[test]
fn handlers_with_the_same_label_and_identity_are_one_entry() {
    let list = |hooks: [Hook; 2]| HookList::new(hooks).len();
    let recorder = || handled(EventName::PreToolUse, Arc::new(Recorder::default()));
    assert_eq!(list([recorder(), recorder()]), 1);
    assert_eq!(list([recorder(), pre("test:recorder")]), 2);
}

#[tokio::test]
async fn too_much_of_a_handlers_answer_denies_like_too_much_of_a_processs() {
    let strict = Plain { truncated_denies: true, ..Plain::default() };
    let mut cut = ended(Exit::NotStarted("the answer is too long".into()), "", "");
    cut.truncated = true;
    let hooks = [hook_of(strict, EventName::PreToolUse, "a")];
    let outcome = fire(hooks, Table::default().with("a", cut), bash("ls")).await;
    assert_eq!(outcome.message(), "[0] [SDLC] hook answer is longer than 4194304 bytes and was cut off");
}
