//! EnterPlanMode and ExitPlanMode from outside: phases, drafts, approval, mode (DEC-113, DEC-115).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const PLAN: &str = "# Shout\n\n## Success criteria\n\n- SC-1: shout.sh prints HELLO\n";

fn conversation(ona: &Ona, phase: &str) {
    if !ona.db().exists() {
        ona.run(["db", "init"]).expect_code(0);
    }
    let project = ona.project().display().to_string();
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?2, ?1)", [phase, &project]);
}

fn phase(ona: &Ona) -> Value {
    ona.value("SELECT phase FROM conversations WHERE id='c'")
}

fn eval(ona: &Ona, tool: &str, input: Value) -> (bool, String) {
    let line = ona.eval_with(tool, input, &["--conversation", "c"]);
    (line["is_error"].as_bool().unwrap(), line["content"].as_str().unwrap().to_owned())
}

#[test]
fn an_approval_given_in_another_terminal_needs_no_second_question() {
    let mut ona = ona();
    let script = [
        call("EnterPlanMode", json!({})),
        call("Write", json!({"file_path": "a", "content": "x"})),
        call("ExitPlanMode", json!({"plan": PLAN})),
        say("The plan waits."),
        call("ExitPlanMode", json!({})),
        call("Write", json!({"file_path": "a", "content": "x"})),
        say("Done."),
    ];
    let model = ona.model(Wire::Messages, script);
    let seen = ona.root().join("modes");
    let hook = format!("jq -r '.tool_name+\" \"+.permission_mode' >> {}", seen.display());
    ona.home_file(
        ".ona/settings.json",
        json!({
            "permissions": {"defaultMode": "acceptEdits"},
            "hooks": [{"hook_event_name": "PreToolUse", "matcher": "", "command": hook}],
        })
        .to_string(),
    );
    ona.run(["-p", "plan it", "--session-id", "s"]).expect_code(0);
    assert_eq!(
        model.request(2).last_message().lines().next().unwrap().split(": ").nth(2).unwrap(),
        "phase is planning and no approved plan exists"
    );
    assert!(
        model
            .request(3)
            .last_message()
            .contains("Denied: there is nobody to ask. Plan 1 waits for the operator's approval"),
        "{}",
        model.request(3).last_message()
    );
    assert_eq!(
        ona.rows("SELECT c.phase, p.status FROM conversations c, plans p"),
        [[json!("planning"), json!("draft")]]
    );
    assert!(model.request(0).tool_names().contains(&"EnterPlanMode".to_owned()));
    assert!(model.request(0).tool_names().contains(&"ExitPlanMode".to_owned()));

    ona.run(["plan", "approve", "1"]).expect_code(0);
    ona.run(["-p", "go on", "-r", "s"]).expect_code(0);
    assert_eq!(ona.value("SELECT phase FROM conversations"), "implement");
    assert_eq!(ona.read("a"), "x", "acceptEdits is back");
    assert_eq!(
        std::fs::read_to_string(seen).unwrap().lines().collect::<Vec<_>>(),
        ["EnterPlanMode acceptEdits", "Write plan", "ExitPlanMode plan", "ExitPlanMode plan", "Write acceptEdits",]
    );
    assert_eq!(
        ona.column("SELECT decision||' '||json_extract(reason_json,'$.source') FROM tool_permission_log ORDER BY id"),
        ["deny planning_gate", "deny headless", "allow human"]
    );
}

#[test]
fn plan_mode_ends_when_somebody_else_ends_planning() {
    let mut ona = ona();
    // The operator, in another terminal, while the turn goes on: the model's second request is held until that is done.
    let script = [
        call("EnterPlanMode", json!({})),
        call("Glob", json!({"pattern": "*"})),
        call("Write", json!({"file_path": "a", "content": "x"})),
        say("ok"),
    ];
    let model = ona.model(Wire::Messages, script);
    ona.home_file(".ona/settings.json", json!({"permissions": {"defaultMode": "acceptEdits"}}).to_string());
    ona.file("PLAN.md", PLAN);
    let commands = [
        ona.command(["plan", "import", "PLAN.md", "--conversation", "mine"]),
        ona.command(["plan", "approve", "1"]),
        ona.command(["--transition", "implement", "--conversation", "mine"]),
    ];
    let (asked, operator) = (AtomicUsize::new(0), Mutex::new(commands));
    model.on_request(move |_| {
        if asked.fetch_add(1, Ordering::SeqCst) == 2 {
            for command in operator.lock().unwrap().iter_mut() {
                assert!(command.output().unwrap().status.success(), "{command:?}");
            }
        }
    });
    ona.run(["db", "init"]).expect_code(0);
    ona.execute(
        "INSERT INTO conversations(id, project_dir) VALUES ('mine', ?1)",
        [ona.project().display().to_string()],
    );
    ona.run(["-p", "plan", "--conversation", "mine"]).expect_code(0);
    assert_eq!(ona.read("a"), "x");
}

