//! The test generator from outside (section 8.5.1, DEC-123): what it is told, what it must
//! never be told, and what becomes of its answers.

use crate::ona;
use ona_api::digest::sha256_hex;
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, Turn, Wire, call, say, status};
use serde_json::{Value, json};

const PROVIDERS: [(Wire, &str, &str); 3] = [
    (Wire::Messages, "claude_code_subscription", "claude_sonnet_4"),
    (Wire::Chat, "openai_compatible", "gpt_4o"),
    (Wire::Chat, "lm_studio_local", "lm_studio_server_routed"),
];

const PLAN: &str = "# Shout\n\nA tool that shouts.\n\n## Success criteria\n\n- SC-1: ./shout hello prints HELLO\n- SC-2: ./shout without words exits 2\n";

const FIRST: &str = "```bash\n# traces: SC-1\n# title: Shouts a word\nout=$(./shout hello) || exit 1\n[ \"$out\" = HELLO ] || { echo \"$out\" >&2; exit 1; }\n```\n";
const SECOND: &str = "```bash\n# traces: SC-2\n# title: Refuses nothing to shout\ncode=0\n./shout >\"$SDLC_TEST_TMP/out\" 2>\"$SDLC_TEST_TMP/err\" || code=$?\n[ \"$code\" -eq 2 ] || exit 1\ngrep -q usage \"$SDLC_TEST_TMP/err\" || exit 1\n```\n";
const MOCK: &str = "```bash\n# traces: SC-2\n# title: Fakes it\nshout() { echo usage >&2; return 2; }\nexport -f shout\npython3 -c 'from unittest.mock import patch'\nout=$(./shout) || exit 1\n[ \"$out\" = x ] || exit 1\n```\n";

const TOOL: &str = "#!/bin/bash\n# CANARY-SOURCE-1 how it is done\n[ $# -gt 0 ] || { echo 'usage: shout WORD' >&2; exit 2; }\necho \"${1^^}\"\n";

fn answer(text: impl AsRef<str>) -> Turn {
    say(text.as_ref())
}

/// A conversation with the approved plan, in this phase, entered the proper way.
fn conversation(ona: &Ona, plan: &str, to: &str) {
    if !ona.db().exists() {
        ona.run(["db", "init"]).expect_code(0);
    }
    let project = ona.project().display().to_string();
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?1, 'planning')", [project]);
    let file = ona.home_file("PLAN.md", plan);
    ona.run(["plan", "import", file.to_str().unwrap(), "--conversation", "c"]).expect_code(0);
    ona.run(["plan", "approve", "1"]).expect_code(0);
    if to != "planning" {
        ona.run(["--transition", "implement", "--conversation", "c"]).expect_code(0);
    }
    if to == "test" {
        ona.execute("UPDATE conversations SET phase='test'", []);
    }
}

fn declare(ona: &Ona, api: Value) {
    ona.settings(json!({"permissions": {"allow": ["Bash", "Write", "Read"]}, "sdlc": {"publicApi": api}}));
}

