//! The state of the screen, and how it changes.
//!
//! [`App`] is one value. [`App::update`] takes keys and [`App::hear`] what the session did; both return what
//! has to be done. [`App::bottom`] and [`App::take_finished`] say what is to be seen. Nothing here does I/O or
//! asks a clock: the time comes with each input. `run` is the loop around it.

mod agents;
mod asked;
mod command_dialogs;
mod events;
mod output;
mod pickers;
mod press;
mod run;
mod status_facts;
mod tools;
mod transcript;
mod view;

pub use run::{TerminalEnd, TerminalOptions, WakeChannel, run};

use crate::blocks::Todo;
use crate::composer::{Composer, Image, InputMode, Submission};
use crate::dialogs::Overlay;
use crate::front::{Question, QuestionId, QueueReply, Reply, Request, SessionEvent, SessionFacts};
use crate::keys::{Input, Keymap};
use crate::markdown::Wake;
use crate::palette::Palette;
use crate::status_command::StatusOutput;
use crate::text::styled_line;
use agents::Agents;
use ona_api::{CallId, EventName, Mode, ToolCall};
use ona_commands::{Function, slash_command};
use ona_settings::StatusLineSettings;
use ona_transcript::TokenUsage;
use output::Output;
use ratatui_core::style::Color;
use ratatui_core::text::Line;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;
use transcript::{Transcript, TranscriptPage};

/// What has to be done outside of the state.
#[derive(Debug)]
pub(crate) enum Effect {
    Send(Request),
    Reply(QuestionId, Reply),
    /// End what runs now.
    Interrupt,
    /// The turn takes along what waited.
    HandOver(QueueReply, Vec<Submission>),
    /// Let the command that a call waits for go on by itself.
    ToBackground(CallId),
    /// End the agents that work in the background.
    StopAgents,
    /// Open a text in the user's editor.
    Edit(String, EditFor),
    /// Look for an image in the clipboard.
    PasteImage,
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
    EditFile(PathBuf),
    /// Run this as the status line from now on.
    /// Look into a folder for the shell line.
    ListFolder {
        folder: PathBuf,
        typed: String,
    },
}

/// What becomes of a text that was edited outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditFor {
    /// It is the text of the composer.
    Composer,
    /// It was only looked at.
    Nothing,
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
    pub(crate) statuses: BTreeMap<String, String>,
    /// The colours of the theme.
    pub(crate) palette: Palette,
    /// Of the lines around the composer.
    pub(crate) colour: Option<Color>,
    /// Prompts and replies only.
    pub(crate) focus: bool,
    /// What the session is called.
    pub(crate) name: Option<String>,
    /// What a hook module says instead of the word for what goes on.
    working_message: Option<String>,
    /// What the user's own status line command printed.
    own_status: Vec<Line<'static>>,
    /// Why that command failed, so that it is said once.
    status_failure: Option<String>,
    agents: Agents,
    todos: Vec<Todo>,
    show_todos: bool,
    transcript: Transcript,
    /// The transcript while it is open.
    page: Option<TranscriptPage>,
    /// The queue as the session has last kept it.
    kept_queue: Vec<String>,
    /// Only appending, for screen readers.
    plain: bool,
    /// From the command line; it is sent once the session is there.
    first_prompt: Option<Submission>,
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
    /// The event whose hooks run now.
    pub hook: Option<EventName>,
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
    /// It is worked on; calls run one after another.
    pub started: bool,
    /// The newest of what it has printed.
    pub output: String,
    /// Why it may not run.
    pub denied: Option<String>,
}

impl RunningCall {
    fn new(call: ToolCall, since: Duration) -> Self {
        Self { call, since, started: false, output: String::new(), denied: None }
    }
}

/// How full the context is, and what the session has used.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextUse {
    pub tokens: u64,
    /// Of all requests of this run.
    pub input: u64,
    pub output: u64,
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
            statuses: BTreeMap::new(),
            palette: Palette::default(),
            colour: None,
            focus: false,
            name: None,
            working_message: None,
            own_status: Vec::new(),
            status_failure: None,
            agents: Agents::default(),
            todos: Vec::new(),
            show_todos: false,
            transcript: Transcript::default(),
            page: None,
            kept_queue: Vec::new(),
            plain: false,
            first_prompt: None,
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
        effects.extend(self.queue_changed());
        effects
    }

    /// Takes in what the session did.
    pub(crate) fn hear(&mut self, event: SessionEvent, now: Duration) -> Vec<Effect> {
        let mut effects = events::hear(self, event, now);
        effects.extend(self.fill_preview());
        effects.extend(self.queue_changed());
        effects
    }

    /// The session keeps what waits, so that a killed program does not lose it.
    fn queue_changed(&mut self) -> Option<Effect> {
        if self.composer.queued().len() == 0 && self.kept_queue.is_empty() {
            return None;
        }
        let queue: Vec<String> = self.composer.queued().map(Submission::history_entry).collect();
        if queue == self.kept_queue || self.session.is_none() {
            return None;
        }
        self.kept_queue.clone_from(&queue);
        Some(Effect::Send(Request::Queue(queue)))
    }

    /// The prompt of the command line.
    pub(crate) fn begin_with(&mut self, prompt: &str) {
        self.first_prompt = Some(Submission::prompt(prompt));
    }

    /// Only appending from now on: nothing is repainted that a screen reader has read.
    pub(crate) fn set_plain(&mut self) {
        self.plain = true;
        self.composer.set_placeholder("");
    }

    /// Looks at what the command that is waited for has printed. Returns whether that may change.
    pub(crate) fn look_at_output(&mut self) -> bool {
        let (Some(session), Some(work)) = (&self.session, &mut self.work) else { return false };
        let Some(running) = work.calls.first_mut().filter(|running| running.started) else { return false };
        let Some(bytes) = session.tasks.recent_output(&running.call.id) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        // A secret that begins before the first line is not looked for.
        let whole = if bytes.len() < 8_000 { &text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
        running.output = session.redactor.apply(whole).into_owned();
        true
    }

    /// A prompt that waited goes along with the next request.
    pub(crate) fn taken_along(&mut self, line: &Submission) {
        events::show_prompt(self, line);
    }

    pub(crate) fn status_settings(&self) -> Option<StatusLineSettings> {
        self.session.as_ref()?.status_line.settings.clone()
    }

    /// What the status line command has printed, or why it failed.
    pub(crate) fn own_status(&mut self, output: StatusOutput) {
        match output {
            Ok(lines) => {
                let padding = self.status_settings().map_or(0, |settings| settings.padding);
                let padding = " ".repeat(usize::from(padding) + 1);
                let redacted = |line: &String| match &self.session {
                    Some(session) => session.redactor.apply(line).into_owned(),
                    None => line.clone(),
                };
                let line = |text: &String| {
                    let mut line = styled_line(&redacted(text));
                    line.spans.insert(0, padding.clone().into());
                    line
                };
                self.own_status = lines.iter().map(line).collect();
                self.status_failure = None;
            }
            Err(why) => {
                self.own_status.clear();
                if self.status_failure.as_ref() != Some(&why) {
                    events::voice(self, &format!("The command of statusLine failed: {why}"));
                    self.status_failure = Some(why);
                }
            }
        }
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
        (self.work.is_some() || !self.agents.is_empty()) && self.dialogs.is_empty()
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
        // What is sent before the session is there waits in sight, so that it does not stand above the first lines.
        if self.work.is_some() || self.session.is_none() {
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
