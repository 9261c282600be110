//! One model as a turn sees it: send a request, and retry where that may help.
//!
//! A run uses the model in its `CurrentModel`; a change takes effect at the next request (DEC-104).

use crate::events::{Events, TurnEvent};
use ona_api::model::{FailureClass, ModelFailure, ProviderName, Reply, RequestParams};
use ona_api::{CallId, Env, Redactor, environment};
use ona_auth::http::{self, HttpLimits};
use ona_auth::{
    ApiKeyHelper, AuthError, CredentialKind, CredentialSources, Endpoint, LoginSource, ModelChoice, WireModels,
    named_model, resolve_named,
};
use ona_providers::model_list::{self, ListedModel};
use ona_providers::{EncodedMessages, Provider, RetryPolicy, WireFormat, classify};
use ona_settings::{ModelFacts, ModelInfo, ModelTimeouts};
use ona_web::MessagesSearch;
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

/// What a model call is made of, before any credential is looked at.
pub struct ModelSetup {
    pub env: Env,
    /// `--bare`: only ANTHROPIC_API_KEY and the helper supply credentials.
    pub bare: bool,
    pub helper: Option<ApiKeyHelper>,
    pub handed: Option<SecretString>,
    /// The stored login; never in a bare run.
    pub login: Option<Arc<LoginSource>>,
    /// Learns every credential that is used (DEC-016).
    pub redactor: Redactor,
    pub window: ContextWindow,
    /// What the operator says of models by name.
    pub info: ModelInfo,
    /// Names that are sent for model ids, by the settings.
    pub wire_models: WireModels,
    pub timeouts: ModelTimeouts,
}

/// How much of a conversation a model is taken to hold before it is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextWindow {
    /// What is known of the model.
    FromModel,
    /// Tokens, because the operator knows better (`autoCompactWindow`).
    Tokens(usize),
    /// Nothing is compacted unasked (`autoCompactEnabled: false`).
    Unlimited,
}

impl ModelSetup {
    fn sources(&self) -> CredentialSources<'_> {
        CredentialSources {
            bare: self.bare,
            helper: self.helper.as_ref(),
            inherited: self.handed.as_ref(),
            stored: self.login.as_deref(),
            env: &self.env,
        }
    }

    /// Returns what would sign requests to Anthropic; runs nothing.
    pub fn anthropic_source(&self) -> CredentialKind {
        self.sources().kind()
    }

    /// Whether Anthropic could be asked; runs nothing.
    pub fn anthropic_available(&self) -> bool {
        self.anthropic_source() != CredentialKind::None
    }
}

pub struct Model {
    pub choice: ModelChoice,
    setup: Arc<ModelSetup>,
    endpoint: Endpoint,
    client: reqwest::Client,
    retry: RetryPolicy,
    /// What the server's list says of the model, once it was asked.
    listed: OnceCell<Option<ListedModel>>,
}

/// How long a server may take to list its models; a turn goes without the list after that.
const LIST_WAIT: Duration = Duration::from_secs(2);

impl Model {
    /// Fails before any network I/O when the configuration cannot be right (section 2.4).
    pub fn new(choice: ModelChoice, setup: ModelSetup) -> Result<Self, ModelFailure> {
        Self::with(choice, Arc::new(setup))
    }

    /// Returns another model with the same configuration.
    pub fn sibling(&self, choice: ModelChoice) -> Result<Self, ModelFailure> {
        Self::with(choice, Arc::clone(&self.setup))
    }

    /// Returns this model with the configuration of another one: settings or logins have changed.
    pub fn sibling_of(&self, other: &Model) -> Result<Self, ModelFailure> {
        Self::with(self.choice.clone(), Arc::clone(&other.setup))
    }

    /// Returns the model of this name, with the same configuration. Another provider is chosen only
    /// where something could sign its requests.
    pub fn named(&self, name: &str) -> Result<Self, ModelFailure> {
        let named = named_model(name, self.choice.provider, &self.setup.env)?;
        let model = self.sibling(resolve_named(&named, &self.setup.env, &self.setup.wire_models)?)?;
        let is_other = model.choice.provider != self.choice.provider;
        match model.choice.provider {
            ProviderName::ClaudeCodeSubscription if is_other && !self.setup.anthropic_available() => {
                Err(AuthError::NoAnthropic.into())
            }
            ProviderName::OpenaiCompatible if is_other && model.credential_class() == CredentialKind::None => {
                Err(AuthError::Missing(environment::OPENAI_API_KEY).into())
            }
            _ => Ok(model),
        }
    }

    fn with(choice: ModelChoice, setup: Arc<ModelSetup>) -> Result<Self, ModelFailure> {
        let endpoint = Endpoint::of(choice.provider, &setup.env)?;
        let client = http::client(&endpoint, HttpLimits::from_env(&setup.env, setup.timeouts.idle))?;
        let retry = RetryPolicy::from_env(&setup.env);
        Ok(Self { choice, setup, endpoint, client, retry, listed: OnceCell::new() })
    }