fn executable(ona: &Ona, path: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = ona.file(path, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The generator, by a model that says these things.
fn generator(ona: &mut Ona, answers: impl IntoIterator<Item = Turn>) -> ModelServer {
    let model = ona.model(Wire::Messages, answers);
    conversation(ona, PLAN, "test");
    executable(ona, "shout", TOOL);
    declare(ona, json!({"entryPoints": ["./shout"]}));
    model
}

fn generate(ona: &Ona, code: i32) -> Value {
    ona.run(["test", "generate", "--conversation", "c", "--json"]).expect_code(code).json()
}

fn cases(ona: &Ona) -> Vec<Vec<Value>> {
    ona.rows("SELECT criterion_id, title, status FROM sdlc_test_cases ORDER BY rowid")
}

#[test]
fn the_generator_is_told_the_plan_and_public_interfaces_and_nothing_of_the_work() {
    for (wire, provider, model_id) in PROVIDERS {
        let mut ona = ona();
        let canaries = "CANARY-";
        ona.file("CLAUDE.md", "CANARY-INSTRUCTIONS always shout\n");
        ona.file("docs/cli.md", "shout WORD prints the word in capitals (PUBLIC-DOC)\n");
        ona.file("old.txt", "CANARY-OLD-FILE was there before\n");
        ona.lenient_shell(
            "git init -q . && git add -A && git -c user.name=x -c user.email=x@x commit -qm 'CANARY-COMMIT message'",
        )
        .expect_code(0);
        ona.run(["memory", "add", "CANARY-MEMORY shout", "CANARY-MEMORY shout tests criteria words"]).expect_code(0);
        let server = ona.model(
            wire,
            [
                call("Write", json!({"file_path": "shout", "content": TOOL})),
                call("Bash", json!({"command": "chmod +x shout; echo CANARY-TOOL-OUTPUT; echo 'CANARY-BY-SHELL made by the shell' > lib.sh"})),
                answer("CANARY-ASSISTANT done"),
                answer(format!("Here they are.\n{FIRST}{SECOND}")),
            ],
        );
        ona.run(["settings", "import"]).expect_code(0);
        let hook = json!({"hook_event_name": "SessionStart", "matcher": "", "command": "echo CANARY-HOOK-CONTEXT"});
        let prompt_hook =
            json!({"hook_event_name": "UserPromptSubmit", "matcher": "", "command": "echo CANARY-HOOK-CONTEXT"});
        let start_hook =
            json!({"hook_event_name": "SubagentStart", "matcher": "", "command": "echo CANARY-HOOK-CONTEXT"});
        ona.settings(json!({
            "permissions": {"allow": ["Bash", "Write"]},
            "hooks": [hook, prompt_hook, start_hook],
            "model_config": {"provider": provider, "model_id": model_id},
            "sdlc": {"publicApi": {"commands": ["./shout"], "files": ["docs/cli.md"], "entryPoints": ["./shout"]}},
        }));
        conversation(&ona, PLAN, "implement");
        ona.run(["-p", "CANARY-PROMPT do it", "--conversation", "c"]).expect_code(0);
        assert_eq!(server.request_count(), 3, "{provider}");
        // Entering the test phase writes the tests and runs them.
        let ran = ona.run(["--transition", "test", "--conversation", "c"]).expect_code(0);
        assert_eq!(server.request_count(), 4, "{provider}: {ran:?}");

        let request = server.request(3);
        let sent = String::from_utf8(request.body.clone()).unwrap();
        assert!(!sent.contains(canaries), "{provider}: {sent}");
        assert!(request.tool_names().is_empty(), "{provider}");
        let messages = request.json()["messages"].as_array().unwrap();
        let users: Vec<_> = messages.iter().filter(|message| message["role"] == "user").collect();
        assert_eq!((users.len(), messages.iter().filter(|message| message["role"] == "assistant").count()), (1, 0));
        let told = request.last_message();
        for part in [
            "A tool that shouts.",
            "- SC-1: ./shout hello prints HELLO",
            "- SC-2: ./shout without words exits 2",
            "usage: shout WORD",
            "PUBLIC-DOC",
            "CREATE TABLE IF NOT EXISTS transcript_entries",
            "- Read {file_path, offset?, limit?",
        ] {
            assert!(told.contains(part), "{provider}: {part} is not in {told}");
        }

        // A session of its own, whose first row is the prompt; no canary in its rows either.
        let session = ona.value("SELECT DISTINCT generator_session_id FROM sdlc_test_cases");
        let rows = ona.rows(
            &format!(
                "SELECT entry_type, payload_json FROM transcript_entries WHERE session_id={session} ORDER BY sequence"
            )
            .replace('"', "'"),
        );
        assert_eq!(rows[0][0], "user");
        assert!(rows.iter().all(|row| !row[1].as_str().unwrap().contains(canaries)), "{provider}");
        let prompt: Value = serde_json::from_str(rows[0][1].as_str().unwrap()).unwrap();
        let prompt = prompt["content"][0]["text"].as_str().unwrap();
        assert!(told.contains(prompt));
        let detail: Value = serde_json::from_str(
            ona.value("SELECT detail FROM events WHERE event_type='test_generated'").as_str().unwrap(),
        )
        .unwrap();
        assert_eq!(detail["prompt_sha256"], sha256_hex(prompt.as_bytes()));
        assert_eq!(detail["inputs"]["plan"], sha256_hex(PLAN.as_bytes()));
        assert_eq!(detail["inputs"]["file: docs/cli.md"], sha256_hex(ona.read("docs/cli.md").as_bytes()));
        assert_eq!(detail["inputs"]["command: ./shout"], sha256_hex(b"usage: shout WORD\n"));
        assert_eq!(
            ona.value("SELECT json_extract(detail,'$.agent_type') FROM events WHERE event_type='session_created' AND detail LIKE '%test generate%'"),
            "sdlc-test-generator"
        );

        assert_eq!(
            cases(&ona),
            [
                [json!("SC-1"), json!("Shouts a word"), json!("accepted")],
                [json!("SC-2"), json!("Refuses nothing to shout"), json!("accepted")],
            ]
        );
        assert_eq!(
            ona.value("SELECT surfaces FROM sdlc_test_cases WHERE criterion_id='SC-1'"),
            r#"["process_output"]"#
        );
        assert_eq!(ona.column("SELECT exit_code FROM sdlc_test_runs"), [0, 0], "{provider}: {ran:?}");
        ona.run(["--transition", "verify", "--conversation", "c"]).expect_code(0);
    }
}

#[test]
fn a_declared_text_the_implementation_touched_is_refused_before_anything_is_sent() {
    let mut ona = ona();
    ona.file("docs.md", "the words of the interface\n");
    ona.file("written-back.md", "same as before\n");
    ona.lenient_shell("git init -q . && git add -A && git -c user.name=x -c user.email=x@x commit -qm secret")
        .expect_code(0);
    let server = ona.model(Wire::Messages, [answer(format!("{FIRST}{SECOND}"))]);
    conversation(&ona, PLAN, "implement");
    executable(&ona, "shout", TOOL);
    ona.file("new.md", "made by the implementation\n");
    std::os::unix::fs::symlink("new.md", ona.project().join("soft.md")).unwrap();
    std::fs::hard_link(ona.project().join("new.md"), ona.project().join("hard.md")).unwrap();
    let call = json!({"tool": "Write", "input": {"file_path": "written-back.md", "content": "same as before\n"}, "conversation_id": "c"});
    ona.run(["--eval", &call.to_string()]).expect_code(0);
    ona.home_file("outside.md", "x\n");
    let outside = ona.home().join("outside.md").display().to_string();
    for file in [
        "new.md",
        "./docs/../new.md",
        "soft.md",
        "hard.md",
        "shout",
        "written-back.md",
        &outside,
        ".git/COMMIT_EDITMSG",
        "nowhere.md",
        ".",
    ] {
        declare(&ona, json!({"files": [file]}));
        let ran = ona.run(["test", "generate", "--conversation", "c"]).expect_code(1);
        assert!(ran.stderr.contains("sdlc.publicApi"), "{file}: {ran:?}");
    }
    for command in ["git log", "cd .; git show HEAD", "/usr/bin/git log", "./nowhere --help", "true"] {
        declare(&ona, json!({"commands": [command]}));
        let ran = ona.run(["test", "generate", "--conversation", "c"]).expect_code(1);
        assert!(ran.stderr.contains("sdlc.publicApi"), "{command}: {ran:?}");
    }
    assert_eq!((server.request_count(), cases(&ona).len()), (0, 0));
    declare(&ona, json!({"files": ["docs.md"], "entryPoints": ["./shout"]}));
    generate(&ona, 0);
    assert!(server.request(0).last_message().contains("the words of the interface"));
}

#[test]
fn a_line_of_the_implementation_in_a_public_text_stops_everything() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [answer("never asked")]);
    conversation(&ona, PLAN, "test");
    executable(&ona, "shout", TOOL);
    for command in ["cat shout", "sed 's/^/    /' shout", "fold -w 20 shout"] {
        declare(&ona, json!({"commands": [command]}));
        let ran = ona.run(["test", "generate", "--conversation", "c"]).expect_code(1);
        assert!(ran.stderr.contains("holds line") && ran.stderr.contains("of shout"), "{command}: {ran:?}");
    }
    assert_eq!(server.request_count(), 0);
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='isolation_violation'"), 3);
    let details = ona.column("SELECT detail FROM events WHERE event_type='isolation_violation'");
    assert!(details.iter().all(|detail| !detail.as_str().unwrap().contains("CANARY")));
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 0);
}

