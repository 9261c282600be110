//! A run of `-p` as a person at a terminal sees it: the reply as it arrives on stdout; on stderr a line for
//! each tool, refusal and retry, and at the end what it took.
//!
//! Programs never get this: where stdout is a pipe or a file, the final text is written alone.

use crate::messages::ResultMessage;
use crate::output::Output;
use crate::turn_result::FinalWords;
use ona_api::model::Delta;
use ona_api::redact::RedactedStream;
use ona_api::{CallId, Redactor, ToolCall};
use ona_orchestration::TurnEvent;
use ona_permissions::printable;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Characters of a call or of a failure that a line has.
const SHOWN: usize = 100;

/// How a terminal is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveStyle {
    Plain,
    /// What is secondary is dim.
    Dim,
}

pub(crate) struct LiveView {
    style: LiveStyle,
    redactor: Redactor,
    output: Arc<dyn Output>,
    state: Mutex<LiveState>,
}

struct LiveState {
    /// The end of a piece that could be the beginning of a secret waits for the next.
    stream: RedactedStream,
    /// What was written of the newest reply.
    written: String,
    /// Calls whose refusal was told.
    refused: HashSet<CallId>,
}

impl LiveView {
    pub(crate) fn new(style: LiveStyle, redactor: Redactor, output: Arc<dyn Output>) -> Self {
        let state = LiveState { stream: redactor.stream(), written: String::new(), refused: HashSet::new() };
        Self { style, redactor, output, state: Mutex::new(state) }
    }

    pub(crate) fn tell(&self, event: &TurnEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            TurnEvent::Requesting { .. } => {
                state.stream = self.redactor.stream();
                state.written.clear();
            }
            TurnEvent::Delta(Delta::Text(text)) => {
                let shown = state.stream.push(text);
                self.write(&mut state, &shown);
            }
            TurnEvent::Assistant { .. } => {
                let rest = state.stream.finish();
                self.write(&mut state, &rest);
            }
            event => {
                if let Some(line) = line(event, &mut state.refused) {
                    self.secondary(&line);
                }
            }
        }
    }

    /// Ends the turn: the text, unless it was written as it arrived, and what it took.
    pub(crate) fn finish(&self, words: &FinalWords, result: &ResultMessage) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = &words.text {
            let text = harmless(&self.redactor.apply(text));
            if state.written.trim() != text.trim() {
                self.output.end_line();
                self.write(&mut state, &text);
            }
        }
        self.output.end_line();
        state.written.clear();
        if let Some(why) = words.problem.as_ref().filter(|_| !self.output.is_closed()) {
            self.output.note(&self.redactor.apply(&format!("ona: {why}")));
        }
        self.secondary(&closing(result));
    }

    fn write(&self, state: &mut LiveState, text: &str) {
        let text = harmless(text);
        // Empty lines before a reply are left out.
        let text = if state.written.is_empty() { text.trim_start_matches('\n') } else { &text };
        if !text.is_empty() {
            state.written.push_str(text);
            // The output ends the run when nobody reads it; nobody else could be told.
            self.output.write_text(text).ok();
        }
    }

    fn secondary(&self, text: &str) {
        let text = self.redactor.apply(text);
        match self.style {
            LiveStyle::Plain => self.output.note(&text),
            LiveStyle::Dim => self.output.note(&format!("\u{1b}[2m{text}\u{1b}[0m")),
        }
    }
}

/// A text that moves no cursor and hides nothing, with its lines, tabs and joined emoji as they are. It is made one
/// character at a time, so that it does not matter how a stream cuts it.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\u{200d}' => shown.push(c),
            ' '..='~' => shown.push(c),
            other => shown.push_str(&printable(other.encode_utf8(&mut [0; 4]))),
        }
    }
    shown
}

/// The line an event is worth, if it is worth one.
fn line(event: &TurnEvent, refused: &mut HashSet<CallId>) -> Option<String> {
    match event {
        TurnEvent::Denied { call, message } => {
            refused.insert(call.id.clone());
            Some(with_reason(format!("✗ {} refused", shown(call)), message))
        }
        TurnEvent::ToolFinished { call, .. } if refused.contains(&call.id) => None,
        TurnEvent::ToolFinished { call, result, .. } if result.is_error() => {
            Some(with_reason(format!("✗ {} failed", shown(call)), &result.content))
        }
        TurnEvent::ToolFinished { call, .. } => Some(format!("• {}", shown(call))),
        TurnEvent::Retrying { attempt, limit, wait, failure } => Some(format!(
            "{}: {}; trying again in {} ({attempt} of {limit})",
            failure.class.as_str(),
            first_line(&failure.message),
            seconds(*wait)
        )),
        TurnEvent::Compacted(made) => Some(format!("about {} tokens were summarised to {}", made.before, made.after)),
        TurnEvent::Inside { event, .. } => line(event, refused).map(|line| format!("  {line}")),
        _ => None,
    }
}

/// Fields that say best what a call is about.
const TELLING: [&str; 11] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "path",
    "url",
    "query",
    "skill",
    "description",
    "prompt",
    "task_id",
];

fn shown(call: &ToolCall) -> String {
    let about = TELLING.iter().find_map(|field| call.input.get(*field)?.as_str());
    let name = printable(&call.name);
    match about {
        Some(text) => format!("{name}({})", first_line(text)),
        None => name,
    }
}

fn with_reason(what: String, why: &str) -> String {
    if why.trim().is_empty() { what } else { format!("{what}: {}", first_line(why)) }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let (head, more) = ona_api::text::head(line, SHOWN);
    let dots = if more || text.trim().lines().nth(1).is_some() { "…" } else { "" };
    format!("{}{dots}", printable(head))
}

fn seconds(time: Duration) -> String {
    match time.as_millis() {
        short @ 0..1000 => format!("{short} ms"),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

fn closing(result: &ResultMessage) -> String {
    let usage = &result.usage;
    let read = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    let turns = if result.num_turns == 1 { "1 turn".to_owned() } else { format!("{} turns", result.num_turns) };
    let cost = match result.total_cost_usd {
        Some(dollars) => format!("${dollars:.4}"),
        None => "cost not known".to_owned(),
    };
    format!("{turns}, {read} tokens in, {} out, {cost}", usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::ToolResult;
    use serde_json::json;

    fn call(id: &str, name: &str, input: serde_json::Value) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), input }
    }

    #[test]
    fn a_call_is_one_line_that_says_what_it_is_about_and_how_it_ended() {
        let mut refused = HashSet::new();
        let finished = |call, result| TurnEvent::ToolFinished { call, result, account: Vec::new(), hooks: Vec::new() };
        let bash = || call("c1", "Bash", json!({"command": "git log\nrm x", "description": "d"}));
        for (event, told) in [
            (finished(bash(), ToolResult::success("abc")), Some("• Bash(git log…)")),
            (finished(bash(), ToolResult::rejected("no\nrepository")), Some("✗ Bash(git log…) failed: no…")),
            (finished(call("c2", "TodoWrite", json!({"todos": []})), ToolResult::success("")), Some("• TodoWrite")),
            (
                TurnEvent::Denied { call: bash(), message: "a rule \u{1b}[2J denies it".into() },
                Some("✗ Bash(git log…) refused: a rule \\u{1b}[2J denies it"),
            ),
            // The result of a refused call says the same once more.
            (finished(bash(), ToolResult::rejected("denied")), None),
        ] {
            assert_eq!(line(&event, &mut refused).as_deref(), told);
        }
    }
}