    /// Returns the context window in tokens; `None` if it is unlimited.
    pub fn context(&self) -> Option<usize> {
        match self.setup.window {
            ContextWindow::FromModel => Some(self.context_size()),
            ContextWindow::Tokens(tokens) => Some(tokens),
            ContextWindow::Unlimited => None,
        }
    }

    fn facts(&self) -> Option<&ModelFacts> {
        self.setup.info.of(&self.choice.wire_model, Some(self.choice.model_id))
    }

    /// Asks the server what the model holds, once, where neither the operator nor a name of the product
    /// says it (DEC-190). Without an answer what is known of the name counts.
    pub async fn look_up(&self, cancel: &CancellationToken) {
        let is_own_name = !self.choice.overridden && self.choice.provider != ProviderName::LmStudioLocal;
        let is_said = self.facts().is_some_and(|facts| facts.context.is_some());
        if is_own_name || is_said || self.credential_class() == CredentialKind::None {
            return;
        }
        let listed = self.listed.get_or_init(|| async {
            // A credential that cannot be had is the matter of the request.
            let credential = self.credential(cancel).await.ok()?;
            let headers = match self.choice.provider {
                ProviderName::ClaudeCodeSubscription => ona_providers::messages_headers(&credential),
                ProviderName::OpenaiCompatible | ProviderName::LmStudioLocal => credential.headers(),
            };
            let name = self.choice.wire_model.as_str();
            let models = model_list::fetch(&self.client, &self.endpoint, &headers, Some(name), LIST_WAIT).await?;
            models.into_iter().find(|model| model.name == name)
        });
        tokio::select! {
            listed = listed => tracing::debug!(?listed, "the server's list of models was asked"),
            () = cancel.cancelled() => {}
        }
    }

    fn listed(&self) -> Option<&ListedModel> {
        self.listed.get()?.as_ref()
    }

    /// Returns the size of the context in tokens: what the operator says, else what the server's list says, else
    /// what the name says.
    pub fn context_size(&self) -> usize {
        let said = self.facts().and_then(|facts| facts.context);
        let listed = || self.listed().and_then(|model| model.context);
        said.or_else(listed)
            .unwrap_or_else(|| ona_transcript::context_tokens(self.choice.provider, &self.choice.wire_model))
    }

    /// Returns how many tokens a reply may have; `usual` where the operator says nothing and the server's
    /// list allows it.
    pub fn output_limit(&self, usual: u32) -> u32 {
        let listed = || self.listed().and_then(|model| model.output).map_or(usual, |most| most.min(usual));
        self.facts().and_then(|facts| facts.output).unwrap_or_else(listed)
    }

    /// Whether neither the operator, the server nor the name says how much the model holds.
    pub fn is_unknown(&self) -> bool {
        self.choice.overridden
            && self.facts().is_none()
            && self.listed().is_none_or(|model| model.context.is_none())
            && !ona_transcript::is_known_context(self.choice.provider, &self.choice.wire_model)
    }

    /// Returns the model that the operator's environment names for subagents.
    pub(crate) fn of_subagents(&self) -> Option<&str> {
        self.setup.env.non_empty(environment::CLAUDE_CODE_SUBAGENT_MODEL)
    }

    pub fn wire(&self) -> WireFormat {
        WireFormat::of(&self.choice)
    }

    /// What signs its requests, as far as can be told without running anything.
    pub fn credential_class(&self) -> CredentialKind {
        let set = |variable| self.setup.env.non_empty(variable).is_some();
        match self.choice.provider {
            ProviderName::ClaudeCodeSubscription => self.setup.sources().kind(),
            ProviderName::OpenaiCompatible if set(environment::OPENAI_API_KEY) => CredentialKind::EnvApiKey,
            ProviderName::LmStudioLocal if set(environment::LM_STUDIO_API_KEY) => CredentialKind::EnvApiKey,
            ProviderName::LmStudioLocal => CredentialKind::LocalDefault,
            ProviderName::OpenaiCompatible => CredentialKind::None,
        }
    }

