//! Behavioural tests from outside: added, run, reported, and the gate they open.
//!
//! Cases that only the runner is asked about are put into their table by SQL, so that
//! these tests say nothing about the lint.

use crate::ona;
use ona_testkit::{Ona, RunOutput, finish};
use serde_json::{Value, json};

const PLAN: &str = "# Greeter\n\n## Success criteria\n\n- greet prints hello\n- **AC-7** greet exits 0\n";
const GREETS: &str = "# traces: SC-1\n# title: it greets\nout=$(./greet)\ntest \"$out\" = hello || exit 1\n";
const EXITS: &str = "# traces: AC-7\n# title: it ends well\nout=$(./greet)\ntest \"$?:$out\" = 0:hello || exit 1\n";

/// A conversation `c` in phase test, its plan approved, its program written.
fn tested() -> Ona {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    ona.settings(json!({"sdlc": {"publicApi": {"entryPoints": ["./greet", "greet"]}}}));
    let project = ona.project();
    ona.execute(
        "INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?1, 'planning')",
        [project.to_str().unwrap()],
    );
    ona.file(".gitignore", "build/\n");
    ona.file("plan.md", PLAN);
    ona.run(["plan", "import", "plan.md", "--conversation", "c"]).expect_code(0);
    ona.run(["plan", "approve", "1"]).expect_code(0);
    go(&ona, "implement").expect_code(0);
    program(&ona, "hello");
    go(&ona, "test").expect_code(0);
    ona
}

