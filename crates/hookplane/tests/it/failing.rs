//! Hooks that fail, take too long or are interrupted, and who is told.

use crate::support::*;
use ona_api::{Env, EventName, Ordinal, Redactor, Ruling};
use ona_hookplane::{Exit, Hook, HookEngine, HookFailure, HookList, OnTimeout};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn an_exit_code_other_than_zero_and_two_blocks_nothing() {
    for code in [1, 3, 126, 127, 255, -1] {
        let outcome = fire_pre(&["a", "b"], Table::default().with("a", exited(code, "", ""))).await;
        assert!(!outcome.is_denied());
        assert_eq!(rows(&outcome), [(0, Some(code), None), (1, Some(0), None)]);
        assert_eq!(incidents(&outcome), [("hook_error", format!("[SDLC] hook failed with exit code {code}").as_str())]);
    }
}

fn closed(command: &str) -> Hook {
    Hook { fail_closed: true, ..pre(command) }
}

#[tokio::test]
async fn every_failure_of_a_hook_that_may_not_fail_blocks() {
    for (result, message) in [
        (exited(1, "", ""), "[0] [SDLC] hook failed with exit code 1"),
        (exited(0, "garbage", ""), "[0] [SDLC] hook output could not be read"),
        (ended(Exit::NotStarted("[SDLC] hook not started: x".into()), "", ""), "[0] [SDLC] hook not started: x"),
        (ended(Exit::TimedOut { after: SECOND }, "", ""), "[0] [SDLC] hook timed out after 1000 ms"),
    ] {
        let outcome = fire([closed("a")], Table::default().with("a", result), bash("ls")).await;
        assert_eq!(outcome.message(), message);
    }
}

#[tokio::test]
async fn a_timeout_blocks_calls_and_prompts_where_the_dialect_says_so() {
    for event in EventName::ALL {
        let table = || Table::default().with("a", ended(Exit::TimedOut { after: SECOND }, "half", "trace"));
        let outcome = fire([hook(*event, "a")], table(), call(*event, "ls")).await;
        let blocks = matches!(event, EventName::PreToolUse | EventName::UserPromptSubmit);
        assert_eq!(outcome.is_denied(), blocks, "{event}");
        assert_eq!(outcome.runs[0].exit_code, blocks.then_some(2), "{event}");
        assert_eq!(outcome.runs[0].stderr.as_deref(), Some("trace\n[SDLC] hook timed out after 1000 ms"));
        let lenient = Plain { on_timeout: OnTimeout::Pass, ..Plain::default() };
        let outcome = fire([hook_of(lenient, *event, "a")], table(), call(*event, "ls")).await;
        assert!(!outcome.is_denied() && outcome.runs[0].exit_code.is_none(), "{event}");
        assert_eq!(incidents(&outcome), [("hook_error", "[SDLC] hook timed out after 1000 ms")]);
    }
}

#[tokio::test]
async fn a_hook_that_did_not_start_has_no_exit_code_and_says_why() {
    let table = Table::default().with("a", ended(Exit::NotStarted("[SDLC] hook not started: no sh".into()), "", ""));
    let outcome = fire_pre(&["a", "b"], table).await;
    assert_eq!(rows(&outcome), [(0, None, None), (1, Some(0), None)]);
    assert_eq!(outcome.runs[0].stderr.as_deref(), Some("[SDLC] hook not started: no sh"));
    assert!(!outcome.is_denied());
}

#[tokio::test]
async fn an_interrupted_guard_has_not_said_yes() {
    for event in EventName::ALL {
        let table = Table::default().with("a", ended(Exit::Cancelled, "", ""));
        let outcome = fire([hook(*event, "a")], table, call(*event, "ls")).await;
        let guards =
            matches!(event, EventName::PreToolUse | EventName::PermissionRequest | EventName::UserPromptSubmit);
        assert_eq!(outcome.is_denied(), guards, "{event}");
        assert_eq!(outcome.runs[0].stderr.as_deref(), Some("[SDLC] hook interrupted"));
        assert_eq!(outcome.runs[0].exit_code, None);
    }
}

#[tokio::test]
async fn a_truncated_answer_about_a_call_denies_it_where_the_dialect_says_so() {
    let strict = Plain { truncated_denies: true, ..Plain::default() };
    let mut cut = exited(0, "{\"ruling\":\"de", "");
    cut.truncated = true;
    let mut text = exited(0, "many words", "");
    text.truncated = true;
    for (dialect, event, result, denies) in [
        (strict.clone(), EventName::PreToolUse, cut.clone(), true),
        (strict.clone(), EventName::PermissionRequest, cut.clone(), true),
        (strict.clone(), EventName::PostToolUse, cut.clone(), false),
        (strict, EventName::PreToolUse, text, false),
        (Plain::default(), EventName::PreToolUse, cut, false),
    ] {
        let outcome = fire([hook_of(dialect, event, "a")], Table::default().with("a", result), call(event, "ls")).await;
        assert_eq!(outcome.is_denied(), denies, "{event}");
        if denies {
            assert_eq!(outcome.message(), "[0] [SDLC] hook answer is longer than 4194304 bytes and was cut off");
        }
    }
}

#[tokio::test]
async fn a_dialect_decides_what_its_exit_codes_mean() {
    let ignores = Plain { ignored_exit: Some(1), ..Plain::default() };
    let outcome =
        fire([hook_of(ignores, EventName::PreToolUse, "a")], Table::default().with("a", exited(1, "", "")), bash("ls"))
            .await;
    assert!(outcome.notes.is_empty() && !outcome.is_denied());
    let no_blocks = Plain { exit_two_blocks: false, ..Plain::default() };
    let outcome = fire(
        [hook_of(no_blocks, EventName::PreToolUse, "a")],
        Table::default().with("a", exited(2, "", "no")),
        bash("ls"),
    )
    .await;
    assert!(!outcome.is_denied());
    assert_eq!(incidents(&outcome), [("hook_error", "[SDLC] hook failed with exit code 2")]);
}

