//! TodoWrite, and the hooks that hear of it (DEC-137).

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};

fn todo(content: &str, status: &str) -> Value {
    json!({"content": content, "status": status, "activeForm": format!("Doing {content}")})
}

fn write(ona: &Ona, todos: &[Value]) -> Value {
    let call = json!({"tool": "TodoWrite", "input": {"todos": todos}, "session_id": "s"});
    ona.run(["--eval", &call.to_string()]).expect_code(0).json()
}

fn stored(ona: &Ona) -> Value {
    let value = ona.value("SELECT value FROM state WHERE key='todos:s'");
    serde_json::from_str(value.as_str().unwrap()).unwrap()
}

fn with_hooks(ona: &Ona, hooks: Value) {
    ona.settings(json!({"permissions": {"allow": ["TodoWrite"]}, "hooks": hooks}));
}

#[test]
fn the_list_is_replaced_and_entries_keep_their_names() {
    let ona = ona();
    with_hooks(&ona, json!([]));
    write(&ona, &[todo("a", "pending"), todo("b", "in_progress")]);
    let line = write(&ona, &[todo("c", "pending"), todo("b", "completed")]);
    assert_eq!(line["content"], "1 of 2 done\n[ ] c\n[x] b");
    let named: Vec<_> =
        stored(&ona).as_array().unwrap().iter().map(|item| (item["id"].clone(), item["content"].clone())).collect();
    assert_eq!(named, [(json!("t3"), json!("c")), (json!("t2"), json!("b"))]);
    assert!(stored(&ona)[0]["activeForm"] == "Doing c" && stored(&ona)[1]["status"] == "completed");
}

#[test]
fn hooks_hear_of_new_and_finished_entries() {
    let ona = ona();
    let hook = |event: &str| json!({"hook_event_name": event, "command": "cat >> told", "shell": "sh"});
    with_hooks(&ona, json!([hook("TaskCreated"), hook("TaskCompleted")]));
    write(&ona, &[todo("a", "pending")]);
    write(&ona, &[todo("a", "completed"), todo("b", "pending")]);
    let told: Vec<Value> = ona.read("told").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts: Vec<_> = told
        .iter()
        .map(|one| [&one["hook_event_name"], &one["task_id"], &one["task_subject"], &one["task_description"]])
        .collect();
    let expected = [
        [json!("TaskCreated"), json!("t1"), json!("a"), json!("Doing a")],
        [json!("TaskCompleted"), json!("t1"), json!("a"), json!("Doing a")],
        [json!("TaskCreated"), json!("t2"), json!("b"), json!("Doing b")],
    ];
    assert_eq!(facts, expected.each_ref().map(|row| row.each_ref()));
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE hook_event LIKE 'Task%'"), 3);
}

#[test]
fn a_hook_that_blocks_leaves_the_list_as_it_was() {
    let ona = ona();
    let guard = "grep -q tests && { echo 'run them first' >&2; exit 2; }; true";
    with_hooks(&ona, json!([{"hook_event_name": "TaskCompleted", "command": guard, "shell": "sh"}]));
    write(&ona, &[todo("tests", "in_progress")]);
    let line = write(&ona, &[todo("tests", "completed"), todo("more", "pending")]);
    assert_eq!(
        (&line["is_error"], &line["content"]),
        (&json!(true), &json!("Refused by TaskCompleted hook\n[0] run them first"))
    );
    assert_eq!((stored(&ona).as_array().unwrap().len(), &stored(&ona)[0]["status"]), (1, &json!("in_progress")));
}

#[test]
fn a_list_that_says_nothing_is_rejected() {
    let ona = ona();
    with_hooks(&ona, json!([]));
    for bad in [
        json!({"content": " ", "status": "pending"}),
        json!({"content": "a", "status": "later"}),
        json!({"content": "a"}),
    ] {
        assert_eq!(write(&ona, std::slice::from_ref(&bad))["is_error"], true, "{bad}");
    }
    assert_eq!(ona.value("SELECT count(*) FROM state WHERE key LIKE 'todos:%'"), 0);
}
