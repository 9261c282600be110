//! What only a front with a screen asks for: lists to choose from, the end of a conversation, shell lines.

use super::{Answer, AnsweredBy, SessionRunner, begin_turn};
use ona_api::model::{Message, Part};
use ona_api::{CallId, Env, SessionId, ToolCall, ToolResult};
use ona_orchestration::{RewindPrompt, TurnEvent, UserPrompt};
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_runtime::session_start::{Preparation, SessionError};
use ona_store::SessionLine;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The name under which a command of the operator is reported to fronts.
pub const OWN_SHELL: &str = "!";

/// Bytes of a command's output that the model is told.
const OUTPUT: usize = 30_000;

impl SessionRunner<'_> {
    /// The other sessions of this project that a person has worked in, the newest first.
    pub fn sessions(&self) -> Result<Vec<SessionLine>, SessionError> {
        let project = self.parts.launch.project.to_string_lossy();
        let mut lines = self.parts.open.store.reader()?.sessions(None)?;
        let own = &self.session.place.session;
        lines
            .retain(|line| line.project_dir == project && line.parent.is_none() && line.id != *own && line.entries > 0);
        lines.sort_by(|a, b| b.last_entry_at.cmp(&a.last_entry_at));
        Ok(lines)
    }

    /// The last texts of another session, as `last_messages` has those of this one.
    pub fn messages_of(&self, session: &SessionId, most: usize) -> Result<Vec<(bool, String)>, SessionError> {
        let mut texts = std::collections::VecDeque::new();
        self.parts.open.store.reader()?.each_entry(session, None, |entry| {
            let by_user = match entry.entry_type.as_str() {
                "user" => true,
                "assistant" => false,
                _ => return,
            };
            let Ok(payload) = serde_json::from_str::<Value>(&entry.payload) else { return };
            let blocks = payload["content"].as_array().into_iter().flatten();
            let text: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
            let text = text.join("\n");
            if !text.trim().is_empty() {
                texts.push_back((by_user, text));
                if texts.len() > most {
                    texts.pop_front();
                }
            }
        })?;
        Ok(texts.into())
    }

    /// The prompts that can be gone back to, the oldest first.
    pub fn rewind_points(&self) -> Result<Vec<RewindPrompt>, SessionError> {
        let rules = self.session.rules.read().unwrap_or_else(PoisonError::into_inner);
        Ok(self.rewinder(&rules).prompts()?)
    }

    /// The last texts of the conversation: whether they are the user's, and what they say.
    pub fn last_messages(&self, most: usize) -> Vec<(bool, String)> {
        let Preparation::Ready(ready) = &self.ready else { return Vec::new() };
        let texts = ready.history.messages().iter().rev().filter_map(|message: &Message| {
            let texts = message.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let text = texts.collect::<Vec<_>>().join("\n");
            let by_user = message.role == ona_api::model::Role::User;
            (!text.trim().is_empty()).then_some((by_user, text))
        });
        let mut texts: Vec<_> = texts.take(most).collect();
        texts.reverse();
        texts
    }

    /// Runs a command that the operator typed (`!`): it needs no permission, and the model reads the output.
    pub async fn run_shell(&mut self, command: &str) -> Result<Answer, SessionError> {
        let Self { parts, session, ready, .. } = self;
        let Preparation::Ready(ready) = ready else { return self.nobody() };
        begin_turn(parts, session, &mut ready.turn);
        let env: Env = parts.launch.env.clone();
        let child = ChildCommand {
            program: "sh".into(),
            args: vec!["-c".into(), command.into()],
            cwd: session.cx.cwd.clone(),
            env,
            stdin: Vec::new(),
            cap: OUTPUT,
            deadline: None,
            grace: Duration::from_millis(500),
            on_death: OnDeath::Kill,
            wall: None,
        };
        let call = ToolCall { id: CallId::random(), name: OWN_SHELL.to_owned(), input: json!({ "command": command }) };
        (parts.events)(TurnEvent::ToolStarted { call: call.clone() });
        let (told, worked) = match ona_process::start(child) {
            Ok(running) => {
                let running = Arc::new(running);
                let _watched = session.cx.tasks.wait_for(call.id.clone(), Arc::clone(&running));
                let end = tokio::select! {
                    end = running.wait() => end,
                    () = session.cx.cancel.cancelled() => {
                        running.stop();
                        running.wait().await
                    }
                };
                let ran = running.finish(end);
                let output = [ran.stdout.bytes, ran.stderr.bytes].concat();
                let how = match end {
                    ChildExit::Exited(0) => String::new(),
                    ChildExit::Exited(code) => format!("\n(exit code {code})"),
                    ChildExit::Signalled(signal) => format!("\n(ended by signal {signal})"),
                    ChildExit::Cancelled => "\n(interrupted)".to_owned(),
                    ChildExit::TimedOut => "\n(timed out)".to_owned(),
                };
                (format!("{}{how}", String::from_utf8_lossy(&output).trim_end()), end == ChildExit::Exited(0))
            }
            Err(error) => (error.to_string(), false),
        };
        let told = parts.open.redactor.apply(&told).into_owned();
        let result = if worked { ToolResult::success(told.clone()) } else { ToolResult::rejected(told.clone()) };
        (parts.events)(TurnEvent::ToolFinished { call, result, account: Vec::new(), hooks: Vec::new() });
        let text = format!("I ran a command myself:\n\n$ {command}\n{told}");
        let said = UserPrompt { text, typed: Some(format!("!{command}")), ..UserPrompt::default() };
        let outcome = ready.turn.run(session, &mut ready.history, said).await?;
        self.answered(AnsweredBy::Model, outcome).await
    }
}
