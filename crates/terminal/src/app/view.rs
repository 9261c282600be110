//! What is to be seen below the scrollback.

use super::{App, Work};
use crate::screen::{Bottom, Size, Title, text_width};
use crate::theme;
use crate::{Cursor, View};
use ona_api::Mode;
use ona_permissions::printable;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

/// Rows that the text of the composer may take.
const COMPOSER: u16 = 10;

impl App {
    pub(crate) fn bottom(&mut self, size: Size, now: Duration) -> Bottom {
        let width = usize::from(size.width);
        let mut view = View::default();
        if let Some(work) = &self.work {
            working(work, now, width, &mut view.lines);
        }
        view.lines.push(Line::default());
        view.lines.push(rule(width));
        match self.dialogs.front() {
            Some((_, dialog)) => view.lines.extend(dialog.lines()),
            None => {
                self.composer.resize(size.width, COMPOSER.min(size.height.saturating_sub(6)).max(1));
                view.stack(self.composer.view(size.height.saturating_sub(4).max(1)));
                view.lines.push(rule(width));
            }
        }
        view.lines.push(self.status());
        let cursor = view.cursor.map(|Cursor { column, row }| (column, row));
        Bottom { lines: view.lines, cursor }
    }

    pub(crate) fn title(&self) -> Title {
        match (self.dialogs.is_empty(), &self.work) {
            (false, _) => Title::ActionRequired,
            (true, Some(_)) => Title::Working,
            (true, None) => Title::Ready,
        }
    }

    fn status(&self) -> Line<'static> {
        let mut parts = Vec::new();
        let mode = match self.mode() {
            None => Some("starting"),
            Some(Mode::Default) => None,
            Some(Mode::AcceptEdits) => Some("accept edits"),
            Some(Mode::Plan) => Some("plan"),
            Some(Mode::BypassPermissions) => Some("bypass permissions"),
            Some(Mode::DontAsk) => Some("don't ask"),
        };
        parts.extend(mode.map(|mode| Span::styled(mode, theme::ACTION)));
        if let Some(model) = self.session.as_ref().and_then(|session| session.model.as_ref()) {
            let model = model.model();
            parts.push(Span::styled(printable(&model.choice.wire_model), theme::DIM));
            if let (Some(window), true) = (model.context(), self.usage.tokens > 0) {
                let percent = self.usage.tokens.saturating_mul(100) / (window as u64).max(1);
                parts.push(Span::styled(format!("context {percent} %"), theme::DIM));
            }
        }
        if let Some(cost) = self.usage.cost {
            parts.push(Span::styled(format!("${cost:.2}"), theme::DIM));
        }
        parts.push(Span::styled("? keys · / commands", theme::DIM));
        let mut line = vec![Span::raw("  ")];
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                line.push(Span::styled(" · ", theme::DIM));
            }
            line.push(part);
        }
        Line::from(line)
    }
}

fn working(work: &Work, now: Duration, width: usize, lines: &mut Vec<Line<'static>>) {
    if !work.tail.trim().is_empty() {
        let mark = if work.replying { "  " } else { "● " };
        if !work.replying {
            lines.push(Line::default());
        }
        let (mut row, mut columns) = (String::new(), 0);
        for c in format!("{mark}{}", printable(&work.tail)).chars() {
            let wide = text_width(c.encode_utf8(&mut [0; 4]));
            if columns + wide > width {
                lines.push(Line::from(std::mem::take(&mut row)));
                columns = 0;
            }
            row.push(c);
            columns += wide;
        }
        lines.push(Line::from(row));
    }
    if let Some(call) = work.calls.first() {
        let seconds = now.saturating_sub(call.since).as_secs();
        lines.push(Line::default());
        lines.push(Line::from(vec![
            Span::styled("○ ", theme::ACTION),
            Span::styled(call.title.clone(), theme::HEADING),
            Span::styled(format!(" {seconds} s"), theme::DIM),
        ]));
    }
    lines.push(Line::default());
    let doing = match (&work.retry, work.interrupted, work.compacting, work.calls.is_empty()) {
        (_, true, ..) => "Stopping".to_owned(),
        (Some((why, until)), ..) => {
            format!("{why}; trying again in {} s", until.saturating_sub(now).as_secs_f32().ceil())
        }
        (None, _, true, _) => "Summarising the conversation".to_owned(),
        (None, _, _, false) => "Running".to_owned(),
        (None, _, _, true) => "Thinking".to_owned(),
    };
    let seconds = now.saturating_sub(work.since).as_secs();
    lines.push(Line::from(vec![
        Span::styled(format!("✻ {doing}… "), theme::VOICE),
        Span::styled(format!("({seconds} s · esc to interrupt)"), theme::DIM),
    ]));
}

fn rule(width: usize) -> Line<'static> {
    Line::styled("─".repeat(width), theme::DIM)
}
