//! docs/DEVIATIONS.md names what the code refuses and adds, and docs/OPEN_MUSTS.md counts what
//! it lists. Both are read beside the code they speak of.

use crate::ona;
use ona_api::EventKind;
use ona_testkit::model::{Wire, call, say};
use serde_json::json;
use std::collections::HashSet;

const DEVIATIONS: &str = include_str!("../../../../docs/DEVIATIONS.md");
const DECISIONS: &str = include_str!("../../../../docs/DECISIONS.md");
const MUSTS: &str = include_str!("../../../../docs/OPEN_MUSTS.md");
const FLAGS: &str = include_str!("../../src/flags.rs");
const CONFINE: &str = include_str!("../../../trust/src/confine.rs");

/// What stands between two marks, the first time.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{from} is not there"));
    rest.split_once(to).unwrap_or_else(|| panic!("{to} is not there")).0
}

/// The quoted words of a piece of source.
fn quoted(source: &str) -> Vec<&str> {
    source.split('"').skip(1).step_by(2).collect()
}

fn assert_named<'w>(words: impl IntoIterator<Item = &'w str>) {
    let named: HashSet<_> = DEVIATIONS.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).collect();
    let missing: Vec<_> = words.into_iter().filter(|word| !named.contains(word)).collect();
    assert!(missing.is_empty(), "docs/DEVIATIONS.md does not name {missing:?}");
}

#[test]
fn every_id_is_there_once() {
    let ids: Vec<_> = DEVIATIONS.lines().filter_map(|line| line.strip_prefix("| P-")?.split(' ').next()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(ids.len() > 60);
}

#[test]
fn kinds_of_events_beyond_the_closed_list_are_named() {
    let list = between(between(DECISIONS, "### DEC-023", "### "), "closed list: ", ". ");
    let closed: HashSet<_> = list.split(", ").collect();
    assert!(closed.len() == 28 && closed.contains("interrupted"), "{list}");
    let beyond: Vec<_> =
        EventKind::ALL.iter().map(|kind| kind.as_str()).filter(|kind| !closed.contains(kind)).collect();
    assert!(beyond.contains(&"mcp_server_failed"), "{beyond:?}");
    assert_named(beyond);
}

#[test]
fn every_refused_flag_is_named() {
    let table = between(FLAGS, "const REFUSED", "];");
    let flags: Vec<_> = quoted(table).into_iter().filter(|text| text.starts_with("--")).collect();
    assert!(flags.len() > 30, "{flags:?}");
    assert_named(flags.into_iter().chain(["--thinking", "--max-thinking-tokens", "--prompt-suggestions"]));
}

#[test]
fn every_key_and_variable_a_project_may_not_set_is_named() {
    let keys = quoted(between(between(CONFINE, "const OPERATOR_ONLY", ";\n"), "= [", "\n]"));
    assert!(keys.contains(&"apiKeyHelper"), "{keys:?}");
    assert_named(keys);
    for list in ["EXACT", "PREFIXES", "SUFFIXES"] {
        let words = between(between(CONFINE, &format!("const {list}: &str ="), ";\n"), "\"", "\"");
        assert_named(words.split_whitespace().filter(|word| *word != "\\"));
    }
}

#[test]
fn every_built_in_tool_is_offered_in_the_order_of_the_specification() {
    for wire in [Wire::Messages, Wire::Chat] {
        let mut ona = ona();
        let server = ona.model(wire, [call("Brief", json!({"text": "on my way"})), say("done")]);
        let shown = ona.run(["-p", "go"]).expect_code(0);
        assert_eq!(server.request(0).tool_names(), ona_api::tool::BUILTINS);
        assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("done\n", "on my way\n"));
    }
}

#[test]
fn a_socket_that_is_not_used_is_mentioned_once() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("one"), say("two")]);
    assert_eq!(ona.run(["-p", "go"]).expect_code(0).stderr, "");
    ona.env("ANTHROPIC_UNIX_SOCKET", "/run/proxy.sock");
    let said = ona.run(["-p", "go"]).expect_code(0).stderr;
    assert_eq!(said.matches("ANTHROPIC_UNIX_SOCKET is not supported").count(), 1, "{said}");
}

/// `scripts/sdlc-acceptance.sh` over a matrix of one row and a tracker of this text.
fn accepts(musts: &str) -> (i32, String) {
    let ona = ona();
    for folder in ["scripts", "docs"] {
        std::fs::create_dir(ona.project().join(folder)).unwrap();
    }
    let script = include_str!("../../../../scripts/sdlc-acceptance.sh");
    ona.file("scripts/sdlc-acceptance.sh", script);
    ona.file(
        "docs/ACCEPTANCE_MATRIX.md",
        "| id | o | c | command | expected |\n|---|---|---|---|---|\n| A-1 | o | c | `true` | exit 0 |\n",
    );
    ona.file("docs/OPEN_MUSTS.md", musts);
    let ran = ona.lenient_shell("ONA=$(command -v ona) bash scripts/sdlc-acceptance.sh");
    (ran.code, ran.stdout + &ran.stderr)
}

#[test]
fn the_tracker_counts_what_it_lists_and_the_script_looks() {
    assert_eq!(accepts(MUSTS).0, 0, "{:?}", accepts(MUSTS));
    let (head, items) = MUSTS.split_once("\n- not claimed: ").unwrap();
    for (wrong, why) in [
        (MUSTS.replace("Not claimed: ", "Not claimed: 1"), "says 'Open: 0. Not claimed: 1"),
        (format!("{head}{items}"), "and lists 'Open: 0. Not claimed: "),
        (format!("{MUSTS}- not claimed: one more\n"), "and lists"),
        (MUSTS.replace("Open: 0.", "Open: none."), "says ''"),
        (format!("{MUSTS}- something else\n"), "neither open, done nor not claimed"),
        (format!("{MUSTS}and on it goes\n"), "not an item"),
        (MUSTS.replace("Open: 0.", "Open: 1.") + "- [ ] a must\n", "open musts in"),
    ] {
        let (code, said) = accepts(&wrong);
        assert!(code == 1 && said.contains(why), "{why}: {said}");
    }
}
