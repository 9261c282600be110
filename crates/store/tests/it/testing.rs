//! Criteria, cases, runs and manifests come back as they were written.

use crate::support::{Db, place};
use ona_api::testing::{CaseStatus, Criterion, ProjectFile, TestCase, TestRun};
use ona_api::{Entry, Group, LoggedEvent, Row, digest};
use ona_store::{Mutation, Store, StoreError};
use serde_json::json;

fn commit(store: &Store, rows: impl Into<Vec<Row>>) -> Result<(), StoreError> {
    store.commit_now(&place("s"), Group(rows.into())).map(drop)
}

fn case(id: &str, criterion: Option<&str>) -> TestCase {
    TestCase {
        id: id.into(),
        plan: 1,
        criterion: criterion.map(str::to_owned),
        title: format!("title of {id}"),
        script: format!("echo {id}\n"),
        surfaces: json!(["process_output"]),
        status: CaseStatus::Accepted,
        reject_reason: None,
        generator_session: None,
    }
}

fn run(case: &str, exit_code: Option<i64>) -> TestRun {
    TestRun {
        case: case.into(),
        run: "run-1".into(),
        exit_code,
        started_at: "2026-01-01 00:00:00".into(),
        ..TestRun::default()
    }
}

#[test]
fn criteria_replace_those_the_plan_had() {
    let db = Db::new();
    let store = db.started();
    let criterion = |id: &str| Criterion { id: id.into(), text: format!("text of {id}") };
    commit(&store, [Row::Criteria { plan: 1, criteria: vec![criterion("B"), criterion("A")] }]).unwrap();
    commit(&store, [Row::Criteria { plan: 2, criteria: vec![criterion("C")] }]).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(reader.criteria(1).unwrap(), [criterion("B"), criterion("A")]);
    commit(&store, [Row::Criteria { plan: 1, criteria: vec![criterion("D")] }]).unwrap();
    assert_eq!(reader.criteria(1).unwrap(), [criterion("D")]);
    assert_eq!(reader.criteria(2).unwrap(), [criterion("C")]);
}

#[test]
fn a_case_is_replaced_by_its_id_and_the_newest_run_counts() {
    let db = Db::new();
    let store = db.started();
    commit(&store, [Row::TestCase(case("t1", Some("SC-1"))), Row::TestCase(case("t2", None))]).unwrap();
    commit(
        &store,
        [Row::TestRun(run("t1", Some(1))), Row::TestRun(run("t2", Some(0))), Row::TestRun(run("t1", Some(0)))],
    )
    .unwrap();
    let reader = store.reader().unwrap();
    let cases = reader.test_cases(1).unwrap();
    assert_eq!(
        cases.iter().map(|stored| stored.case.clone()).collect::<Vec<_>>(),
        [case("t1", Some("SC-1")), case("t2", None)]
    );
    assert_eq!(cases[0].script_sha256, digest::sha256_hex(b"echo t1\n"));
    let latest: Vec<_> = reader.latest_runs(1).unwrap().into_iter().map(|stored| stored.run).collect();
    assert_eq!(latest, [run("t2", Some(0)), run("t1", Some(0))]);

    commit(&store, [Row::TestCaseStatus { id: "t1".into(), to: CaseStatus::Retired }]).unwrap();
    assert_eq!(reader.test_cases(1).unwrap()[0].case.status, CaseStatus::Retired);
    let error = commit(&store, [Row::TestCaseStatus { id: "t9".into(), to: CaseStatus::Retired }]).unwrap_err();
    assert_eq!(error.to_string(), "test case t9 does not exist");
}

#[test]
fn the_digest_of_a_script_is_that_of_the_script_not_of_its_column() {
    let db = Db::new();
    let store = db.started();
    commit(&store, [Row::TestCase(case("t1", Some("SC-1")))]).unwrap();
    db.sql("UPDATE sdlc_test_cases SET script = 'exit 0'");
    assert_eq!(store.reader().unwrap().test_cases(1).unwrap()[0].script_sha256, digest::sha256_hex(b"exit 0"));
}

