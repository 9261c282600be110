//! Questions that wait for the person.
//!
//! A question is a value that the screen can draw; who asked waits for a [`Reply`] without a time
//! limit. An interrupted turn withdraws its questions, and no answer counts as a no.

use super::{EventSender, SessionEvent};
use ona_api::permission_update::PermissionUpdate;
use ona_commands::{CommandQuestion, CommandReply};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct QuestionId(u64);

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Permission(Box<PermissionAsk>),
    Trust(TrustAsk),
    /// A form of an MCP server, as Elicitation hooks see it.
    Elicitation(Map<String, Value>),
    Module(ModuleAsk),
    /// A command wants to know something.
    Command(CommandQuestion),
}

/// A dialog of a hook module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleAsk {
    Confirm {
        title: String,
        message: String,
    },
    Select {
        title: String,
        options: Vec<String>,
    },
    Input {
        title: String,
        placeholder: String,
        text: String,
    },
    /// A component of the module, as the lines it has drawn; the answer is the key that it gets.
    Custom {
        lines: Vec<String>,
    },
}

/// May this call run? Also the questions of a model and the approval of a plan, which are calls.
#[derive(Clone, Debug)]
pub(crate) struct PermissionAsk {
    pub tool: String,
    /// As it may be shown: secrets are replaced.
    pub input: Value,
    pub agent: Option<String>,
    /// The file it is about, as seen from the project.
    pub path: Option<String>,
    /// Why it is asked.
    pub reason: String,
    pub programs: Vec<String>,
    /// Files that would change, with a note on each.
    pub writes: Vec<String>,
    /// What would let this very call pass from now on; empty if nothing can.
    pub always: Vec<PermissionUpdate>,
    pub plan: Option<String>,
    /// What a file that would be replaced holds now.
    pub before: Option<String>,
}

/// Is this folder trusted?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustAsk {
    pub folder: String,
    /// What would run: a kind, and the files of it.
    pub listed: Vec<(String, Vec<String>)>,
}

/// What the person says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Allow {
        /// Rules to keep.
        updates: Vec<PermissionUpdate>,
        /// The input to run with instead.
        input: Option<Map<String, Value>>,
    },
    Deny {
        /// What to do instead; without it the turn stops.
        feedback: Option<String>,
    },
    Trust(bool),
    /// Leave instead of answering.
    Leave,
    /// What a form or a module gets; null if it was closed.
    Value(Value),
    /// What a command gets.
    Command(CommandReply),
}

/// The questions nobody has answered yet.
pub(crate) struct OpenQuestions {
    events: EventSender,
    waiting: Mutex<(u64, HashMap<QuestionId, oneshot::Sender<Reply>>)>,
}

impl OpenQuestions {
    pub(super) fn new(events: EventSender) -> Self {
        Self { events, waiting: Mutex::default() }
    }

    /// Asks and waits. `None` if it was interrupted or the screen is gone.
    pub(super) async fn ask(&self, question: Question, cancel: &CancellationToken) -> Option<Reply> {
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.0 += 1;
            let id = QuestionId(waiting.0);
            waiting.1.insert(id, sender);
            id
        };
        let open = Open { questions: self, id };
        self.events.send(SessionEvent::Asked { id, question });
        let reply = tokio::select! {
            reply = receiver => reply.ok(),
            () = cancel.cancelled() => None,
        };
        drop(open);
        reply
    }

    /// Answers a question. One that was withdrawn meanwhile needs no answer.
    pub(crate) fn reply(&self, id: QuestionId, reply: Reply) {
        if let Some(sender) = self.waiting().1.remove(&id) {
            sender.send(reply).ok();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, (u64, HashMap<QuestionId, oneshot::Sender<Reply>>)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that is withdrawn unless it was answered, also when its future is dropped.
struct Open<'a> {
    questions: &'a OpenQuestions,
    id: QuestionId,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.questions.waiting().1.remove(&self.id).is_some() {
            self.questions.events.send(SessionEvent::Withdrawn(self.id));
        }
    }
}
