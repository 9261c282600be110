//! A tool call: what it does, how it went, and as much of the result as tells that.

use super::{HookSummary, Todo, TodoState};
use super::{INDENT, counted, diff, duration, hook_line, indented, output, todos};
use crate::text::{cut, cut_line, output_text, visible_line};
use crate::theme;
use ona_api::{ToolCall, ToolResult};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use serde_json::Value;
use std::time::Duration;

/// Rows of a result that are shown unless it is expanded.
const FOLDED: usize = 6;
/// Rows of output while a call runs.
const LIVE: usize = 4;
/// Rows of a diff unless it is expanded.
const FOLDED_DIFF: usize = 40;

pub struct CallBlock<'a> {
    pub call: &'a ToolCall,
    pub state: CallState<'a>,
    pub hooks: &'a [HookSummary],
    /// All of the result is shown.
    pub expanded: bool,
    /// The key that shows all of it, as the key table names it.
    pub expand_key: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub enum CallState<'a> {
    /// Other calls or a question come first.
    Waiting,
    Running {
        elapsed: Duration,
        /// What it has printed so far.
        output: &'a str,
    },
    Finished {
        result: &'a ToolResult,
        took: Option<Duration>,
    },
    /// It was refused before it ran.
    Denied {
        reason: &'a str,
        /// The rule or hook that refused it.
        by: Option<&'a str>,
    },
}

