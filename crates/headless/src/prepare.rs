//! The start of a session as the protocol shows it: who is asked, and the `init` message.

use crate::PROTOCOL;
use crate::event_printer::EventPrinter;
use crate::host_connection::HostConnection;
use crate::host_operator::HostOperator;
use crate::messages::{Init, McpServerStatus, ServerError, StreamMessage, SystemMessage};
use crate::options::{HeadlessOptions, PermissionPrompts};
use crate::printer::Printer;
use crate::prompt_tool::PromptToolOperator;
use ona_api::environment;
use ona_auth::CredentialKind;
use ona_commands::{COMMANDS, SessionObserver, SessionParts};
use ona_mcp::Servers;
use ona_orchestration::{Model, Operator, Session};
use ona_process::TurnCancellation;
use ona_runtime::NoOperator;
use ona_runtime::session_start::ReadySession;
use std::sync::Arc;

/// Who answers permission questions: the driving program or a tool of a server if an option says so,
/// otherwise nobody.
pub(crate) fn operator(
    options: &HeadlessOptions,
    servers: &Arc<Servers>,
    host: &Arc<HostConnection>,
    printer: &Arc<Printer>,
    cancellation: &TurnCancellation,
) -> Arc<dyn Operator> {
    let tool = options.permission_prompt_tool.as_deref().filter(|tool| *tool != "stdio");
    if let Some(tool) = tool.filter(|_| options.permission_prompts.is_none()) {
        return Arc::new(PromptToolOperator {
            servers: Arc::clone(servers),
            tool: tool.to_owned(),
            printer: Arc::clone(printer),
            cancellation: cancellation.clone(),
        });
    }
    let by_host = options.permission_prompt_tool.is_some();
    let asked = match options.permission_prompts {
        Some(PermissionPrompts::None) => false,
        Some(PermissionPrompts::Host) => true,
        None => by_host,
    };
    if !asked {
        return Arc::new(NoOperator);
    }
    Arc::new(HostOperator { host: Arc::clone(host), printer: Arc::clone(printer), cancellation: cancellation.clone() })
}

/// Prints what becomes of the session.
pub(crate) struct InitPrinter(pub Arc<EventPrinter>);

impl SessionObserver for InitPrinter {
    fn ready(&self, parts: &SessionParts<'_>, session: &Session, source: &str, ready: &ReadySession) {
        self.0.send(&init(parts, session, source, ready));
    }

    fn entered(&self, session: &Session) {
        self.0.printer.reset(&session.place.session.0);
    }

    fn note(&self, sentence: &str) {
        self.0.printer.note(sentence);
    }
}

/// Returns the names of all slash commands, without the slash.
fn slash_commands(parts: &SessionParts<'_>, session: &Session) -> Vec<String> {
    let of_files = parts.skills.iter().filter(|skill| skill.by_user).map(|skill| skill.name.clone());
    let modules = session.modules.iter().flat_map(|modules| modules.emitter.commands());
    let builtin = COMMANDS.iter().filter(|command| command.headless).map(|command| command.name.to_owned());
    let of_servers = parts.runtime.mcp.servers.prompts().into_iter().map(|(_, prompt)| prompt.name.clone());
    let modules = modules.map(|command| command.name);
    let mut names: Vec<_> = builtin.chain(of_files).chain(modules).chain(of_servers).collect();
    names.sort();
    names.dedup();
    names
}

fn init(parts: &SessionParts<'_>, session: &Session, source: &str, ready: &ReadySession) -> StreamMessage {
    let ReadySession { turn, instructions, .. } = ready;
    let asking = &turn.asking;
    let mcp = &parts.runtime.mcp;
    let servers = mcp.servers.list();
    let server = |one: &Arc<ona_mcp::McpServer>| McpServerStatus {
        name: one.definition.name.clone(),
        status: one.status().as_str(),
        source: one.definition.origin.as_str(),
    };
    let error = |(name, message)| ServerError { name, kind: "connection", message };
    StreamMessage::System(SystemMessage::Init(Box::new(Init {
        cwd: session.cx.cwd.to_string_lossy().into_owned(),
        tools: asking.tools.iter().map(|tool| client_tool_name(&tool.name).to_owned()).collect(),
        mcp_servers: servers.iter().map(server).collect(),
        mcp_server_errors: mcp.down().into_iter().map(error).collect(),
        model: asking.model.clone(),
        permission_mode: session.with_rules(|rules| rules.mode()).as_str(),
        api_key_source: key_source(&turn.current_model.model()),
        claude_code_version: PROTOCOL,
        ona_version: env!("CARGO_PKG_VERSION"),
        output_style: parts.style_name().to_owned(),
        agents: parts.agents.iter().map(|agent| agent.name.clone()).collect(),
        slash_commands: slash_commands(parts, session),
        skills: parts.skills.iter().filter(|skill| skill.by_model).map(|skill| skill.name.clone()).collect(),
        capabilities: vec!["interrupt_receipt_v1", "interrupt_cancel_queued_v1"],
        memory_paths: instructions.iter().map(|one| one.path.to_string_lossy().into_owned()).collect(),
        original_cwd: parts.launch.cwd.to_string_lossy().into_owned(),
        additional_directories: session.cx.extra.iter().map(|dir| dir.to_string_lossy().into_owned()).collect(),
        conversation_id: session.place.conversation.0.clone(),
        source: source.to_owned(),
        ..Init::default()
    })))
}

/// Clients know the agent tool by its former name.
fn client_tool_name(name: &str) -> &str {
    if name == "Agent" { "Task" } else { name }
}

/// Returns where the credential comes from, in the terms of the reference where they exist.
fn key_source(model: &Model) -> &'static str {
    use ona_api::model::ProviderName::{ClaudeCodeSubscription, LmStudioLocal, OpenaiCompatible};
    match (model.credential_class(), model.choice.provider) {
        (CredentialKind::EnvApiKey, ClaudeCodeSubscription) => environment::ANTHROPIC_API_KEY.name(),
        (CredentialKind::EnvApiKey, OpenaiCompatible) => environment::OPENAI_API_KEY.name(),
        (CredentialKind::EnvApiKey, LmStudioLocal) => environment::LM_STUDIO_API_KEY.name(),
        (CredentialKind::EnvBearer, _) => environment::ANTHROPIC_AUTH_TOKEN.name(),
        (CredentialKind::Helper, _) => "apiKeyHelper",
        (CredentialKind::OauthToken | CredentialKind::Login, _) => "/login managed key",
        (CredentialKind::LocalDefault | CredentialKind::None, _) => "none",
    }
}
