//! No way around the phases (section 8.2): what an agent could try, each as a test. Cases
//! of the attack list carry their ids.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ona");

/// Everything an operator could have left open.
fn permissive() -> Value {
    json!({"defaultMode": "bypassPermissions",
           "allow": ["Bash", "Write", "Edit", "NotebookEdit", "Read", "Glob", "Agent", "EnterPlanMode"]})
}

fn conversation(ona: &Ona, phase: &str) {
    if !ona.db().exists() {
        ona.run(["db", "init"]).expect_code(0);
    }
    let project = ona.project().display().to_string();
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?2, ?1)", [phase, &project]);
}

fn draft(ona: &Ona) {
    ona.execute("INSERT INTO plans(conversation_id, content, hash) VALUES ('c', 'p', 'h')", []);
}

/// Phase and the status of every plan.
fn standing(ona: &Ona) -> (String, Vec<Value>) {
    let phase = ona.value("SELECT phase FROM conversations WHERE id='c'").as_str().unwrap().to_owned();
    (phase, ona.column("SELECT status FROM plans ORDER BY id"))
}

fn bash(ona: &Ona, command: &str) -> Value {
    ona.eval_with("Bash", json!({"command": command}), &["--conversation", "c", "--yes"])
}

#[test]
fn m_4_a_subagent_is_in_the_phase_of_its_conversation() {
    let mut ona = ona();
    ona.file(
        ".ona/agents/worker.md",
        "---\nname: worker\ndescription: works\ntools: Bash, Write, EnterPlanMode, ExitPlanMode\n---\nWork.\n",
    );
    let script = [
        call("Agent", json!({"description": "do", "prompt": "do it", "subagent_type": "worker"})),
        call("Bash", json!({"command": "touch a"})),
        call("ExitPlanMode", json!({"plan": "mine"})),
        say("I could not."),
        say("ok"),
    ];
    let model = ona.model(Wire::Messages, script);
    ona.home_file(".ona/settings.json", json!({"permissions": permissive()}).to_string());
    conversation(&ona, "planning");
    ona.run(["-p", "go", "--conversation", "c"]).expect_code(0);
    assert!(model.request(2).last_message().contains("Denied: phase is planning and no approved plan exists"), "M-4");
    // Approval is asked of the operator by the main agent, not by its helpers.
    assert!(!model.request(1).tool_names().iter().any(|name| name.ends_with("PlanMode")));
    assert!(model.request(3).last_message().contains("Unknown tool ExitPlanMode"));
    assert!(!ona.exists("a"));
    assert_eq!(standing(&ona), ("planning".into(), vec![]));
}

#[test]
fn hooks_that_allow_or_rewrite_open_neither_the_gate_nor_the_plan() {
    let mut ona = ona();
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "touch b"}}});
    let plan = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"plan": "of a hook"}}});
    let hook = |matcher: &str, output: &Value| json!({"hook_event_name": "PreToolUse", "matcher": matcher, "command": format!("echo '{output}'")});
    let script = [
        call("Bash", json!({"command": "touch a"})),
        call("ExitPlanMode", json!({"plan": "of the model"})),
        say("No way."),
    ];
    let model = ona.model(Wire::Messages, script);
    conversation(&ona, "planning");
    ona.settings(
        json!({"hooks": [hook("Bash", &allow), hook("ExitPlanMode", &plan)], "permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go", "--conversation", "c"]).expect_code(0);
    assert!(model.request(1).last_message().contains("no approved plan exists"));
    assert!(model.request(2).last_message().contains("Plan 1 waits for the operator's approval"));
    assert!(!ona.exists("a") && !ona.exists("b"));
    assert_eq!(standing(&ona), ("planning".into(), vec![json!("draft")]));
    assert_eq!(ona.value("SELECT content FROM plans"), "of a hook", "what a hook made of it is what waits");
}

