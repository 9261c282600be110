//! The state of the screen, and how it changes.
//!
//! [`App`] is one value. [`App::update`] takes keys and [`App::hear`] what the session did; both return what
//! has to be done. [`App::bottom`] and [`App::take_finished`] say what is to be seen. Nothing here does I/O or
//! asks a clock: the time comes with each input. `run` is the loop around it.

mod asked;
mod command_dialogs;
mod events;
mod output;
mod pickers;
mod press;
mod run;
mod tools;
mod view;

pub use run::{TerminalEnd, TerminalOptions, WakeChannel, run};

use crate::composer::{Composer, Image, InputMode, Submission};
use crate::dialogs::Overlay;
use crate::front::{HookRun, Question, QuestionId, Reply, Request, SessionEvent, SessionFacts};
use crate::keys::{Input, Keymap};
use crate::markdown::Wake;
use crate::palette::Palette;
use ona_api::{Mode, ToolCall};
use ona_commands::{Function, slash_command};
use ona_settings::StatusLineCommand;
use ona_transcript::TokenUsage;
use output::Output;
use ratatui_core::style::Color;
use ratatui_core::text::Line;
use std::collections::VecDeque;
use std::path::PathBuf;
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
    /// Files are being chosen: an index of them is of use.
    WantFiles,
    /// Say which pasted images cannot be read.
    CheckImages(Vec<Image>),
    /// Put a text into the clipboard.
    Copy(String),
    /// Open a file in the person's editor.
    Edit(PathBuf),
    /// Run this as the status line from now on.
    StatusLine(Option<StatusLineCommand>),
    /// Look into a folder for the shell line.
    ListFolder {
        folder: PathBuf,
        typed: String,
    },
}

/// Everything the screen knows.
pub(crate) struct App {
    pub(crate) keymap: Keymap,
    pub(crate) composer: Composer,
    /// What is open over the composer, in the order it came; the first one is shown.
    pub(crate) dialogs: VecDeque<Open>,
    pub(crate) session: Option<SessionFacts>,
    pub(crate) work: Option<Work>,
    pub(crate) usage: ContextUse,
    /// The session thread has ended.
    pub(crate) ended: Option<Ended>,
    /// Texts that hook modules show in the status line, by their key.
    pub(crate) statuses: Vec<(String, String)>,
    /// What the user's own status command has printed.
    pub(crate) own_status: Option<String>,
    /// The colours of the theme.
    pub(crate) palette: Palette,
    /// Of the lines around the composer.
    pub(crate) colour: Option<Color>,
    /// Prompts and replies only.
    pub(crate) focus: bool,
    /// What the session is called.
    pub(crate) name: Option<String>,
    output: Output,
    width: u16,
}

/// A dialog and what its answer is for.
pub(crate) struct Open {
    pub overlay: Overlay,
    pub purpose: Purpose,
}

pub(crate) enum Purpose {
    Question(QuestionId, Box<Question>),
    /// A command, which is sent with the chosen entry behind it.
    Command(&'static str, Vec<String>),
    /// Prompts to go back to, by their numbers.
    Rewind(Vec<usize>),
    /// Sessions to continue, by their ids.
    Sessions(Vec<String>),
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
    pub calls: Vec<RunningCall>,
    /// A wait between two attempts.
    pub retry: Option<Retry>,
    pub interrupted: bool,
    pub compacting: bool,
    /// Hooks that ran for the call that is next to end.
    pub hooks: Vec<HookRun>,
}

/// A request will be sent again.
#[derive(Debug)]
pub(crate) struct Retry {
    pub why: String,
    pub attempt: u32,
    pub limit: u32,
    pub until: Duration,
}

/// A call that was made and has no result yet.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub call: ToolCall,
    pub since: Duration,
    /// Why it may not run.
    pub denied: Option<String>,
}

/// How full the context is, and what the session has used.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextUse {
    pub tokens: u64,
    pub spent: TokenUsage,
}

impl App {
    pub(crate) fn new(wake: Wake) -> Self {
        let mut app = Self {
            keymap: Keymap::default(),
            composer: Composer::default(),
            dialogs: VecDeque::new(),
            session: None,
            work: None,
            usage: ContextUse::default(),
            ended: None,
            statuses: Vec::new(),
            own_status: None,
            palette: Palette::default(),
            colour: None,
            focus: false,
            name: None,
            output: Output::new(wake),
            width: 80,
        };
        app.composer.set_placeholder("Ask, or / for commands, @ for files, ! for the shell, ? for keys");
        app.offer_commands();
        app
    }

    /// Takes keys in.
    pub(crate) fn update(&mut self, input: &Input) -> Vec<Effect> {
        let mut effects = press::update(self, input);
        effects.extend(self.fill_preview());
        effects
    }

    /// Takes in what the session did.
    pub(crate) fn hear(&mut self, event: SessionEvent, now: Duration) -> Vec<Effect> {
        let mut effects = events::hear(self, event, now);
        effects.extend(self.fill_preview());
        effects
    }

    /// Lines for the scrollback since this was last asked.
    pub(crate) fn take_finished(&mut self) -> Vec<Line<'static>> {
        self.output.take(self.width)
    }

    /// Whether something for the scrollback waits for its colours.
    pub(crate) fn is_unfinished(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether the screen changes with time alone: a clock counts while something is waited for.
    pub(crate) fn is_counting(&self) -> bool {
        self.work.is_some() && self.dialogs.is_empty()
    }

    pub(crate) fn resize(&mut self, width: u16) {
        self.width = width.max(1);
    }

    fn mode(&self) -> Option<Mode> {
        let session = self.session.as_ref()?;
        Some(session.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner).mode())
    }

    /// Sends a line, or lets it wait while another one is answered.
    pub(crate) fn submit(&mut self, line: Submission) -> Vec<Effect> {
        if let Some((name, rest)) = slash_command(&line.text).filter(|_| line.mode == InputMode::Prompt)
            && let Some(command) = ona_commands::find(name)
        {
            match command.function {
                Function::Exit => return self.leave(),
                Function::Keys => {
                    let lines = tools::key_help_lines(&self.keymap);
                    self.output.lines(lines);
                    return Vec::new();
                }
                Function::Vim => {
                    let on = self.composer.vim_mode().is_none();
                    self.composer.set_vim(on);
                    events::voice(self, if on { "Vim keys are on." } else { "Vim keys are off." });
                    return Vec::new();
                }
                Function::Model if rest.is_empty() => return self.pick_model(),
                Function::Resume if rest.is_empty() && self.work.is_none() => {
                    return vec![Effect::Send(Request::Sessions)];
                }
                Function::Rewind if rest.is_empty() && self.work.is_none() => {
                    return vec![Effect::Send(Request::RewindPoints)];
                }
                // The model of the next request can be changed while a reply streams (DEC-104).
                Function::Model => return self.set_model(rest),
                _ => {}
            }
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
