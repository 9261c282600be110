//! Hooks set up to be looked at or tried: the effective ones, or those of a file.
//!
//! Trying hooks leaves no rows: what is tried here did not happen.

use crate::failure::Failure;
use crate::fire_hook::{Asked, firing};
use crate::program::{Open, Program};
use crate::workplace::Workplace;
use ona_api::row::{Place, SequenceStart};
use ona_api::{CallId, Ruling};
use ona_dialects::Rejected;
use ona_hookplane::{HookEngine, Outcome};
use ona_modules::Listed;
use ona_orchestration::Session;
use ona_trust::How;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub struct Stand {
    pub engine: Arc<HookEngine>,
    pub rejected: Vec<Rejected>,
    /// The settings the hooks are from.
    pub settings: Value,
    pub workplace: Workplace,
    /// Hook modules of this place, loaded or not.
    pub modules: Vec<Listed>,
}

impl Stand {
    pub async fn new(
        program: &Program,
        open: &Open,
        config: Option<&Path>,
        cancel: &CancellationToken,
    ) -> Result<Self, Failure> {
        let mut workplace = Workplace::new(program, open, &program.cwd, How::FirstUseOnly, cancel)?;
        let Some(file) = config else {
            let modules = workplace.load_modules(program, open).await?;
            let (engine, rejected, settings) =
                (Arc::clone(&workplace.hooks), workplace.rejected.clone(), workplace.settings.clone());
            return Ok(Self { engine, rejected, settings, workplace, modules });
        };
        let settings = read(file)?;
        let (engine, rejected) = workplace.other_hooks(program, open, &settings);
        Ok(Self { engine: Arc::new(engine), rejected, settings, workplace, modules: Vec::new() })
    }

    /// A session for hooks to be fired in. It is nowhere recorded.
    pub fn session(&mut self, open: &Open, program: &Program) -> Result<Session, Failure> {
        let place = Place {
            conversation: "hooks-tried".into(),
            session: CallId::random().0.into(),
            start: SequenceStart::Zero,
        };
        self.workplace.session(&open.store, place).map_err(|error| program.store_failure(error))
    }

    pub async fn fire(&self, session: &mut Session, asked: &Asked) -> Result<Outcome, Failure> {
        let firing = firing(asked, session)?;
        Ok(self.engine.fire(firing).await)
    }
}

/// What a chain decides, in one word.
pub fn decision(outcome: &Outcome) -> &'static str {
    match &outcome.ruling {
        _ if outcome.is_denied() => "deny",
        Some((Ruling::Allow, ..)) => "allow",
        Some((Ruling::Ask, ..)) => "ask",
        Some((Ruling::Deny, ..)) => "deny",
        None => "none",
    }
}

/// A settings file; one of `.claude` speaks that dialect unless it says otherwise.
fn read(file: &Path) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format_args!("{} can not be read: {error}", file.display())))?;
    let mut settings: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format_args!("{} is not valid JSON: {error}", file.display())))?;
    if !settings.is_object() {
        return Err(Failure::usage(format_args!("{} does not hold a JSON object", file.display())));
    }
    let foreign = file.components().any(|part| part.as_os_str() == ".claude");
    if foreign && settings.get("hooksDialect").is_none() {
        settings["hooksDialect"] = "claude".into();
    }
    Ok(settings)
}
