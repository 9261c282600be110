//! Hooks that are set up to be listed or tried: the effective ones, or those of a file.
//!
//! Trying hooks writes no rows.

use crate::event_input::{EventInput, firing};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{CallId, Ruling, SkipReason};
use ona_hookplane::{HookEngine, HookOutcome};
use ona_orchestration::{Profile, Session, builtin_tools};
use ona_runtime::hook_sources::{HookConfig, LoadedSource};
use ona_runtime::{Failure, Launch, OpenProject, OtherHooks, Purpose, Runtime};
use ona_tools::ToolBox;
use ona_trust::TrustState;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub struct HookBench {
    pub engine: Arc<HookEngine>,
    /// What was read from the file whose hooks are used instead of the effective ones.
    other: Option<LoadedSource>,
    pub runtime: Runtime,
    pub tools: ToolBox,
    /// MCP servers that hooks call are connected when the first hook is tried.
    connected: OnceCell<()>,
}

impl HookBench {
    pub async fn new(
        launch: &Launch,
        open: &OpenProject,
        config: Option<&Path>,
        cancel: &CancellationToken,
    ) -> Result<Self, Failure> {
        let file = config.map(|file| HookConfig::read(&launch.cwd.join(file))).transpose()?;
        let mut runtime = Runtime::new(launch, open, &launch.cwd, Purpose::Look, cancel)?;
        let (engine, other) = match file {
            None => {
                runtime.load_modules(launch, open).await?;
                (Arc::clone(&runtime.hooks), None)
            }
            Some(file) => {
                let OtherHooks { engine, source } = runtime.other_hooks(launch, open, &file)?;
                (Arc::new(engine), Some(source))
            }
        };
        if let (Some(source), Some(file)) = (&other, config)
            && engine.list().is_empty()
            && source.loaded.rejected.is_empty()
        {
            launch.note(format_args!("ona: {} has no hooks", file.display()));
        }
        let tools = builtin_tools(Profile::FiredHook);
        Ok(Self { engine, other, runtime, tools, connected: OnceCell::new() })
    }

    /// Returns the sources of the hooks in use, in the order of their hooks.
    pub fn sources(&self) -> &[LoadedSource] {
        self.other.as_ref().map_or(&self.runtime.hook_sources, std::slice::from_ref)
    }

    /// Refuses to try hooks of a folder that is not trusted: to try a hook is to run it.
    pub fn is_trusted(&self, launch: &Launch, open: &OpenProject, config: Option<&Path>) -> Result<(), Failure> {
        let named = config.and_then(|file| std::fs::canonicalize(launch.cwd.join(file)).ok());
        let of_folder = match named {
            Some(file) => file.starts_with(&launch.project) && !launch.trusts(open, &launch.project),
            // With --no-trust only the other hooks are tried.
            None if launch.trust_state() == TrustState::Withheld => false,
            None => self.engine.list().iter().any(|hook| hook.disabled == Some(SkipReason::UntrustedWorkspace)),
        };
        match of_folder {
            true => Err(Failure::usage(format_args!(
                "these hooks belong to a folder that is not trusted: {}",
                launch.project.display()
            ))
            .hint("ona --trust hooks ...")),
            false => Ok(()),
        }
    }

    /// Returns a session in which hooks can be fired. It is not recorded.
    pub fn session(&mut self, open: &OpenProject, launch: &Launch) -> Result<Session, Failure> {
        let place = SessionKey {
            conversation: "hooks-tried".into(),
            session: CallId::random().0.into(),
            start: SequenceStart::Zero,
        };
        self.runtime.session(&open.store, place).map_err(|error| launch.store_failure(error))
    }

    pub async fn fire(&self, session: &mut Session, asked: &EventInput) -> Result<HookOutcome, Failure> {
        let firing = firing(asked, session, &self.tools)?;
        let connect = async || self.runtime.mcp.start_for_hooks(&self.engine.list()).await;
        self.connected.get_or_init(connect).await;
        Ok(self.engine.fire(firing).await)
    }

    /// Ends the servers that were connected for hooks.
    pub async fn close(&self) {
        self.runtime.mcp.servers.close().await;
    }
}

/// Returns what a chain decides, in one word.
pub(crate) fn decision(outcome: &HookOutcome) -> &'static str {
    match &outcome.ruling {
        _ if outcome.is_denied() => "deny",
        Some((Ruling::Allow, ..)) => "allow",
        Some((Ruling::Ask, ..)) => "ask",
        Some((Ruling::Deny, ..)) => "deny",
        None => "none",
    }
}
