//! Runs a built-in command: one arm for each.

use super::answers::{Said, help};
use super::{Answer, AnsweredBy, SessionRunner, begin_turn, compact, refused};
use crate::table::{Class, Function, SlashCommand};
use ona_api::EventName;
use ona_orchestration::{TurnOutcome, UserPrompt, lifecycle};
use ona_runtime::session_start::{Preparation, SessionError};
use serde_json::json;
use std::sync::Arc;

const INIT: &str = "Look at this project and write a CLAUDE.md at its root for agents that work here later: what the \
                    project is, how to build it, how to run its tests, where things are, and conventions that cannot \
                    be seen from a single file. Keep it short. If there is one already, improve it.";
const REVIEW: &str = "Review the uncommitted changes of this project, or, if there are none, the newest commit. Look for \
                      mistakes, missing tests and unclear names. Report findings by importance, with file and line. \
                      Change nothing.";
const SECURITY: &str = "Review the changes of this branch against its base for security problems: injection, broken \
                        authorisation, secrets in code, unsafe file handling, missing validation. Report only what can \
                        be exploited, with file, line and a remedy. Change nothing.";

impl SessionRunner<'_> {
    /// Runs the command and what follows it.
    pub(super) async fn run_command(
        &mut self,
        command: &'static SlashCommand,
        rest: &str,
        prompt: &UserPrompt,
    ) -> Result<Answer, SessionError> {
        let on_screen = |name| Ok(Err(format!("/{name} works in the terminal only")));
        let said: Said = match command.function {
            Function::Clear => {
                let cleared = self.clear().await?;
                return self.answered(AnsweredBy::Command, cleared).await;
            }
            Function::Compact => return self.compact(rest).await,
            Function::Init => return self.ask_model(INIT, rest, prompt).await,
            Function::Review => return self.ask_model(REVIEW, rest, prompt).await,
            Function::SecurityReview => return self.ask_model(SECURITY, rest, prompt).await,
            Function::Plan if !rest.is_empty() => {
                let ask = "Enter plan mode with EnterPlanMode, then make a plan for this task and present it with \
                           ExitPlanMode:";
                return self.ask_model(ask, rest, prompt).await;
            }
            Function::Unavailable => match command.class {
                Class::Hosted(closest) => {
                    Ok(Ok(format!("/{} needs a hosted service, which ona does not use; {closest}.", command.name)))
                }
                Class::Local => on_screen(command.name),
            },
            Function::Exit | Function::Keys | Function::Vim => on_screen(command.name),
            Function::Help => Ok(help(rest)),
            Function::Model if rest.is_empty() => Ok(Ok(self.models())),
            Function::Model => self.set_model(rest).await,
            Function::Config => match rest.strip_prefix("model=") {
                Some(name) => self.set_model(name.trim()).await,
                None if rest.is_empty() => self.settings(),
                None => {
                    Ok(Err("/config changes only model=ID; everything else is changed in a settings file".to_owned()))
                }
            },
            Function::Status => self.status(),
            Function::Usage => self.usage(),
            Function::Context => self.context_use(),
            Function::Permissions => self.permissions(),
            Function::Hooks => Ok(Ok(self.hooks())),
            Function::Phase => self.phase_in_words(),
            Function::Plan => self.plan(),
            Function::Diff => self.diff(),
            Function::Rewind => self.rewind(rest),
            Function::Resume => self.resume(rest).await,
            Function::Branch => self.branch().await,
            Function::Export => self.export(rest),
            Function::Rate => self.rate(rest).await,
            Function::Memory if rest.is_empty() => self.memories(),
            Function::Memory => self.add_memory(rest).await,
            Function::AddDir => self.add_dir(rest),
            Function::Agents => Ok(Ok(self.agents())),
            Function::Skills => Ok(Ok(self.skills())),
            Function::Mcp => Ok(Ok(self.servers())),
            Function::Tasks => Ok(Ok(self.tasks())),
            Function::Doctor => self.doctor().await,
        };
        let outcome = match said? {
            Ok(text) => TurnOutcome { text, ..TurnOutcome::nothing() },
            Err(why) => refused(why),
        };
        Ok(Answer { outcome, by: AnsweredBy::Command })
    }

    async fn compact(&mut self, rest: &str) -> Result<Answer, SessionError> {
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return self.nobody() };
        begin_turn(parts, session, &mut ready.turn);
        let wish = Some(rest).filter(|wish| !wish.is_empty());
        let outcome = compact(&ready.turn, session, &mut ready.history, wish).await?;
        self.answered(AnsweredBy::Command, outcome).await
    }

    /// Runs a turn with a text of our own.
    async fn ask_model(&mut self, text: &str, rest: &str, prompt: &UserPrompt) -> Result<Answer, SessionError> {
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return self.nobody() };
        begin_turn(parts, session, &mut ready.turn);
        let text = format!("{text} {rest}").trim().to_owned();
        let said = UserPrompt { text, typed: Some(prompt.text.clone()), ..prompt.clone() };
        let outcome = ready.turn.run(session, &mut ready.history, said).await?;
        self.answered(AnsweredBy::Model, outcome).await
    }

    /// Why no model can be asked.
    pub(super) fn nobody(&self) -> Result<Answer, SessionError> {
        let outcome = match &self.ready {
            Preparation::Refused(outcome) => TurnOutcome::clone(outcome),
            Preparation::Ready(_) => TurnOutcome::nothing(),
        };
        Ok(Answer { outcome, by: AnsweredBy::Nobody })
    }

    /// The next request goes to this model (DEC-104).
    async fn set_model(&mut self, name: &str) -> Said {
        let Some(turn) = self.turn() else { return Ok(Err("No model can be asked; /doctor says why.".to_owned())) };
        let current = turn.current_model.clone();
        let model = match current.model().named(name) {
            Ok(model) => model,
            Err(failure) => return Ok(Err(failure.message)),
        };
        let words = format!("The next request goes to {} ({}).", model.choice.model_id, model.choice.wire_model);
        current.set(Arc::new(model));
        self.model_changed().await?;
        Ok(Ok(words))
    }

    /// Notifies hooks that the operator has chosen another model.
    pub async fn model_changed(&mut self) -> Result<(), SessionError> {
        let Self { parts, session, .. } = self;
        let (store, hooks) = (&parts.open.store, &parts.runtime.hooks);
        let fields = json!({"source": "user_settings"});
        lifecycle(store, hooks, session, &parts.events, EventName::ConfigChange, fields).await?;
        Ok(())
    }
}
