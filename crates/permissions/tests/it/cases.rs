//! Every observed outcome of the reference, and every place where we differ.

use crate::world::{SEED, World};
use ona_api::Ruling;
use ona_permissions::{PermissionSettings, split_list};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Rows whose outcome is ours, not the reference's, and by what right.
const OURS: [(u64, &str, &str); 0] = [];

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
        add(list, split_list(pair[1].as_str().unwrap()).into_iter().map(Value::from).collect());
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
        Ruling::Deny if world.engine(&permissions).removes(tool) => "tool_removed",
        ruling => ruling.as_str(),
    }
}
