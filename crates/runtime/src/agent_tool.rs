//! The Agent tool of a call the operator typed himself (DEC-100): with a model if one is
//! configured, otherwise one that says what is missing.

use crate::agents;
use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::model_choice;
use crate::no_operator::NoOperator;
use crate::runtime::MAX_TOKENS;
use crate::runtime::Runtime;
use crate::skills;
use ona_orchestration::{AgentTool, AgentWithoutModel, CurrentModel, Events, Model, Session, SubagentDeps, TurnEvent};
use ona_tools::AnyTool;
use std::sync::Arc;

pub fn agent_tool(
    launch: &Launch,
    open: &OpenProject,
    runtime: &Runtime,
    session: &Session,
) -> Result<Arc<dyn AnyTool>, Failure> {
    let chosen = match model_choice::model(launch, open, None, &runtime.settings, &runtime.operators) {
        Ok(chosen) => chosen,
        Err(wrong) => return Ok(Arc::new(AgentWithoutModel::new(wrong.message))),
    };
    let model = match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
        Ok(model) => CurrentModel::new(Arc::new(model)),
        Err(failure) => return Ok(Arc::new(AgentWithoutModel::new(failure.message))),
    };
    let (redactor, notices) = (open.redactor.clone(), launch.notices.clone());
    let events: Events = Arc::new(move |event| {
        if let TurnEvent::Inside { event, .. } = event
            && let TurnEvent::Message(text) = *event
        {
            notices.note(redactor.apply(&text));
        }
    });
    let known = Arc::new(skills::load(launch, open));
    let notices = launch.notices.clone();
    let tell = Arc::new(move |note: String| notices.note(format_args!("ona: {note}")));
    let skills = skills::loader(open, runtime, session, &known, Arc::new(NoOperator), tell);
    Ok(Arc::new(AgentTool::new(SubagentDeps {
        store: Arc::clone(&open.store),
        hooks: Arc::clone(&runtime.hooks),
        // The operator typed this call and none of those the agent makes.
        operator: Arc::new(NoOperator),
        max_tokens: model.model().output_limit(MAX_TOKENS),
        current_model: model,
        agents: agents::load(launch, open)?,
        events,
        parent: session.as_parent(),
        also: None,
        skills,
        servers: Arc::clone(&runtime.mcp.servers),
        web: Arc::clone(&runtime.web),
        instructions: Arc::default(),
        worktrees: Arc::clone(&runtime.worktrees),
    })))
}