fn program(ona: &Ona, says: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = ona.file("greet", format!("#!/bin/sh\necho {says}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn go(ona: &Ona, to: &str) -> RunOutput {
    ona.run(["--transition", to, "--conversation", "c"])
}

/// A case by SQL; its digest is that of its script.
fn case(ona: &Ona, id: &str, criterion: Option<&str>, script: &str) {
    ona.execute(
        "INSERT OR REPLACE INTO sdlc_test_cases(id, conversation_id, plan_id, criterion_id, title, script, script_sha256) \
         VALUES (?1, 'c', 1, ?2, 'title of ' || ?1, ?3, '')",
        (id, criterion, script),
    );
}

/// Both criteria with a passing case.
fn covered() -> Ona {
    let ona = tested();
    case(&ona, "t1", Some("SC-1"), GREETS);
    case(&ona, "t2", Some("AC-7"), EXITS);
    ona
}

fn run(ona: &Ona) -> RunOutput {
    ona.run(["test", "run", "--conversation", "c"])
}

fn run_json(ona: &Ona) -> Value {
    ona.run(["test", "run", "--conversation", "c", "--json"]).json()
}

fn phase(ona: &Ona) -> Value {
    ona.value("SELECT phase FROM conversations WHERE id = 'c'")
}

/// What one case printed, run alone.
fn printed(ona: &Ona, script: &str) -> Value {
    case(ona, "probe", None, script);
    let ran = ona.run(["test", "run", "probe", "--conversation", "c", "--json"]).json();
    ran["cases"][0].clone()
}

fn refused(ona: &Ona, to: &str, words: &str) {
    let events = "SELECT count(*) FROM events WHERE conversation_id = 'c'";
    let (before, count) = (phase(ona), ona.value(events));
    let ran = go(ona, to).expect_code(1);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains(words), "{words:?} is not in {}", ran.stderr);
    assert_eq!((phase(ona), ona.value(events)), (before, count));
}

#[test]
fn approval_and_implement_keep_what_was_promised_and_the_files() {
    let ona = tested();
    let criteria = "SELECT plan_id, criterion_id, ordinal, text FROM sdlc_criteria ORDER BY ordinal";
    let promised = [
        vec![json!(1), json!("SC-1"), json!(1), json!("greet prints hello")],
        vec![json!(1), json!("AC-7"), json!(2), json!("greet exits 0")],
    ];
    assert_eq!(ona.rows(criteria), promised);
    assert_eq!(
        ona.column("SELECT path FROM sdlc_manifest WHERE conversation_id = 'c' ORDER BY path"),
        [json!(""), json!(".gitignore"), json!("plan.md")]
    );
    // A plan that was approved by SQL promises the same, as soon as it is needed.
    ona.execute("DELETE FROM sdlc_criteria", []);
    refused(&ona, "verify", "no test for SC-1, AC-7");
    case(&ona, "t1", Some("SC-1"), GREETS);
    run(&ona).expect_code(0);
    assert_eq!(ona.rows(criteria), promised);
    // Later SQL on the text changes nothing of it.
    ona.execute("UPDATE plans SET content = 'nothing'", []);
    let report = ona.run(["test", "report", "--conversation", "c", "--json"]).expect_code(0).json();
    assert_eq!(report["criteria"].as_array().unwrap().len(), 2);
}

#[test]
fn a_plan_that_promises_nothing_is_approved_with_a_warning() {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', '/', 'planning')", []);
    ona.file("plan.md", "# Plan\n- do it\n");
    ona.run(["plan", "import", "plan.md", "--conversation", "c"]).expect_code(0);
    let ran = ona.run(["plan", "approve", "1"]).expect_code(0);
    assert!(ran.stderr.contains("cannot reach verify"), "{}", ran.stderr);
    ona.execute("UPDATE conversations SET phase = 'test'", []);
    refused(&ona, "verify", "the approved plan has no success criteria");
}

#[test]
fn a_result_is_stale_when_a_file_of_the_project_has_changed() {
    let ona = covered();
    run(&ona).expect_code(0);
    // A call that can change nothing leaves a result fresh.
    ona.eval_with("Read", json!({"file_path": "plan.md"}), &["--conversation", "c"]);
    program(&ona, "goodbye");
    refused(&ona, "verify", "t1 was run before the project's files changed (SC-1), t2 was run before");
    // Put back, it is what was tested.
    program(&ona, "hello");
    // What git would ignore, and our own report, are not changes.
    ona.file("build/out", "x");
    ona.run(["test", "report", "--conversation", "c", "--html", "report.html"]).expect_code(0);
    go(&ona, "verify").expect_code(0);
    // Unless something is hidden under its name.
    ona.file("report.html", "other");
    let ran = ona.run(["--transition", "done", "--conversation", "c", "--approve"]).expect_code(1);
    assert!(ran.stderr.contains("t1 was run before the project's files changed"), "{}", ran.stderr);
}

#[test]
fn rules_hooks_and_the_floor_hold_inside_tests() {
    let ona = tested();
    ona.settings(json!({
        "permissions": {"deny": ["Bash(curl *)"], "ask": ["Bash(./greet)"]},
        "hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "grep -q forbidden && { echo not that >&2; exit 2; }; exit 0"}],
    }));
    case(&ona, "asked", Some("SC-1"), GREETS);
    case(&ona, "denied", Some("SC-1"), "touch /dev/null\ncurl http://127.0.0.1:1/\n");
    case(&ona, "hooked", Some("SC-1"), "echo forbidden");
    let ran = run(&ona).expect_code(1);
    assert!(ran.stderr.contains("1 passed, 2 failed, 3 in all"), "{}", ran.stderr);
    assert_eq!(
        ona.rows("SELECT test_case_id, exit_code, completed_at, stderr_text FROM sdlc_test_runs ORDER BY id"),
        [
            vec![json!("asked"), json!(0), ona.value("SELECT completed_at FROM sdlc_test_runs LIMIT 1"), json!("")],
            vec![json!("denied"), json!(null), json!(null), json!("Denied by permission rule Bash(curl *)")],
            vec![json!("hooked"), json!(null), json!(null), json!("Denied by PreToolUse hook\n[0] not that")],
        ]
    );
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE hook_event = 'PreToolUse'"), 3);
    refused(&ona, "verify", "denied was refused or interrupted (SC-1), hooked was refused or interrupted");

    // A hook that rewrites a test has refused it.
    let rewrite = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "exit 0"}}});
    ona.settings(json!({"hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": format!("echo '{rewrite}'")}]}));
    let ran = printed(&ona, "exit 1");
    let why = "A hook changed the input: a behavioural test runs as it is recorded or not at all";
    assert_eq!((&ran["exit_code"], &ran["stderr"]), (&json!(null), &json!(why)));

    // DEC-183: typing `ona test run` answers what a mode asks and not what the floor asks.
    ona.settings(json!({}));
    let ran = printed(&ona, &format!("rm -rf {}\nexit 0\n", ona.project().display()));
    assert_eq!(ran["refused"], true, "{ran}");
    let why = ran["stderr"].as_str().unwrap();
    assert!(why.contains("nobody can be asked about a test") && why.contains("only a person"), "{ran}");
    assert!(ona.exists("greet"));
}

