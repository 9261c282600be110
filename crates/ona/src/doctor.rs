//! `ona doctor`: prints what `ona_runtime::doctor` saw.

use crate::output;
use ona_runtime::doctor::{CheckState, DoctorReport, examine};
use ona_runtime::table::Tone;
use ona_runtime::{Failure, Launch, block_on};
use serde_json::Value;

pub(crate) fn run(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let report = block_on(examine(launch));
    if as_json {
        output::json(&report.to_json());
    } else {
        print(&report, output::terminal_style(&launch.env).is_some_and(|style| style.coloured));
    }
    Ok(u8::from(!report.is_ok()))
}

fn print(report: &DoctorReport, coloured: bool) {
    for (name, section) in &report.sections {
        match section {
            _ if ["guards", "worktrees"].contains(&name.as_str()) => {}
            Value::Object(fields) if name != "hook_timeouts_ms" => {
                output::line(Tone::Heading.paint(name, coloured));
                for (key, value) in fields {
                    output::line(format_args!("  {:<26} {}", key.replace('_', " "), plain(value)));
                }
            }
            Value::Array(items) => {
                output::line(format_args!("{name}  {}", items.len()));
                for item in items {
                    output::line(format_args!(
                        "  {:>3}  {}  {:?}  {}  ({}, {})",
                        plain(&item["hook_ordinal"]),
                        plain(&item["hook_event"]),
                        plain(&item["matcher"]),
                        plain(&item["command"]),
                        plain(&item["dialect"]),
                        plain(&item["source"]),
                    ));
                }
            }
            _ => {}
        }
    }
    for check in &report.checks {
        let tone = match check.state {
            CheckState::Ok => Tone::Good,
            CheckState::Broken | CheckState::Missing => Tone::Bad,
            CheckState::Absent => Tone::Secondary,
        };
        let text = check.to_string();
        let (sign, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
        output::line(format_args!("{}{rest}", tone.paint(sign, coloured)));
    }
    report.remarks.iter().for_each(|remark| output::line(format_args!("remark: {remark}")));
    report.problems.iter().for_each(|problem| output::line(Tone::Bad.paint(&format!("problem: {problem}"), coloured)));
    if report.is_ok() {
        output::line(match report.lacks_something() {
            true => "Nothing is broken; a model can answer once what is marked ✗ is there.",
            false => "Everything a session relies on is in order.",
        });
    }
}

/// A value as people read it; `--json` has it as it is.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "not found".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => joined(items.iter().map(plain)),
        Value::Object(fields) => joined(fields.iter().map(|(key, value)| format!("{key} {}", plain(value)))),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let text = parts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".to_owned() } else { text }
}
