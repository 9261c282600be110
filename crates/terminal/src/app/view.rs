//! What is to be seen below the scrollback.

use super::{App, Purpose, Work};
use crate::blocks::{
    CallBlock, CallState, StatusLine, TodoState, call_block, status_line, todo_block, waiting, working,
};
use crate::front::Question;
use crate::screen::{Bottom, Size, Title};
use crate::text::{cut_line, styled_line};
use crate::theme;
use crate::{Cursor, View};
use ona_api::{Mode, Phase};
use ratatui_core::style::Style;
use ratatui_core::text::Line;
use std::time::Duration;

/// Rows that the text of the composer may take.
const COMPOSER: u16 = 10;
/// Rows of a reply that are repainted while it streams in.
const TAIL: usize = 12;
/// Rows of the todo list.
const TODOS: usize = 12;

impl App {
    pub(crate) fn bottom(&mut self, size: Size, now: Duration) -> Bottom {
        self.resize(size.width);
        let mut view = View::default();
        // What will be said once it is complete is not said before.
        if !self.plain {
            view.lines.extend(self.output.tail(size.width, TAIL));
        }
        if !self.a_command_asks() {
            self.at_work(now, size.width, &mut view.lines);
        }
        if self.show_todos {
            view.lines.push(Line::default());
            view.lines.extend(todo_block(&self.todos, size.width).into_iter().take(TODOS));
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
        view.lines.extend(self.own_status.iter().map(|line| cut_line(line.clone(), usize::from(size.width))));
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

    /// The page over everything, while it is open.
    pub(crate) fn page(&mut self, size: Size) -> Option<Bottom> {
        let page = self.page.as_mut()?;
        Some(page.view(&self.transcript, size))
    }

    /// The name of the session, for the title of the window.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn at_work(&self, now: Duration, width: u16, lines: &mut Vec<Line<'static>>) {
        let Some(work) = &self.work else {
            if !self.agents.is_empty() {
                lines.push(Line::default());
                lines.extend(self.agents.lines(now, width));
            }
            return;
        };
        for (index, running) in
            work.calls.iter().filter(|running| !self.agents.has(&running.call.id)).take(4).enumerate()
        {
            if index == 0 {
                lines.push(Line::default());
            }
            let elapsed = now.saturating_sub(running.since);
            let state = match running.started {
                true => CallState::Running { elapsed, output: if self.plain { "" } else { &running.output } },
                false => CallState::Waiting,
            };
            let block = CallBlock { call: &running.call, state, hooks: &[], expanded: false, expand_key: "" };
            lines.extend(call_block(&block, width));
        }
        if !self.agents.is_empty() {
            lines.push(Line::default());
            lines.extend(self.agents.lines(now, width));
        }
        lines.push(Line::default());
        if let Some(retry) = &work.retry {
            let left = retry.until.saturating_sub(now);
            lines.push(waiting(&retry.why, retry.attempt, retry.limit, left, width));
        }
        let command = work.calls.first().is_some_and(|running| running.started && running.call.name == "Bash");
        let hint = if command { "esc to interrupt · ctrl+b background" } else { "esc to interrupt" };
        lines.push(working(&self.doing(work), now.saturating_sub(work.since), hint, width));
    }

    /// What goes on, in a word or two.
    fn doing(&self, work: &Work) -> String {
        let todo = self.todos.iter().find(|todo| todo.state == TodoState::InProgress).map(|todo| todo.text.clone());
        let hook = work.hook.map(|event| format!("Running {event} hooks"));
        match (work.interrupted, work.compacting) {
            (true, _) => "Stopping".to_owned(),
            (_, true) => "Summarising the conversation".to_owned(),
            (false, false) => hook
                .or_else(|| self.working_message.clone())
                .or(todo)
                .unwrap_or_else(|| if work.calls.is_empty() { "Thinking" } else { "Running" }.to_owned()),
        }
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
        let one_line = |text: &String| styled_line(&text.replace(['\r', '\n', '\t'], " ")).to_string();
        let own: Vec<_> = self.statuses.values().map(one_line).collect();
        let own: Vec<_> = own.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
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
            own: Some(own.join(" ")).filter(|text| !text.is_empty()),
            hint: "? keys · / commands".to_owned(),
        }
    }
}
