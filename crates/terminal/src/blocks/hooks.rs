//! One line for all hooks of an event of one call: how many ran, how long, what they decided.

use super::{INDENT, duration};
use crate::text::{cut_line, visible_line};
use crate::theme;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookSummary {
    /// The event: `PreToolUse`.
    pub event: String,
    pub ran: usize,
    pub took: Duration,
    /// The reason of each hook that denied.
    pub denied: Vec<String>,
    /// Hooks that want a person to be asked, with what they say.
    pub asked: Vec<String>,
    /// How many changed the input or added something.
    pub changed: usize,
    /// What went wrong with hooks that could not do their work.
    pub failed: Vec<String>,
}

/// `PreToolUse ×3 12 ms · 1 denied: no force push`
pub fn hook_line(hooks: &HookSummary, width: u16) -> Line<'static> {
    let took = match hooks.took.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        _ => duration(hooks.took),
    };
    let times = if hooks.ran == 1 { String::new() } else { format!(" ×{}", hooks.ran) };
    let mut spans = vec![Span::styled(format!("{INDENT}{}{times} {took}", visible_line(&hooks.event)), theme::DIM)];
    let mut part = |count: usize, what: &str, words: Option<&String>, style| {
        if count > 0 {
            let words = words.map(|words| format!(": {}", visible_line(words.trim()))).unwrap_or_default();
            spans.push(Span::styled(" · ", theme::DIM));
            spans.push(Span::styled(format!("{count} {what}{words}"), style));
        }
    };
    part(hooks.denied.len(), "denied", hooks.denied.first(), theme::FAILED);
    part(hooks.failed.len(), "failed", hooks.failed.first(), theme::FAILED);
    part(hooks.asked.len(), "asked", hooks.asked.first(), theme::DIM);
    part(hooks.changed, "changed it", None, theme::DIM);
    cut_line(Line::from(spans), usize::from(width))
}
