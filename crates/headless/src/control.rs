//! What the driving program may read and change during a run.
//!
//! Every request gets an answer: a response, or an error with the reason. An unknown
//! subtype is an error with the code `unsupported_request`.

use super::host_connection::HostConnection;
use super::host_hook::HostHook;
use super::host_mcp;
use super::messages::{Level, StreamMessage, SystemMessage};
use super::printer::Printer;
use super::translate::informational;
use ona_api::Mode;
use ona_api::model::{MODELS, ProviderName};
use ona_api::row::SessionKey;
use ona_commands::COMMANDS;
use ona_hookplane::{HookEngine, HookHandler, HookList};
use ona_instructions::Agents;
use ona_instructions::skills::Skills;
use ona_mcp::{ServerDefinition, ServerTransport, Servers};
use ona_orchestration::{CurrentModel, FileStep, KeepLimits, Model, RewindScope, RewindTarget, Rewinder, set_mode};
use ona_permissions::PermissionEngine;
use ona_process::TurnCancellation;
use ona_runtime::{mode_named, session_start::SessionOverrides};
use ona_settings::Settings;
use ona_store::{Store, StoreError};
use ona_tools::Tasks;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Everything a request can read or change.
pub(crate) struct ControlState {
    pub cancellation: TurnCancellation,
    pub rules: Arc<RwLock<PermissionEngine>>,
    pub hooks: Arc<HookEngine>,
    /// Answers the hooks that it registers.
    pub host: Arc<HostConnection>,
    pub tasks: Arc<Tasks>,
    /// The environment that models are asked with.
    pub env: ona_api::Env,
    /// The frozen settings with their secrets; never shown.
    pub settings: Settings,
    /// The settings as they are stored, without secrets.
    pub row: Value,
    pub agents: Agents,
    pub skills: Arc<Skills>,
    /// The name of the output style, and of all there are.
    pub output_style: String,
    pub output_styles: Vec<String>,
    /// bypassPermissions was allowed on the command line.
    pub may_bypass: bool,
    /// The model in use and the one configured; set when the first prompt begins.
    pub current_model: Option<(CurrentModel, Arc<Model>)>,
    /// What `initialize` and early requests change in a session that has not begun.
    pub overrides: SessionOverrides,
    /// Text of subagents is part of the stream.
    pub subagent_text: bool,
    /// Tokens of the newest request and its answer.
    pub context: Arc<Mutex<u64>>,
    /// A change of mode that has not been announced yet.
    pub changed: Option<Mode>,
    /// Warnings that have not been announced yet.
    pub notices: Vec<String>,
    /// MCP servers of this run.
    pub servers: Arc<Servers>,
    pub store: Arc<Store>,
    /// How much of what a rewind replaces is kept.
    pub limits: KeepLimits,
    /// The session, once it has begun.
    pub place: Option<SessionKey>,
    /// A turn runs, or something else that works with the session.
    pub busy: bool,
    /// The conversation went back since the last prompt.
    pub went_back: bool,
}

/// Why a request failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ControlError {
    pub why: String,
    pub code: Option<&'static str>,
}

impl From<String> for ControlError {
    fn from(why: String) -> Self {
        Self { why, code: None }
    }
}

