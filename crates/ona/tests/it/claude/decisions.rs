//! What a PreToolUse hook decides, alone and among others, and what rules and modes make of it.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

#[test]
fn c8_allow_ask_and_defer_together_ask() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("done")]);
    let hooks = [decides("allow"), decides("ask"), decides("defer")];
    install(&ona, json!({"PreToolUse": [group("Bash", &hooks.each_ref().map(String::as_str))]}));
    let mut talk = ona.attended();
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert_eq!(asked["request"]["decision_reason_type"], "hook");
    let why = asked["request"]["decision_reason"].as_str().unwrap();
    assert!(why.contains("ask it") && why.contains("[User]"), "the reason and whose hook it is: {why}");
    talk.answer(&asked, json!({"behavior": "allow", "updatedInput": asked["request"]["input"]}));
    talk.until_result();
    assert!(ona.exists("ran"));
}

#[test]
fn c33_hooks_see_absolute_paths() {
    let ona = ona();
    ona.file("dir/a.txt", "one\n");
    ona.home_file("h.txt", "one\n");
    install(&ona, json!({"PreToolUse": [group("Read|Edit", &["cat >> pre"])]}));
    for path in ["dir/a.txt", "./dir/../dir/a.txt", "~/h.txt"] {
        ona.eval("Read", json!({ "file_path": path }));
    }
    ona.eval("Edit", json!({"file_path": "dir/a.txt", "old_string": "one", "new_string": "two"}));
    let seen: Vec<_> = dumped(&ona, "pre").iter().map(|event| event["tool_input"]["file_path"].clone()).collect();
    let (in_project, in_home) = (ona.project().join("dir/a.txt"), ona.home().join("h.txt"));
    assert_eq!(seen, [json!(in_project), json!(in_project), json!(in_home), json!(in_project)]);
}
