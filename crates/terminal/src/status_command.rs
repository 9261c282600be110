//! The user's own status line: a command that gets JSON about the session on stdin, and whose first line is shown.
//!
//! It runs on a thread of its own, a moment after something has changed, and again as often as the settings
//! say. Nothing waits for it: what it prints comes as an event.

use crate::front::{EventSender, SessionEvent};
use crate::text::visible_line;
use ona_api::Env;
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_settings::StatusLineCommand;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Changes that follow each other this soon are one.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Bytes of its output that are kept.
const OUTPUT: usize = 8 * 1024;

#[derive(Debug)]
enum Message {
    Command(Option<StatusLineCommand>),
    Facts(String),
}

/// The thread's other end. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct StatusCommand {
    messages: Sender<Message>,
    told: Option<String>,
    is_set: bool,
}

impl StatusCommand {
    pub(crate) fn start(env: Env, cwd: PathBuf, events: EventSender) -> std::io::Result<StatusCommand> {
        let (messages, inbox) = channel();
        let runner = Runner { env, cwd, events, inbox };
        std::thread::Builder::new().name("status-line".into()).spawn(move || runner.run())?;
        Ok(StatusCommand { messages, told: None, is_set: false })
    }

    /// Runs this command from now on.
    pub(crate) fn set(&mut self, command: Option<StatusLineCommand>) {
        (self.is_set, self.told) = (command.is_some(), None);
        // A thread that has ended shows nothing more.
        self.messages.send(Message::Command(command)).ok();
    }

    /// What the command is told; the same twice runs it once.
    pub(crate) fn tell(&mut self, facts: impl FnOnce() -> String) {
        if !self.is_set {
            return;
        }
        let facts = facts();
        if self.told.as_ref() != Some(&facts) {
            self.messages.send(Message::Facts(facts.clone())).ok();
            self.told = Some(facts);
        }
    }
}

struct Runner {
    env: Env,
    cwd: PathBuf,
    events: EventSender,
    inbox: Receiver<Message>,
}

impl Runner {
    fn run(self) {
        let (mut command, mut facts): (Option<StatusLineCommand>, Option<String>) = (None, None);
        loop {
            let refresh = command.as_ref().and_then(|command| command.refresh);
            let message = match refresh {
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => self.inbox.recv_timeout(wait),
            };
            let mut next = match message {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let settled = Instant::now() + DEBOUNCE;
            while let Some(message) = next.take() {
                match message {
                    Message::Command(new) => {
                        if new.is_none() {
                            self.events.send(SessionEvent::OwnStatus(None));
                        }
                        (command, facts) = (new, None);
                    }
                    Message::Facts(new) => facts = Some(new),
                }
                next = self.inbox.recv_timeout(settled.saturating_duration_since(Instant::now())).ok();
            }
            if let (Some(command), Some(facts)) = (&command, &facts) {
                self.events.send(SessionEvent::OwnStatus(Some(self.line(command, facts))));
            }
        }
    }

    /// The first line it prints, or what went wrong.
    fn line(&self, command: &StatusLineCommand, facts: &str) -> String {
        let child = ChildCommand {
            program: "sh".into(),
            args: vec!["-c".into(), command.command.clone().into()],
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stdin: facts.as_bytes().to_vec(),
            cap: OUTPUT,
            deadline: Some(LIMIT),
            grace: Duration::from_millis(200),
            on_death: OnDeath::Kill,
            wall: None,
        };
        match ona_process::run_blocking(child) {
            Ok(ran) if ran.end == ChildExit::Exited(0) => {
                let text = String::from_utf8_lossy(&ran.stdout.bytes).into_owned();
                visible_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim())
            }
            Ok(ran) => {
                let text = String::from_utf8_lossy(&ran.stderr.bytes).into_owned();
                let why = text.lines().next().map(visible_line).unwrap_or_default();
                format!("status line failed: {why}").trim_end_matches([':', ' ']).to_owned()
            }
            Err(error) => format!("status line failed: {error}"),
        }
    }
}
