//! `ona test lint` from outside (sections 8.5.2, 8.5.3 and 8.8, DEC-124).

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};

const HEADER: &str = "# traces: SC-1\n# title: It does what it should\n";

fn rules(ona: &Ona, script: &str, flags: &[&str]) -> (i32, Vec<String>) {
    ona.file("case.sh", script);
    let ran = ona.run(["test", "lint", "case.sh", "--json"].iter().chain(flags));
    let found: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    (ran.code, found.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect())
}

fn with_header(script: &str) -> String {
    format!("{HEADER}{script}")
}

#[test]
fn findings_name_file_line_rule_and_remedy() {
    let ona = ona();
    ona.file("good.sh", with_header("ona --version | grep -q '^ona ' || exit 1\n"));
    ona.file("bad.sh", with_header("ona --version | grep -q '^ona ' || true\n"));
    let ran = ona.run(["test", "lint", "good.sh", "bad.sh"]).expect_code(1);
    assert_eq!(
        ran.stdout,
        "bad.sh:3: L13 A check can fail without failing the test. Let a failing assertion end the script: `… || exit 1`.\n"
    );
    let ran = ona.run(["test", "lint", "--json", "good.sh", "bad.sh"]).expect_code(1);
    assert_eq!(
        ran.json(),
        json!([{
            "file": "bad.sh",
            "rule": "L13",
            "line": 3,
            "message": "A check can fail without failing the test. Let a failing assertion end the script: `… || exit 1`.",
        }])
    );
    let ran = ona.run(["test", "lint", "good.sh"]).expect_code(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(ona.run(["test", "lint", "good.sh", "--json"]).expect_code(0).json(), json!([]));
}

#[test]
fn what_can_not_be_read_is_no_verdict() {
    let ona = ona();
    ona.file("good.sh", with_header("ona --version | grep -q '^ona ' || exit 1\n"));
    let ran = ona.run(["test", "lint", "good.sh", "missing.sh"]).expect_code(2);
    assert!(ran.stdout.is_empty() && ran.stderr.ends_with("missing.sh\n"), "{}", ran.stderr);
    ona.run(["test", "lint"]).expect_code(2);
    ona.run(["test"]).expect_code(2);
    ona.run(["test", "lint", "."]).expect_code(2);
    let script = with_header("ona --version | grep -q '^ona ' || exit 1\n");
    assert_eq!(ona.run_with_stdin(["test", "lint", "-"], script.as_bytes()).code, 0, "a script may come from stdin");
    ona.file("latin.sh", b"# traces: SC-1\n# title: caf\xe9\nona\n");
    let ran = ona.run(["test", "lint", "latin.sh"]).expect_code(1);
    assert!(ran.stdout.starts_with("latin.sh:2: L02 It is not valid UTF-8."), "{}", ran.stdout);
    ona.file("long.sh", with_header(&"#\n".repeat(40_000)));
    let ran = ona.run(["test", "lint", "long.sh"]).expect_code(1);
    assert!(ran.stdout.starts_with("long.sh:1: L02 It is longer than 64 KiB."), "{}", ran.stdout);
}

#[test]
fn entry_points_are_what_the_settings_declare() {
    let ona = ona();
    let script = with_header("greet Ada | grep -qx 'Hello, Ada!' || exit 1\n");
    assert_eq!(rules(&ona, &script, &[]), (1, vec!["L03".into()]));
    assert_eq!(rules(&ona, &script, &["--entry-point", "greet"]), (0, vec![]));
    assert!(!ona.db().exists(), "looking at a script makes no database");
    ona.settings(json!({"sdlc": {"publicApi": {"entryPoints": ["greet"]}}}));
    assert_eq!(rules(&ona, &script, &[]), (0, vec![]));
    let shadow = with_header("greet() { echo 'Hello, Ada!'; }\nona --version | grep -q '^ona ' || exit 1\n");
    assert_eq!(rules(&ona, &shadow, &[]), (1, vec!["L10".into()]));
}
