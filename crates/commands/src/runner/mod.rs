//! Answers lines one after another in one session at a time.
//!
//! What every front does alike is here: assembling the parts of a run, beginning a session, telling
//! commands from prompts, moving to another session, and what follows a turn (compactions and
//! commands that modules asked for, tasks that ended). A front says who is asked and hears what
//! happens; reading input while a turn runs, and showing anything, is its own matter.

mod account;
mod answers;
mod appearance;
mod editing;
mod extending;
mod for_screens;
mod import;
mod insights;
mod modules;
mod parts;
mod reports;
mod run_command;
mod session_commands;
mod skills;
mod switching;
mod views;
mod workflow;

pub(crate) use account::log_in_on_screen;
pub use for_screens::OWN_SHELL;
pub use parts::{FrontParts, SessionObserver, SessionParts};

use crate::parse::slash_command;
use crate::table;
use ona_api::{SessionId, SessionOrigin};
use ona_orchestration::{
    COMPACTION_CANCELLED, Compacted, Events, History, IdlePrompt, Session, SessionEndReason, Turn, TurnEnd,
    TurnOutcome, UserPrompt, end_session, look_at_files,
};
use ona_runtime::session_choice::Begin;
use ona_runtime::session_start::{Preparation, ReadySession, SessionError, SessionStart, open_session};
use ona_store::{SessionLock, StoreError};
use ona_transcript::Trigger;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One session at a time, and everything it is made of.
pub struct SessionRunner<'a> {
    pub parts: SessionParts<'a>,
    pub session: Session,
    pub ready: Preparation,
    /// Sessions this run has entered, so that no other process does.
    locks: Vec<SessionLock>,
    /// Their ids, and that of the first one, whose lock the front holds.
    held: Vec<SessionId>,
    idle: IdlePrompt,
    /// What has to follow the line that was answered last.
    after: Option<AfterAnswer>,
}

/// What a front has to do after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAnswer {
    /// Leave; the session ends for this reason.
    Leave(SessionEndReason),
    /// End the session and continue it with everything read anew.
    Restart,
}

/// What became of a line.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: TurnOutcome,
    pub by: AnsweredBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsweredBy {
    /// A turn.
    Model,
    /// A built-in command; the text is its answer.
    Command,
    /// No model can be asked: the session did not begin.
    Nobody,
}

impl<'a> SessionRunner<'a> {
    /// Begins the session and prepares it. The caller holds the lock of the session.
    pub async fn begin(mut parts: SessionParts<'a>, begin: Begin, origin: SessionOrigin) -> Result<Self, SessionError> {
        let source = begin.source;
        let mut session = parts.open_session(begin, origin).await?;
        session.cx.cancel = parts.cancellation.begin_turn();
        let ready = match parts.prepare(&mut session, source).await {
            Ok(ready) => ready,
            Err(error) => {
                parts.take_back_model();
                return Err(error);
            }
        };
        let idle = IdlePrompt::new(parts.runtime.settings.idle_prompt.value);
        let held = vec![session.place.session.clone()];
        Ok(Self { parts, session, ready, locks: Vec::new(), held, idle, after: None })
    }

    /// Takes what has to follow the last answer.
    pub fn take_after(&mut self) -> Option<AfterAnswer> {
        self.after.take()
    }

    /// Answers one line.
    pub async fn answer(&mut self, prompt: UserPrompt) -> Result<Answer, SessionError> {
        let command = slash_command(&prompt.text).and_then(|(name, rest)| Some((table::find(name)?, rest)));
        // A skill of the same name replaces a text of ours, and nothing else (DEC-006).
        let command = command.filter(|(command, _)| {
            let by_skill = self.parts.skills.get(command.name).is_some_and(|skill| skill.by_user);
            !(by_skill && command.function.asks_the_model())
        });
        if let Some((command, rest)) = command {
            return self.run_command(command, rest, &prompt).await;
        }
        let Self { parts, session, ready, locks, .. } = self;
        let Preparation::Ready(ready) = ready else { return self.nobody() };
        let (turn, history) = (&mut ready.turn, &mut ready.history);
        begin_turn(parts, session, turn);
        let of_module = parts.run_module_command(turn, session, history, &prompt.text, locks).await?;
        let outcome = match of_module {
            Some(outcome) => outcome,
            None => match parts.prompt_through_modules(session, prompt).await? {
                Some(prompt) => parts.run_prompt(turn, session, history, prompt).await?,
                None => TurnOutcome::nothing(),
            },
        };
        self.answered(AnsweredBy::Model, outcome).await
    }