impl From<&str> for ControlError {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

impl ControlState {
    pub(crate) fn answer(&mut self, request: &Value) -> Result<Value, ControlError> {
        let Some(subtype) = request["subtype"].as_str() else {
            return Err("the request has no subtype".into());
        };
        match subtype {
            "initialize" => self.initialize(request),
            "set_permission_mode" => self.set_permission_mode(request),
            "set_model" => self.set_model(request),
            "set_max_thinking_tokens" => match &request["max_thinking_tokens"] {
                Value::Null => Ok(json!({})),
                none if none == 0 => Ok(json!({})),
                _ => Err("thinking is not supported".into()),
            },
            mcp if mcp.starts_with("mcp_") => {
                let answer = host_mcp::answer(&self.servers, mcp, request)?;
                let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
                host_mcp::slugs(&self.servers).into_iter().for_each(|name| rules.add_server(name));
                Ok(answer)
            }
            "rewind_files" => self.rewind(request, RewindScope::Files),
            "rewind_conversation" => self.rewind(request, RewindScope::Conversation),
            "stop_task" => {
                let id = request["task_id"].as_str().ok_or("task_id must be a string")?;
                // A task that does not exist any more has stopped.
                self.tasks.stop(id);
                Ok(json!({}))
            }
            "get_context_usage" => Ok(self.context_usage()),
            "get_settings" => Ok(json!({"effective": self.row, "applied": {"model": self.model()}})),
            "get_binary_version" => Ok(json!({"version": env!("CARGO_PKG_VERSION")})),
            other => {
                let why = format!("the request {other} is not supported");
                Err(ControlError { why, code: Some("unsupported_request") })
            }
        }
    }

    /// Prints what requests changed, for readers of the stream.
    pub(crate) fn announce(&mut self, printer: &Printer) {
        for notice in self.notices.drain(..) {
            printer.send(&informational(notice, Level::Warning));
        }
        if let Some(mode) = self.changed.take() {
            printer.send(&StreamMessage::System(SystemMessage::Status {
                status: None,
                permission_mode: Some(mode.as_str()),
                compact_result: None,
                compact_error: None,
            }));
        }
    }

    /// Everything is read before anything is changed.
    fn initialize(&mut self, request: &Value) -> Result<Value, ControlError> {
        let begun = self.current_model.is_some();
        if !request["jsonSchema"].is_null() {
            return Err("jsonSchema is not supported: replies cannot be constrained to a schema".into());
        }
        let host = &self.host;
        let answering = |id| -> Arc<dyn HookHandler> { Arc::new(HostHook { id, host: Arc::clone(host) }) };
        let read = ona_dialects::callbacks(&request["hooks"], &self.settings, answering)?;
        let agents = match &request["agents"] {
            Value::Null => None,
            _ if begun => return Err("agents must be given before the first message".into()),
            agents => Some(self.agents.with(&agents.to_string()).map_err(|bad| bad.to_string())?),
        };
        let system_prompt = texts(&request["systemPrompt"], "systemPrompt")?;
        let append_system_prompt = texts(&request["appendSystemPrompt"], "appendSystemPrompt")?;
        if begun && (system_prompt.is_some() || append_system_prompt.is_some()) {
            return Err("system prompts must be given before the first message".into());
        }
        let servers = match &request["sdkMcpServers"] {
            Value::Null => Vec::new(),
            Value::Array(names) => names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            _ => return Err("sdkMcpServers must be a list of names".into()),
        };

        let kept = self.hooks.list();
        let lasting = kept.iter().filter(|hook| hook.source != ona_dialects::CALLBACKS).cloned();
        self.hooks.set_list(HookList::new(lasting.chain(read.hooks)));
        self.notices.extend(
            read.unknown.iter().map(|event| format!("Hooks of {event} will not run: the event does not exist.")),
        );
        self.agents = agents.unwrap_or_else(|| self.agents.clone());
        let overrides = &mut self.overrides;
        overrides.system_prompt = system_prompt.or(overrides.system_prompt.take());
        overrides.append_system_prompt = append_system_prompt.or(overrides.append_system_prompt.take());
        self.subagent_text |= request["forwardSubagentText"] == true;
        for name in servers {
            self.servers.add(ServerDefinition::of_host(&name));
        }
        self.rules.write().unwrap_or_else(PoisonError::into_inner).set_servers(host_mcp::slugs(&self.servers));
        self.servers.start(|definition| definition.endpoint == ServerTransport::Host);
        Ok(self.introduction())
    }

