//! The agents that work for the session: what each does, for how long, and what it has used.

use crate::blocks::{AgentBlock, agent_block, call_argument};
use ona_api::model::{Part, Usage};
use ona_api::{CallId, ToolCall};
use ona_orchestration::TurnEvent;
use ratatui_core::text::Line;
use std::time::Duration;

/// Agents that are shown; the rest is counted.
const SHOWN: usize = 6;

/// One agent, by the call that started it.
#[derive(Clone, Debug)]
pub(super) struct AgentWork {
    call: CallId,
    /// Its id as a task, once it works in the background.
    task: Option<String>,
    kind: String,
    description: String,
    since: Duration,
    calls: usize,
    tokens: u64,
    doing: Option<String>,
}

/// All that work now.
#[derive(Clone, Debug, Default)]
pub(super) struct Agents(Vec<AgentWork>);

impl Agents {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, call: &CallId) -> bool {
        self.0.iter().any(|agent| agent.call == *call)
    }

    /// A call is worked on; one of the Agent tool is an agent.
    pub(super) fn started(&mut self, call: &ToolCall, now: Duration) {
        if call.name != "Agent" || self.has(&call.id) {
            return;
        }
        let text = |key: &str| call.input[key].as_str().unwrap_or_default().to_owned();
        let kind = Some(text("subagent_type")).filter(|kind| !kind.is_empty());
        self.0.push(AgentWork {
            call: call.id.clone(),
            task: None,
            kind: kind.unwrap_or_else(|| "agent".to_owned()),
            description: text("description"),
            since: now,
            calls: 0,
            tokens: 0,
            doing: None,
        });
    }

    /// The call has its result. An agent that works in the background stays.
    pub(super) fn finished(&mut self, call: &CallId) {
        self.0.retain(|agent| agent.call != *call || agent.task.is_some());
    }

    pub(super) fn in_background(&mut self, call: &CallId, task: &str) {
        self.0.iter_mut().filter(|agent| agent.call == *call).for_each(|agent| agent.task = Some(task.to_owned()));
    }

    pub(super) fn task_ended(&mut self, task: &str) {
        self.0.retain(|agent| agent.task.as_deref() != Some(task));
    }

    /// A turn has ended: what was waited for is over, however it ended.
    pub(super) fn turn_ended(&mut self) {
        self.0.retain(|agent| agent.task.is_some());
    }

    /// Something that an agent did, or one that it started.
    pub(super) fn hear(&mut self, call: &CallId, event: &TurnEvent) {
        let Some(agent) = self.0.iter_mut().find(|agent| agent.call == *call) else { return };
        agent.hear(event);
    }

    pub(super) fn lines(&self, now: Duration, width: u16) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for agent in self.0.iter().take(SHOWN) {
            let block = AgentBlock {
                kind: &agent.kind,
                description: &agent.description,
                calls: agent.calls,
                tokens: agent.tokens,
                elapsed: now.saturating_sub(agent.since),
                doing: agent.doing.as_deref(),
                ended: None,
            };
            lines.extend(agent_block(&block, width));
        }
        if self.0.len() > SHOWN {
            lines.push(Line::styled(format!("  … {} more agents", self.0.len() - SHOWN), crate::theme::DIM));
        }
        lines
    }
}

impl AgentWork {
    fn hear(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Assistant { parts, usage, .. } => {
                let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, .. } = *usage;
                self.tokens += input_tokens + output_tokens + cache_read_tokens + cache_write_tokens;
                self.calls += parts.iter().filter(|part| matches!(part, Part::ToolUse { .. })).count();
            }
            TurnEvent::ToolStarted { call } => {
                self.doing = Some(format!("{} {}", call.name, call_argument(call)).trim_end().to_owned());
            }
            TurnEvent::Retrying { attempt, limit, failure, .. } => {
                self.doing = Some(format!("{} · attempt {attempt} of {limit}", failure.message));
            }
            TurnEvent::Requesting { .. } => self.doing = Some("Thinking".to_owned()),
            TurnEvent::Compacting => self.doing = Some("Summarising its conversation".to_owned()),
            TurnEvent::Inside { event, .. } => self.hear(event),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str, name: &str, input: serde_json::Value) -> ToolCall {
        ToolCall { id: CallId::from(id), name: name.into(), input }
    }

    fn shown(agents: &Agents, now: u64) -> Vec<String> {
        agents.lines(Duration::from_secs(now), 80).iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn an_agent_is_shown_until_its_end() {
        let mut agents = Agents::default();
        let input = json!({"subagent_type": "Explore", "description": "find the gate"});
        agents.started(&call("a", "Agent", input), Duration::from_secs(2));
        agents.started(&call("b", "Bash", json!({"command": "x"})), Duration::from_secs(2));
        let part = Part::ToolUse { id: CallId::from("r"), name: "Read".into(), input: json!({}) };
        let usage = Usage { input_tokens: 1_200, output_tokens: 40, ..Usage::default() };
        let reply = TurnEvent::Assistant { model: "m".into(), parts: vec![part], usage, end: None };
        agents.hear(&CallId::from("a"), &reply);
        let started = TurnEvent::ToolStarted { call: call("r", "Read", json!({"file_path": "gate.rs"})) };
        agents.hear(&CallId::from("a"), &started);
        assert_eq!(shown(&agents, 14), ["◐ Explore  find the gate  1 call · 1.2k tokens · 12 s", "  Read gate.rs"]);
        agents.finished(&CallId::from("a"));
        assert!(agents.is_empty());
    }

    #[test]
    fn one_in_the_background_outlives_its_call_and_the_turn() {
        let mut agents = Agents::default();
        agents.started(&call("a", "Agent", json!({"description": "slow"})), Duration::ZERO);
        agents.in_background(&CallId::from("a"), "a1");
        agents.finished(&CallId::from("a"));
        agents.turn_ended();
        assert!(agents.has(&CallId::from("a")));
        agents.task_ended("a1");
        assert!(agents.is_empty());
    }
}
