//! `ona --eval`: the operator's own tool call through the whole path (DEC-100).

use crate::interrupt::Interrupt;
use crate::operator::EvalOperator;
use crate::output;
use crate::startup::read_text;
use ona_api::row::SequenceStart;
use ona_api::{CallId, Entry, Group, LoggedEvent, Row, SessionOrigin, ToolCall};
use ona_orchestration::{DeliveryPoint, Elicitations, Operator, Profile, ScriptChangePrompt, tool_box};
use ona_permissions::printable_lines;
use ona_runtime::eval_call::{self, EvalCall};
use ona_runtime::{
    Failure, Launch, NoOperator, OpenProject, Purpose, Runtime, agent_tool, block_on, hook_handlers,
    operator_search_access,
    session_lookup::{self, Wanted},
    skills,
};
use ona_tools::{TaskState, brief_message};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

pub(crate) fn run(launch: &Launch, text: &str, yes: bool) -> Result<u8, Failure> {
    // Everything is read before anything is written: malformed input leaves no rows.
    let requests = eval_call::parse(&read_text(text)?, &launch.cwd)?;
    let open = launch.open()?;
    block_on(async {
        let interrupt = Interrupt::listen();
        let mut places = Places { launch, open: &open, interrupt: &interrupt, yes, current: None };
        let mut ran = Ok(());
        for request in requests {
            ran = places.run(request).await;
            if ran.is_err() || interrupt.exit_code().is_some() {
                break;
            }
        }
        places.end().await;
        ran.map(|()| interrupt.exit_code().unwrap_or(0))
    })
}

/// Calls of one directory share hooks, rules and background tasks.
struct Places<'a> {
    launch: &'a Launch,
    open: &'a OpenProject,
    interrupt: &'a Interrupt,
    /// `--yes`
    yes: bool,
    current: Option<(PathBuf, Runtime)>,
}