#[test]
fn a_rejected_test_is_recorded_and_asked_for_again_by_rule() {
    let mut ona = ona();
    let model = generator(&mut ona, [answer(format!("{FIRST}{MOCK}")), answer(SECOND)]);
    let written = generate(&ona, 0);
    assert_eq!(
        cases(&ona),
        [
            [json!("SC-1"), json!("Shouts a word"), json!("accepted")],
            [json!("SC-2"), json!("Refuses nothing to shout"), json!("accepted")],
        ]
    );
    let again = model.request(1).last_message();
    assert!(again.contains("An earlier answer was not accepted") && again.contains("- SC-2: L08."), "{again}");
    assert!(again.contains("# Criteria to cover\n\nSC-2") && !again.contains("Fakes it"), "{again}");
    let rejected = ona.rows("SELECT json_extract(detail,'$.criterion_id'), json_extract(detail,'$.rules'), json_extract(detail,'$.attempt') FROM events WHERE event_type='test_rejected'");
    assert_eq!(rejected.len(), 1);
    assert_eq!((&rejected[0][0], &rejected[0][2]), (&json!("SC-2"), &json!(1)));
    assert!(rejected[0][1].as_str().unwrap().contains("L08"), "{rejected:?}");
    assert_eq!((written["sessions"].as_array().unwrap().len(), &written["uncovered"]), (2, &json!([])));
}

