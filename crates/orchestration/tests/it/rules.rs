//! Rules and modes on the path of a call.

use crate::scene::*;
use ona_api::Authority;
use serde_json::json;

#[tokio::test]
async fn an_allow_rule_lets_a_call_run_and_is_named_in_its_row() {
    let mut scene = setting().permissions(json!({"allow": ["Bash(touch:*)"]})).open();
    assert!(!scene.bash("touch out").await.denied);
    assert!(scene.exists("out") && scene.asked().is_empty());
    assert_eq!(scene.sql("SELECT json_extract(detail,'$.decision.rule') FROM events"), ["Bash(touch:*)"]);
    assert!(scene.decisions().is_empty(), "nothing was in question");
}

#[tokio::test]
async fn a_deny_rule_refuses_and_tells_hooks() {
    let mut scene =
        setting().permissions(json!({"deny": ["Bash(rm:*)"]})).hook("PermissionDenied", "touch told").open();
    let finished = scene.bash("rm x").await;
    assert!(finished.denied && finished.result.is_error());
    assert!(finished.result.content.contains("Bash(rm:*)"), "{}", finished.result.content);
    assert_eq!(scene.decisions(), ["deny rule"]);
    assert!(scene.exists("told") && !scene.ran());
}

#[tokio::test]
async fn an_ask_rule_asks_also_where_the_mode_allows_everything() {
    let permissions = json!({"ask": ["Bash(touch:*)"], "defaultMode": "bypassPermissions"});
    let mut scene = setting().permissions(permissions).open();
    assert!(scene.bash("touch out").await.denied);
    assert!(matches!(&scene.asked()[0].by, Authority::Rule(rule) if rule == "Bash(touch:*)"));
    assert!(scene.asked()[0].suggestions.is_empty(), "no allow rule would lift it");
    scene.bash("true").await;
    assert_eq!(scene.asked().len(), 1);
}

/// What rules, a hook and a mode say, and who decides in the end.
#[tokio::test]
async fn the_strictest_of_rules_hook_and_mode_decides() {
    let (allow, ask, deny) = (Some("allow"), Some("ask"), Some("deny"));
    let cases = [
        // allow, ask, deny rule; hook; mode => source of the decision
        (true, false, false, None, "default", "allowed"),
        (true, true, false, None, "default", "asked"),
        (true, true, true, None, "default", "denied"),
        (false, false, false, None, "default", "asked"),
        (false, false, false, None, "bypassPermissions", "allowed"),
        (false, false, false, None, "dontAsk", "denied"),
        (true, false, false, None, "dontAsk", "allowed"),
        (false, false, true, None, "bypassPermissions", "denied"),
        (false, false, false, allow, "default", "allowed"),
        (false, true, false, allow, "default", "asked"),
        (false, false, true, allow, "default", "denied"),
        (true, false, false, ask, "default", "asked"),
        (false, false, false, ask, "bypassPermissions", "asked"),
        (true, false, false, deny, "bypassPermissions", "denied"),
    ];
    for case in cases {
        let (allows, asks, denies, hook, mode, expected) = case;
        let rule = |there: bool| if there { json!(["Bash(true)"]) } else { json!([]) };
        let permissions = json!({"allow": rule(allows), "ask": rule(asks), "deny": rule(denies), "defaultMode": mode});
        let mut setting = setting().permissions(permissions);
        if let Some(decision) = hook {
            setting = setting.rules_with(decision, "");
        }
        let mut scene = setting.open();
        let finished = scene.bash("true").await;
        let came = match (scene.asked().len(), finished.denied) {
            (1, _) => "asked",
            (_, true) => "denied",
            (_, false) => "allowed",
        };
        assert_eq!(came, expected, "{case:?}");
    }
}

#[tokio::test]
async fn the_mode_that_accepts_edits_asks_for_other_things() {
    let mut scene = setting().permissions(json!({"defaultMode": "acceptEdits"})).open();
    assert!(!scene.write("a.txt").await.denied);
    assert!(scene.exists("a.txt") && scene.asked().is_empty());
    scene.bash("curl http://127.0.0.1:1").await;
    assert_eq!(scene.asked().len(), 1);
}

#[tokio::test]
async fn a_question_offers_the_rule_that_would_answer_it_for_good() {
    let mut scene = setting().open();
    scene.bash("npm test").await;
    let asked = &scene.asked()[0];
    let offered = serde_json::to_value(&asked.suggestions).unwrap();
    assert_eq!(offered[0]["type"], "addRules");
    assert_eq!(offered[0]["behavior"], "allow");
    assert_eq!(offered[0]["rules"][0]["toolName"], "Bash");
}

#[tokio::test]
async fn a_path_is_judged_where_it_leads() {
    let mut scene = setting().permissions(json!({"deny": ["Read(./secret/**)"], "allow": ["Read(./**)"]})).open();
    scene.file("secret/key", "k3y");
    std::os::unix::fs::symlink(scene.path("secret"), scene.path("open")).unwrap();
    let finished = scene.call("Read", json!({"file_path": scene.path("open/key")})).await;
    assert!(finished.denied, "{:?}", finished.result);
}
