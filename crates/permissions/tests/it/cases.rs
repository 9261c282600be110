//! Every observed outcome of the reference, and every place where we differ.

use crate::world::{SEED, World};
use ona_api::Ruling;
use ona_api::notation::split_rules;
use ona_settings::PermissionSettings;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Rows whose outcome is ours, not the reference's, and by what right. A deny stands
/// for an ask only where the file is guarded.
const OURS: [(u64, &str, &str); 31] = [
    (14, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (16, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (18, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (20, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (30, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (54, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (58, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (64, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (80, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (82, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (94, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (106, "ask", "DEC-070, DEC-191: nothing proves that it only reads"),
    (220, "deny", "guarded: nothing may change a settings file"),
    (296, "deny", "attack H-7: a deny rule sees into sh -c"),
    (306, "deny", "attack E-3: a deny rule sees into find -exec"),
    (438, "deny", "guarded: nothing may change a settings file"),
    (456, "ask", "5.12 (4), 004-5.12-12: acceptEdits asks for Bash"),
    (458, "ask", "5.12 (4), 004-5.12-12: acceptEdits asks for Bash"),
    (460, "ask", "5.12 (4), 004-5.12-12: acceptEdits asks for Bash"),
    (464, "ask", "5.12 (4), 004-5.12-12: acceptEdits asks for Bash"),
    (604, "ask", "5.12 (4), 004-5.12-12: acceptEdits asks for Bash"),
    (538, "ask", "5.12 (2): any ask list match asks"),
    (544, "ask", "DEC-070, DEC-013: Skill is not in the seeded list"),
    (546, "ask", "DEC-070, DEC-013: Skill is not in the seeded list"),
    (550, "ask", "DEC-070, DEC-013: Skill is not in the seeded list"),
    (566, "deny", "5.12 (4), 004-5.12-13: plan denies Write"),
    (568, "deny", "5.12 (4), 004-5.12-13: plan denies Write"),
    (588, "error", "DEC-074: auto is a configuration error"),
    (590, "error", "DEC-074: auto is a configuration error"),
    (592, "error", "DEC-074: auto is a configuration error"),
    (594, "error", "DEC-074: auto is a configuration error"),
];

#[test]
fn outcomes_are_those_observed_unless_a_decision_says_otherwise() {
    let table: Value = serde_json::from_str(include_str!("../fixtures/permission-cases.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 309);
    let mut ours: BTreeMap<u64, (&str, &str)> = OURS.iter().map(|(id, outcome, why)| (*id, (*outcome, *why))).collect();
    assert_eq!(ours.len(), OURS.len(), "an id is listed twice");
    let mut wrong = Vec::new();
    for row in rows {
        let id = row["id"].as_u64().unwrap();
        let observed = row["outcome"].as_str().unwrap();
        let (expected, why) = ours.remove(&id).unwrap_or((observed, "as observed"));
        if expected == observed && why != "as observed" {
            wrong.push(format!("{id}: listed, but no different"));
        }
        let outcome = outcome(row);
        if outcome != expected {
            wrong.push(format!(
                "{id}: {outcome}, not {expected} ({why}): {} {} {} {}",
                row["mode"], row["rules"], row["tool_name"], row["tool_input"]
            ));
        }
    }
    assert!(ours.is_empty(), "ids that do not exist: {ours:?}");
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

fn outcome(row: &Value) -> &'static str {
    let world = World::new();
    let row = world.fill_json(row);
    let mut permissions = row["rules"].clone();
    let mut add = |list: &str, rules: Vec<Value>| {
        let mut all = permissions[list].as_array().cloned().unwrap_or_default();
        all.extend(rules);
        permissions[list] = json!(all);
    };
    // The product's free reads are data here (DEC-070).
    add("allow", SEED.map(Value::from).to_vec());
    for pair in row["cli_args"].as_array().map(Vec::as_slice).unwrap_or_default().chunks(2) {
        let list = if pair[0] == "--allowedTools" { "allow" } else { "deny" };
        add(list, split_rules(pair[1].as_str().unwrap()).into_iter().map(Value::from).collect());
    }
    if row["mode"] != "default" {
        permissions["defaultMode"] = row["mode"].clone();
    }
    if PermissionSettings::parse(&permissions).is_err() {
        return "error";
    }
    let tool = row["tool_name"].as_str().unwrap();
    let verdict = world.decide(&permissions, tool, &row["tool_input"]);
    match verdict.ruling {
        Ruling::Deny if world.engine(&permissions).hides_tool(tool) => "tool_removed",
        ruling => ruling.as_str(),
    }
}

/// The rows above that DEC-070 decides are not lost: with a rule for each of its
/// programs such a command runs, unless it expands something.
#[test]
fn read_only_commands_run_once_their_programs_are_allowed() {
    let table: Value = serde_json::from_str(include_str!("../fixtures/permission-cases.json")).unwrap();
    let exempt = |id: &u64| OURS.iter().any(|(ours, _, why)| ours == id && why.starts_with("DEC-070") && *id < 300);
    let mut asked = Vec::new();
    for row in table["rows"].as_array().unwrap().iter().filter(|row| exempt(&row["id"].as_u64().unwrap())) {
        let world = World::new();
        let engine = world.engine(&json!({}));
        let access = world.access(&world.project, "Bash", &row["tool_input"]);
        let programs = engine.explain("Bash", &row["tool_input"], &access).programs;
        let rules: Vec<String> = programs.iter().map(|program| format!("Bash({program}:*)")).collect();
        if world.decide(&json!({ "allow": rules }), "Bash", &row["tool_input"]).ruling != Ruling::Allow {
            asked.push(row["tool_input"]["command"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(asked, ["echo $HOME", "A=1"]);
}