#[test]
fn what_is_rejected_four_times_stays_rejected_and_uncovered() {
    let mut ona = ona();
    let model = generator(
        &mut ona,
        [answer(format!("{FIRST}{MOCK}")), answer(MOCK), answer(MOCK), answer(MOCK), answer("not asked")],
    );
    let written = generate(&ona, 1);
    assert_eq!(model.request_count(), 4);
    assert_eq!(written["uncovered"], json!(["SC-2"]));
    assert_eq!(
        cases(&ona),
        [
            [json!("SC-1"), json!("Shouts a word"), json!("accepted")],
            [json!("SC-2"), json!("Fakes it"), json!("rejected")]
        ]
    );
    assert!(
        ona.value("SELECT reject_reason FROM sdlc_test_cases WHERE status='rejected'")
            .as_str()
            .unwrap()
            .contains("L08")
    );
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='test_rejected'"), 4);
    let ran = ona.run(["--transition", "verify", "--conversation", "c"]).expect_code(1);
    assert!(ran.stderr.contains("SC-2"), "{ran:?}");
}

#[test]
fn answers_in_another_form_are_no_tests() {
    let mut ona = ona();
    let answers = [
        answer("I would test it like this: ./shout hello"),
        answer(FIRST.replace("```bash", "```sh")),
        answer(FIRST.replace("SC-1", "SC-9")),
        answer(format!("{FIRST}{}", &SECOND[..SECOND.len() - 5])),
    ];
    let model = generator(&mut ona, answers);
    assert_eq!(generate(&ona, 1)["uncovered"], json!(["SC-2"]), "the last answer was cut off in its second block");
    assert_eq!(model.request_count(), 4);
    assert!(model.request(1).last_message().contains("- SC-1: there was no test for it"));
}

