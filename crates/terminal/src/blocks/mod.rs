//! What happened, as lines: prompts, calls with their results, hooks, tasks, waits, errors, and the
//! line of facts below everything.
//!
//! Each function makes lines of values and of the width of the terminal; none keeps a state or asks
//! a clock. Texts from outside are made harmless here. Every block is set apart by who joins them:
//! none begins or ends with an empty line.

mod call;
mod diff;
mod frame;
mod hooks;
mod notice;
mod status;
mod todos;

pub use call::{CallBlock, CallState, call_argument, call_block};
pub use diff::{DiffRow, diff_rows, diff_texts, patch_rows};
pub use frame::{Closing, StartScreen, closing, start_screen};
pub use hooks::{HookSummary, hook_line};
pub use notice::{AgentBlock, agent_block, failure, notice, prompt, waiting, working};
pub use status::{StatusLine, status_line};
pub use todos::{Todo, TodoState, todo_block, todos_of};

use crate::text::{hard_wrap, visible, wrap};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

/// What stands below the head of a block starts here.
const INDENT: &str = "  ";

/// A duration as a person says it: `0.4 s`, `12 s`, `3 min 05 s`.
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=59 => format!("{seconds} s"),
        seconds @ 60..=3599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A count with its noun: `1 line`, `2 lines`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A number of tokens, in thousands where that says enough: `940 tokens`, `1.2k tokens`.
fn tokens(count: u64) -> String {
    match count {
        0..=999 => format!("{count} tokens"),
        1_000..=99_999 => format!("{:.1}k tokens", count as f64 / 1_000.0),
        _ => format!("{}k tokens", count / 1_000),
    }
}

/// Sentences, wrapped below a head.
pub(crate) fn indented(text: &str, style: Style, width: u16) -> Vec<Line<'static>> {
    let indent = [Span::raw(INDENT)];
    let text = visible(text);
    text.lines().flat_map(|line| wrap(&[Span::styled(line.to_owned(), style)], width, &indent, &indent)).collect()
}

/// Output of a program below a head: every blank counts.
fn output(text: &str, style: Style, width: u16) -> Vec<Line<'static>> {
    let indent = [Span::raw(INDENT)];
    text.lines().flat_map(|line| hard_wrap(&[Span::styled(line.to_owned(), style)], width, &indent, &indent)).collect()
}
