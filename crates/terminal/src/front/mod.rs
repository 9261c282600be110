//! The session behind the screen.
//!
//! It runs on a thread of its own, so that the composer is there before anything is assembled and a key
//! is never late because of a hook or a database. Both sides exchange values: [`Request`]s go
//! down, [`SessionEvent`]s come up, and a question waits in [`OpenQuestions`] until the screen answers it.
//! What a line means is `ona_commands`'s matter; nothing is decided here.

mod assemble;
mod hooks;
mod meanwhile;
mod operator;
mod person;
mod questions;
mod serve;
mod waiting;

pub(crate) use hooks::HookRun;
pub(crate) use questions::{ModuleAsk, OpenQuestions, PermissionAsk, Question, QuestionId, Reply, TrustAsk};
pub(crate) use waiting::QueueReply;

use crate::composer::Submission;
use ona_api::Phase;
use ona_commands::{AnsweredBy, ScreenAction};
use ona_orchestration::{CurrentModel, RewindPrompt, TurnEnd, TurnEvent, TurnOutcome};
use ona_permissions::PermissionEngine;
use ona_process::TurnCancellation;
use ona_runtime::session_start::SetupTrigger;
use ona_runtime::{Failure, Launch};
use ona_settings::TerminalSettings;
use ona_store::SessionLine;
use ona_transcript::Prices;
use std::sync::mpsc::Sender;
use std::sync::{Arc, RwLock};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What the screen wants of the session.
#[derive(Debug)]
pub(crate) enum Request {
    /// A line that was typed: a prompt or a command.
    Line(Submission),
    /// List the sessions of this project.
    Sessions,
    /// Read the last messages of a session.
    Preview(String),
    /// List the prompts that can be gone back to.
    RewindPoints,
    /// The operator has chosen another model.
    ModelChanged,
    /// A key that a hook module has registered.
    Shortcut(String),
    /// What waits in the composer now, so that a killed program does not lose it.
    Queue(Vec<String>),
    /// End the session and the program.
    Leave,
}

/// What the screen hears.
#[derive(Debug)]
pub(crate) enum SessionEvent {
    /// A session can be prompted.
    Ready(Box<SessionFacts>),
    /// The phase of the conversation, after something may have moved it.
    Phase(Phase),
    /// The last messages of a session that is continued: by the user or not, and the text.
    History(Vec<(bool, String)>),
    /// What was prompted in this project before, the oldest first.
    OlderPrompts(Vec<String>),
    /// The name of the session.
    Name(Option<String>),
    /// What waited in the composer when the session was left.
    Queued(Vec<String>),
    /// A turn takes along what waits.
    WantsQueue(QueueReply),
    /// A turn was interrupted before it took this in.
    GiveBack(Submission),
    /// A sentence for the person.
    Note(String),
    /// A text of a hook module for the status line; none takes it away.
    Status {
        key: String,
        text: Option<String>,
    },
    /// A message of a hook module, as lines with their styles.
    ModuleMessage(Vec<String>),
    /// A hook module writes into the composer.
    SetText(String),
    /// Something only a screen can do.
    Act(ScreenAction),
    /// A hook module reads the composer.
    WantsText(tokio::sync::oneshot::Sender<String>),
    /// What hook modules say instead of the word for what goes on.
    WorkingMessage(Option<String>),
    Sessions(Vec<SessionLine>),
    /// The last messages of a session, for the list of them.
    SessionPreview {
        session: String,
        messages: Vec<(bool, String)>,
    },
    RewindPoints(Vec<RewindPrompt>),
    Turn(Box<TurnEvent>),
    HookStarted(ona_api::EventName),
    Hook(HookRun),
    /// A line is being answered.
    Began,
    /// A line was answered, or background work went on by itself.
    Answered {
        outcome: Box<TurnOutcome>,
        by: AnsweredBy,
    },
    Asked {
        id: QuestionId,
        question: Question,
    },
    /// Nobody waits for the answer any more.
    Withdrawn(QuestionId),
    /// The thread has ended: with what, and what continues the session.
    Ended {
        failure: Option<Failure>,
        session: Option<String>,
    },
}

