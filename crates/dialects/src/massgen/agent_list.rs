//! Which agent of the configuration a firing belongs to (DEC-150).
//!
//! The main session is the agent that was chosen, or the first. A subagent is the agent
//! whose id is its type or its own id; for any other only the global hooks run.

use ona_api::EventName;
use ona_hookplane::Base;

#[derive(Debug, Default)]
pub(super) struct AgentList {
    agents: Vec<AgentOverrides>,
    /// Index of the main session's agent.
    main: Option<usize>,
    /// Who the main session is when the configuration names no agents.
    called: Option<String>,
}

#[derive(Debug)]
pub(super) struct AgentOverrides {
    pub id: Option<String>,
    pub overrides: Vec<EventName>,
}

/// The owner of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryOwner {
    Everyone,
    Agent(usize),
}

impl AgentList {
    /// Returns `None` if no agent has the chosen id.
    pub(super) fn new(agents: Vec<AgentOverrides>, chosen: Option<&str>) -> Option<Self> {
        let (main, called) = match chosen {
            Some(id) if agents.is_empty() => (None, Some(id.to_owned())),
            Some(id) => (Some(agents.iter().position(|agent| agent.id.as_deref() == Some(id))?), None),
            None => ((!agents.is_empty()).then_some(0), None),
        };
        Some(Self { agents, main, called })
    }

    /// Returns whether a hook of this event and owner runs for the acting agent.
    pub(super) fn includes(&self, owner: EntryOwner, event: EventName, base: &Base) -> bool {
        let acting = self.acting(base);
        match owner {
            EntryOwner::Agent(index) => acting == Some(index),
            EntryOwner::Everyone => acting.is_none_or(|index| !self.agents[index].overrides.contains(&event)),
        }
    }

    /// `agent_id` of the event.
    pub(super) fn id<'a>(&'a self, base: &'a Base) -> Option<&'a str> {
        match self.acting(base) {
            Some(index) => self.agents[index].id.as_deref().or(base.agent_id.as_deref()),
            None => base.agent_id.as_deref().or(self.called.as_deref()),
        }
    }

    /// Returns the agent as people know it; its place in the list if it has no id.
    pub(super) fn name(&self, index: usize) -> String {
        self.agents[index].id.clone().unwrap_or_else(|| format!("#{index}"))
    }

    fn acting(&self, base: &Base) -> Option<usize> {
        let named = |name: &Option<String>| {
            let name = name.as_deref()?;
            self.agents.iter().position(|agent| agent.id.as_deref() == Some(name))
        };
        match named(&base.agent_type).or_else(|| named(&base.agent_id)) {
            Some(index) => Some(index),
            // Only subagents have an id of their own.
            None if base.agent_id.is_some() => None,
            None => self.main,
        }
    }
}
