//! What is to be seen below the scrollback.

use super::{App, Purpose, Work};
use crate::blocks::{CallBlock, CallState, StatusLine, call_block, status_line, waiting, working};
use crate::front::Question;
use crate::screen::{Bottom, Size, Title};
use crate::theme;
use crate::{Cursor, View};
use ona_api::{Mode, Phase};
use ratatui_core::style::Style;
use ratatui_core::text::Line;
use serde_json::json;
use std::time::Duration;

/// Rows that the text of the composer may take.
const COMPOSER: u16 = 10;
/// Rows of a reply that are repainted while it streams in.
const TAIL: usize = 12;

impl App {
    pub(crate) fn bottom(&mut self, size: Size, now: Duration) -> Bottom {
        self.resize(size.width);
        let mut view = View::default();
        view.lines.extend(self.output.tail(size.width, TAIL));
        if let Some(work) = self.work.as_ref().filter(|_| !self.a_command_asks()) {
            at_work(work, now, size.width, &mut view.lines);
        }
        view.lines.push(Line::default());
        let room = size.height.saturating_sub(4).max(1);
        match self.dialogs.front() {
            Some(open) => view.stack(open.overlay.view(size.width, room)),
            None => {
                view.lines.push(self.rule(size.width));
                self.composer.resize(size.width, COMPOSER.min(size.height.saturating_sub(6)).max(1));
                view.stack(self.composer.view(room));
                view.lines.push(self.rule(size.width));
            }
        }
        view.lines.push(status_line(&self.status(), size.width));
        let cursor = view.cursor.map(|Cursor { column, row }| (column, row));
        Bottom { lines: view.lines, cursor }
    }

    fn rule(&self, width: u16) -> Line<'static> {
        let style = self.colour.map_or(theme::DIM, |colour| Style::new().fg(colour));
        Line::styled("─".repeat(usize::from(width)), style)
    }

    /// Whether the dialog in sight belongs to a command: nothing else goes on meanwhile.
    fn a_command_asks(&self) -> bool {
        let open = self.dialogs.front().map(|open| &open.purpose);
        matches!(open, Some(Purpose::Question(_, question)) if matches!(**question, Question::Command(_)))
    }

    pub(crate) fn title(&self) -> Title {
        match (self.dialogs.is_empty(), &self.work) {
            (false, _) => Title::ActionRequired,
            (true, Some(_)) => Title::Working,
            (true, None) => Title::Ready,
        }
    }

    /// What the user's own status command is told.
    pub(crate) fn status_facts(&self) -> String {
        let session = self.session.as_ref();
        let model = session.and_then(|session| session.model.as_ref()).map(|model| model.model());
        let window = model.as_ref().and_then(|model| model.context());
        let used = window.map(|window| self.usage.tokens.saturating_mul(100) / (window as u64).max(1));
        let folder = session.map(|session| session.folder.clone());
        json!({
            "session_id": session.map(|session| session.session.clone()),
            "session_name": self.name,
            "cwd": folder,
            "version": env!("CARGO_PKG_VERSION"),
            "model": model.map(|model| json!({"id": model.choice.wire_model, "display_name": model.choice.model_id})),
            "workspace": {"current_dir": folder, "project_dir": session.map(|session| session.project.clone())},
            "cost": {"total_cost_usd": session.and_then(|session| self.usage.spent.cost(&session.prices))},
            "context_window": {
                "total_input_tokens": self.usage.tokens,
                "context_window_size": window,
                "used_percentage": used,
                "remaining_percentage": used.map(|used| 100_u64.saturating_sub(used)),
            },
            "permission_mode": self.mode().map(Mode::as_str),
            "phase": session.map(|session| session.phase.as_str()),
            "vim": self.composer.vim_mode().map(|_| json!({"enabled": true})),
        })
        .to_string()
    }

    fn status(&self) -> StatusLine {
        let mode = match self.mode() {
            None => Some("starting"),
            Some(Mode::Default) => None,
            Some(Mode::AcceptEdits) => Some("accept edits"),
            Some(Mode::Plan) => Some("plan mode"),
            Some(Mode::BypassPermissions) => Some("bypass permissions"),
            Some(Mode::DontAsk) => Some("don't ask"),
        };
        let session = self.session.as_ref();
        let model = session.and_then(|session| session.model.as_ref()).map(|model| model.model());
        let window = model.as_ref().and_then(|model| model.context()).filter(|_| self.usage.tokens > 0);
        let percent = |window: usize| (self.usage.tokens.saturating_mul(100) / (window as u64).max(1)).min(100) as u8;
        let own = self.own_status.iter().map(String::as_str);
        let own: Vec<_> = own.chain(self.statuses.iter().map(|(_, text)| text.as_str())).collect();
        StatusLine {
            phase: session
                .map(|one| one.phase)
                .filter(|phase| *phase != Phase::Idle)
                .map(|one| one.as_str().to_owned()),
            mode: mode.map(str::to_owned),
            mode_is_bold: self.mode() == Some(Mode::BypassPermissions),
            model: model.map(|model| model.choice.wire_model.clone()).unwrap_or_default(),
            context: window.map(percent),
            cost: session.and_then(|session| self.usage.spent.cost(&session.prices)).filter(|cost| *cost > 0.0),
            session: self.name.clone(),
            own: Some(own.join(" · ")).filter(|text| !text.is_empty()),
            hint: "? keys · / commands".to_owned(),
        }
    }
}

fn at_work(work: &Work, now: Duration, width: u16, lines: &mut Vec<Line<'static>>) {
    for (index, running) in work.calls.iter().take(4).enumerate() {
        if index == 0 {
            lines.push(Line::default());
        }
        let elapsed = now.saturating_sub(running.since);
        let state = if index == 0 { CallState::Running { elapsed, output: "" } } else { CallState::Waiting };
        let block = CallBlock { call: &running.call, state, hooks: &[], expanded: false, expand_key: "" };
        lines.extend(call_block(&block, width));
    }
    lines.push(Line::default());
    if let Some(retry) = &work.retry {
        let left = retry.until.saturating_sub(now);
        lines.push(waiting(&retry.why, retry.attempt, retry.limit, left, width));
    }
    let doing = match (work.interrupted, work.compacting, work.calls.is_empty()) {
        (true, ..) => "Stopping",
        (_, true, _) => "Summarising the conversation",
        (_, _, false) => "Running",
        (_, _, true) => "Thinking",
    };
    lines.push(working(doing, now.saturating_sub(work.since), "esc to interrupt", width));
}