    /// Sends a request until there is a reply or no further attempt may help. The total limit
    /// covers everything in here.
    pub async fn request(
        &self,
        asking: &RequestParams,
        dialogue: &EncodedMessages,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<Reply, ModelFailure> {
        let mut attempt = 0;
        let mut renewed = false;
        let mut spent = Duration::ZERO;
        let limit = self.setup.timeouts.total;
        let deadline = tokio::time::Instant::now() + limit;
        let other;
        let max_tokens = asking.max_tokens.min(self.output_limit(u32::MAX));
        let asking = if asking.model == self.choice.wire_model && asking.max_tokens == max_tokens {
            asking
        } else {
            other = RequestParams { model: self.choice.wire_model.clone(), max_tokens, ..asking.clone() };
            &other
        };
        loop {
            let Ok(credential) = timeout_at(deadline, self.credential(cancel)).await else {
                return Err(self.took_too_long(limit));
            };
            let credential = credential?;
            let provider = Provider::new(self.client.clone(), self.endpoint.clone(), credential.clone());
            let mut on_delta = |delta| events(TurnEvent::Delta(delta));
            let began = Instant::now();
            events(TurnEvent::Requesting { model: asking.model.clone() });
            let answer = timeout_at(deadline, provider.request(asking, dialogue, &mut on_delta, cancel)).await;
            spent += began.elapsed();
            let told = || events(TurnEvent::Requested { took: spent });
            let failure = match answer {
                Ok(Ok(reply)) => {
                    told();
                    return Ok(reply);
                }
                Ok(Err(failure)) => failure,
                Err(_) => {
                    told();
                    return Err(self.took_too_long(limit));
                }
            };
            if let (FailureClass::AuthenticationFailed, Some(helper)) = (failure.class, &self.setup.helper) {
                helper.refused().await;
            }
            // Once: a server that refuses a fresh token as well means it.
            if let (false, CredentialKind::Login, Some(401), Some(login)) =
                (renewed, credential.kind(), failure.status, &self.setup.login)
                && login.refused(credential.secret()).await
            {
                renewed = true;
                continue;
            }
            // An attempt that could not begin in time is not waited for: the failure says more.
            let in_time = |wait: &Duration| tokio::time::Instant::now() + *wait < deadline;
            let Some(wait) = self.retry.next_delay(attempt, &failure, random()).filter(in_time) else {
                told();
                return Err(failure);
            };
            attempt += 1;
            tracing::debug!(attempt, wait_ms = wait.as_millis() as u64, why = failure.message, "asking again");
            events(TurnEvent::Retrying { attempt, limit: self.retry.limit(), wait, failure: failure.clone() });
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = cancel.cancelled() => {
                    told();
                    return Err(failure);
                }
            }
        }
    }

    fn took_too_long(&self, limit: Duration) -> ModelFailure {
        let (server, seconds) = (self.endpoint.shown(), limit.as_secs_f64());
        let message = format!(
            "no complete reply from {server} within {seconds} seconds, retries included (setting modelTimeouts.totalSeconds)"
        );
        ModelFailure { transient: false, ..classify::server(message) }
    }

    /// Returns what a search of the Messages API is sent with; `None` where that is not the provider, or nothing
    /// could sign it.
    pub(crate) async fn search_access(&self, cancel: &CancellationToken) -> Option<Result<MessagesSearch, String>> {
        let is_messages = self.choice.provider == ProviderName::ClaudeCodeSubscription;
        if !is_messages || self.credential_class() == CredentialKind::None {
            return None;
        }
        Some(match self.credential(cancel).await {
            Ok(credential) => Ok(MessagesSearch {
                client: self.client.clone(),
                url: self.endpoint.url().clone(),
                headers: ona_providers::messages_headers(&credential),
                model: self.choice.wire_model.clone(),
            }),
            Err(failure) => Err(failure.message),
        })
    }

    async fn credential(&self, cancel: &CancellationToken) -> Result<ona_auth::Credential, ModelFailure> {
        let resolved = match self.choice.provider {
            ProviderName::ClaudeCodeSubscription => ona_auth::resolve_anthropic(&self.setup.sources(), cancel).await,
            ProviderName::OpenaiCompatible => ona_auth::openai(&self.setup.env),
            ProviderName::LmStudioLocal => ona_auth::lm_studio(&self.setup.env),
        };
        let credential = resolved?;
        self.setup.redactor.learn(credential.kind().as_str(), credential.secret().expose_secret());
        Ok(credential)
    }
}

/// The model that gets the next request.
#[derive(Clone)]
pub struct CurrentModel(Arc<RwLock<ModelInUse>>);

struct ModelInUse {
    now: Arc<Model>,
    /// The one to go back to when the turn ends.
    before: Option<Arc<Model>>,
}

impl CurrentModel {
    pub fn new(model: Arc<Model>) -> Self {
        Self(Arc::new(RwLock::new(ModelInUse { now: model, before: None })))
    }

    pub fn model(&self) -> Arc<Model> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner).now)
    }

    /// A reply that is streaming is not torn: it applies to the next call.
    pub fn set(&self, model: Arc<Model>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = ModelInUse { now: model, before: None };
    }

    /// As `set`, until the turn ends.
    pub fn set_for_turn(&self, model: Arc<Model>) {
        let mut used = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut used.now, model);
        used.before.get_or_insert(before);
    }

    /// Goes back to the model from before the turn, unless another was chosen since.
    pub fn end_turn(&self) {
        let mut used = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = used.before.take() {
            used.now = before;
        }
    }
}

/// Between 0 and 1, to keep many waiting clients apart.
fn random() -> f64 {
    let id = CallId::random().0;
    let digits = u32::from_str_radix(&id[..8], 16).unwrap_or_default();
    Duration::from_nanos(u64::from(digits)).as_secs_f64() / Duration::from_nanos(u64::from(u32::MAX)).as_secs_f64()
}