#[test]
fn a_provider_that_fails_leaves_no_test_behind() {
    for (wire, provider, model_id) in PROVIDERS {
        let mut ona = ona();
        let _server = ona.model(wire, [answer(format!("{FIRST}{MOCK}")), status(401), status(401)]);
        conversation(&ona, PLAN, "test");
        executable(&ona, "shout", TOOL);
        ona.settings(json!({"sdlc": {"publicApi": {"entryPoints": ["./shout"]}}, "model_config": {"provider": provider, "model_id": model_id}}));
        let ran = ona.run(["test", "generate", "--conversation", "c", "--json"]).expect_code(1);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("no tests were written"), "{provider}: {ran:?}");
        assert_eq!(cases(&ona).len(), 0, "{provider}");
        assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type IN ('test_generated', 'test_rejected')"), 0);
        assert_eq!(ona.value("SELECT phase FROM conversations"), "test");
    }
}

#[test]
fn many_criteria_are_asked_for_a_few_at_a_time() {
    let mut ona = ona();
    let criteria: String = (1..=7).map(|n| format!("- SC-{n}: ./shout w{n} prints W{n}\n")).collect();
    let test = |n: usize| {
        FIRST.replace("SC-1", &format!("SC-{n}")).replace("hello", &format!("w{n}")).replace("HELLO", &format!("W{n}"))
    };
    let answers = [answer((1..=5).map(test).collect::<String>()), answer((6..=7).map(test).collect::<String>())];
    let model = ona.model(Wire::Messages, answers);
    conversation(&ona, &format!("# P\n\n## Success criteria\n\n{criteria}"), "test");
    executable(&ona, "shout", TOOL);
    declare(&ona, json!({"entryPoints": ["./shout"]}));
    generate(&ona, 0);
    assert!(model.request(0).last_message().ends_with("SC-1, SC-2, SC-3, SC-4, SC-5"));
    assert!(model.request(1).last_message().ends_with("SC-6, SC-7"));
    assert_eq!(ona.value("SELECT count(*) FROM sdlc_test_cases WHERE status='accepted'"), 7);
}

#[test]
fn asking_for_all_retires_what_is_replaced() {
    let mut ona = ona();
    let other = FIRST.replace("Shouts a word", "Shouts another").replace("hello", "x").replace("HELLO", "X");
    let model = generator(&mut ona, [answer(format!("{FIRST}{SECOND}")), answer(format!("{other}{SECOND}"))]);
    generate(&ona, 0);
    // Everything is covered: nobody is asked.
    generate(&ona, 0);
    assert_eq!(model.request_count(), 1);
    ona.run(["test", "generate", "--all", "--conversation", "c"]).expect_code(0);
    assert_eq!(
        ona.rows("SELECT title, status FROM sdlc_test_cases ORDER BY title"),
        [
            [json!("Refuses nothing to shout"), json!("accepted")],
            [json!("Shouts a word"), json!("retired")],
            [json!("Shouts another"), json!("accepted")],
        ]
    );
}

#[test]
fn what_can_not_be_generated_is_refused_in_a_sentence() {
    let mut ona = ona();
    let model = ona.model(Wire::Messages, [answer("never asked")]);
    ona.run(["test", "generate"]).expect_code(2);
    ona.run(["test", "generate", "--conversation", "nobody"]).expect_code(2);
    conversation(&ona, "# Vague\n", "planning");
    let refused = |code, words: &str| {
        let ran = ona.run(["test", "generate", "--conversation", "c"]).expect_code(code);
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    };
    refused(1, "the phase is planning");
    ona.execute("UPDATE conversations SET phase='test'", []);
    refused(1, "no success criteria");
    ona.execute("UPDATE plans SET content=?1", [PLAN]);
    declare(&ona, json!({"file": ["a"]}));
    refused(2, "no \"file\"");
    declare(&ona, json!({"files": "a"}));
    refused(2, "must be a list of texts");
    ona.execute("UPDATE plans SET status='draft'", []);
    refused(1, "no approved plan");
    assert_eq!(model.request_count(), 0);
}