#[test]
fn a_denied_or_refused_submission_leaves_planning_as_it_was() {
    let ona = ona();
    conversation(&ona, "planning");
    ona.settings(json!({"permissions": {"deny": ["ExitPlanMode"]}}));
    let (error, content) = eval(&ona, "ExitPlanMode", json!({"plan": PLAN}));
    assert_eq!((error, content.as_str()), (true, "Denied by permission rule ExitPlanMode"));
    ona.settings(json!({"hooks": [{"hook_event_name": "PreToolUse", "matcher": "ExitPlanMode", "command": "echo 'no plans today' >&2; exit 2"}]}));
    let (error, content) = eval(&ona, "ExitPlanMode", json!({"plan": PLAN}));
    assert!(error && content.contains("no plans today"), "{content}");
    assert_eq!((phase(&ona), ona.value("SELECT count(*) FROM plans")), (json!("planning"), json!(0)));
}

#[test]
fn hooks_see_and_may_edit_the_plan_that_is_approved() {
    let ona = ona();
    conversation(&ona, "planning");
    ona.file("PLAN.md", PLAN);
    ona.run(["plan", "import", "PLAN.md", "--conversation", "c"]).expect_code(0);
    let seen = ona.root().join("plan");
    let edited = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"plan": "# Edited"}}});
    ona.settings(json!({"hooks": [
        {"hook_event_name": "PreToolUse", "matcher": "ExitPlanMode", "command": format!("jq -r .tool_input.plan > {}", seen.display())},
        {"hook_event_name": "PreToolUse", "matcher": "ExitPlanMode", "command": format!("echo '{edited}'")},
    ]}));
    let (error, content) = eval(&ona, "ExitPlanMode", json!({}));
    assert!(!error && content.ends_with("# Edited"), "{content}");
    assert_eq!(std::fs::read_to_string(seen).unwrap().trim(), PLAN.trim());
    assert_eq!(
        ona.rows("SELECT content, status FROM plans ORDER BY id"),
        [[json!(PLAN), json!("superseded")], [json!("# Edited"), json!("approved")]]
    );
}

#[test]
fn criteria_are_stored_with_the_approval_and_their_absence_is_said() {
    let ona = ona();
    conversation(&ona, "planning");
    assert!(!eval(&ona, "ExitPlanMode", json!({"plan": PLAN})).1.contains("cannot reach verify"));
    assert_eq!(
        ona.rows("SELECT plan_id, criterion_id, text FROM sdlc_criteria"),
        [[json!(1), json!("SC-1"), json!("shout.sh prints HELLO")]]
    );
    eval(&ona, "EnterPlanMode", json!({}));
    assert!(eval(&ona, "ExitPlanMode", json!({"plan": "# Vague"})).1.contains("cannot reach verify"));
}

#[test]
fn approving_an_approved_plan_says_so_and_changes_nothing() {
    let ona = ona();
    conversation(&ona, "planning");
    let file = ona.home_file("PLAN.md", PLAN);
    ona.run(["plan", "import", file.to_str().unwrap(), "--conversation", "c"]).expect_code(0);
    let first = ona.run(["plan", "approve", "1"]).expect_code(0);
    let rows = "SELECT status, approved_at FROM plans UNION ALL SELECT count(*), '' FROM events";
    let before = ona.rows(rows);
    let again = ona.run(["plan", "approve", "1"]).expect_code(1);
    assert_eq!(ona.rows(rows), before);
    assert!(again.stderr.contains("plan 1 is already approved") && !first.stderr.contains("already"), "{again:?}");
    ona.execute("UPDATE plans SET status='superseded'", []);
    let refused = ona.run(["plan", "approve", "1"]).expect_code(1);
    assert!(refused.stderr.contains("plan 1 is superseded"), "{refused:?}");
}