#[tokio::test]
async fn output_that_cannot_be_read_decides_nothing_and_is_noted() {
    let outcome = fire_pre(&["a"], Table::default().with("a", exited(0, "garbage", ""))).await;
    assert_eq!((outcome.ruling.clone(), outcome.is_denied()), (None, false));
    assert_eq!(incidents(&outcome), [("hook_output_invalid", "not an object")]);
}

#[tokio::test]
async fn what_a_hook_said_before_it_failed_still_counts() {
    let table = Table::default().with("a", exited(1, &json!({"ruling": "deny", "reason": "no"}).to_string(), ""));
    let outcome = fire_pre(&["a"], table).await;
    assert_eq!(outcome.ruling, Some((Ruling::Deny, Ordinal(0), "no".into())));
}

/// What the listener was told while these hooks were fired at twice.
async fn told(hooks: Vec<Hook>, table: Table) -> Vec<HookFailure> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let redactor = Redactor::new([("TOKEN", "correct-horse-battery")]);
    let engine = HookEngine::new(HookList::new(hooks), environment(Env::default()), Arc::new(table), redactor)
        .with_failure_listener(Arc::new(move |failure| listener.lock().unwrap().push(failure.clone())));
    engine.fire(bash("ls")).await;
    engine.fire(bash("ls")).await;
    told.lock().unwrap().clone()
}

#[tokio::test]
async fn the_first_failure_of_a_hook_is_told_once() {
    let table = Table::default()
        .with("guard", exited(1, "", "\n  boom correct-horse-battery  \nmore"))
        .with("other", exited(0, "garbage", ""));
    let failures = told(vec![pre("guard"), pre("other")], table).await;
    let texts: Vec<_> = failures.iter().map(|failure| failure.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "PreToolUse hook error: guard: [SDLC] hook failed with exit code 1: boom [REDACTED:TOKEN]",
            "PreToolUse hook error: other: not an object",
        ]
    );
    assert!(failures.iter().all(|failure| !failure.logged));
}

#[tokio::test]
async fn a_block_a_timeout_that_blocks_and_an_interrupt_are_not_failures() {
    let table = Table::default()
        .with("blocks", exited(2, "", "no"))
        .with("slow", ended(Exit::TimedOut { after: SECOND }, "", ""))
        .with("cut", ended(Exit::Cancelled, "", ""));
    assert_eq!(told(vec![pre("blocks")], table).await, []);
    let table = Table::default().with("slow", ended(Exit::TimedOut { after: SECOND }, "", ""));
    assert_eq!(told(vec![pre("slow")], table).await, []);
    let table = Table::default().with("cut", ended(Exit::Cancelled, "", ""));
    assert_eq!(told(vec![hook(EventName::PostToolUse, "cut")], table).await, []);
}

#[tokio::test]
async fn a_long_command_is_cut_in_the_line_about_its_failure() {
    let command = format!("{} tail\nsecond line", "x".repeat(90));
    let failures = told(vec![pre(&command)], Table::default().with(&command, exited(1, "", ""))).await;
    let line = format!("PreToolUse hook error: {}…: [SDLC] hook failed with exit code 1", "x".repeat(80));
    assert_eq!(failures[0].text, line);
}

#[tokio::test]
async fn a_dialect_with_a_log_of_its_own_tells_people_itself() {
    let logs = |warnings: Vec<String>| {
        let dialect = Plain { log: Some(warnings), ..Plain::default() };
        told(vec![hook_of(dialect, EventName::PreToolUse, "a")], Table::default().with("a", exited(1, "", "")))
    };
    assert_eq!(logs(vec![]).await, [], "its log says that this is not news");
    assert!(logs(vec!["odd".into()]).await[0].logged);
}

#[tokio::test]
async fn a_detached_hook_that_fails_is_told_as_well() {
    let detached = Hook { detached: true, ..pre("a") };
    let failures = told(vec![detached], Table::default().with("a", exited(3, "", ""))).await;
    assert_eq!(failures[0].text, "PreToolUse hook error: a: [SDLC] hook failed with exit code 3");
}

#[tokio::test]
async fn the_likely_cause_of_a_failure_is_told_with_it() {
    let cause = |command: &str, result| {
        let command = command.to_owned();
        async move {
            let failures = told(vec![pre(&command)], Table::default().with(&command, result)).await;
            let text = &failures[0].text;
            text[text.find(" (").map_or(text.len(), |at| at + 1)..].to_owned()
        }
    };
    assert_eq!(
        cause("guard", exited(1, "", "KeyError: 'transcript_path'")).await,
        "(hooks that read a transcript need the setting claudeCompat.transcriptPath)"
    );
    assert_eq!(
        cause("./guard.sh --strict", exited(127, "", "")).await,
        "(./guard.sh is looked for in the session's directory, now /; write \"$CLAUDE_PROJECT_DIR\"/guard.sh)"
    );
    assert_eq!(
        cause("guard", exited(127, "", "")).await,
        "(a program it starts was not found on the hook's search path)"
    );
    assert_eq!(
        cause("guard", exited(126, "", "")).await,
        "(the file is not executable (chmod +x), or is not a program)"
    );
    assert_eq!(cause("guard", exited(1, "", "")).await, "");
}