    /// What modules asked for while the line was answered happens before the next one.
    async fn answered(&mut self, by: AnsweredBy, outcome: TurnOutcome) -> Result<Answer, SessionError> {
        self.idle.begin();
        let Self { parts, session, ready, locks, .. } = self;
        match ready {
            Preparation::Ready(ready) => {
                let ReadySession { turn, history, .. } = ready.as_mut();
                run_requested_compactions(turn, session, history).await?;
                parts.run_queued_commands(turn, session, history, locks).await?;
                Ok(Answer { outcome, by })
            }
            Preparation::Refused(outcome) => {
                Ok(Answer { outcome: TurnOutcome::clone(outcome), by: AnsweredBy::Nobody })
            }
        }
    }

    /// Continues without a prompt: background tasks have ended, or a module wants an answer.
    pub async fn go_on(&mut self) -> Result<TurnOutcome, StoreError> {
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return Ok(TurnOutcome::nothing()) };
        begin_turn(parts, session, &mut ready.turn);
        let outcome = ready.turn.go_on(session, &mut ready.history).await;
        self.idle.begin();
        outcome
    }

    /// The part of a session that can be prompted; `None` where no model can be asked.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.ready {
            Preparation::Ready(ready) => Some(&ready.turn),
            Preparation::Refused(_) => None,
        }
    }

    /// Something below the session has shortened its conversation.
    pub fn conversation_went_back(&mut self) -> Result<(), StoreError> {
        self.session.context.went_back(self.parts.open.store.reader()?, &self.session.place.session)
    }

    /// Returns how long a front that waits for a prompt sleeps before it looks again, at most `usual`.
    pub fn next_look(&self, usual: Duration) -> Duration {
        self.idle.next_look(usual)
    }

    /// Notifies hooks of files that other programs have changed, and of a wait that takes long.
    pub async fn look_at_files(&mut self) -> Result<(), StoreError> {
        let Self { parts, session, idle, .. } = self;
        // An interrupt of the last turn is over.
        session.cx.cancel = parts.cancellation.begin_turn();
        idle.look(&parts.open.store, &parts.runtime.hooks, session, &parts.events).await?;
        look_at_files(&parts.open.store, &parts.runtime.hooks, session, &parts.events).await
    }

    /// Ends the session and its conversation (DEC-023).
    pub async fn finish(&mut self, events: &Events, reason: SessionEndReason) -> Result<(), StoreError> {
        self.parts.finish(&mut self.session, events, reason).await
    }
}