pub fn call_block(block: &CallBlock<'_>, width: u16) -> Vec<Line<'static>> {
    let (mark, style, note) = match block.state {
        CallState::Waiting => ("○ ", theme::DIM, "waiting".to_owned()),
        CallState::Running { elapsed, .. } => ("◐ ", theme::ACTION, format!("{} s", elapsed.as_secs())),
        CallState::Finished { result, took } => {
            let took = took.filter(|took| took.as_millis() >= 100).map(duration);
            let note: Vec<String> = summary(block.call, result).into_iter().chain(took).collect();
            let (mark, style) = if result.is_error() { ("✗ ", theme::FAILED) } else { ("● ", theme::ADDED) };
            (mark, style, note.join(" · "))
        }
        CallState::Denied { .. } => ("⊘ ", theme::FAILED, "denied".to_owned()),
    };
    let mut lines = vec![head(block.call, mark, style, &note, usize::from(width))];
    match block.state {
        CallState::Waiting => {}
        CallState::Running { output: text, .. } => {
            let rows = output(&output_text(text), theme::DIM, width);
            lines.extend(rows.into_iter().rev().take(LIVE).rev());
        }
        CallState::Finished { result, .. } => lines.extend(body(block, result, width)),
        CallState::Denied { reason, by } => {
            // The line of the hooks says the same.
            if !block.hooks.iter().flat_map(|hooks| &hooks.denied).any(|denied| reason.trim().ends_with(denied.trim()))
            {
                lines.extend(indented(reason, theme::FAILED, width));
            }
            if let Some(by) = by {
                lines.extend(indented(&format!("by {by}"), theme::DIM, width));
            }
        }
    }
    lines.extend(block.hooks.iter().map(|hooks| hook_line(hooks, width)));
    lines
}

/// `● Bash  cargo test · 4.2 s`: the note stays whole, the argument gives way.
fn head(call: &ToolCall, mark: &'static str, style: Style, note: &str, width: usize) -> Line<'static> {
    let name = visible_line(&call.name);
    let note = if note.is_empty() { String::new() } else { format!("  {note}") };
    let fixed = 2 + crate::screen::text_width(&name) + 2 + crate::screen::text_width(&note);
    let argument = cut(&call_argument(call), width.saturating_sub(fixed).max(4));
    let mut spans = vec![Span::styled(mark, style), Span::styled(name, theme::HEADING)];
    if !argument.is_empty() {
        spans.push(Span::raw(format!("  {argument}")));
    }
    spans.push(Span::styled(note, theme::DIM));
    cut_line(Line::from(spans), width)
}

/// What a call is about, in one line.
pub fn call_argument(call: &ToolCall) -> String {
    const NAMED: [&str; 12] = [
        "command",
        "file_path",
        "notebook_path",
        "pattern",
        "url",
        "query",
        "description",
        "skill",
        "name",
        "path",
        "task_id",
        "id",
    ];
    let text = |key: &str| call.input[key].as_str().filter(|text| !text.trim().is_empty());
    let Some(main) = NAMED.iter().find_map(|key| text(key)) else {
        let Some(fields) = call.input.as_object() else { return String::new() };
        let simple = fields.iter().filter(|(_, value)| value.is_string() || value.is_number() || value.is_boolean());
        let words: Vec<String> = simple.map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        return visible_line(&words.join(", "));
    };
    let more = main.trim_end().lines().count().saturating_sub(1);
    let mut shown = visible_line(main.trim().lines().next().unwrap_or_default());
    if more > 0 {
        shown.push_str(&format!(" … +{}", counted(more, "line")));
    }
    if call.name == "Grep"
        && let Some(path) = text("path")
    {
        shown.push_str(&format!(" in {}", visible_line(path)));
    }
    shown
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The result in a few words, where a number says it.
fn summary(call: &ToolCall, result: &ToolResult) -> Option<String> {
    if result.is_error() {
        let code = result.data.get("exit_code").and_then(Value::as_i64);
        return Some(code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}")));
    }
    let lines = result.content.lines().count();
    match call.name.as_str() {
        "Read" => Some(counted(lines, "line")),
        "Glob" => Some(counted(lines, "file")),
        "Grep" => Some(counted(lines, "result")),
        "Edit" | "Write" => {
            let rows = diff::patch_rows(result.data.get("structuredPatch")?);
            let count = |wanted: fn(&diff::DiffRow) -> bool| rows.iter().filter(|row| wanted(row)).count();
            let (added, removed) = (count(diff::DiffRow::is_added), count(diff::DiffRow::is_removed));
            match (added, removed) {
                (0, 0) => {
                    result.data.get("content").and_then(Value::as_str).map(|text| counted(text.lines().count(), "line"))
                }
                _ => Some(format!("+{added} −{removed}")),
            }
        }
        "TodoWrite" => {
            let todos = todos::todos_of(&call.input);
            let done = todos.iter().filter(|todo| todo.state == TodoState::Completed).count();
            Some(format!("{done} of {} done", todos.len()))
        }
        "Bash" | "!" if lines == 0 => Some("no output".to_owned()),
        _ => None,
    }
}

fn body(block: &CallBlock<'_>, result: &ToolResult, width: u16) -> Vec<Line<'static>> {
    let name = block.call.name.as_str();
    if !result.is_error() {
        match name {
            "Read" | "Glob" | "Grep" if !block.expanded => return Vec::new(),
            "TodoWrite" => {
                let todos: Vec<Todo> = todos::todos_of(&block.call.input);
                return todos::todo_block(&todos, width);
            }
            "Edit" | "Write" => {
                let rows = result.data.get("structuredPatch").map(diff::patch_rows).unwrap_or_default();
                if !rows.is_empty() {
                    let rows = diff::diff_rows(&rows, width);
                    return fold(rows, FOLDED_DIFF, Keep::First, block, width);
                }
                return Vec::new();
            }
            _ => {}
        }
    }
    let shell = name == "Bash" || name == "!";
    let style = if result.is_error() && !shell { theme::FAILED } else { theme::DIM };
    let rows = output(output_text(&result.content).trim_end(), style, width);
    // What a command printed last says how it ended.
    let keep = if shell { Keep::Last } else { Keep::First };
    fold(rows, FOLDED, keep, block, width)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    First,
    Last,
}

fn fold(
    mut rows: Vec<Line<'static>>,
    most: usize,
    keep: Keep,
    block: &CallBlock<'_>,
    width: u16,
) -> Vec<Line<'static>> {
    // A mark that hides one row would take as much room as the row.
    if block.expanded || rows.len() <= most + 1 {
        return rows;
    }
    let hidden = rows.len() - most;
    let mut text = format!("{INDENT}… {}", counted(hidden, "more row"));
    if !block.expand_key.is_empty() {
        text.push_str(&format!(" · {} shows all", block.expand_key));
    }
    let mark = cut_line(Line::styled(text, theme::DIM), usize::from(width));
    match keep {
        Keep::First => {
            rows.truncate(most);
            rows.push(mark);
        }
        Keep::Last => {
            rows.drain(..hidden);
            rows.insert(0, mark);
        }
    }
    rows
}