/// The tour a newcomer takes: `ona demo --sdlc`.
#[test]
fn one_conversation_goes_through_all_phases() {
    let ona = ona();
    let ran = ona.run(["demo", "--sdlc"]).expect_code(0);
    let query = |sql: &str| {
        let ran = ona.lenient_shell(&format!("sqlite3 -separator ' ' \"$TMPDIR\"/ona-demo-*/ona.db \"{sql}\""));
        ran.expect_code(0).stdout.trim_end().to_owned()
    };
    assert_eq!(
        query(
            "SELECT json_extract(detail,'$.from') || '-' || json_extract(detail,'$.to') FROM events WHERE event_type='phase_changed' ORDER BY id"
        ),
        "idle-planning\nplanning-implement\nimplement-test\ntest-verify\nverify-done",
        "{}",
        ran.stdout
    );
    assert_eq!(
        query("SELECT c.phase, p.status, p.completed_at IS NOT NULL FROM conversations c, plans p"),
        "done completed 1"
    );
    assert_eq!(
        query("SELECT criterion_id, status FROM sdlc_test_cases WHERE status='accepted' ORDER BY 1"),
        "SC-1 accepted\nSC-2 accepted"
    );
    // Once with the hasty work, once with the mended one.
    assert_eq!(
        query(
            "SELECT c.criterion_id, r.exit_code FROM sdlc_test_runs r JOIN sdlc_test_cases c ON c.id=r.test_case_id ORDER BY r.id"
        ),
        "SC-1 0\nSC-2 1\nSC-1 0\nSC-2 0"
    );
    assert_eq!(query("SELECT count(*) FROM events WHERE event_type='verify_approved'"), "1");
    assert!(
        query("SELECT json_extract(detail,'$.rules') FROM events WHERE event_type='test_rejected'").contains("L05")
    );
    let refused = ran.stdout.split("test to verify is refused").nth(1).unwrap().lines().nth(2).unwrap();
    assert!(refused.starts_with("  exit 1") && refused.contains("SC-2"), "{refused}");
    for said in ["no approved plan exists", "Plan 1 waits for the operator's approval", "repeat with --approve"] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
}

#[test]
fn without_a_model_the_test_phase_begins_and_says_what_is_missing() {
    let ona = ona();
    conversation(&ona, PLAN, "implement");
    let ran = ona.run(["--transition", "test", "--conversation", "c"]).expect_code(0);
    assert!(ran.stderr.contains("no model can be asked for tests now"), "{ran:?}");
    assert_eq!(ran.json(), json!({"conversation_id": "c", "from": "implement", "to": "test"}));
}

#[test]
fn an_accepted_test_that_a_later_answer_repeats_stays_accepted() {
    let mut ona = ona();
    // It comes again where nobody asked for it: in the answer to a second request, and in a later run.
    let again = || answer(format!("{FIRST}{MOCK}"));
    let model = generator(&mut ona, [again(), again(), again(), again(), answer(format!("{FIRST}{SECOND}"))]);
    let written = generate(&ona, 1);
    assert_eq!(written["uncovered"], json!(["SC-2"]), "{written}");
    let accepted = |ona: &Ona| ona.column("SELECT title FROM sdlc_test_cases WHERE status='accepted' ORDER BY title");
    assert_eq!(accepted(&ona), ["Shouts a word"]);
    let titles: Vec<_> = written["rejected"].as_array().unwrap().iter().map(|case| &case["title"]).collect();
    assert_eq!(titles, ["Fakes it"], "{written}");
    generate(&ona, 0);
    assert_eq!(model.request_count(), 5);
    assert_eq!(accepted(&ona), ["Refuses nothing to shout", "Shouts a word"]);
    let rejected = "SELECT DISTINCT title FROM events JOIN sdlc_test_cases c ON c.id = json_extract(detail,'$.test_case_id') \
                    WHERE event_type='test_rejected'";
    assert_eq!(ona.column(rejected), ["Fakes it"]);
}
