//! The start of a session as the protocol shows it: who is asked, and the `init` message.

use crate::PROTOCOL;
use crate::builtin_commands::BUILTIN;
use crate::host_operator::HostOperator;
use crate::messages::{Init, McpServerStatus, ServerError, StreamMessage, SystemMessage};
use crate::options::PermissionPrompts;
use crate::run::Run;
use ona_api::environment;
use ona_auth::CredentialKind;
use ona_instructions::Agents;
use ona_orchestration::{Events, Model, Operator, Session};
use ona_runtime::NoOperator;
use ona_runtime::session_start::{Preparation, ReadySession, SessionError, SessionOverrides, SessionStart};
use std::sync::Arc;

impl Run<'_> {
    /// Prepares the session, prints the `init` message and runs the prompt that a hook has set.
    pub(crate) async fn prepare(
        &self,
        session: &mut Session,
        source: &str,
        agents: &Agents,
        overrides: &SessionOverrides,
        events: &Events,
    ) -> Result<Preparation, SessionError> {
        let start = SessionStart {
            launch: self.launch,
            open: self.open,
            runtime: &self.runtime,
            skills: &self.skills,
            agents,
            elicitations: &self.elicitations,
            operator: self.operator(),
            cancellation: &self.cancellation,
            events,
            overrides,
            setup: self.options.setup(),
        };
        let mut prepared = start.prepare(session, source).await?;
        if let Preparation::Ready(ready) = &mut prepared {
            self.event_printer.send(&self.init(session, source, ready, agents));
            if let Some(prompt) = ready.first_prompt.take() {
                ready.turn.run(session, &mut ready.history, prompt.as_str()).await?;
            }
        }
        Ok(prepared)
    }

    /// Who answers permission questions: the driving program if an option says so, otherwise nobody.
    fn operator(&self) -> Arc<dyn Operator> {
        let options = self.options;
        let by_host = options.permission_prompt_tool.is_some();
        let asked = match options.permission_prompts {
            Some(PermissionPrompts::None) => false,
            Some(PermissionPrompts::Host) => true,
            None => by_host,
        };
        if !asked {
            return Arc::new(NoOperator);
        }
        Arc::new(HostOperator {
            host: Arc::clone(&self.host),
            printer: Arc::clone(&self.event_printer.printer),
            cancellation: self.cancellation.clone(),
        })
    }

    /// Returns the names of all slash commands, without the slash.
    fn slash_commands(&self, session: &Session) -> Vec<String> {
        let of_files = self.skills.iter().filter(|skill| skill.by_user).map(|skill| skill.name.clone());
        let modules = session.modules.iter().flat_map(|modules| modules.emitter.commands());
        let builtin = BUILTIN.iter().map(|(name, _)| (*name).to_owned());
        let mut names: Vec<_> = builtin.chain(of_files).chain(modules.map(|command| command.name)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn init(&self, session: &Session, source: &str, ready: &ReadySession, agents: &Agents) -> StreamMessage {
        let ReadySession { turn, instructions, .. } = ready;
        let asking = &turn.asking;
        let mcp = &self.runtime.mcp;
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
            output_style: "default",
            agents: agents.iter().map(|agent| agent.name.clone()).collect(),
            slash_commands: self.slash_commands(session),
            skills: self.skills.iter().filter(|skill| skill.by_model).map(|skill| skill.name.clone()).collect(),
            capabilities: vec!["interrupt_receipt_v1", "interrupt_cancel_queued_v1"],
            memory_paths: instructions.iter().map(|one| one.path.to_string_lossy().into_owned()).collect(),
            original_cwd: self.launch.cwd.to_string_lossy().into_owned(),
            additional_directories: session.cx.extra.iter().map(|dir| dir.to_string_lossy().into_owned()).collect(),
            conversation_id: session.place.conversation.0.clone(),
            source: source.to_owned(),
            ..Init::default()
        })))
    }
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
