//! Makes the hooks that are not processes, and gives those that ask a model one to ask.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::model_choice;
use crate::runtime::Runtime;
use ona_dialects::HandlerSpec;
use ona_hookplane::{Hook, HookAction, HookHandler};
use ona_mcp::Servers;
use ona_orchestration::{
    CurrentModel, HttpHook, JudgeDeps, JudgeHook, JudgeKind, McpToolHook, Model, Operator, Session, SharedJudgeDeps,
};
use std::sync::Arc;

pub fn factory(
    deps: &Arc<SharedJudgeDeps>,
    servers: &Arc<Servers>,
) -> impl Fn(HandlerSpec) -> Result<Arc<dyn HookHandler>, String> {
    let (deps, servers) = (Arc::clone(deps), Arc::clone(servers));
    move |wanted| {
        let judge =
            |judge, prompt| -> Arc<dyn HookHandler> { Arc::new(JudgeHook::new(judge, prompt, Arc::clone(&deps))) };
        Ok(match wanted {
            HandlerSpec::Http { url, headers, variables } => Arc::new(HttpHook::new(url, headers, variables)?),
            HandlerSpec::Prompt { prompt, continue_on_block } => judge(JudgeKind::Prompt { continue_on_block }, prompt),
            HandlerSpec::Agent(prompt) => judge(JudgeKind::Agent, prompt),
            HandlerSpec::McpTool { server, tool, input } => {
                Arc::new(McpToolHook::new(server, tool, input, Arc::clone(&servers)))
            }
        })
    }
}

/// Whether a hook asks a model, or could wait for one that does.
fn judges(hook: &Hook) -> bool {
    matches!(&hook.action, HookAction::Handler(handler) if !handler.is_exclusive())
}

/// Gives hooks that judge this model to ask, also those that a skill may bring later.
pub fn set_judge_model(
    open: &OpenProject,
    runtime: &Runtime,
    session: &Session,
    current_model: &CurrentModel,
    operator: &Arc<dyn Operator>,
) {
    runtime.judges.set(JudgeDeps {
        store: Arc::clone(&open.store),
        current_model: current_model.clone(),
        hooks: Arc::new(runtime.hooks.only(|hook| !judges(hook))),
        operator: Arc::clone(operator),
        parent: session.as_parent(),
        cx: session.cx.clone(),
    });
}

/// The same for a run that asks no model itself. Where none can be asked, such a hook
/// fails when it runs and says so.
pub fn set_judge_model_if_needed(
    launch: &Launch,
    open: &OpenProject,
    runtime: &Runtime,
    session: &Session,
    operator: &Arc<dyn Operator>,
) -> Result<(), Failure> {
    if !runtime.hooks.list().iter().any(judges) {
        return Ok(());
    }
    let wanted = launch.options.model.as_deref();
    let chosen = model_choice::model(launch, open, wanted, &runtime.settings, &runtime.operators)?;
    if let Ok(model) = chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
        set_judge_model(open, runtime, session, &CurrentModel::new(Arc::new(model)), operator);
    }
    Ok(())
}
