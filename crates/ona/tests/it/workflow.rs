//! Phases, plans and the gate from the command line (sections 8.1 to 8.3).

use crate::ona;
use ona_testkit::Ona;
use serde_json::json;

fn conversation(ona: &Ona, phase: &str) {
    if !ona.db().exists() {
        ona.run(["db", "init"]).expect_code(0);
    }
    let project = ona.project();
    let sql = "INSERT OR REPLACE INTO conversations(id, project_dir, phase) VALUES ('c', ?1, ?2)";
    ona.execute(sql, [project.to_str().expect("a plain path"), phase]);
}

fn go(ona: &Ona, to: &str) -> i32 {
    ona.run(["--transition", to, "--conversation", "c"]).code
}

fn phase(ona: &Ona) -> String {
    ona.value("SELECT phase FROM conversations WHERE id='c'").as_str().unwrap().to_owned()
}

/// Section 8.8, word for word.
#[test]
fn the_templates_of_the_specification_pass() {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    ona.shell(include_str!("../templates/8.8.1.sh")).expect_code(0);
    ona.shell(include_str!("../templates/8.8.3.sh")).expect_code(0);
    // Its second command must fail (DEC-102), which `bash -e` takes for the end of
    // the script; everything else in it is checked by `|| exit 1`.
    ona.lenient_shell(include_str!("../templates/8.8.2.sh")).expect_code(0);
    assert_eq!(ona.value("SELECT phase FROM conversations WHERE id='test-conv-1'"), "test");
}

#[test]
fn a_refused_transition_writes_nothing() {
    let ona = ona();
    conversation(&ona, "implement");
    assert_eq!((go(&ona, "verify"), go(&ona, "done"), go(&ona, "implement"), go(&ona, "idle")), (1, 1, 1, 1));
    assert_eq!(
        (phase(&ona).as_str(), ona.value("SELECT count(*) FROM events WHERE conversation_id='c'")),
        ("implement", json!(0))
    );
    assert_eq!(go(&ona, "test"), 0);
    assert_eq!(
        ona.column("SELECT event_type FROM events WHERE conversation_id='c' ORDER BY id"),
        ["implementation_complete", "phase_changed"]
    );
    assert_eq!((go(&ona, "verify"), phase(&ona).as_str()), (1, "test"), "M-7: no results, no verify");
}

#[test]
fn implement_is_reached_only_with_an_approved_plan() {
    let ona = ona();
    conversation(&ona, "idle");
    assert_eq!(go(&ona, "planning"), 0);
    assert_eq!(go(&ona, "implement"), 1);
    ona.file("PLAN.md", "# Plan\n");
    let id = ona.run(["plan", "import", "PLAN.md", "--conversation", "c"]).expect_code(0).json()["plan_id"].to_string();
    assert_eq!(go(&ona, "implement"), 1);
    ona.run(["plan", "approve", &id]).expect_code(0);
    ona.run(["plan", "approve", &id]).expect_code(1);
    ona.file("PLAN.md", "# Something else\n");
    assert_eq!(ona.run(["plan", "show", &id]).stdout, "# Plan\n");
    assert_eq!(go(&ona, "implement"), 0);
    // M-6: a new cycle needs a new approval.
    assert_eq!(go(&ona, "planning"), 0);
    assert_eq!(ona.value("SELECT status FROM plans"), "superseded");
    assert_eq!(go(&ona, "implement"), 1);
}

#[test]
fn while_planning_the_four_tools_are_closed_whatever_rules_and_modes_say() {
    let ona = ona();
    ona.file("a.txt", "a\n");
    ona.file("n.ipynb", r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#);
    ona.settings(json!({"permissions": {"defaultMode": "bypassPermissions", "allow": ["Bash", "Write", "Edit", "NotebookEdit", "Read"]}}));
    conversation(&ona, "planning");
    let calls = [
        ("Write", json!({"file_path": "w.txt", "content": "x"})),
        ("Edit", json!({"file_path": "a.txt", "old_string": "a", "new_string": "b"})),
        ("Bash", json!({"command": "python3 -c \"open('b','w').write('x')\""})),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "new_source": "1", "cell_type": "code", "edit_mode": "insert"}),
        ),
    ];
    let run =
        |tool: &str, input: &serde_json::Value| ona.eval_with(tool, input.clone(), &["--conversation", "c", "--yes"]);
    for (tool, input) in &calls {
        assert_eq!(run(tool, input)["content"], "Denied: phase is planning and no approved plan exists", "{tool}");
    }
    assert_eq!((ona.exists("w.txt"), ona.read("a.txt").as_str(), ona.exists("b")), (false, "a\n", false));
    assert_eq!(run("Read", &json!({"file_path": "a.txt"}))["is_error"], false);
    assert_eq!(
        ona.value(
            "SELECT count(*) FROM tool_permission_log WHERE json_extract(reason_json,'$.source')='planning_gate'"
        ),
        4
    );
    ona.execute("INSERT INTO plans(conversation_id, content, hash, status) VALUES ('c', 'p', 'h', 'approved')", []);
    for (tool, input) in &calls {
        assert_eq!(run(tool, input)["is_error"], false, "{tool}");
    }
}

