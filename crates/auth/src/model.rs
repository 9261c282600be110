//! Which provider and which wire model a `model_config` means (section 2.2).
//!
//! The enums are closed and compared case-sensitively; everything wrong is found
//! here, before any network. Where requests go is for `endpoint`.

use crate::ModelConfigError;
use crate::model_name::{NamedModel, WireModels};
use ona_api::model::{MODELS, ProviderName};
use ona_api::text::head;
use ona_api::{Env, environment};
use serde_json::{Value, json};

/// The default when no other source names a model (DEC-082).
const FIRST: (ProviderName, &str) = (ProviderName::ClaudeCodeSubscription, "claude_sonnet_4");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub provider: ProviderName,
    pub model_id: &'static str,
    /// What the request calls the model.
    pub wire_model: String,
    /// The wire string is not the id's own (DEC-080, DEC-190).
    pub overridden: bool,
}

/// Reads a `model_config`.
pub fn resolve_model(model_config: &Value, env: &Env, lasting: &WireModels) -> Result<ModelChoice, ModelConfigError> {
    let config = model_config.as_object().ok_or(ModelConfigError::NotAnObject)?;
    if let Some(key) = config.keys().find(|key| !["provider", "model_id"].contains(&key.as_str())) {
        return Err(ModelConfigError::UnknownKey(excerpt(key)));
    }
    let text = |key| config.get(key).and_then(Value::as_str).ok_or(ModelConfigError::NotText(key));
    let provider = text("provider")?;
    let provider =
        ProviderName::from_text(provider).ok_or_else(|| ModelConfigError::UnknownProvider(excerpt(provider)))?;
    let wanted = text("model_id")?;
    let (model_id, of, _) = *known(wanted).ok_or_else(|| ModelConfigError::UnknownModel(excerpt(wanted)))?;
    if of != provider {
        return Err(ModelConfigError::WrongProvider { provider, model_id: model_id.into() });
    }
    resolve_named(&NamedModel { provider, model_id, wire: None }, env, lasting)
}

/// Returns what is sent for a named model. A name that was given for this run comes first, then
/// ONA_WIRE_MODEL_OVERRIDE, then the settings.
pub fn resolve_named(named: &NamedModel, env: &Env, lasting: &WireModels) -> Result<ModelChoice, ModelConfigError> {
    let NamedModel { provider, model_id, wire } = named;
    let overrides = overrides(env)?;
    let of_process = || overrides.iter().rfind(|(id, _)| id == model_id).map(|(_, name)| name.as_str());
    let replaced = wire.as_deref().or_else(of_process).or_else(|| lasting.of(model_id));
    // A name of a local server that was given for this run is what LM_STUDIO_MODEL would have said (DEC-190).
    let own = known(model_id).and_then(|(.., own)| *own).or_else(|| env.non_empty(environment::LM_STUDIO_MODEL));
    // Required by section 2.3 also when an override hides it.
    let sent = own.or(wire.as_deref()).ok_or(ModelConfigError::MissingVariable(environment::LM_STUDIO_MODEL))?;
    let wire_model = replaced.unwrap_or(sent).to_owned();
    let overridden = own != Some(wire_model.as_str());
    Ok(ModelChoice { provider: *provider, model_id, overridden, wire_model })
}

/// ONA_WIRE_MODEL_OVERRIDE as pairs of model id and wire string.
pub fn overrides(env: &Env) -> Result<Vec<(&'static str, String)>, ModelConfigError> {
    let text = env.get(environment::ONA_WIRE_MODEL_OVERRIDE).unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (id, wire) = pair.split_once('=').unwrap_or((pair, ""));
            let (id, wire) = (id.trim(), wire.trim());
            if wire.is_empty() {
                return Err(ModelConfigError::BadOverride(excerpt(pair)));
            }
            let (id, ..) = known(id).ok_or_else(|| ModelConfigError::UnknownOverride(excerpt(id)))?;
            Ok((*id, wire.to_owned()))
        })
        .collect()
}

/// Returns what a turn writes into a snapshot that names no model (DEC-082).
pub fn default_model_config(env: &Env, anthropic_available: bool) -> Value {
    let set = |variable| env.non_empty(variable).is_some();
    let (provider, model_id) = if anthropic_available {
        FIRST
    } else if set(environment::OPENAI_API_KEY) && set(environment::OPENAI_BASE_URL) {
        (ProviderName::OpenaiCompatible, "gpt_4o")
    } else if set(environment::LM_STUDIO_MODEL) {
        (ProviderName::LmStudioLocal, "lm_studio_server_routed")
    } else {
        FIRST
    };
    json!({"provider": provider.as_str(), "model_id": model_id})
}

pub(crate) fn known(id: &str) -> Option<&'static (&'static str, ProviderName, Option<&'static str>)> {
    MODELS.iter().find(|(known, ..)| *known == id)
}

/// Shortens a wrong value: enough to recognise it, not enough to reveal a key.
pub(crate) fn excerpt(text: &str) -> String {
    let (head, more) = head(text, 24);
    let mut shown: String = head.chars().filter(|c| !c.is_control()).collect();
    if more {
        shown.push('…');
    }
    shown
}