impl Places<'_> {
    async fn run(&mut self, request: EvalCall) -> Result<(), Failure> {
        let cwd = request.cwd.clone().unwrap_or_else(|| self.launch.cwd.clone());
        let mut runtime = match self.current.take() {
            Some((place, runtime)) if place == cwd => runtime,
            _ => {
                let mut new = Runtime::new(self.launch, self.open, &cwd, Purpose::Call, self.interrupt.token())?;
                new.load_modules(self.launch, self.open).await?;
                new.pin_scripts();
                new.announce_guards(self.launch, self.open)?;
                new.judge_flags(self.launch).await?;
                new
            }
        };
        let ran = self.call(&mut runtime, request).await;
        self.current = Some((cwd, runtime));
        ran
    }

    async fn call(&self, runtime: &mut Runtime, request: EvalCall) -> Result<(), Failure> {
        let failed = |error| self.launch.store_failure(error);
        let store = &self.open.store;
        let wanted = Wanted {
            conversation: request.conversation.clone(),
            session: request.session.clone(),
            otherwise: eval_call::own_conversation(runtime.start()),
            start: SequenceStart::AboveAll,
        };
        let place = session_lookup::find(self.launch, store, wanted)?;
        // A session that another process is using is not ours to append to.
        let _lock = request.session.as_ref().map(|session| self.launch.lock_session(session)).transpose()?;
        let call = ToolCall {
            id: request.call.unwrap_or_else(|| CallId(format!("toolu_{}", CallId::random().0.replace('-', "")))),
            name: request.tool,
            input: request.input,
        };
        store.commit(&place, opening(runtime, &call)).await.map_err(failed)?;

        let mut session = runtime.session(store, place.clone()).map_err(failed)?;
        let operator: Arc<dyn Operator> =
            Arc::new(EvalOperator { agent_shell: self.launch.agent_shell, yes: self.yes });
        runtime.hooks.set_script_confirmer(Arc::new(ScriptChangePrompt(Arc::clone(&operator))));
        hook_handlers::set_judge_model_if_needed(self.launch, self.open, runtime, &session, &operator)?;
        let mcp = &runtime.mcp;
        mcp.start_for_hooks(&runtime.hooks.list()).await;
        mcp.start_for(&call.name).await;
        for (name, why) in mcp.down() {
            output::note(format_args!("ona: the MCP server {name:?} is not connected: {why}"));
        }
        let asked = Arc::new(Elicitations::new(Arc::clone(&runtime.hooks), Arc::clone(store), None));
        asked.enter(&session);
        mcp.servers.around.set_elicit_handler(asked);
        let mut parts = runtime.tool_parts(&session);
        if ona_api::tool::canonical(&call.name) == "Agent" {
            parts.agent = Some(agent_tool::agent_tool(self.launch, self.open, runtime, &session)?);
        }
        if ona_api::tool::canonical(&call.name) == "Skill" {
            let known = Arc::new(skills::load(self.launch, self.open));
            let tell = Arc::new(|note: String| output::note(format_args!("ona: {note}")));
            // The operator typed this call and none of those its text asks for.
            parts.skills = Some(skills::loader(self.open, runtime, &session, &known, Arc::new(NoOperator), tell));
        }
        if ona_api::tool::canonical(&call.name) == "WebSearch" {
            parts.web = Some((&runtime.web, operator_search_access(self.launch, self.open, runtime)));
        }
        let pipeline = runtime.pipeline(tool_box(Profile::Eval, parts), &operator);
        let finished = pipeline.run(&mut session, call.clone(), Group::default()).await.map_err(failed)?;
        // Every call typed here is a turn of its own.
        session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
        if let Some(modules) = &session.modules {
            modules.deliver(store, &session, DeliveryPoint::End).await.map_err(failed)?;
        }
        runtime.keep(session);

        let account = finished.account.iter().filter(|_| self.launch.options.verbose);
        for message in account.chain(&finished.messages) {
            output::note(self.open.redactor.apply(message));
        }
        if let Some(reason) = &finished.stop {
            output::note(format_args!("Stopped by hook: {}", self.open.redactor.apply(reason)));
        }
        if ona_api::tool::canonical(&call.name) == "Brief" && !finished.result.is_error() {
            output::note(self.open.redactor.apply(&printable_lines(&brief_message(&finished.result))));
        }
        let printed = output::try_line(json!({
            "tool_use_id": self.open.redactor.apply(call.id.as_str()),
            "content": self.open.redactor.apply(&finished.result.content),
            "is_error": finished.result.is_error(),
            "session_id": place.session,
            "conversation_id": place.conversation,
        }));
        if printed.is_err() {
            self.interrupt.stdout_closed();
        }
        Ok(())
    }

    /// Background tasks belong to this process.
    async fn end(self) {
        if let Some((_, runtime)) = self.current {
            let running = runtime.tasks.list().into_iter().filter(|task| task.state == TaskState::Running).count();
            if running > 0 {
                output::note(format_args!("Stopping {running} background task(s) that are still running."));
            }
            runtime.tasks.stop_all().await;
            runtime.mcp.servers.close().await;
        }
        // Also of a directory that calls have left.
        ona_process::kill_all();
    }
}

/// What must be there before the first hook runs: hooks may look it up.
fn opening(runtime: &mut Runtime, call: &ToolCall) -> Group {
    let mut group = Group::default();
    group.push(Row::Conversation { project_dir: runtime.project().to_string_lossy().into_owned() });
    group.push(Row::Session);
    group.log(LoggedEvent::SessionCreated(SessionOrigin::Eval));
    group.append(runtime.take_findings());
    group.push(Row::Transcript(Entry::ToolUse {
        id: call.id.clone(),
        name: ona_api::tool::canonical(&call.name).to_owned(),
        // A tool_use row holds an object (Appendix C); what was typed instead is kept in one.
        input: if call.input.is_object() { call.input.clone() } else { json!({ "_raw": call.input }) },
    }));
    group
}
