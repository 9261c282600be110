//! What the program on the other side may ask for and change while a run goes on.
//!
//! Every request gets an answer: its own, or an error that says why not. A subtype nobody
//! here knows is an error with the code `unsupported_request`.

use super::callback::Callback;
use super::commands::BUILTIN;
use super::host::Host;
use super::messages::{Level, Message, System};
use super::printer::Printer;
use super::servers;
use super::translate::informational;
use ona_api::Mode;
use ona_api::model::{MODELS, ProviderName};
use ona_hookplane::{HookEngine, HookHandler, HookList};
use ona_instructions::Agents;
use ona_instructions::skills::Skills;
use ona_mcp::{ServerDefinition, ServerTransport, Servers};
use ona_orchestration::{CurrentModel, Model, set_mode};
use ona_permissions::PermissionEngine;
use ona_process::TurnCancellation;
use ona_runtime::mode_named;
use ona_tools::Tasks;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Everything a request can read or move.
pub struct Levers {
    pub cancellation: TurnCancellation,
    pub rules: Arc<RwLock<PermissionEngine>>,
    pub hooks: Arc<HookEngine>,
    /// Who answers the hooks it registers.
    pub host: Arc<Host>,
    pub tasks: Arc<Tasks>,
    /// The frozen settings, secrets in their places; never shown.
    pub settings: Value,
    /// The same as it is stored, without them.
    pub row: Value,
    pub agents: Agents,
    pub skills: Arc<Skills>,
    /// bypassPermissions was allowed on the command line.
    pub may_bypass: bool,
    /// There once the first prompt has been taken up.
    pub current_model: Option<(CurrentModel, Arc<Model>)>,
    pub wishes: Wishes,
    /// Tokens of the newest request and its answer.
    pub context: Arc<Mutex<u64>>,
    /// A change of mode that has not been told yet.
    pub changed: Option<Mode>,
    /// Warnings that have not been told yet.
    pub notices: Vec<String>,
    /// MCP servers of this run.
    pub servers: Arc<Servers>,
}

/// What `initialize` and early requests ask of a session that has not begun.
#[derive(Debug, Default)]
pub struct Wishes {
    pub model: Option<String>,
    pub system_prompt: Option<String>,
    pub append_system_prompt: Option<String>,
    pub subagent_text: bool,
}

/// Why a request is not carried out.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    pub why: String,
    pub code: Option<&'static str>,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, code: None }
    }
}

