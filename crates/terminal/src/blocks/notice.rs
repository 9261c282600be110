//! What is said around calls: prompts, notices, failures with their remedy, waits, agents.

use super::{INDENT, duration, indented};
use crate::text::{cut, cut_line, visible, visible_line, wrap};
use crate::theme;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

/// What a person has sent. Its mark makes it easy to find when scrolling back.
pub fn prompt(text: &str, width: u16) -> Vec<Line<'static>> {
    let text = visible(text.trim_end());
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let first = if index == 0 { Span::styled("› ", theme::ACTION) } else { Span::raw(INDENT) };
        let words = [Span::styled(line.to_owned(), theme::HEADING)];
        lines.extend(wrap(&words, width, &[first], &[Span::raw(INDENT)]));
    }
    lines
}

/// ona's own voice.
pub fn notice(text: &str, width: u16) -> Vec<Line<'static>> {
    let text = visible(text.trim_end());
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let first = if index == 0 { Span::styled("∙ ", theme::VOICE) } else { Span::raw(INDENT) };
        lines.extend(wrap(&[Span::styled(line.to_owned(), theme::VOICE)], width, &[first], &[Span::raw(INDENT)]));
    }
    lines
}

/// Something failed: what, and what a person can do about it.
pub fn failure(what: &str, remedy: Option<&str>, width: u16) -> Vec<Line<'static>> {
    let what = visible(what.trim_end());
    let mut lines = Vec::new();
    for (index, line) in what.lines().enumerate() {
        let first = if index == 0 { Span::styled("✗ ", theme::FAILED) } else { Span::raw(INDENT) };
        lines.extend(wrap(&[Span::styled(line.to_owned(), theme::FAILED)], width, &[first], &[Span::raw(INDENT)]));
    }
    lines.extend(remedy.into_iter().flat_map(|remedy| indented(remedy, theme::TEXT, width)));
    lines
}

/// A request will be sent again: why, which attempt comes, and when.
pub fn waiting(why: &str, attempt: u32, limit: u32, left: Duration, width: u16) -> Line<'static> {
    let seconds = left.as_secs_f64().ceil() as u64;
    let spans = [
        Span::styled("◌ ", theme::ACTION),
        Span::raw(visible_line(why.trim())),
        Span::styled(format!(" · attempt {attempt} of {limit} in {seconds} s"), theme::DIM),
    ];
    // The countdown has to stay visible; the reason gives way.
    let tail: usize = crate::screen::text_width(&spans[2].content);
    let head = cut_line(Line::from(spans[..2].to_vec()), usize::from(width).saturating_sub(tail).max(10));
    let mut line = head;
    line.spans.push(spans[2].clone());
    cut_line(line, usize::from(width))
}

/// What goes on now, for how long, and how to stop it.
pub fn working(doing: &str, elapsed: Duration, hint: &str, width: u16) -> Line<'static> {
    let seconds = match elapsed.as_secs() {
        0 => String::new(),
        1..=59 => format!(" {} s", elapsed.as_secs()),
        _ => format!(" {}", duration(elapsed)),
    };
    let hint = if hint.is_empty() { String::new() } else { format!(" · {hint}") };
    let spans = vec![
        Span::styled("◐ ", theme::VOICE),
        Span::styled(visible_line(doing), theme::VOICE),
        Span::styled(format!("{seconds}{hint}"), theme::DIM),
    ];
    cut_line(Line::from(spans), usize::from(width))
}

/// An agent that another one started.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentBlock<'a> {
    pub kind: &'a str,
    pub description: &'a str,
    pub calls: usize,
    pub tokens: u64,
    pub elapsed: Duration,
    /// What it does right now; nothing once it has ended.
    pub doing: Option<&'a str>,
    /// Whether it has ended, and well.
    pub ended: Option<bool>,
}

pub fn agent_block(agent: &AgentBlock<'_>, width: u16) -> Vec<Line<'static>> {
    let (mark, style) = match agent.ended {
        None => ("◐ ", theme::ACTION),
        Some(true) => ("● ", theme::ADDED),
        Some(false) => ("✗ ", theme::FAILED),
    };
    let mut facts = vec![super::counted(agent.calls, "call")];
    facts.extend((agent.tokens > 0).then(|| super::tokens(agent.tokens)));
    facts.push(duration(agent.elapsed));
    let facts = format!("  {}", facts.join(" · "));
    let kind = visible_line(agent.kind);
    // What it was told gives way to the facts.
    let fixed = 2 + crate::screen::text_width(&kind) + 2 + crate::screen::text_width(&facts);
    let description = cut(&visible_line(agent.description), usize::from(width).saturating_sub(fixed).max(4));
    let spans = vec![
        Span::styled(mark, style),
        Span::styled(kind, theme::HEADING),
        Span::raw(format!("  {description}")),
        Span::styled(facts, theme::DIM),
    ];
    let mut lines = vec![cut_line(Line::from(spans), usize::from(width))];
    if let (Some(doing), None) = (agent.doing, agent.ended) {
        let line = Line::styled(format!("{INDENT}{}", visible_line(doing)), theme::DIM);
        lines.push(cut_line(line, usize::from(width)));
    }
    lines
}