    fn introduction(&self) -> Value {
        let agent = |agent: &ona_instructions::AgentDefinition| json!({"name": agent.name, "description": agent.description, "model": agent.model});
        let model = |(id, provider, wire): &(&str, ProviderName, Option<&str>)| json!({"value": id, "displayName": wire.unwrap_or(id), "description": provider.as_str()});
        let builtin = COMMANDS.iter().filter(|command| command.headless);
        let builtin = builtin.map(
            |command| json!({"name": command.name, "description": command.help, "argumentHint": command.arguments}),
        );
        let of_files = self.skills.iter().filter(|skill| skill.by_user);
        let of_files = of_files.map(|skill| json!({"name": skill.name, "description": skill.description, "argumentHint": skill.argument_hint.as_deref().unwrap_or("")}));
        let of_servers = self.servers.prompts().into_iter();
        let of_servers = of_servers.map(|(_, prompt)| {
            json!({"name": prompt.name, "description": prompt.description, "argumentHint": prompt.hint()})
        });
        json!({
            "commands": builtin.chain(of_files).chain(of_servers).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "output_style": self.output_style,
            "available_output_styles": self.output_styles,
            "models": MODELS.iter().map(model).collect::<Vec<_>>(),
            "account": {},
            "hooks_applied": true,
        })
    }

    fn set_permission_mode(&mut self, request: &Value) -> Result<Value, ControlError> {
        let name = request["mode"].as_str().ok_or("mode must be a string")?;
        let mode = mode_named(name).map_err(|unknown| unknown.to_string())?;
        if mode == Mode::BypassPermissions && !self.may_bypass {
            return Err(
                "bypassPermissions needs --dangerously-skip-permissions or --allow-dangerously-skip-permissions at start"
                    .into(),
            );
        }
        set_mode(&self.rules, mode)?;
        self.changed = Some(mode);
        Ok(json!({"mode": mode.as_str()}))
    }

    fn set_model(&mut self, request: &Value) -> Result<Value, ControlError> {
        let name = match &request["model"] {
            Value::Null => None,
            Value::String(name) if name == "default" => None,
            Value::String(name) => Some(name.as_str()),
            _ => return Err("model must be a string or null".into()),
        };
        match (&self.current_model, name) {
            (Some((current_model, first)), None) => current_model.set(Arc::clone(first)),
            (Some((current_model, _)), Some(name)) => {
                let model = current_model.model().named(name).map_err(|failure| failure.to_string())?;
                current_model.set(Arc::new(model));
            }
            (None, name) => {
                if let Some(name) = name {
                    self.is_model_name(name)?;
                }
                self.overrides.model = name.map(str::to_owned);
            }
        }
        Ok(json!({}))
    }

