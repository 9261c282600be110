//! Skills that run as an agent of their own (`context: fork`): their text is the agent's task.
//!
//! The agent is started through the Agent tool, so its limits, hooks and rules are those of any
//! agent. A rule that denies the agent denies the skill as well.

use super::SkillLoader;
use ona_api::{Access, Ruling, ToolResult};
use ona_instructions::skills::Skill;
use ona_tools::{AnyTool, ToolContext};
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};

/// Runs a rendered skill and returns the agent's report.
pub async fn run(
    agent: &Arc<dyn AnyTool>,
    loader: &SkillLoader,
    skill: &Skill,
    text: String,
    cx: &ToolContext,
) -> ToolResult {
    let input = input(skill, text);
    let verdict = {
        let rules = loader.parent.rules.read().unwrap_or_else(PoisonError::into_inner);
        match rules.hides_tool("Agent") {
            true => Some("Denied: a rule denies the tool Agent".to_owned()),
            false => {
                let verdict = rules.decide("Agent", &input, &[Access::Plain], None);
                (verdict.ruling == Ruling::Deny).then_some(verdict.message)
            }
        }
    };
    if let Some(denied) = verdict {
        return ToolResult::rejected(format!("The skill {} runs as an agent. {denied}", skill.name));
    }
    match Arc::clone(agent).plan(&input, cx) {
        Ok(plan) => plan.run(cx).await,
        Err(bad) => ToolResult::rejected(bad.to_string()),
    }
}

fn input(skill: &Skill, text: String) -> Value {
    let mut input = json!({"description": format!("Skill {}", skill.name), "prompt": text});
    let fork = skill.fork.as_ref();
    if let Some(kind) = fork.and_then(|fork| fork.agent.as_deref()) {
        input["subagent_type"] = kind.into();
    }
    if let Some(model) = &skill.model {
        input["model"] = model.as_str().into();
    }
    // Said, so that the agent's own wish to work in the background does not count.
    input["run_in_background"] = fork.is_some_and(|fork| fork.background).into();
    input
}
