//! The Agent tool where no model can be asked: it accepts the call and says why no agent can start.

use crate::subagent::{AgentInput, DESCRIPTION};
use ona_api::{Access, ToolResult};
use ona_tools::{Tool, ToolContext};

pub struct AgentWithoutModel {
    why: String,
}

impl AgentWithoutModel {
    pub fn new(why: String) -> Self {
        Self { why }
    }
}

impl Tool for AgentWithoutModel {
    type Input = AgentInput;
    const NAME: &'static str = "Agent";
    const DESCRIPTION: &'static str = DESCRIPTION;

    fn access(&self, _: &AgentInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, _: AgentInput, _: &ToolContext) -> ToolResult {
        ToolResult::rejected(format!("No agent can be started, because no model can be asked: {}", self.why))
    }
}