    /// Goes back to before a prompt. Why it cannot be done is part of the answer.
    fn rewind(&mut self, request: &Value, scope: RewindScope) -> Result<Value, ControlError> {
        let id = request["user_message_id"].as_str().ok_or("user_message_id must be a string")?;
        let dry_run = match &request["dry_run"] {
            Value::Null => false,
            Value::Bool(dry_run) => *dry_run,
            _ => return Err("dry_run must be true or false".into()),
        };
        let cannot = |why: &str| Ok(json!({"canRewind": false, "error": why}));
        let Some(session) = &self.place else { return cannot("no session has begun yet") };
        if self.busy && !dry_run {
            return cannot("the session is at work; interrupt the turn or wait for its result");
        }
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let rewinder = Rewinder { store: &self.store, session, rules: &rules, limits: self.limits };
        let failed = |error: StoreError| ControlError::from(error.to_string());
        let prompts = rewinder.prompts().map_err(failed)?;
        let Some(prompt) = prompts.into_iter().rev().find(|prompt| prompt.uuid == id) else {
            return cannot("the conversation has no user message with this id");
        };
        let plan = rewinder.plan(RewindTarget::Prompt(prompt), scope).map_err(failed)?;
        let (insertions, deletions) = plan.lines();
        let paths =
            |steps: &mut dyn Iterator<Item = &FileStep>| steps.map(|step| step.shown.clone()).collect::<Vec<_>>();
        let mut answer = json!({"canRewind": true});
        if scope.has_files() {
            answer["filesChanged"] = json!(paths(&mut plan.changed()));
            answer["insertions"] = json!(insertions);
            answer["deletions"] = json!(deletions);
            answer["skippedLinks"] = json!(paths(&mut plan.skipped_links()));
            let skipped = plan.skipped().map(|(step, why)| json!({"path": step.shown, "reason": why.words()}));
            answer["notRestorable"] = skipped.collect();
        }
        let conflicts = paths(&mut plan.conflicts());
        if !conflicts.is_empty() && request["force"] != true {
            answer["canRewind"] = json!(false);
            answer["error"] = json!(format!(
                "something else has changed these files since; send force: true to replace them: {}",
                conflicts.join(", ")
            ));
            return Ok(answer);
        }
        if dry_run {
            return Ok(answer);
        }
        let report = rewinder.apply(&plan).map_err(failed)?;
        self.went_back |= scope.has_conversation();
        if !report.failed.is_empty() {
            let failed = report.failed.iter().map(|(path, why)| format!("{path}: {why}")).collect::<Vec<_>>();
            answer["error"] = json!(format!("not restored: {}", failed.join(", ")));
        }
        Ok(answer)
    }

    /// Whether a session that has not begun could begin with a model of this name.
    fn is_model_name(&self, name: &str) -> Result<(), ControlError> {
        let provider = self.settings.model_config.as_ref().and_then(|config| config["provider"].as_str());
        let provider = provider.and_then(ProviderName::from_text).unwrap_or(ProviderName::ClaudeCodeSubscription);
        ona_auth::named_model(name, provider, &self.env).map(drop).map_err(|bad| bad.to_string().into())
    }

    fn model(&self) -> Option<String> {
        self.current_model.as_ref().map(|(current_model, _)| current_model.model().choice.wire_model.clone())
    }

    /// Returns how much of the context window the newest reply used, as its provider counted.
    fn context_usage(&self) -> Value {
        let Some((current_model, _)) = &self.current_model else {
            return json!({"totalTokens": 0, "maxTokens": 0, "rawMaxTokens": 0, "percentage": 0, "categories": []});
        };
        let model = current_model.model();
        let most = model.context_size();
        let used = *self.context.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "totalTokens": used,
            "maxTokens": most,
            "rawMaxTokens": most,
            "percentage": used as f64 * 100.0 / most as f64,
            "model": model.choice.wire_model,
            "categories": [{"name": "Messages", "tokens": used}],
        })
    }
}