#[test]
fn an_answer_given_in_advance_leaves_an_approved_plan_behind() {
    let hook = json!([{"hook_event_name": "PermissionRequest", "matcher": "ExitPlanMode", "command":
        format!("echo '{}'", json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}))}]);
    for (settings, source) in [
        (json!({"permissions": {"allow": ["ExitPlanMode"]}}), Value::Null),
        (json!({"permissions": {"defaultMode": "bypassPermissions"}}), json!("mode")),
        (json!({"permissions": {"allow": ["EnterPlanMode"]}, "hooks": hook}), json!("hook")),
    ] {
        let mut ona = ona();
        let script = [call("EnterPlanMode", json!({})), call("ExitPlanMode", json!({"plan": "p"})), say("ok")];
        let _model = ona.model(Wire::Messages, script);
        conversation(&ona, "idle");
        let mut settings = settings;
        let allow = &mut settings["permissions"]["allow"];
        if allow.is_null() {
            *allow = json!([]);
        }
        allow.as_array_mut().unwrap().push(json!("EnterPlanMode"));
        ona.settings(settings.clone());
        ona.run(["-p", "go", "--conversation", "c"]).expect_code(0);
        assert_eq!(standing(&ona), ("implement".into(), vec![json!("approved")]), "{settings}");
        let logged = ona.column("SELECT json_extract(reason_json,'$.source') FROM tool_permission_log");
        assert_eq!(logged.first().cloned().unwrap_or_default(), source, "{settings}");
    }
}

#[test]
fn the_agents_shell_can_not_approve_transit_or_bring_its_own_settings() {
    let ona = ona();
    ona.settings(json!({"permissions": permissive()}));
    conversation(&ona, "implement");
    draft(&ona);
    let evil = ona.root().join("evil");
    std::fs::create_dir_all(evil.join(".ona")).unwrap();
    let allow = json!({"permissions": {"allow": ["ExitPlanMode", "Bash"], "defaultMode": "bypassPermissions"}});
    std::fs::write(evil.join(".ona/settings.json"), allow.to_string()).unwrap();
    let evil = evil.display();
    let exit = r#"'{"tool":"ExitPlanMode","input":{"plan":"mine"},"conversation_id":"c"}'"#;
    let before = ona.value("SELECT json FROM settings_snapshot");
    for command in [
        format!("{PROGRAM} plan approve 1"),
        format!("{PROGRAM} --transition test --conversation c"),
        format!("{PROGRAM} --transition planning --conversation c"),
        format!("{PROGRAM} --transition done --approve --conversation c"),
        format!("{PROGRAM} --eval {exit} --yes"),
        format!("{PROGRAM} --eval {exit} --yes --settings '{allow}'"),
        format!("{PROGRAM} --eval {exit} --allowedTools ExitPlanMode"),
        format!("{PROGRAM} --eval {exit} --dangerously-skip-permissions"),
        format!("{PROGRAM} --settings '{allow}' settings show"),
        format!("HOME={evil} {PROGRAM} -p hello --conversation c"),
        format!("HOME={evil} {PROGRAM} settings import"),
        format!("env -u ONA_AGENT_DB {PROGRAM} plan approve 1"),
        format!("env -i PATH=/usr/bin AGENT_SDLC_DB={} {PROGRAM} plan approve 1", ona.db().display()),
        format!("AGENT_SDLC_DB=/nowhere {PROGRAM} --db {} plan approve 1", ona.db().display()),
        format!("bash -c 'unset ONA_AGENT_DB; exec {PROGRAM} plan approve 1'"),
        format!("setsid -w env -u ONA_AGENT_DB {PROGRAM} plan approve 1"),
    ] {
        bash(&ona, &command);
        assert_eq!(standing(&ona), ("implement".into(), vec![json!("draft")]), "{command}");
        assert_eq!(ona.value("SELECT json FROM settings_snapshot"), before, "{command}");
    }
}

#[test]
fn the_mark_names_one_database_and_no_other() {
    let ona = ona();
    ona.settings(json!({"permissions": permissive()}));
    conversation(&ona, "implement");
    // A test of the product inside the product: operator on its own scratch database.
    let scratch = ona.tmp().join("scratch.db");
    let scratch = scratch.display();
    let command = format!(
        "export AGENT_SDLC_DB={scratch}; {PROGRAM} db init >/dev/null; \
         sqlite3 {scratch} \"INSERT INTO conversations(id, project_dir, phase) VALUES ('x', '/tmp', 'implement')\"; \
         {PROGRAM} --transition test --conversation x"
    );
    let line = bash(&ona, &command);
    assert_eq!(line["is_error"], false, "{line}");
    // That database does not lead to the live one.
    let inner = json!({"tool": "Bash", "input": {"command": format!("env -u ONA_AGENT_DB AGENT_SDLC_DB={} {PROGRAM} --transition test --conversation c", ona.db().display())}});
    bash(&ona, &format!("AGENT_SDLC_DB={scratch} {PROGRAM} --eval '{inner}' --yes"));
    assert_eq!(standing(&ona).0, "implement");
}

