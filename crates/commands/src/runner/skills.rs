//! Prompts that name skills or prompts of MCP servers: their text replaces the prompt.

use super::{SessionParts, refused};
use crate::parse::slash_command;
use ona_api::CallId;
use ona_instructions::skills::Skill;
use ona_orchestration::{History, NotLoaded, Session, Turn, TurnEvent, TurnOutcome, UserPrompt, fork};
use ona_runtime::mcp::prompt_command;
use ona_runtime::skills;
use ona_store::StoreError;
use ona_tools::ToolContext;
use std::sync::{Arc, PoisonError};

/// Maximum number of skills that one prompt may begin with.
const MAX_SKILLS: usize = 6;

impl SessionParts<'_> {
    /// Runs a turn of the prompt, or of the skills it names. An unknown name is an error, and no
    /// model is asked.
    pub(crate) async fn run_prompt(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        prompt: UserPrompt,
    ) -> Result<TurnOutcome, StoreError> {
        let Some((name, rest)) = slash_command(&prompt.text).filter(|_| !self.launch.options.disable_slash_commands)
        else {
            return turn.run(session, history, prompt).await;
        };
        let servers = &self.runtime.mcp.servers;
        if let Some(said) = prompt_command(servers, name, rest, &session.cx.cancel).await {
            let said = match said {
                Ok(said) => said,
                Err(message) => return Ok(refused(message)),
            };
            let mut pictures = prompt.pictures.clone();
            pictures.extend(said.pictures);
            let typed = Some(prompt.text);
            let prompt = UserPrompt { text: said.text, typed, pictures, is_foreign: true, ..prompt };
            return turn.run(session, history, prompt).await;
        }
        let (named, arguments) = match self.leading_skills(name, rest) {
            Ok(named) => named,
            Err(message) => return Ok(refused(message)),
        };
        let told = Arc::clone(&self.events);
        let tell = Arc::new(move |note| told(TurnEvent::Message(note)));
        let operator = Arc::clone(&turn.pipeline.operator);
        let mut loader = skills::loader(self.open, &self.runtime, session, &self.skills, operator, tell);
        loader.current_model = Some(turn.current_model.clone());
        let mut texts = Vec::new();
        for skill in &named {
            match loader.load(skill, arguments, &session.cx).await {
                Ok(text) => texts.push(text),
                Err(NotLoaded::Store(error)) => return Err(error),
                Err(why) => {
                    session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
                    turn.current_model.end_turn();
                    return Ok(refused(why.to_string()));
                }
            }
        }
        let typed = Some(prompt.text);
        let text = texts.join("\n\n");
        let words = UserPrompt { text: text.clone(), typed, ..prompt };
        let forked = named.first().filter(|skill| skill.fork.is_some());
        let Some((skill, agent)) = forked.zip(turn.pipeline.tools.get("Agent")) else {
            return turn.run(session, history, words).await;
        };
        // What the agent does belongs to no call of this session.
        let cx = ToolContext { call: Some(CallId::random()), ..session.cx.clone() };
        let work = fork::run(&agent, &loader, skill, text, &cx);
        turn.run_aside(session, history, words, work).await
    }

    /// Returns the skills that a prompt begins with, and their arguments: `/a /b text`.
    fn leading_skills<'p>(&self, name: &'p str, rest: &'p str) -> Result<(Vec<&Skill>, &'p str), String> {
        let mut named = vec![self.invocable(name)?];
        let mut arguments = rest;
        while let Some((name, rest)) = slash_command(arguments).filter(|_| named.len() < MAX_SKILLS) {
            let Ok(skill) = self.invocable(name) else { break };
            // A skill that runs as an agent stands alone.
            if skill.fork.is_some() || named.iter().any(|skill| skill.fork.is_some()) {
                break;
            }
            named.push(skill);
            arguments = rest;
        }
        Ok((named, arguments))
    }

    fn invocable(&self, name: &str) -> Result<&Skill, String> {
        match self.skills.get(name) {
            Some(skill) if skill.by_user => Ok(skill),
            Some(skill) => Err(format!("/{} can only be loaded by the model (user-invocable: false)", skill.name)),
            None => Err(format!("Unknown command: /{name}")),
        }
    }
}
