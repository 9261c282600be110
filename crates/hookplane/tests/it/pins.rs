//! Scripts that changed since the session began (DEC-189).

use crate::support::*;
use ona_api::EventName;
use ona_hookplane::{ConfirmScriptChange, FilesOf, HandlerFuture, Hook, HookEngine, ScriptChange};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A folder with `guard.sh`, and an engine whose hooks run it.
struct Scene {
    dir: TempDir,
    table: Arc<Table>,
    engine: HookEngine,
}

/// Answers every question the same way and counts them.
#[derive(Default)]
struct Person {
    allows: bool,
    asked: Mutex<Vec<ScriptChange>>,
}

impl ConfirmScriptChange for Person {
    fn may_run<'a>(&'a self, change: &'a ScriptChange) -> HandlerFuture<'a, Option<&'static str>> {
        self.asked.lock().unwrap().push(change.clone());
        Box::pin(std::future::ready(self.allows.then_some("user")))
    }
}

impl Scene {
    fn new(event: EventName) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("guard.sh"), "one").unwrap();
        let table = Arc::new(Table::default());
        let engine = engine([hook(event, "guard")], &table);
        engine.pin(files_of(&dir));
        Self { dir, table, engine }
    }

    fn script(&self) -> PathBuf {
        self.dir.path().join("guard.sh")
    }

    fn change(&self, text: &str) {
        std::fs::write(self.script(), text).unwrap();
    }

    fn person(&self, allows: bool) -> Arc<Person> {
        let person = Arc::new(Person { allows, ..Person::default() });
        self.engine.set_script_confirmer(Arc::clone(&person) as _);
        person
    }
}

fn files_of(dir: &TempDir) -> FilesOf {
    let script = dir.path().join("guard.sh");
    Arc::new(move |hook: &Hook| if hook.command() == "guard" { vec![script.clone()] } else { Vec::new() })
}

#[tokio::test]
async fn a_script_that_is_what_it_was_runs() {
    let scene = Scene::new(EventName::PreToolUse);
    assert_eq!(rows(&scene.engine.fire(bash("ls")).await), [(0, Some(0), None)]);
}

#[tokio::test]
async fn a_script_saved_with_the_same_text_runs() {
    let scene = Scene::new(EventName::PreToolUse);
    std::fs::remove_file(scene.script()).unwrap();
    scene.change("one");
    assert_eq!(rows(&scene.engine.fire(bash("ls")).await), [(0, Some(0), None)]);
}

#[tokio::test]
async fn a_changed_script_denies_the_call_and_does_not_run() {
    let scene = Scene::new(EventName::PreToolUse);
    scene.change("two");
    let outcome = scene.engine.fire(bash("ls")).await;
    let changed = format!("[SDLC] hook script {} changed since the session began", scene.script().display());
    assert_eq!(rows(&outcome), [(0, None, Some("script_changed"))]);
    assert_eq!(outcome.message(), format!("[0] {changed}"));
    assert_eq!(incidents(&outcome), [("hook_script_changed", format!("{changed}; it does not run").as_str())]);
    assert!(scene.table.commands().is_empty());
    let again = scene.engine.fire(bash("ls")).await;
    assert!(again.is_denied() && again.notes.is_empty(), "refused again, noted once");
}

/// Also if it changes before the hook has run for the first time.
#[tokio::test]
async fn the_script_of_a_hook_that_is_added_later_is_kept_as_it_was_then() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine([], &Arc::new(Table::default()));
    engine.pin(files_of(&dir));
    std::fs::write(dir.path().join("guard.sh"), "one").unwrap();
    engine.register([pre("guard")]);
    std::fs::write(dir.path().join("guard.sh"), "two").unwrap();
    assert!(engine.fire(bash("ls")).await.is_denied());
}

#[tokio::test]
async fn a_script_that_is_gone_or_new_is_a_change_too() {
    let scene = Scene::new(EventName::PreToolUse);
    std::fs::remove_file(scene.script()).unwrap();
    let gone = scene.engine.fire(bash("ls")).await.message();
    assert!(gone.ends_with("guard.sh is gone or unreadable since the session began"), "{gone}");

    let dir = tempfile::tempdir().unwrap();
    let engine = engine([pre("guard")], &Arc::new(Table::default()));
    engine.pin(files_of(&dir));
    std::fs::write(dir.path().join("guard.sh"), "new").unwrap();
    let new = engine.fire(bash("ls")).await.message();
    assert!(new.ends_with("guard.sh was not there when the session began"), "{new}");
}

