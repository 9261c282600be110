//! `ona --eval`: the operator's own tool call through the whole path (DEC-100).

use crate::interrupt::Interrupt;
use crate::operator::EvalOperator;
use crate::output;
use crate::startup::read_text;
use ona_api::row::SequenceStart;
use ona_api::{CallId, ConversationId, Entry, Group, LoggedEvent, Row, SessionId, SessionOrigin, ToolCall, digest};
use ona_orchestration::{DeliveryPoint, Elicitations, Operator, Profile, ScriptChangePrompt, tool_box};
use ona_permissions::printable_lines;
use ona_runtime::{
    Failure, Launch, NoOperator, OpenProject, Purpose, Runtime, agent_tool, block_on, hook_handlers,
    operator_search_access,
    session_lookup::{self, Wanted},
    skills,
};
use ona_tools::{TaskState, brief_message};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// What the operator typed.
struct Request {
    tool: String,
    input: Value,
    conversation: Option<ConversationId>,
    session: Option<SessionId>,
    call: Option<CallId>,
    cwd: Option<PathBuf>,
}

pub(crate) fn run(launch: &Launch, text: &str, yes: bool) -> Result<u8, Failure> {
    // Everything is read before anything is written: malformed input leaves no rows.
    let requests = parse(&read_text(text)?, &launch.cwd)?;
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
    async fn run(&mut self, request: Request) -> Result<(), Failure> {
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

    async fn call(&self, runtime: &mut Runtime, request: Request) -> Result<(), Failure> {
        let failed = |error| self.launch.store_failure(error);
        let store = &self.open.store;
        let wanted = Wanted {
            conversation: request.conversation.clone(),
            session: request.session.clone(),
            otherwise: own_conversation(runtime.start()),
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

/// One conversation per directory, so that calls typed there share a phase.
fn own_conversation(cwd: &Path) -> ConversationId {
    let digest = digest::sha256_hex(cwd.as_os_str().as_encoded_bytes());
    ConversationId(format!("eval:{}", &digest[..12]))
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

const SHAPE: &str = r#"ona --eval '{"tool":"Read","input":{"file_path":"README.md"}}'"#;

/// One or more JSON values, one after another.
fn parse(text: &str, cwd: &Path) -> Result<Vec<Request>, Failure> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let values =
        values.map_err(|error| Failure::usage(format_args!("the call is not valid JSON: {error}")).hint(SHAPE))?;
    if values.is_empty() {
        return Err(Failure::usage("no call to evaluate").hint(SHAPE));
    }
    values.into_iter().map(|value| request(value, cwd)).collect()
}

fn request(value: Value, cwd: &Path) -> Result<Request, Failure> {
    let wrong = |what: &str| Failure::usage(format_args!("the call {what}")).hint(SHAPE);
    let Value::Object(mut object) = value else {
        return Err(wrong("must be a JSON object"));
    };
    let mut text = |key: &str| match object.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(wrong(&format!("has a {key:?} that is not a non-empty string"))),
    };
    let request = Request {
        tool: text("tool")?.ok_or_else(|| wrong("has no \"tool\""))?,
        conversation: text("conversation_id")?.map(Into::into),
        session: text("session_id")?.map(Into::into),
        call: text("tool_use_id")?.map(Into::into),
        cwd: text("cwd")?.map(|dir| cwd.join(dir)),
        input: object.shift_remove("input").ok_or_else(|| wrong("has no \"input\""))?,
    };
    match object.keys().next() {
        None => Ok(request),
        Some(key) => Err(wrong(&format!("has the unknown key {key:?}"))),
    }
}