#[test]
fn a_test_can_not_change_the_project_or_its_result_does_not_count() {
    let ona = covered();
    case(&ona, "t1", Some("SC-1"), "echo spoilt > spoilt.txt; exit 0");
    let ran = run_json(&ona);
    assert_eq!(ran["cases"][0]["exit_code"], 0);
    let sandbox =
        ona.value("SELECT DISTINCT json_extract(detail, '$.sandbox') FROM events WHERE event_type = 'test_run'");
    match sandbox.as_str() {
        Some("bwrap") => assert!(!ona.exists("spoilt.txt"), "{ran:#}"),
        _ => {
            assert_eq!(ran["project_changed"], true);
            refused(&ona, "verify", "t1 was run before the project's files changed");
        }
    }
}

#[test]
fn declared_build_outputs_can_be_written_and_are_no_change() {
    let ona = covered();
    ona.settings(json!({"sdlc": {"buildOutputs": ["out"]}}));
    ona.file("out/old", "");
    case(&ona, "t1", Some("SC-1"), "echo built > out/new");
    let ran = run_json(&ona);
    assert_eq!((&ran["totals"]["passed"], &ran["project_changed"]), (&json!(2), &json!(false)), "{ran:#}");
    assert_eq!(ona.read("out/new"), "built\n");
    go(&ona, "verify").expect_code(0);
    ona.settings(json!({"sdlc": {"buildOutputs": ["."]}}));
    let ran = run(&ona).expect_code(2);
    assert!(ran.stderr.contains("sdlc.buildOutputs"), "{}", ran.stderr);
}

#[test]
fn everything_a_test_started_ends_with_it() {
    let ona = tested();
    ona.settings(json!({"sdlc": {"testTimeoutSeconds": 1}}));
    let script = format!("sleep 1000 & echo $! > {}; echo begun; wait", ona.tmp().join("pid").display());
    let ran = printed(&ona, &script);
    assert_eq!((&ran["timed_out"], &ran["exit_code"], &ran["stdout"]), (&json!(true), &json!(null), &json!("begun\n")));
    assert_eq!(ona.rows("SELECT exit_code, timed_out FROM sdlc_test_runs"), [vec![json!(null), json!(1)]]);
    assert!(is_gone(&ona), "after a timeout");
    let script = format!("sleep 1000 & echo $! > {}; echo begun", ona.tmp().join("pid").display());
    assert_eq!(printed(&ona, &script)["exit_code"], 0);
    assert!(is_gone(&ona), "after its own end");
}

/// Whether the process whose number a case wrote down has ended.
fn is_gone(ona: &Ona) -> bool {
    let pid = std::fs::read_to_string(ona.tmp().join("pid")).unwrap();
    match std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => true,
    }
}

#[test]
fn a_mebibyte_of_each_stream_is_kept() {
    let ona = tested();
    let ran = printed(&ona, "head -c 1100000 /dev/zero | tr '\\0' x; head -c 1048576 /dev/zero | tr '\\0' y >&2");
    let (stdout, stderr) = (ran["stdout"].as_str().unwrap(), ran["stderr"].as_str().unwrap());
    assert_eq!(stdout.len(), 1_048_576 + "[SDLC_TRUNCATED]".len());
    assert!(stdout.ends_with("x[SDLC_TRUNCATED]"));
    assert_eq!(stderr.len(), 1_048_576);
}

#[test]
fn an_interrupted_run_leaves_whole_rows_and_exit_code_130() {
    let ona = covered();
    let mark = ona.tmp().join("begun");
    case(&ona, "t2", Some("AC-7"), &format!("echo before; touch {}; sleep 1000; exit 0", mark.display()));
    case(&ona, "t3", Some("AC-7"), EXITS);
    let mut child = ona.command(["test", "run", "--conversation", "c", "--json"]).spawn().unwrap();
    ona.wait_for(mark.to_str().unwrap(), &mut child);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let ran = finish(child, b"").expect_code(130);
    assert_eq!(ran.json()["interrupted"], true);
    assert_eq!(
        ona.rows("SELECT test_case_id, exit_code, completed_at IS NULL, stdout_text FROM sdlc_test_runs ORDER BY id"),
        [vec![json!("t1"), json!(0), json!(0), json!("")], vec![json!("t2"), json!(null), json!(1), json!("before\n")]]
    );
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type = 'interrupted'"), 1);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result'"), 2);
    refused(&ona, "verify", "t2 was refused or interrupted (AC-7), t3 was not run");
}

