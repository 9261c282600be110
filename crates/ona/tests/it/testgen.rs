//! The test generator from outside (section 8.5.1, DEC-123): what it is told, what it must
//! never be told, and what becomes of its answers.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, ScriptedTurn, Wire, say, status};
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

fn answer(text: impl AsRef<str>) -> ScriptedTurn {
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
fn generator(ona: &mut Ona, answers: impl IntoIterator<Item = ScriptedTurn>) -> ModelServer {
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
    assert!(model.request(1).last_message().contains("- SC-1: it had no test"));
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

    // Without a model the test phase begins and says what is missing.
    let ona = crate::ona();
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