#[test]
fn n_1_the_phase_can_not_be_written_into_the_live_database() {
    let ona = ona();
    ona.settings(json!({"permissions": permissive()}));
    conversation(&ona, "implement");
    draft(&ona);
    let db = ona.db();
    std::os::unix::fs::symlink(&db, ona.project().join("soft.db")).unwrap();
    std::fs::hard_link(&db, ona.project().join("hard.db")).unwrap();
    let folder = db.parent().unwrap().display().to_string();
    let db = db.display();
    let set = "UPDATE conversations SET phase='done'; UPDATE plans SET status='approved'";
    for command in [
        format!("sqlite3 {db} \"{set}\""),
        format!("sqlite3 \"$AGENT_SDLC_DB\" \"{set}\""),
        format!("sqlite3 \"$ONA_AGENT_DB\" \"{set}\""),
        format!("sqlite3 soft.db \"{set}\""),
        format!("sqlite3 hard.db \"{set}\""),
        format!("echo \"{set};\" | sqlite3 {db}"),
        format!("sqlite3 {db} <<'E'\n{set};\nE"),
        format!("cd {folder} && sqlite3 ona.db \"{set}\""),
        format!("sqlite3 file:{db}?mode=rw \"{set}\""),
        format!("sqlite3 'file:{}' \"{set}\"", db.to_string().replace("ona.db", "%6fna%2Edb")),
        format!("sqlite3 :memory: \"ATTACH '{db}' AS x; UPDATE x.conversations SET phase='done'\""),
        format!("sqlite3 x.db '.open {db}' \"{set}\""),
        format!("sqlite3 -cmd '.open {db}' x.db \"{set}\""),
        format!("printf '%s\\n' '.open {db}' \"{set};\" | sqlite3 x.db"),
        format!("sqlite3 x.db <<'E'\nATTACH '{db}' AS x; UPDATE x.conversations SET phase='done';\nE"),
        format!(
            "echo \"ATTACH '{db}' AS x; UPDATE x.conversations SET phase='done';\" >s.sql; sqlite3 x.db '.read s.sql'"
        ),
        "python3 -c \"import sqlite3,os; c=sqlite3.connect(os.environ['AGENT_SDLC_DB']); c.executescript('x')\""
            .to_owned(),
        format!("ln -s {db} other.db; sqlite3 other.db \"{set}\""),
        format!("ln {db} other.db; sqlite3 other.db \"{set}\""),
        format!("cp {db} x.db; sqlite3 x.db \"{set}\"; cp x.db {db}"),
        format!("cp {db} x.db; sqlite3 x.db \"{set}\"; mv x.db {db}"),
        format!("cat x.db > {db}"),
        format!("(sleep 0.01; sqlite3 {db} \"{set}\") & wait"),
    ] {
        assert_eq!(bash(&ona, &command)["is_error"], true, "N-1 {command}");
        assert_eq!(standing(&ona), ("implement".into(), vec![json!("draft")]), "N-1 {command}");
    }
    for (tool, input) in [
        ("Write", json!({"file_path": ona.db(), "content": ""})),
        ("Write", json!({"file_path": "soft.db", "content": ""})),
        ("Write", json!({"file_path": "hard.db", "content": ""})),
        ("Edit", json!({"file_path": "hard.db", "old_string": "implement", "new_string": "done"})),
    ] {
        let line = ona.eval_with(tool, input, &["--conversation", "c", "--yes"]);
        assert_eq!(line["is_error"], true, "{line}");
    }
    assert_eq!(standing(&ona), ("implement".into(), vec![json!("draft")]));
}

