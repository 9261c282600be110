//! The first and the last lines of a session.

use super::duration;
use crate::text::{cut_line, visible_line, wrap};
use crate::theme;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartScreen {
    pub version: String,
    /// With `~` for the home folder.
    pub folder: String,
    pub model: String,
    pub phase: String,
    /// What restricts the agent here: `12 hooks`, `3 deny rules`, `planning gate`.
    pub guards: Vec<String>,
    /// Guards that do not work, and other things to know before the first prompt.
    pub warnings: Vec<String>,
}

pub fn start_screen(start: &StartScreen, width: u16) -> Vec<Line<'static>> {
    let columns = usize::from(width);
    let title = vec![
        Span::styled("ona", theme::VOICE.patch(theme::HEADING)),
        Span::styled(format!(" {}", visible_line(&start.version)), theme::DIM),
        Span::raw(format!("  {}", visible_line(&start.folder))),
    ];
    let mut lines = vec![cut_line(Line::from(title), columns)];
    let guards = match start.guards.is_empty() {
        true => "none configured".to_owned(),
        false => start.guards.join(" · "),
    };
    for (name, value) in [("model", &start.model), ("phase", &start.phase), ("guards", &guards)] {
        let first = [Span::styled(format!("{name:<8}"), theme::DIM)];
        lines.extend(wrap(&[Span::raw(visible_line(value))], width, &first, &[Span::raw(" ".repeat(8))]));
    }
    for warning in &start.warnings {
        let text = [Span::styled(visible_line(warning), theme::FAILED)];
        lines.extend(wrap(&text, width, &[Span::styled("! ", theme::FAILED)], &[Span::raw("  ")]));
    }
    lines
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closing {
    pub took: Duration,
    pub turns: usize,
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    /// The command that continues this session; none if nothing was said.
    pub resume: Option<String>,
}

/// The last lines: what it took, and how to go on.
pub fn closing(closing: &Closing, width: u16) -> Vec<Line<'static>> {
    let mut facts = vec![super::counted(closing.turns, "turn"), duration(closing.took)];
    facts.extend(closing.tokens.map(|tokens| format!("{} tokens", thousands(tokens))));
    facts.extend(closing.cost.map(|cost| format!("${cost:.2}")));
    let mut lines = vec![cut_line(Line::styled(facts.join(" · "), theme::DIM), usize::from(width))];
    if let Some(command) = &closing.resume {
        // Never cut: it is there to be copied.
        lines.push(Line::from(vec![
            Span::styled("Continue with  ", theme::DIM),
            Span::styled(visible_line(command), theme::ACTION),
        ]));
    }
    lines
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
