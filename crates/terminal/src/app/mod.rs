//! The state of the screen, and how it changes.
//!
//! [`App`] is one value. [`App::update`] takes keys and [`App::hear`] what the session did; both return what
//! has to be done. [`App::bottom`] and [`App::take_finished`] say what is to be seen. Nothing here does I/O or
//! asks a clock: the time comes with each input. `run` is the loop around it.

mod dialog;
mod events;
mod press;
mod run;
mod tools;
mod view;

pub use run::{TerminalEnd, TerminalOptions, WakeChannel, run};

use crate::composer::{Composer, Submission};
use crate::front::{HookRun, QuestionId, Reply, Request, SessionEvent, SessionFacts};
use crate::keys::{Input, Keymap};
use dialog::Dialog;
use ona_api::{CallId, Mode};
use ona_commands::{Function, slash_command};
use ratatui_core::text::Line;
use std::collections::VecDeque;
use std::time::Duration;

/// What has to be done outside of the state.
#[derive(Debug)]
pub(crate) enum Effect {
    Send(Request),
    Reply(QuestionId, Reply),
    /// End what runs now.
    Interrupt,
    SetMode(Mode),
    /// Stop the program like any other under job control.
    Suspend,
    Redraw,
}

/// Everything the screen knows.
pub(crate) struct App {
    pub(crate) keymap: Keymap,
    pub(crate) composer: Composer,
    /// Questions in the order they came; the first one is shown.
    pub(crate) dialogs: VecDeque<(QuestionId, Dialog)>,
    pub(crate) session: Option<SessionFacts>,
    pub(crate) work: Option<Work>,
    pub(crate) usage: ContextUse,
    /// Lines for the scrollback that were not painted yet.
    finished: Vec<Line<'static>>,
    /// The session thread has ended.
    pub(crate) ended: Option<Ended>,
}

/// How the session thread ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub failure: Option<ona_runtime::Failure>,
    pub session: Option<String>,
}

/// A line that is being answered.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub since: Duration,
    /// The piece of the reply that is not finished yet.
    pub tail: String,
    /// Whether the reply has begun, so that its first line is marked.
    pub replying: bool,
    pub calls: Vec<RunningCall>,
    /// A wait between two attempts: why, and until when.
    pub retry: Option<(String, Duration)>,
    pub interrupted: bool,
    pub compacting: bool,
    /// Hooks that ran for the call that is next to end.
    pub hooks: Vec<HookRun>,
}

/// A call that was made and has no result yet.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub id: CallId,
    pub title: String,
    pub since: Duration,
}

/// How full the context is, and what the session has cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContextUse {
    pub tokens: u64,
    pub cost: Option<f64>,
}

impl App {
    pub(crate) fn new() -> Self {
        let mut app = Self {
            keymap: Keymap::default(),
            composer: Composer::default(),
            dialogs: VecDeque::new(),
            session: None,
            work: None,
            usage: ContextUse::default(),
            finished: Vec::new(),
            ended: None,
        };
        app.composer.set_placeholder("Ask, or / for commands, @ for files, ! for the shell, ? for keys");
        app.offer_commands();
        app
    }

    /// Takes keys in.
    pub(crate) fn update(&mut self, input: &Input) -> Vec<Effect> {
        press::update(self, input)
    }

    /// Takes in what the session did.
    pub(crate) fn hear(&mut self, event: SessionEvent, now: Duration) -> Vec<Effect> {
        events::hear(self, event, now)
    }

    /// Lines for the scrollback since this was last asked.
    pub(crate) fn take_finished(&mut self) -> Vec<Line<'static>> {
        std::mem::take(&mut self.finished)
    }

    /// Whether the screen changes with time alone: a clock counts while something is waited for.
    pub(crate) fn is_counting(&self) -> bool {
        self.work.is_some() && self.dialogs.is_empty()
    }

    pub(crate) fn finish(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.finished.extend(lines);
    }

    fn mode(&self) -> Option<Mode> {
        let session = self.session.as_ref()?;
        Some(session.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner).mode())
    }

    /// Sends a line, or lets it wait while another one is answered.
    pub(crate) fn submit(&mut self, line: Submission) -> Vec<Effect> {
        if line.is_command()
            && let Some((name, _)) = slash_command(&line.text)
            && ona_commands::find(name).is_some_and(|command| command.function == Function::Exit)
        {
            return self.leave();
        }
        if self.work.is_some() {
            self.composer.enqueue(line);
            return Vec::new();
        }
        self.send(line)
    }

    fn send(&mut self, line: Submission) -> Vec<Effect> {
        events::show_prompt(self, &line);
        // Until the session says so itself, nothing else is sent.
        self.work = Some(Work::default());
        vec![Effect::Send(Request::Line(line))]
    }

    fn leave(&mut self) -> Vec<Effect> {
        let mut effects = vec![Effect::Send(Request::Leave)];
        if self.work.is_some() || !self.dialogs.is_empty() {
            effects.push(Effect::Interrupt);
        }
        effects
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        if let Some(work) = &mut self.work {
            work.interrupted = true;
        }
        vec![Effect::Interrupt]
    }
}