const PLAN: &str = "# P\n\n## Success criteria\n\n- SC-1: ./tool says yes\n";
const TEST: &str = "# traces: SC-1\n# title: It says yes\nout=$(./tool) || exit 1\n[ \"$out\" = yes ] || exit 1\n";

/// In phase test with an accepted test that was never run.
fn untested(ona: &Ona, tool: &str) -> String {
    ona.settings(json!({"permissions": permissive(), "sdlc": {"publicApi": {"entryPoints": ["./tool"]}}}));
    conversation(ona, "planning");
    let plan = ona.home_file("PLAN.md", PLAN);
    let test = ona.home_file("test.sh", TEST);
    ona.run(["plan", "import", plan.to_str().unwrap(), "--conversation", "c"]).expect_code(0);
    ona.run(["plan", "approve", "1"]).expect_code(0);
    ona.run(["--transition", "implement", "--conversation", "c"]).expect_code(0);
    ona.file("tool", tool);
    ona.shell("chmod +x tool");
    ona.run(["--transition", "test", "--conversation", "c"]).expect_code(0);
    let added = ona.run(["test", "add", test.to_str().unwrap(), "--conversation", "c"]).expect_code(0).json();
    added["test_case_id"].as_str().unwrap().to_owned()
}

#[test]
fn m_8_to_m_10_evidence_is_what_the_runner_saw_and_nothing_else() {
    let ona = ona();
    let case = untested(&ona, "#!/bin/sh\necho no\n");
    for (id, command) in [
        ("M-8", "echo 'test result: ok. 10 passed'".to_owned()),
        (
            "M-8",
            format!("echo '{{\"run_id\":\"x\",\"cases\":[{{\"id\":\"{case}\",\"passed\":true,\"exit_code\":0}}]}}'"),
        ),
        ("M-9", "cargo test | tail -1; true".to_owned()),
        ("M-10", "alias cargo=true; shopt -s expand_aliases; cargo test; true".to_owned()),
        ("M-10", format!("{PROGRAM} test run --conversation c; true")),
        ("M-10", format!("env -u ONA_AGENT_DB {PROGRAM} test run --conversation c; true")),
        ("M-10", format!("{PROGRAM} test add {} --conversation c; true", ona.home().join("test.sh").display())),
        ("M-10", format!("{PROGRAM} test generate --conversation c; true")),
    ] {
        assert_eq!(bash(&ona, &command)["is_error"], false, "{id} {command}");
        assert_eq!(ona.value("SELECT count(*) FROM sdlc_test_runs"), 0, "{id} {command}");
        let ran = ona.run(["--transition", "verify", "--conversation", "c"]).expect_code(1);
        assert!(ran.stderr.contains(&case), "{id} {command}: {ran:?}");
    }
    // What the runner saw is that it does not hold.
    ona.run(["test", "run", "--conversation", "c"]).expect_code(1);
    let ran = ona.run(["--transition", "verify", "--conversation", "c"]).expect_code(1);
    assert!(ran.stderr.contains("SC-1") && ran.stderr.contains(&case), "{ran:?}");
    assert_eq!(standing(&ona).0, "test");
}

#[test]
fn done_is_the_operators_word_on_the_report_he_saw() {
    let ona = ona();
    untested(&ona, "#!/bin/sh\necho yes\n");
    ona.run(["test", "run", "--conversation", "c"]).expect_code(0);
    ona.run(["--transition", "verify", "--conversation", "c"]).expect_code(0);
    let ran = ona.run(["--transition", "done", "--conversation", "c"]).expect_code(1);
    assert!(ran.stderr.contains("SC-1") && ran.stderr.contains("repeat with --approve"), "{ran:?}");
    for command in [
        format!("{PROGRAM} --transition done --approve --conversation c"),
        format!("yes | {PROGRAM} --transition done --conversation c"),
        format!("env -u ONA_AGENT_DB {PROGRAM} --transition done --approve --conversation c"),
    ] {
        bash(&ona, &command);
        assert_eq!(standing(&ona), ("verify".into(), vec![json!("approved")]), "{command}");
    }
    // The agent's calls came after the tests; what is approved must be what is there.
    ona.run(["--transition", "done", "--approve", "--conversation", "c"]).expect_code(1);
    assert_eq!(standing(&ona).0, "verify");
}