/// Reads a text or a list of texts.
fn texts(value: &Value, name: &str) -> Result<Option<String>, ControlError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Array(texts) => {
            let texts: Option<Vec<_>> = texts.iter().map(Value::as_str).collect();
            Ok(Some(texts.ok_or_else(|| format!("{name} must be text"))?.join("\n\n")))
        }
        _ => Err(format!("{name} must be text").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Protocol;

    #[test]
    fn every_request_gets_an_answer_or_a_reason() {
        let control = || Protocol::new().control();
        for (request, expected) in [
            (json!({"subtype": "get_settings"}), json!({"effective": {"theme": "dark"}, "applied": {"model": null}})),
            (json!({"subtype": "get_binary_version"}), json!({"version": env!("CARGO_PKG_VERSION")})),
            (json!({"subtype": "set_permission_mode", "mode": "plan"}), json!({"mode": "plan"})),
            (json!({"subtype": "set_permission_mode", "mode": "manual"}), json!({"mode": "default"})),
            (json!({"subtype": "set_model", "model": "claude_sonnet_4"}), json!({})),
            (json!({"subtype": "set_model", "model": null}), json!({})),
            (json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}), json!({})),
            (json!({"subtype": "stop_task", "task_id": "b1"}), json!({})),
            (json!({"subtype": "mcp_status"}), json!({"mcpServers": []})),
            (
                json!({"subtype": "mcp_set_servers", "servers": {"x": {}}}),
                json!({"added": [], "removed": [], "errors": {"x": "it has neither a `command` nor a `url`"}}),
            ),
        ] {
            assert_eq!(control().answer(&request), Ok(expected), "{request}");
        }
        for (request, why) in [
            (json!({}), "the request has no subtype"),
            (json!({"subtype": "set_permission_mode"}), "mode must be a string"),
            (json!({"subtype": "set_model", "model": 1}), "model must be a string or null"),
            (json!({"subtype": "stop_task"}), "task_id must be a string"),
            (json!({"subtype": "mcp_toggle", "serverName": "x"}), "unknown MCP server \"x\""),
            (
                json!({"subtype": "mcp_clear_auth", "serverName": "x"}),
                "the request mcp_clear_auth is not supported: `ona mcp logout SERVER` removes a login",
            ),
            (json!({"subtype": "initialize", "systemPrompt": 1}), "systemPrompt must be text"),
            (json!({"subtype": "initialize", "sdkMcpServers": "x"}), "sdkMcpServers must be a list of names"),
        ] {
            assert_eq!(control().answer(&request).unwrap_err().why, why, "{request}");
        }
        let unknown = control().answer(&json!({"subtype": "dance"})).unwrap_err();
        assert_eq!(unknown.code, Some("unsupported_request"));
    }

    #[test]
    fn bypassing_permissions_must_have_been_allowed_at_the_start() {
        let request = json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"});
        let mut control = Protocol::new().control();
        assert!(control.answer(&request).unwrap_err().why.contains("--dangerously-skip-permissions"));
        assert_eq!(control.rules.read().unwrap().mode(), Mode::Default);
        control.may_bypass = true;
        control.answer(&request).unwrap();
        assert_eq!(control.rules.read().unwrap().mode(), Mode::BypassPermissions);
    }

    #[tokio::test]
    async fn initialize_changes_everything_or_nothing() {
        let protocol = Protocol::new();
        let mut control = protocol.control();
        let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["h1"]}], "Dance": [{"hookCallbackIds": ["h2"]}]});
        let wrong = json!({"subtype": "initialize", "hooks": hooks, "systemPrompt": ["a", 1]});
        assert!(control.answer(&wrong).is_err());
        assert_eq!(control.hooks.list().iter().count(), 0);

        let right =
            json!({"subtype": "initialize", "hooks": hooks, "systemPrompt": ["a", "b"], "forwardSubagentText": true});
        let introduction = control.answer(&right).unwrap();
        assert_eq!(introduction["commands"][1]["name"], "clear");
        assert_eq!(control.hooks.list().iter().count(), 1);
        let overrides = &control.overrides;
        assert_eq!((overrides.system_prompt.as_deref(), control.subagent_text), (Some("a\n\nb"), true));
        // A second introduction replaces the hooks of the first.
        control.answer(&right).unwrap();
        assert_eq!(control.hooks.list().iter().count(), 1);
        control.announce(&protocol.printer);
        let told = protocol.output.take_messages();
        assert!(told[0]["content"].as_str().unwrap().contains("Dance"), "{told:?}");
    }

    #[test]
    fn a_changed_mode_is_announced_once() {
        let protocol = Protocol::new();
        let mut control = protocol.control();
        control.answer(&json!({"subtype": "set_permission_mode", "mode": "acceptEdits"})).unwrap();
        control.announce(&protocol.printer);
        control.announce(&protocol.printer);
        let told = protocol.output.take_messages();
        assert_eq!((told.len(), &told[0]["permissionMode"]), (1, &json!("acceptEdits")));
    }
}