#[test]
fn an_empty_project_has_a_manifest_too() {
    let db = Db::new();
    let store = db.started();
    let reader = store.reader().unwrap();
    assert_eq!(reader.manifest(&"k".into()).unwrap(), None);
    commit(&store, [Row::Manifest(Vec::new())]).unwrap();
    assert_eq!(reader.manifest(&"k".into()).unwrap(), Some(Vec::new()));
    let file = |path: &str| ProjectFile { path: path.into(), size: 3, sha256: "h".into() };
    commit(&store, [Row::Manifest(vec![file("b"), file("a/c")])]).unwrap();
    assert_eq!(reader.manifest(&"k".into()).unwrap(), Some(vec![file("a/c"), file("b")]));
    assert_eq!(reader.manifest(&"other".into()).unwrap(), None);
}

#[test]
fn written_paths_are_those_asked_for_and_those_a_hook_made_of_them() {
    let db = Db::new();
    let store = db.started();
    let call =
        |id: &str, name: &str, input| Row::Transcript(Entry::ToolUse { id: id.into(), name: name.into(), input });
    let rewritten = json!({"effective_input": {"file_path": "/p/hook"}}).as_object().unwrap().clone();
    commit(
        &store,
        [
            call("c1", "Write", json!({"file_path": "/p/a", "content": ""})),
            call("c2", "Edit", json!({"file_path": "b"})),
            call("c3", "NotebookEdit", json!({"notebook_path": "/p/n.ipynb"})),
            call("c4", "Read", json!({"file_path": "/p/read"})),
            call("c5", "Write", json!({"_raw": 7})),
            Row::Transcript(Entry::InternalHook { fields: rewritten, call: Some("c1".into()) }),
        ],
    )
    .unwrap();
    db.sql("UPDATE transcript_entries SET payload_json = 'broken' WHERE tool_use_id = 'c5'");
    assert_eq!(store.reader().unwrap().written_paths(&"k".into()).unwrap(), ["/p/a", "/p/hook", "/p/n.ipynb", "b"]);
}

#[test]
fn mutations_are_calls_that_change_files_outside_test_runs() {
    let db = Db::new();
    let store = db.started();
    let started = |session: &str, tool: &str| {
        let mut group = Group::default();
        group.push(Row::Session);
        group.log(LoggedEvent::ToolStarted { call: "c".into(), tool: tool.into(), decision: json!({}) });
        store.commit_now(&place(session), group).unwrap();
    };
    for tool in ["Bash", "Read", "Write", "Edit", "NotebookEdit"] {
        started("s", tool);
    }
    started("run-1", "Bash");
    commit(&store, [Row::TestRun(run("t1", Some(0)))]).unwrap();
    db.sql("INSERT INTO events(conversation_id, event_type, detail) VALUES ('k', 'tool_started', 'broken')");
    let reader = store.reader().unwrap();
    let mutation = |event, tool: &str| Mutation { event, tool: tool.into() };
    assert_eq!(
        reader.mutations(&"k".into(), 1).unwrap(),
        [mutation(3, "Write"), mutation(4, "Edit"), mutation(5, "NotebookEdit")]
    );
    assert_eq!(reader.newest_event(&"k".into()).unwrap(), 7);
}

#[test]
fn a_group_over_rows_that_have_moved_on_is_refused() {
    let db = Db::new();
    let store = db.started();
    let mut group = Group::default();
    group.log(LoggedEvent::ImplementationComplete);
    store.commit_now(&place("s"), group).unwrap();
    commit(&store, [Row::NoEventAfter(1), Row::Rating { rating: 5, objective: None }]).unwrap();
    let error = commit(&store, [Row::Rating { rating: 4, objective: None }, Row::NoEventAfter(0)]).unwrap_err();
    assert_eq!(error.to_string(), "something happened in the conversation meanwhile");
    assert_eq!(db.sql("SELECT rating, objective FROM task_ratings"), ["5|NULL"]);
}