#[tokio::test]
async fn outside_of_calls_the_operator_is_told_and_nothing_is_blocked() {
    let scene = Scene::new(EventName::Stop);
    scene.change("two");
    let outcome = scene.engine.fire(firing(EventName::Stop, json!({}))).await;
    assert!(!outcome.is_denied());
    assert_eq!(rows(&outcome), [(0, None, Some("script_changed"))]);
    assert!(scene.table.commands().is_empty(), "it does not run");
    assert_eq!(outcome.messages.len(), 1);
    assert!(outcome.messages[0].1.ends_with("changed since the session began; it does not run"));
}

#[tokio::test]
async fn a_person_who_allows_a_change_is_asked_once_and_the_script_runs() {
    let scene = Scene::new(EventName::PreToolUse);
    let person = scene.person(true);
    scene.change("two");
    let outcome = scene.engine.fire(bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, Some(0), None)]);
    assert!(incidents(&outcome)[0].1.ends_with("; its new version is allowed by user"));
    scene.engine.fire(bash("ls")).await;
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].event, asked[0].command.as_str()), (EventName::PreToolUse, "guard"));
    assert_ne!(asked[0].before, asked[0].now);
}

/// Allows every change, and rewrites the script before answering the first question.
struct ChangedWhileAsked(PathBuf, Person);

impl ConfirmScriptChange for ChangedWhileAsked {
    fn may_run<'a>(&'a self, change: &'a ScriptChange) -> HandlerFuture<'a, Option<&'static str>> {
        if self.1.asked.lock().unwrap().is_empty() {
            std::fs::write(&self.0, "three").unwrap();
        }
        self.1.may_run(change)
    }
}

#[tokio::test]
async fn an_answer_does_not_count_for_a_script_that_changed_while_it_was_given() {
    let scene = Scene::new(EventName::PreToolUse);
    let person = Person { allows: true, ..Person::default() };
    let person = Arc::new(ChangedWhileAsked(scene.script(), person));
    scene.engine.set_script_confirmer(Arc::clone(&person) as _);
    scene.change("two");
    let outcome = scene.engine.fire(bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, None, Some("script_changed"))]);
    assert!(outcome.is_denied() && incidents(&outcome)[0].1.ends_with("; it does not run"), "{outcome:?}");
    assert!(scene.table.commands().is_empty());
    // The next call asks about what is there now.
    assert!(!scene.engine.fire(bash("ls")).await.is_denied());
    let asked = person.1.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert_ne!(asked[0].now, asked[1].now);
}

#[tokio::test]
async fn a_person_who_refuses_a_change_is_asked_again_about_the_next_one() {
    let scene = Scene::new(EventName::PreToolUse);
    let person = scene.person(false);
    for (text, questions) in [("two", 1), ("two", 1), ("three", 2)] {
        scene.change(text);
        assert!(scene.engine.fire(bash("ls")).await.is_denied());
        assert_eq!(person.asked.lock().unwrap().len(), questions);
    }
    scene.change("one");
    assert!(!scene.engine.fire(bash("ls")).await.is_denied(), "what it was runs again");
}

#[tokio::test]
async fn the_script_of_a_hook_behind_the_tool_denies_the_call_before_it() {
    let scene = Scene::new(EventName::PostToolUse);
    scene.change("two");
    let outcome = scene.engine.fire(bash("ls")).await;
    assert!(outcome.is_denied());
    assert!(outcome.message().ends_with("changed since the session began"));
    assert!(outcome.runs.is_empty(), "the hook itself was not due");
}

#[tokio::test]
async fn the_script_of_a_hook_that_comes_later_is_pinned_when_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("guard.sh");
    std::fs::write(&script, "one").unwrap();
    let engine = engine([], &Arc::new(Table::default()));
    engine.pin(files_of(&dir));
    std::fs::write(&script, "two").unwrap();
    engine.register([pre("guard")]);
    assert!(!engine.fire(bash("ls")).await.is_denied());
    std::fs::write(&script, "three").unwrap();
    assert!(engine.fire(bash("ls")).await.is_denied());
}