impl SessionParts<'_> {
    /// Records that a session begins, opens it, and moves it into its worktree, if it has one.
    pub async fn open_session(&mut self, begin: Begin, origin: SessionOrigin) -> Result<Session, SessionError> {
        self.check_resume(&begin).await?;
        let mut session = open_session(self.open, &mut self.runtime, begin, origin).await?;
        if let Some(plan) = self.plan.take() {
            let entered = self.runtime.enter_worktree(self.open, &mut session, &self.events, &plan).await?;
            self.worktree = Some(entered);
            self.runtime.mcp.start(&*self.starts);
        }
        Ok(session)
    }

    /// Ends a session and its conversation (DEC-023).
    pub async fn finish(
        &self,
        session: &mut Session,
        events: &Events,
        reason: SessionEndReason,
    ) -> Result<(), StoreError> {
        self.cancellation.begin_turn();
        if self.cancellation.program().is_cancelled() {
            // Nobody waits for running tasks any more, and their hooks must run before the last ones.
            self.runtime.tasks.stop_all().await;
        }
        self.take_back_model();
        end_session(&self.open.store, &self.runtime.hooks, session, events, reason).await?;
        self.notify_shutdown(session).await?;
        if let Some(worktree) = &self.worktree {
            // Nothing may change it from now on.
            self.runtime.tasks.stop_all().await;
            if let Some(kept) = self.runtime.leave_worktree(self.open, session, events, worktree).await? {
                self.observer.note(&format!("ona: {kept}"));
            }
        }
        Ok(())
    }

    /// A model that never replied is chosen anew next time (DEC-190).
    fn take_back_model(&self) {
        if !self.has_replied.load(Ordering::Relaxed)
            && let Err(failure) = self.runtime.take_back_model(self.launch, self.open)
        {
            self.launch.note(failure);
        }
    }

    /// Prepares the session, shows it and runs the prompt that a hook has set.
    pub async fn prepare(&self, session: &mut Session, source: &str) -> Result<Preparation, SessionError> {
        let start = SessionStart {
            launch: self.launch,
            open: self.open,
            runtime: &self.runtime,
            skills: &self.skills,
            agents: &self.agents,
            elicitations: &self.elicitations,
            operator: Arc::clone(&self.operator),
            cancellation: &self.cancellation,
            events: &self.events,
            overrides: &self.overrides,
            style: self.output_style.as_ref(),
            setup: self.setup,
            waiting: self.waiting.as_ref(),
        };
        let mut prepared = start.prepare(session, source).await?;
        if let Preparation::Ready(ready) = &mut prepared {
            self.observer.ready(self, session, source, ready);
            if let Some(prompt) = ready.first_prompt.take() {
                ready.turn.run(session, &mut ready.history, prompt.as_str()).await?;
            }
        }
        Ok(prepared)
    }
}

fn begin_turn(parts: &SessionParts<'_>, session: &mut Session, turn: &mut Turn) {
    turn.cancel = parts.cancellation.begin_turn();
    session.cx.cancel = turn.cancel.clone();
}

/// Runs the compactions that modules requested, now that no turn runs.
async fn run_requested_compactions(
    turn: &Turn,
    session: &mut Session,
    history: &mut History,
) -> Result<(), StoreError> {
    let Some(modules) = session.modules.clone() else { return Ok(()) };
    while let Some(wish) = modules.host.wish() {
        let done = turn.compact(session, history, Trigger::Manual, wish.instructions.as_deref()).await?;
        wish.answer(match done {
            Compacted::To(summary) => Ok(summary),
            Compacted::Cancelled => Err(COMPACTION_CANCELLED),
            Compacted::Not | Compacted::Failed(_) => Err("Nothing was compacted."),
        });
        modules.emitter.settle().await;
    }
    Ok(())
}

/// Replaces the conversation so far with a summary (`/compact`).
async fn compact(
    turn: &Turn,
    session: &mut Session,
    history: &mut History,
    wish: Option<&str>,
) -> Result<TurnOutcome, StoreError> {
    let words = match turn.compact(session, history, Trigger::Manual, wish).await? {
        Compacted::To(_) => "The conversation was compacted.",
        Compacted::Not => "Nothing was compacted.",
        Compacted::Cancelled => return Ok(refused(COMPACTION_CANCELLED)),
        Compacted::Failed(failure) => {
            return Ok(TurnOutcome { ended: TurnEnd::Failed(failure), ..TurnOutcome::nothing() });
        }
    };
    Ok(TurnOutcome { text: words.into(), ..TurnOutcome::nothing() })
}

/// A turn in which nothing was done, and why.
fn refused(message: impl Into<String>) -> TurnOutcome {
    TurnOutcome { ended: TurnEnd::Blocked { message: message.into() }, ..TurnOutcome::nothing() }
}
