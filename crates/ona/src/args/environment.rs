//! `ona help environment`: the table of environment variables.

use crate::output;
use ona_api::environment::{self, READ_BY_LIBRARIES, VariableGroup};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const TOPIC: &str = "environment";

pub(super) fn print(as_json: bool) {
    if as_json {
        output::pretty(&table_json());
    } else {
        output::line(table_text().trim_end());
    }
}

fn table_text() -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    for group in VariableGroup::ALL {
        let _ = writeln!(text, "{}:", group.title());
        for variable in environment::ALL.iter().filter(|variable| variable.group() == group) {
            let default = variable.default().map(|value| format!(", default: {value}")).unwrap_or_default();
            let _ = writeln!(text, "  {variable} ({}{default})\n      {}", variable.kind(), variable.meaning());
        }
        text.push('\n');
    }
    text.push_str("Read by libraries:\n");
    for (name, meaning) in READ_BY_LIBRARIES {
        let _ = writeln!(text, "  {name}\n      {meaning}");
    }
    text
}

fn table_json() -> Value {
    let variables = environment::ALL.iter().map(|variable| {
        let (name, group, kind) = (variable.name(), variable.group().as_str(), variable.kind().to_string());
        json!({"name": name, "group": group, "type": kind, "default": variable.default(), "meaning": variable.meaning()})
    });
    let of_libraries = READ_BY_LIBRARIES.iter().map(|(name, meaning)| {
        json!({"name": name, "group": "library", "type": "text", "default": null, "meaning": meaning})
    });
    variables.chain(of_libraries).collect()
}