impl From<&str> for Refused {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

impl Levers {
    pub fn answer(&mut self, request: &Value) -> Result<Value, Refused> {
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
                _ => Err("models answer without thinking here".into()),
            },
            mcp if mcp.starts_with("mcp_") => servers::answer(&self.servers, mcp, request),
            "rewind_files" => Err("files cannot be rewound: no checkpoints of them are kept".into()),
            "stop_task" => {
                let id = request["task_id"].as_str().ok_or("task_id must be a string")?;
                // One that is gone already has stopped.
                self.tasks.stop(id);
                Ok(json!({}))
            }
            "get_context_usage" => Ok(self.context_usage()),
            "get_settings" => Ok(json!({"effective": self.row, "applied": {"model": self.model()}})),
            "get_binary_version" => Ok(json!({"version": env!("CARGO_PKG_VERSION")})),
            other => {
                let why = format!("the request {other} is not supported");
                Err(Refused { why, code: Some("unsupported_request") })
            }
        }
    }

    /// What a request changed is told to whoever follows the stream.
    pub fn announce(&mut self, printer: &Printer) {
        for notice in self.notices.drain(..) {
            printer.say(&informational(notice, Level::Warning));
        }
        if let Some(mode) = self.changed.take() {
            printer.say(&Message::System(System::Status {
                status: None,
                permission_mode: Some(mode.as_str()),
                compact_result: None,
                compact_error: None,
            }));
        }
    }

    /// Everything is read before anything is changed.
    fn initialize(&mut self, request: &Value) -> Result<Value, Refused> {
        let begun = self.current_model.is_some();
        if !request["jsonSchema"].is_null() {
            return Err("replies can not be held to a schema yet (jsonSchema)".into());
        }
        let host = &self.host;
        let answering = |id| -> Arc<dyn HookHandler> { Arc::new(Callback { id, host: Arc::clone(host) }) };
        let read = ona_dialects::callbacks(&request["hooks"], &self.settings, answering)?;
        let agents = match &request["agents"] {
            Value::Null => None,
            _ if begun => return Err("agents are given before the first message".into()),
            agents => Some(self.agents.with(&agents.to_string()).map_err(|bad| bad.to_string())?),
        };
        let system_prompt = texts(&request["systemPrompt"], "systemPrompt")?;
        let append_system_prompt = texts(&request["appendSystemPrompt"], "appendSystemPrompt")?;
        if begun && (system_prompt.is_some() || append_system_prompt.is_some()) {
            return Err("instructions are given before the first message".into());
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
            read.unknown.iter().map(|event| format!("No hook of {event} will run: there is no such event here.")),
        );
        self.agents = agents.unwrap_or_else(|| self.agents.clone());
        let wishes = &mut self.wishes;
        wishes.system_prompt = system_prompt.or(wishes.system_prompt.take());
        wishes.append_system_prompt = append_system_prompt.or(wishes.append_system_prompt.take());
        wishes.subagent_text |= request["forwardSubagentText"] == true;
        for name in servers {
            self.servers.add(ServerDefinition::of_host(&name));
        }
        self.rules.write().unwrap_or_else(PoisonError::into_inner).set_servers(servers::slugs(&self.servers));
        self.servers.start(|definition| definition.endpoint == ServerTransport::Host);
        Ok(self.introduction())
    }

    fn introduction(&self) -> Value {
        let agent = |agent: &ona_instructions::AgentDefinition| json!({"name": agent.name, "description": agent.description, "model": agent.model});
        let model = |(id, provider, wire): &(&str, ProviderName, Option<&str>)| json!({"value": id, "displayName": wire.unwrap_or(id), "description": provider.as_str()});
        let builtin = BUILTIN.iter().map(|(name, what)| json!({"name": name, "description": what, "argumentHint": ""}));
        let of_files = self.skills.iter().filter(|skill| skill.by_user);
        let of_files = of_files.map(|skill| json!({"name": skill.name, "description": skill.description, "argumentHint": skill.argument_hint.as_deref().unwrap_or("")}));
        json!({
            "commands": builtin.chain(of_files).collect::<Vec<_>>(),
            "agents": self.agents.iter().map(agent).collect::<Vec<_>>(),
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": MODELS.iter().map(model).collect::<Vec<_>>(),
            "account": {},
            "hooks_applied": true,
        })
    }

    fn set_permission_mode(&mut self, request: &Value) -> Result<Value, Refused> {
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

    fn set_model(&mut self, request: &Value) -> Result<Value, Refused> {
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
                    ona_auth::named_model(name, ProviderName::ClaudeCodeSubscription).map_err(|bad| bad.to_string())?;
                }
                self.wishes.model = name.map(str::to_owned);
            }
        }
        Ok(json!({}))
    }

    fn model(&self) -> Option<String> {
        self.current_model.as_ref().map(|(current_model, _)| current_model.model().choice.wire_model.clone())
    }

    /// How much of the context the model's newest answer used, in the words of its provider.
    fn context_usage(&self) -> Value {
        let Some((current_model, _)) = &self.current_model else {
            return json!({"totalTokens": 0, "maxTokens": 0, "rawMaxTokens": 0, "percentage": 0, "categories": []});
        };
        let choice = current_model.model().choice.clone();
        let most = ona_transcript::context_tokens(choice.provider, &choice.wire_model);
        let used = *self.context.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "totalTokens": used,
            "maxTokens": most,
            "rawMaxTokens": most,
            "percentage": used as f64 * 100.0 / most as f64,
            "model": choice.wire_model,
            "categories": [{"name": "Messages", "tokens": used}],
        })
    }
}

/// A text, or several.
fn texts(value: &Value, name: &str) -> Result<Option<String>, Refused> {
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
