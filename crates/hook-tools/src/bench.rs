//! Hooks that are set up to be listed or tried: the effective ones, or those of a file.
//!
//! Trying hooks writes no rows.

use crate::event_input::{EventInput, firing};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{CallId, EventName, Ruling, SkipReason};
use ona_dialects::Rejected;
use ona_dialects::lint::UnknownField;
use ona_dialects::pi;
use ona_hookplane::{HookEngine, HookOutcome};
use ona_modules::ListedModule;
use ona_orchestration::{Profile, Session, builtin_tools};
use ona_runtime::{Failure, Launch, OpenProject, OtherHooks, Purpose, Runtime, Written};
use ona_settings::{HookSettings, Settings, keys};
use ona_tools::ToolBox;
use ona_trust::TrustState;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub struct HookBench {
    pub engine: Arc<HookEngine>,
    pub rejected: Vec<Rejected>,
    /// Keys that mean nothing, of hooks that no settings hold.
    pub unknown: Vec<UnknownField>,
    /// The settings the hooks are from.
    pub settings: HookSettings,
    pub runtime: Runtime,
    /// Hook modules of this place, loaded or not.
    pub modules: Vec<ListedModule>,
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
        let written = config.map(|file| read(&launch.cwd.join(file))).transpose()?;
        let mut runtime = Runtime::new(launch, open, &launch.cwd, Purpose::Look, cancel)?;
        let tools = builtin_tools(Profile::FiredHook);
        let Some(written) = written else {
            let modules = runtime.load_modules(launch, open).await?;
            let (engine, rejected, settings) =
                (Arc::clone(&runtime.hooks), runtime.rejected.clone(), runtime.settings.hooks.clone());
            let unknown = runtime.unknown.clone();
            return Ok(Self {
                engine,
                rejected,
                unknown,
                settings,
                runtime,
                modules,
                tools,
                connected: OnceCell::new(),
            });
        };
        let OtherHooks { engine, rejected, unknown } = runtime.other_hooks(launch, open, &written)?;
        if engine.list().is_empty() && rejected.is_empty() {
            let file = config.unwrap_or(Path::new(""));
            launch.note(format_args!("ona: {} has no hooks", file.display()));
        }
        let settings = match written {
            Written::Settings(settings) => settings.hooks,
            Written::Pi(_) | Written::Massgen(_) => HookSettings::default(),
        };
        let (engine, modules, connected) = (Arc::new(engine), Vec::new(), OnceCell::new());
        Ok(Self { engine, rejected, unknown, settings, runtime, modules, tools, connected })
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
        let connect = async || self.runtime.fleet.start_for_hooks(&self.engine.list()).await;
        self.connected.get_or_init(connect).await;
        Ok(self.engine.fire(firing).await)
    }

    /// Ends the servers that were connected for hooks.
    pub async fn close(&self) {
        self.runtime.fleet.servers.close().await;
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

/// Detects by its shape what a file is; a wrong guess that finds no hooks would pass every test.
fn read(file: &Path) -> Result<Written, Failure> {
    let wrong = |what: String| Failure::usage(format_args!("{} {what}", file.display()));
    let text = ona_files::read_named(file).map_err(|why| wrong(why.to_string()))?;
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("yaml" | "yml") => return Ok(Written::Massgen(file.to_owned())),
        Some("ts" | "mts" | "js" | "mjs" | "cjs") => {
            let hint = format!("--hook {}", file.display());
            return Err(wrong("is a hook module, which needs no --config".into()).hint(hint));
        }
        _ => {}
    }
    let content: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("is not valid JSON: {error}")))?;
    let Value::Object(content) = content else { return Err(wrong("does not hold a JSON object".into())) };
    let Some(hooks) = content.get(keys::HOOKS) else {
        if content.keys().any(|key| key.parse::<EventName>().is_ok()) {
            return pi::parse(&text).map(Written::Pi).map_err(|why| wrong(format!("cannot be used: {why}")));
        }
        return Ok(Written::Settings(Box::new(Settings::read(&content.into()))));
    };
    let entries =
        || hooks.as_object().into_iter().flat_map(|events| events.values().filter_map(Value::as_array)).flatten();
    if entries().any(|entry| entry.get("handler").is_some()) {
        return Ok(Written::Massgen(file.to_owned()));
    }
    // As with --settings: groups below an event are the shape of `.claude` files (DEC-041).
    let lies_in = |folder: &str| file.components().any(|part| part.as_os_str() == folder);
    let nested = entries().any(|entry| entry.get("hooks").is_some()) && !lies_in(".ona");
    let names_dialect = content.contains_key(keys::HOOKS_DIALECT);
    let mut settings = Settings::read(&content.into());
    if (nested || lies_in(".claude")) && !names_dialect {
        settings.hooks.dialect = "claude".to_owned();
    }
    Ok(Written::Settings(Box::new(settings)))
}