#[test]
fn the_agents_own_shell_has_no_say_in_phases_and_plans() {
    let mut ona = ona();
    conversation(&ona, "planning");
    ona.execute("INSERT INTO plans(conversation_id, content, hash) VALUES ('c', 'p', 'h')", []);
    let link = ona.root().join("link.db");
    std::os::unix::fs::symlink(ona.db(), &link).unwrap();
    let hard = ona.root().join("hard.db");
    std::fs::hard_link(ona.db(), &hard).unwrap();
    for live in [ona.db(), link, hard] {
        ona.env("ONA_AGENT_DB", live.to_str().unwrap());
        for args in [
            &["plan", "approve", "1"][..],
            &["--transition", "implement", "--conversation", "c"],
            &["--transition", "idle", "--conversation", "c"],
            &["settings", "import"],
            &["--trust", "settings", "show"],
        ] {
            let ran = ona.run(args).expect_code(1);
            assert!(ran.stderr.contains("by the operator only"), "{args:?} {}", ran.stderr);
        }
        let call = json!({"tool": "Bash", "input": {"command": "touch ran"}}).to_string();
        let ran = ona.run(["--eval", &call, "--yes"]).expect_code(0).json();
        assert_eq!(ran["is_error"], true, "{ran}");
        ona.run(["--eval", &call, "--permission-mode", "bypassPermissions"]).expect_code(1);
    }
    assert!(!ona.exists("ran"));
    assert_eq!(ona.value("SELECT status FROM plans"), "draft");
    assert_eq!(
        ona.value("SELECT json_extract(reason_json,'$.source') FROM tool_permission_log LIMIT 1"),
        "no_operator"
    );
}

#[test]
fn bash_children_know_whose_database_is_live() {
    let ona = ona();
    let line = ona.eval("Bash", json!({"command": "echo $AGENT_SDLC_DB; echo $ONA_AGENT_DB"}));
    let db = ona.db();
    assert_eq!(line["content"], format!("{0}\n{0}\n", db.display()));
}

#[test]
fn dropping_the_mark_from_the_environment_does_not_make_an_operator() {
    let ona = ona();
    conversation(&ona, "implement");
    let program = env!("CARGO_BIN_EXE_ona");
    ona.settings(json!({"permissions": {"allow": ["Bash"]}}));
    for command in [
        format!("env -u ONA_AGENT_DB {program} --transition test --conversation c"),
        format!("(unset ONA_AGENT_DB; {program} --transition test --conversation c)"),
        format!("env -i AGENT_SDLC_DB={} HOME=/tmp {program} --transition test --conversation c", ona.db().display()),
    ] {
        let line = ona.eval("Bash", json!({"command": command}));
        assert_eq!(line["is_error"], true, "{command}: {line}");
        assert_eq!(phase(&ona), "implement", "{command}");
    }
}

#[test]
fn an_approval_withdrawn_while_the_transition_waits_counts() {
    let ona = ona();
    conversation(&ona, "planning");
    ona.execute("INSERT INTO plans(conversation_id, content, hash, status) VALUES ('c', 'p', 'h', 'approved')", []);
    let withdraw = "{ echo \"BEGIN IMMEDIATE; UPDATE plans SET status='superseded';\"; sleep 0.7; echo 'COMMIT;'; } | sqlite3 \"$AGENT_SDLC_DB\" & \
                    sleep 0.2; ona --transition implement --conversation c; code=$?; wait; exit $code";
    assert_eq!(ona.lenient_shell(withdraw).code, 1);
    assert_eq!(phase(&ona), "planning");
}
