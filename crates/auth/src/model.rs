//! Which provider and which wire model a `model_config` means (section 2.2).
//!
//! The enums are closed and compared case-sensitively; everything wrong is found
//! here, before any network. Where requests go is for `endpoint`.

use crate::ModelConfigError;
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
    /// The wire string comes from ONA_WIRE_MODEL_OVERRIDE (DEC-080).
    pub overridden: bool,
}

pub fn resolve_model(model_config: &Value, env: &Env) -> Result<ModelChoice, ModelConfigError> {
    let config = model_config.as_object().ok_or(ModelConfigError::NotAnObject)?;
    if let Some(key) = config.keys().find(|key| !["provider", "model_id"].contains(&key.as_str())) {
        return Err(ModelConfigError::UnknownKey(excerpt(key)));
    }
    let text = |key| config.get(key).and_then(Value::as_str).ok_or(ModelConfigError::NotText(key));
    let provider = text("provider")?;
    let provider =
        ProviderName::from_text(provider).ok_or_else(|| ModelConfigError::UnknownProvider(excerpt(provider)))?;
    let wanted = text("model_id")?;
    let (model_id, of, wire) = *known(wanted).ok_or_else(|| ModelConfigError::UnknownModel(excerpt(wanted)))?;
    if of != provider {
        return Err(ModelConfigError::WrongProvider { provider, model_id: model_id.into() });
    }
    // Required by section 2.3 also when an override hides it.
    let wire = match wire {
        Some(wire) => wire,
        None => env
            .non_empty(environment::LM_STUDIO_MODEL)
            .ok_or(ModelConfigError::MissingVariable(environment::LM_STUDIO_MODEL))?,
    };
    let replaced = overrides(env)?.into_iter().rfind(|(id, _)| *id == model_id);
    let overridden = replaced.is_some();
    let wire_model = replaced.map_or_else(|| wire.to_owned(), |(_, wire)| wire);
    Ok(ModelChoice { provider, model_id, wire_model, overridden })
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

/// The names by which people and other programs call a family of models.
const FAMILIES: [(&str, &str); 3] =
    [("opus", "claude_opus_4"), ("sonnet", "claude_sonnet_4"), ("haiku", "claude_3_5_haiku")];

/// Returns the `model_config` of a model by its id. What programs written for Claude Code call a model,
/// a family or the string on the wire, counts where that provider is in use already: a name
/// must not send a run elsewhere.
pub fn named_model(name: &str, in_use: ProviderName) -> Result<Value, ModelConfigError> {
    let family = || FAMILIES.iter().find(|(family, _)| *family == name).map(|(_, id)| *id);
    let wire = || MODELS.iter().find(|(_, of, wire)| *of == FIRST.0 && *wire == Some(name)).map(|(id, ..)| *id);
    let foreign = || if in_use == FIRST.0 { family().or_else(wire) } else { None };
    let id = known(name).map(|(id, ..)| *id).or_else(foreign);
    let (id, provider, _) = id.and_then(known).ok_or_else(|| ModelConfigError::UnknownModel(excerpt(name)))?;
    Ok(json!({"provider": provider.as_str(), "model_id": id}))
}

fn known(id: &str) -> Option<&'static (&'static str, ProviderName, Option<&'static str>)> {
    MODELS.iter().find(|(known, ..)| *known == id)
}

/// Shortens a wrong value: enough to recognise it, not enough to reveal a key.
fn excerpt(text: &str) -> String {
    let (head, more) = head(text, 24);
    let mut shown: String = head.chars().filter(|c| !c.is_control()).collect();
    if more {
        shown.push('…');
    }
    shown
}
