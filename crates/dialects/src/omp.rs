//! Hook modules of oh-my-pi in the ordinary chain: `tool_call` before a tool runs,
//! `tool_result` after it.
//!
//! Every handler is a hook of its own with its own ordinal, so that order, skipping and
//! rows are the same as for all hooks. The input and results of handlers are defined in
//! `ona_modules::rules`; this file implements `Dialect` with them.

use ona_api::{EventKind, EventName, Ordinal, Ruling, clock, text};
use ona_hookplane::{
    Dialect, Exit, Firing, HandlerFuture, Hook, HookAction, HookExecution, HookHandler, HookInvocation, HookOutput,
    OnTimeout, ResultChange, Timeouts,
};
use ona_modules::rules::tool::{self, ToolCallView};
use ona_modules::rules::{self, Emitter};
use ona_modules::{CallOutcome, Emission, Module, ModuleContext, ModuleRequest};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Per handler, dialogs not counted (DEC-054).
const TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub struct Omp;

impl Dialect for Omp {
    fn name(&self) -> &'static str {
        "omp"
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        let name = firing.tool().unwrap_or_default();
        let call = firing.call.as_ref().map(|id| id.0.as_str()).unwrap_or_default();
        let field = |name: &str| firing.fields.get(name).unwrap_or(&Value::Null);
        let resolved = firing.resolved_path(input).map(|path| path.to_string_lossy().into_owned());
        let written = firing.as_written(input);
        let told = ToolCallView { tool: name, call, written, input, resolved: resolved.as_deref() };
        match firing.event {
            EventName::PostToolUse => tool::result_event(told, field("tool_response")),
            EventName::PostToolUseFailure => tool::failure_event(told, field("error").as_str().unwrap_or_default()),
            _ => tool::call_event(told),
        }
    }

    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput {
        let returned: Option<Value> = text::json(&ran.stdout).ok();
        // A handler that blocked returned something; one that failed did not.
        let threw = ran.exit == Exit::Code(2) && ran.stdout.is_empty();
        match (event, threw) {
            (EventName::PreToolUse, true) => {
                HookOutput { ruling: Some(Ruling::Deny), reason: ran.stderr.clone(), ..HookOutput::default() }
            }
            (EventName::PreToolUse, false) => match tool::block(&CallOutcome::Returned(returned)) {
                Some(reason) => HookOutput { ruling: Some(Ruling::Deny), reason, ..HookOutput::default() },
                None => HookOutput::default(),
            },
            (_, true) => {
                HookOutput { notes: vec![(EventKind::HookError, ran.stderr.clone())], ..HookOutput::default() }
            }
            (EventName::PostToolUse, false) => {
                // A later result takes the place of an earlier one as a whole; `isError` is
                // typed but never applied (003, "what hooks cannot mutate").
                let change = tool::replacement(returned.as_ref());
                let result = change.map(|one| ResultChange { content: one.content, is_error: None });
                HookOutput { result, ..HookOutput::default() }
            }
            // The original error stands, whatever a handler returns.
            (_, false) => HookOutput::default(),
        }
    }

    fn updated(&self, current: &Value, _: Map<String, Value>) -> Value {
        // `event.input` is a copy.
        current.clone()
    }

    fn timeout(&self, _: EventName, _: &Timeouts) -> Duration {
        TIMEOUT
    }

    fn on_timeout(&self, event: EventName) -> OnTimeout {
        if event == EventName::PreToolUse { OnTimeout::Block } else { OnTimeout::Pass }
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        ran.stderr.clone()
    }

    fn uses_exit_codes(&self) -> bool {
        false
    }
}

/// Returns the hooks of all modules, in load and registration order.
pub fn hooks(emitter: &Arc<Emitter>) -> Vec<Hook> {
    let dialect: Arc<dyn Dialect> = Arc::new(Omp);
    let mut hooks = Vec::new();
    for module in emitter.modules() {
        let kinds = [
            ("tool_call", EventName::PreToolUse),
            ("tool_result", EventName::PostToolUse),
            ("tool_result", EventName::PostToolUseFailure),
        ];
        for (event, fired_by) in kinds {
            for nth in 0..module.handlers(event) {
                let path = module.path().to_string_lossy();
                let handler = ModuleHandler {
                    label: format!("omp:{path}#{nth}"),
                    emitter: Arc::clone(emitter),
                    module: Arc::clone(module),
                    event,
                    nth,
                };
                hooks.push(Hook {
                    ordinal: Ordinal(0),
                    event: fired_by,
                    matcher: "*".into(),
                    condition: String::new(),
                    action: HookAction::Handler(Arc::new(handler)),
                    timeout: None,
                    dialect: Arc::clone(&dialect),
                    source: path.into_owned(),
                    disabled: None,
                    fail_closed: false,
                    detached: false,
                    plugin: None,
                    once: None,
                    registered: None,
                    applies: Arc::new(|_, _| true),
                });
            }
        }
    }
    hooks
}

/// One handler of one module.
struct ModuleHandler {
    label: String,
    emitter: Arc<Emitter>,
    module: Arc<Module>,
    event: &'static str,
    nth: usize,
}

impl HookHandler for ModuleHandler {
    fn label(&self) -> &str {
        &self.label
    }

    fn files(&self) -> Vec<PathBuf> {
        self.module.files()
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started_at = clock::utc_millis(clock::now());
            let cwd = called.firing.base.cwd.to_string_lossy().into_owned();
            let moment = ModuleContext { cwd, ..self.emitter.context() };
            let absent: &[&str] = if called.firing.event == EventName::PostToolUseFailure { &["details"] } else { &[] };
            let emission = Emission {
                event: self.event,
                nth: self.nth,
                payload: &called.stdin,
                number: number(called.firing),
                signal: false,
                absent,
            };
            let answer =
                self.module.invoke(ModuleRequest::Event(emission), &moment, Some(called.timeout), called.cancel).await;
            ran(started_at, called.firing.event, &answer)
        })
    }
}

/// Returns what a run leaves in its row (DEC-174): the returned value as stdout, what was thrown
/// as stderr, 2 for a block or a throw.
fn ran(started_at: String, event: EventName, answer: &CallOutcome) -> HookExecution {
    let (exit, stdout, stderr) = match answer {
        CallOutcome::Returned(value) => {
            let blocks = event == EventName::PreToolUse && tool::block(answer).is_some();
            let text = value.as_ref().map(Value::to_string).unwrap_or_default();
            (Exit::Code(if blocks { 2 } else { 0 }), text, String::new())
        }
        CallOutcome::TimedOut(after) => (Exit::TimedOut { after: *after }, String::new(), String::new()),
        CallOutcome::Cancelled => (Exit::Cancelled, String::new(), String::new()),
        CallOutcome::Threw { .. } | CallOutcome::Overrun(_) | CallOutcome::Lost(_) => {
            let blocks = event == EventName::PreToolUse;
            let why = if blocks { tool::block(answer) } else { rules::failure(answer) };
            (Exit::Code(2), String::new(), why.unwrap_or_default())
        }
    };
    HookExecution::ended(started_at, exit, stdout, stderr)
}

/// Returns a number that is the same for all handlers of one firing, so that they share their context object.
fn number(firing: &Firing) -> u64 {
    let mut hasher = DefaultHasher::new();
    (firing.event, firing.call.as_ref().map(|call| &call.0)).hash(&mut hasher);
    // JavaScript's numbers are exact up to 53 bits.
    hasher.finish() >> 11
}
