//! Prompts that are the names of skills and commands: the text takes the prompt's place.

use super::Run;
use super::commands::typed;
use ona_instructions::skills::Skill;
use ona_orchestration::{Events, History, NotLoaded, Session, Turn, TurnEnd, TurnEvent, TurnOutcome, UserPrompt};
use ona_runtime::skills;
use ona_store::StoreError;
use std::sync::{Arc, PoisonError};

/// How many skills one prompt may begin with.
const STACKED: usize = 6;

impl Run<'_> {
    /// A turn of what somebody said, or of the texts it names. A name nobody knows is a
    /// mistake of whoever typed it, and no model is asked about it.
    pub(super) async fn prompt(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        said: UserPrompt,
        events: &Events,
    ) -> Result<TurnOutcome, StoreError> {
        let Some((name, rest)) = typed(&said.text).filter(|_| !self.launch.options.disable_slash_commands) else {
            return turn.run(session, history, said).await;
        };
        let (named, arguments) = match self.named(name, rest) {
            Ok(named) => named,
            Err(message) => return Ok(refused(message)),
        };
        let told = Arc::clone(events);
        let tell = Arc::new(move |note| told(TurnEvent::Message(note)));
        let operator = Arc::clone(&turn.pipeline.operator);
        let loader = skills::loader(self.open, &self.runtime, session, &self.skills, operator, tell);
        let mut texts = Vec::new();
        for skill in named {
            match loader.load(skill, arguments, &session.cx).await {
                Ok(text) => texts.push(text),
                Err(NotLoaded::Store(error)) => return Err(error),
                Err(why) => {
                    session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
                    return Ok(refused(why.to_string()));
                }
            }
        }
        let typed = Some(said.text);
        turn.run(session, history, UserPrompt { text: texts.join("\n\n"), typed, ..said }).await
    }

    /// The skills a prompt begins with, and their argument: `/a /b text`.
    fn named<'p>(&self, name: &'p str, rest: &'p str) -> Result<(Vec<&Skill>, &'p str), String> {
        let mut named = vec![self.typable(name)?];
        let mut arguments = rest;
        while let Some((name, rest)) = typed(arguments).filter(|_| named.len() < STACKED) {
            let Ok(skill) = self.typable(name) else { break };
            named.push(skill);
            arguments = rest;
        }
        Ok((named, arguments))
    }

    fn typable(&self, name: &str) -> Result<&Skill, String> {
        match self.skills.get(name) {
            Some(skill) if skill.by_user => Ok(skill),
            Some(skill) => Err(format!("/{} is loaded by the model alone (user-invocable: false)", skill.name)),
            None => Err(format!("Unknown command: /{name}")),
        }
    }
}

fn refused(message: String) -> TurnOutcome {
    TurnOutcome { ended: TurnEnd::Blocked { message }, ..TurnOutcome::nothing() }
}