#[test]
fn the_agents_shell_can_neither_add_nor_run_nor_approve() {
    let ona = covered();
    ona.file("t.sh", GREETS);
    run(&ona).expect_code(0);
    go(&ona, "verify").expect_code(0);
    let count = "SELECT (SELECT count(*) FROM sdlc_test_runs), (SELECT count(*) FROM sdlc_test_cases), (SELECT count(*) FROM events)";
    let before = ona.rows(count);
    let mut agent = ona;
    let db = agent.db().to_str().unwrap().to_owned();
    agent.env("ONA_AGENT_DB", db);
    agent.run(["test", "run", "--conversation", "c"]).expect_code(1);
    agent.run(["test", "add", "t.sh", "--conversation", "c"]).expect_code(1);
    agent.run(["--transition", "done", "--conversation", "c", "--approve"]).expect_code(1);
    agent.run(["test", "report", "--conversation", "c"]).expect_code(0);
    assert_eq!(agent.rows(count), before);
}

#[test]
fn an_added_script_is_traced_and_takes_the_place_of_its_older_self() {
    let ona = tested();
    ona.file("t.sh", GREETS);
    let added = ona.run(["test", "add", "t.sh", "--conversation", "c"]).expect_code(0).json();
    assert_eq!((&added["criterion_id"], &added["title"]), (&json!("SC-1"), &json!("it greets")));
    ona.file("t.sh", format!("{GREETS}test \"$(./greet | wc -l)\" = 1 || exit 1\n"));
    let again = ona.run(["test", "add", "t.sh", "--conversation", "c"]).expect_code(0).json();
    assert_eq!(again["retired"], json!([added["test_case_id"]]));
    // The same once more changes nothing.
    let same = ona.run(["test", "add", "t.sh", "--conversation", "c"]).expect_code(0).json();
    assert_eq!((&same["test_case_id"], &same["retired"]), (&again["test_case_id"], &json!([])));
    assert_eq!(
        ona.rows("SELECT criterion_id, status, plan_id FROM sdlc_test_cases ORDER BY rowid"),
        [vec![json!("SC-1"), json!("retired"), json!(1)], vec![json!("SC-1"), json!("accepted"), json!(1)]]
    );
    // A criterion on the command line stands in for the line that is missing.
    ona.file("bare.sh", EXITS.replace("# traces: AC-7\n", ""));
    let bare = ona.run(["test", "add", "bare.sh", "--criterion", "AC-7", "--conversation", "c"]).expect_code(0).json();
    assert_eq!(bare["criterion_id"], "AC-7");
    // The script survives its file.
    std::fs::remove_file(ona.project().join("t.sh")).unwrap();
    std::fs::remove_file(ona.project().join("bare.sh")).unwrap();
    run(&ona).expect_code(0);
    go(&ona, "verify").expect_code(0);
}

#[test]
fn a_script_is_refused_for_what_is_wrong_with_it_and_leaves_no_row() {
    let ona = tested();
    let add = |name: &str, script: &str, flags: &[&str]| {
        ona.file(name, script);
        let args = ["test", "add", name, "--conversation", "c"].into_iter().chain(flags.iter().copied());
        ona.run(args.collect::<Vec<_>>())
    };
    let ran = add("a.sh", "./greet | grep hello || exit 1\n", &[]).expect_code(1);
    assert!(ran.stderr.contains("L01"), "{}", ran.stderr);
    let ran = add("b.sh", &GREETS.replace("SC-1", "SC-9"), &[]).expect_code(2);
    assert!(ran.stderr.contains("no success criterion SC-9") && ran.stderr.contains("SC-1, AC-7"), "{}", ran.stderr);
    let ran = add("c.sh", GREETS, &["--criterion", "AC-7"]).expect_code(2);
    assert!(ran.stderr.contains("traces SC-1, not AC-7"), "{}", ran.stderr);
    add("d.sh", GREETS, &["--conversation", "nobody"]).expect_code(2);
    ona.run(["test", "add", "nowhere.sh", "--conversation", "c"]).expect_code(2);
    ona.run(["test", "run", "T-nobody", "--conversation", "c"]).expect_code(2);
    assert_eq!(ona.value("SELECT count(*) FROM sdlc_test_cases"), 0);
    assert!(run(&ona).expect_code(1).stderr.contains("no tests to run"));
    ona.execute("UPDATE plans SET status = 'draft'", []);
    add("e.sh", GREETS, &[]).expect_code(1);
    refused(&ona, "verify", "has no approved plan");
}
