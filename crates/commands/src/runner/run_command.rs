//! Runs a built-in command: one arm for each.

use super::answers::{Said, help};
use super::{Answer, AnsweredBy, SessionRunner, begin_turn, compact, refused};
use crate::screen::{CommandQuestion, CommandReply, ScreenAction, ScreenOption};
use crate::table::{Class, Function, SlashCommand};
use crate::texts;
use ona_api::EventName;
use ona_orchestration::{TurnOutcome, UserPrompt, lifecycle};
use ona_runtime::session_start::{Preparation, SessionError};
use serde_json::json;
use std::sync::Arc;

impl SessionRunner<'_> {
    /// Runs the command and what follows it.
    pub(super) async fn run_command(
        &mut self,
        command: &'static SlashCommand,
        rest: &str,
        prompt: &UserPrompt,
    ) -> Result<Answer, SessionError> {
        // An interrupt of the last turn is over.
        self.session.cx.cancel = self.parts.cancellation.begin_turn();
        let said: Said = match command.function {
            Function::Clear => {
                let cleared = self.clear().await?;
                return self.answered(AnsweredBy::Command, cleared).await;
            }
            Function::Compact => return self.compact(rest).await,
            Function::Init => return self.ask_model(texts::INIT, rest, prompt).await,
            Function::Review => return self.ask_model(texts::REVIEW, rest, prompt).await,
            Function::SecurityReview => return self.ask_model(texts::SECURITY, rest, prompt).await,
            Function::Plan if !rest.is_empty() => return self.ask_model(texts::PLAN, rest, prompt).await,
            Function::Subtask => return self.subtask(rest, prompt).await,
            Function::Unavailable => Ok(Ok(match command.class {
                Class::Hosted(closest) => {
                    format!("/{} needs a hosted service, which ona does not use; {closest}.", command.name)
                }
                Class::Omitted(why) => format!("/{} is not part of ona: {why}.", command.name),
                Class::Local => format!("/{} works in the terminal only.", command.name),
            })),
            _ if !command.headless && self.parts.person.is_none() && command.needs_a_person() => {
                Ok(Err(in_terminal_only(command)))
            }
            Function::Exit | Function::Keys => Ok(Err(in_terminal_only(command))),
            Function::Help => Ok(help(rest)),
            Function::Model if rest.is_empty() => Ok(Ok(self.models())),
            Function::Model => self.set_model(rest).await,
            Function::Config => self.config(rest).await,
            Function::Status => self.status(),
            Function::Usage => self.usage(),
            Function::Context => self.context_use(),
            Function::Permissions => self.permissions_command(rest).await,
            Function::Hooks => self.hooks_view().await,
            Function::Phase => self.phase_command(rest).await,
            Function::Plan => self.plan(),
            Function::Tests => self.tests(rest).await,
            Function::Verify => self.verify(rest).await,
            Function::Diff => self.diff(),
            Function::Rewind => match rest.split_once(" summary") {
                Some((number, words)) => self.rewind_to_summary(number.trim(), words.trim()).await,
                None => self.rewind(rest),
            },
            Function::Resume => self.resume(rest).await,
            Function::Branch => self.branch(rest).await,
            Function::Rename => self.rename(rest).await,
            Function::Export => self.export(rest),
            Function::Copy => Ok(self.copy(rest)),
            Function::Todos => self.todos(),
            Function::Recap => self.recap().await,
            Function::Beside => self.beside(rest).await,
            Function::Goal => self.goal(rest).await,
            Function::Background => self.background(rest).await,
            Function::ListAgents => self.at_work(),
            Function::Tasks => Ok(Ok(self.tasks())),
            Function::Stop => self.stop(rest).await,
            Function::Rate => self.rate(rest).await,
            Function::Memory if rest.is_empty() => self.memory_view().await,
            Function::Memory => self.add_memory(rest).await,
            Function::AddDir => self.add_dir(rest),
            Function::Cd => self.cd(rest).await,
            Function::Agents => self.agents_view().await,
            Function::Skills => self.skills_view().await,
            Function::ReloadSkills => self.reload_skills().await,
            Function::Mcp => self.mcp(rest).await,
            Function::Plugin => self.plugin(rest).await,
            Function::Reload => Ok(self.restart("The session starts anew.")),
            Function::Login => self.login().await,
            Function::Logout => self.logout().await,
            Function::Effort => self.effort(rest).await,
            Function::AutoCompact => self.autocompact(rest).await,
            Function::Import => Ok(self.import(rest)),
            Function::Insights => self.insights(rest),
            Function::Doctor => self.doctor().await,
            Function::ReleaseNotes => Ok(release_notes(rest)),
            Function::Report => self.report(rest).await,
            Function::HeapDump => Ok(Ok(self.memory_of_the_process())),
            Function::Theme => self.theme(rest).await,
            Function::Colour => self.colour(rest).await,
            Function::Focus => Ok(self.act(ScreenAction::Focus)),
            Function::StatusLine => self.status_line(rest).await,
            Function::Keybindings => Ok(self.keybindings()),
            Function::TerminalSetup => Ok(Ok(self.terminal_setup())),
            Function::Vim => Ok(Err(in_terminal_only(command))),
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
    pub(super) async fn set_model(&mut self, name: &str) -> Said {
        let Some(turn) = self.turn() else { return Ok(Err(NO_MODEL.to_owned())) };
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

    /// Asks the person; `None` if there is nobody, or the question was closed.
    pub(super) async fn ask(&self, question: CommandQuestion) -> Option<CommandReply> {
        self.parts.person.as_ref()?.ask(question, &self.session.cx.cancel).await
    }

    pub(super) fn has_person(&self) -> bool {
        self.parts.person.is_some()
    }

    /// Asks for one of a few answers. Closing the question takes the last one.
    pub(super) async fn choose(&self, title: &str, body: String, options: &[(&str, &str)]) -> Option<usize> {
        let option = |(label, detail): &(&str, &str)| ScreenOption {
            label: (*label).to_owned(),
            detail: (*detail).to_owned(),
            letter: None,
        };
        let options: Vec<_> = options.iter().map(option).collect();
        let escape = options.len().saturating_sub(1);
        match self.ask(CommandQuestion::Choose { title: title.to_owned(), body, options, escape }).await? {
            CommandReply::Chosen(option) => Some(option),
            _ => None,
        }
    }

    pub(super) async fn input(&self, title: &str, placeholder: &str, secret: bool) -> Option<String> {
        let (title, placeholder) = (title.to_owned(), placeholder.to_owned());
        match self.ask(CommandQuestion::Input { title, placeholder, text: String::new(), secret }).await? {
            CommandReply::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    pub(super) fn act(&self, action: ScreenAction) -> Result<String, String> {
        match &self.parts.person {
            Some(screen) => {
                screen.act(action);
                Ok(String::new())
            }
            None => Err("This works in the terminal only.".to_owned()),
        }
    }
}

pub(super) const NO_MODEL: &str = "No model can be asked; /doctor says why.";

fn in_terminal_only(command: &SlashCommand) -> String {
    let instead = match command.function {
        Function::Login => "; `ona auth login` does the same in a shell",
        Function::Logout => "; `ona auth logout` does the same in a shell",
        Function::Resume => "; `ona -p --resume SESSION` continues one",
        Function::StatusLine | Function::Theme => "; `ona config set` changes the setting",
        _ => "",
    };
    format!("/{} works in the terminal only{instead}.", command.name)
}

const CHANGELOG: &str = include_str!("../../../../CHANGELOG.md");

/// The sections of the change log; the newest without a version.
fn release_notes(version: &str) -> Result<String, String> {
    let mut sections = CHANGELOG.split("\n## ").skip(1);
    let section = match version.trim().trim_start_matches('v') {
        "" => sections.next(),
        "all" => return Ok(CHANGELOG.to_owned()),
        wanted => sections.find(|section| section.lines().next().is_some_and(|head| head.contains(wanted))),
    };
    section.map(|section| format!("## {}", section.trim_end())).ok_or_else(|| {
        let known: Vec<_> = CHANGELOG.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        format!("Nothing is written about {version}; there is {}, and all", known.join(", "))
    })
}
