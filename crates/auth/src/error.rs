//! Why a model cannot be called at all, before anything is sent.
//!
//! The words name variables and sources, never values: what a helper printed or a
//! variable holds is a secret even when it is unusable.

use crate::http::HttpError;
use crate::login_source::LoginError;
use ona_api::model::{FailureClass, MODELS, ModelFailure, ProviderName};
use ona_api::{Variable, environment};

/// No usable credential. To a turn this is `authentication_failed` (DEC-089).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error("{0} is not set")]
    Missing(Variable),
    #[error(
        "no Anthropic credential: set ANTHROPIC_API_KEY, or log in: ona auth login; ona doctor names the other ways"
    )]
    NoAnthropic,
    #[error("no Anthropic credential: set ANTHROPIC_API_KEY, or log in: ona auth login; {0}")]
    OnlyOpenai(&'static str),
    #[error("no Anthropic credential: a bare run takes ANTHROPIC_API_KEY or an apiKeyHelper from --settings only")]
    NoAnthropicBare,
    #[error("{0} cannot be sent in a header")]
    Unusable(&'static str),
    #[error("apiKeyHelper: {0}")]
    Helper(#[from] HelperFailure),
    #[error(transparent)]
    Login(#[from] LoginError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HelperFailure {
    #[error("it could not be started")]
    NotStarted,
    #[error("it did not finish within 10 seconds")]
    TimedOut,
    #[error("it ended with exit code {0}")]
    Exit(i32),
    #[error("it was ended by signal {0}")]
    Signal(i32),
    #[error("it was interrupted")]
    Cancelled,
    #[error("it printed nothing")]
    Empty,
    #[error("what it printed is not a key")]
    Unusable,
}

/// A setting or variable that cannot be right. To a turn this is `invalid_request`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelConfigError {
    #[error("model_config must be an object with provider and model_id")]
    NotAnObject,
    #[error("model_config has the key {0}; only provider and model_id are allowed")]
    UnknownKey(String),
    #[error("model_config.{0} must be a string")]
    NotText(&'static str),
    #[error("unknown provider {0}; known are {known}", known = providers())]
    UnknownProvider(String),
    #[error("unknown model_id {0}; known are {known}", known = models(None))]
    UnknownModel(String),
    #[error("{provider} has no model {model_id}; it has {known}", provider = .provider.as_str(), known = models(Some(*.provider)))]
    WrongProvider { provider: ProviderName, model_id: String },
    #[error("unknown model {name}{}", meant(*.nearest))]
    UnknownModelName { name: String, nearest: Option<&'static str> },
    #[error("{0} is not set{hint}", hint = remedy(*.0))]
    MissingVariable(Variable),
    #[error("the setting wireModels: {0}")]
    BadWireModels(String),
    #[error("ONA_WIRE_MODEL_OVERRIDE: {0} is not of the form model_id=wire_name")]
    BadOverride(String),
    #[error("ONA_WIRE_MODEL_OVERRIDE: unknown model_id {0}; known are {known}", known = models(None))]
    UnknownOverride(String),
    #[error("{0} is not an http or https URL")]
    BadUrl(Variable),
}

fn meant(nearest: Option<&'static str>) -> String {
    match nearest {
        Some(id) => format!("; did you mean {id}?"),
        None => format!("; the ids are {}", models(None)),
    }
}

/// What to type, where one line is enough.
fn remedy(variable: Variable) -> &'static str {
    match variable {
        environment::OPENAI_BASE_URL => "; for OpenAI's own endpoint: export OPENAI_BASE_URL=https://api.openai.com/v1",
        environment::LM_STUDIO_MODEL => "; name the model that the local server has loaded, or use --model local/NAME",
        _ => "",
    }
}

fn providers() -> String {
    ProviderName::ALL.map(ProviderName::as_str).join(", ")
}

fn models(of: Option<ProviderName>) -> String {
    let ids = MODELS.iter().filter(|(_, provider, _)| of.is_none_or(|of| of == *provider)).map(|(id, ..)| *id);
    ids.collect::<Vec<_>>().join(", ")
}

impl From<AuthError> for ModelFailure {
    fn from(error: AuthError) -> Self {
        before_any_call(FailureClass::AuthenticationFailed, &error)
    }
}

impl From<ModelConfigError> for ModelFailure {
    fn from(error: ModelConfigError) -> Self {
        before_any_call(FailureClass::InvalidRequest, &error)
    }
}

impl From<HttpError> for ModelFailure {
    fn from(error: HttpError) -> Self {
        before_any_call(FailureClass::InvalidRequest, &error)
    }
}

fn before_any_call(class: FailureClass, error: &dyn std::error::Error) -> ModelFailure {
    ModelFailure { class, message: error.to_string(), transient: false, retry_after: None, status: None }
}