/// What the user's status line command is told beside what the screen knows.
#[derive(Clone, Debug)]
pub(crate) struct StatusLineFacts {
    /// `None`: no command is configured.
    pub settings: Option<ona_settings::StatusLineSettings>,
    pub conversation: String,
    pub project: String,
    pub added: Vec<String>,
    pub worktree: Option<String>,
    pub output_style: String,
    pub agent: Option<String>,
}

/// What the screen shows about a session and may change beside it.
#[derive(Clone)]
pub(crate) struct SessionFacts {
    pub session: String,
    pub model: Option<CurrentModel>,
    pub rules: Arc<RwLock<PermissionEngine>>,
    pub prices: Prices,
    pub phase: Phase,
    /// What restricts the agent here: `12 hooks`, `3 deny rules`.
    pub guards: Vec<String>,
    /// The folder it works in.
    pub folder: String,
    pub title: Option<String>,
    /// What the settings say about the screen.
    pub terminal: TerminalSettings,
    /// What runs beside the turn, and what its calls wait for.
    pub tasks: Arc<ona_tools::Tasks>,
    pub redactor: ona_api::Redactor,
    /// Keys of hook modules, with their help.
    pub shortcuts: Vec<(String, String)>,
    /// The operator allowed it at the start.
    pub may_bypass: bool,
    /// What the user's own status line is told.
    pub status_line: StatusLineFacts,
    /// Names and help of what a slash may be followed by, beside the built-in commands.
    pub commands: Vec<(String, String)>,
}

impl std::fmt::Debug for SessionFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionFacts").field("session", &self.session).finish_non_exhaustive()
    }
}

/// The screen's end of the session thread.
pub(crate) struct SessionThread {
    pub requests: UnboundedSender<Request>,
    pub questions: Arc<OpenQuestions>,
    pub cancellation: TurnCancellation,
    thread: std::thread::JoinHandle<()>,
}

/// What the thread works with.
struct Backend {
    launch: Launch,
    inbox: UnboundedReceiver<Request>,
    questions: Arc<OpenQuestions>,
    cancellation: TurnCancellation,
    events: EventSender,
    choices: StartChoices,
}

/// What was chosen on the command line for the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StartChoices {
    pub setup: Option<SetupTrigger>,
    pub may_bypass: bool,
}

/// Sends events to the screen. One that nobody hears any more is dropped.
#[derive(Clone)]
pub(crate) struct EventSender(Arc<dyn Fn(SessionEvent) + Send + Sync>);

impl std::fmt::Debug for EventSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EventSender")
    }
}

impl EventSender {
    pub(crate) fn new<T: From<SessionEvent> + Send + 'static>(sender: Sender<T>) -> Self {
        Self(Arc::new(move |event| {
            // The screen is gone only while the program ends.
            sender.send(event.into()).ok();
        }))
    }

    pub(crate) fn send(&self, event: SessionEvent) {
        (self.0)(event);
    }
}

impl SessionThread {
    pub(crate) fn start(
        launch: Launch,
        cancellation: TurnCancellation,
        events: EventSender,
        choices: StartChoices,
    ) -> std::io::Result<Self> {
        let (requests, inbox) = unbounded_channel();
        let questions = Arc::new(OpenQuestions::new(events.clone()));
        let (asked, stops) = (Arc::clone(&questions), cancellation.clone());
        let backend = Backend { launch, inbox, questions: asked, cancellation: stops, events, choices };
        let thread = std::thread::Builder::new().name("session".into()).spawn(move || serve::run(backend))?;
        Ok(Self { requests, questions, cancellation, thread })
    }

    /// Waits until hooks have run and rows are committed.
    pub(crate) fn join(self) {
        // A panic of the thread was reported where it happened.
        self.thread.join().ok();
    }
}

/// Whether a turn ended in a way that the person has to be told.
pub(crate) fn end_in_words(end: &TurnEnd) -> Option<String> {
    match end {
        TurnEnd::Done => None,
        TurnEnd::Blocked { message } | TurnEnd::NeverStopped { message } => Some(message.clone()),
        TurnEnd::Stopped { reason } => Some(format!("Stopped by hook: {reason}")),
        TurnEnd::MaxTurns => Some("The limit of --max-turns was reached.".to_owned()),
        TurnEnd::Failed(failure) | TurnEnd::Incomplete { failure, .. } => Some(failure.message.clone()),
        TurnEnd::Interrupted(_) => Some("Interrupted. What should be done instead?".to_owned()),
    }
}
