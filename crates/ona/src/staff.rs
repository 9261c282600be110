//! The Agent tool of a call the operator typed himself (DEC-100): with a model if one is
//! configured, otherwise one that says what is missing.

use crate::agents;
use crate::failure::Failure;
use crate::headless::{MAX_TOKENS, Nobody, choose_model};
use crate::output;
use crate::program::{Open, Program};
use crate::skills;
use crate::workplace::Workplace;
use ona_orchestration::{AgentTool, AgentWithoutModel, CurrentModel, Events, Model, Session, SubagentDeps, TurnEvent};
use ona_tools::AnyTool;
use std::sync::Arc;

pub fn agent_tool(
    program: &Program,
    open: &Open,
    workplace: &Workplace,
    session: &Session,
) -> Result<Arc<dyn AnyTool>, Failure> {
    let chosen = match choose_model(program, open, None, &workplace.settings, &workplace.operators) {
        Ok(chosen) => chosen,
        Err(wrong) => return Ok(Arc::new(AgentWithoutModel::new(wrong.message))),
    };
    let model = match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
        Ok(model) => CurrentModel::new(Arc::new(model)),
        Err(failure) => return Ok(Arc::new(AgentWithoutModel::new(failure.message))),
    };
    let redactor = open.redactor.clone();
    let events: Events = Arc::new(move |event| {
        if let TurnEvent::Inside { event, .. } = event
            && let TurnEvent::Message(text) = *event
        {
            output::note(redactor.apply(&text));
        }
    });
    let known = Arc::new(skills::load(program, open));
    let tell = Arc::new(|note: String| output::note(format_args!("ona: {note}")));
    let skills = skills::loader(open, workplace, session, &known, Arc::new(Nobody), tell);
    Ok(Arc::new(AgentTool::new(SubagentDeps {
        store: Arc::clone(&open.store),
        hooks: Arc::clone(&workplace.hooks),
        // He typed this call and none of those the agent makes.
        operator: Arc::new(Nobody),
        current_model: model,
        agents: agents::load(program, open)?,
        events,
        parent: session.as_parent(),
        max_tokens: MAX_TOKENS,
        also: None,
        skills,
        servers: Arc::clone(&workplace.fleet.servers),
    })))
}
