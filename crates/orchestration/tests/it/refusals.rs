//! Calls that end before anything is asked or judged.

use crate::scene::*;
use ona_api::ResultClass;
use serde_json::json;

#[tokio::test]
async fn an_unknown_tool_is_rejected_before_any_hook() {
    let mut scene = setting().hook("PreToolUse", "exit 0").open();
    let finished = scene.call("Teleport", json!({})).await;
    assert_eq!(
        (finished.result.content.as_str(), finished.result.class),
        ("Unknown tool Teleport", ResultClass::Rejected)
    );
    assert!(!finished.denied, "nobody said no");
    assert_eq!(scene.entries(), ["tool_use", "tool_result"]);
    assert!(scene.hook_runs().is_empty() && scene.decisions().is_empty() && scene.events().is_empty());
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_rejected_before_any_hook() {
    let mut scene = setting().hook("PreToolUse", "exit 0").open();
    for (input, names) in [(json!({}), "command"), (json!({"command": "ls", "speed": 1}), "speed"), (json!("ls"), "")] {
        let finished = scene.call("Bash", input.clone()).await;
        assert!(finished.result.is_error() && finished.result.content.contains(names), "{:?}", finished.result);
        assert!(!finished.denied);
    }
    assert!(scene.hook_runs().is_empty() && !scene.ran());
}

#[tokio::test]
async fn an_old_name_of_a_tool_is_the_tool() {
    let mut scene = setting().permissions(json!({"allow": ["TaskOutput"]})).open();
    let finished = scene.call("BashOutput", json!({"task_id": "nothing"})).await;
    assert!(!finished.result.content.starts_with("Unknown tool"), "{}", finished.result.content);
    assert_eq!(scene.sql("SELECT json_extract(detail,'$.tool_name') FROM events"), ["TaskOutput"]);
}

#[tokio::test]
async fn a_model_does_not_answer_its_own_question() {
    let mut scene = setting().permissions(json!({"allow": ["AskUserQuestion"]})).open();
    let mut input = question();
    input["answers"] = json!({"Tea?": "yes"});
    let finished = scene.call("AskUserQuestion", input).await;
    assert!(finished.result.is_error() && !scene.ran());
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn a_list_of_todos_that_says_nothing_is_rejected() {
    let mut scene = setting().permissions(json!({"allow": ["TodoWrite"]})).open();
    for bad in [
        json!({"content": " ", "status": "pending"}),
        json!({"content": "a", "status": "later"}),
        json!({"content": "a"}),
    ] {
        assert!(scene.call("TodoWrite", json!({"todos": [bad]})).await.result.is_error(), "{bad}");
    }
    assert_eq!(scene.sql("SELECT count(*) FROM state WHERE key LIKE 'todos:%'"), ["0"]);
    let todo = json!({"content": "a", "status": "pending", "activeForm": "doing a"});
    assert!(!scene.call("TodoWrite", json!({"todos": [todo]})).await.result.is_error());
    assert_eq!(scene.sql("SELECT count(*) FROM state WHERE key='todos:s1'"), ["1"]);
}

pub(crate) fn question() -> serde_json::Value {
    json!({"questions": [{
        "question": "Tea?", "header": "Drink", "multiSelect": false,
        "options": [{"label": "yes", "description": "tea"}, {"label": "no", "description": "none"}],
    }]})
}
