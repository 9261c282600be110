//! Which credential a request carries, and how (DEC-084, DEC-087).
//!
//! `CredentialSources::kind` tells which source is used without running or reading anything;
//! `resolve_anthropic` is for the path of a model call, because it may run the
//! helper. Exactly one source is used: a helper that fails is a failure, not a
//! reason to try the next.

use crate::{ApiKeyHelper, AuthError, LoginKind, LoginSource};
use ona_api::{Env, environment};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use tokio_util::sync::CancellationToken;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
/// Without it the Messages API refuses OAuth tokens.
const OAUTH_BETA: HeaderValue = HeaderValue::from_static("oauth-2025-04-20");
/// How the vendor's OAuth tokens begin, whatever variable they come in.
const OAUTH_PREFIX: &str = "sk-ant-oat";
const LM_STUDIO_KEY: &str = "lm-studio";

/// Where a credential comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    EnvApiKey,
    EnvBearer,
    Helper,
    OauthToken,
    Login,
    /// The documented key of a local server; not a secret.
    LocalDefault,
    None,
}

impl CredentialKind {
    /// For status.
    pub fn as_str(self) -> &'static str {
        match self {
            CredentialKind::EnvApiKey => "env API key",
            CredentialKind::EnvBearer => "env bearer",
            CredentialKind::Helper => "helper",
            CredentialKind::OauthToken => "oauth token",
            CredentialKind::Login => "login",
            CredentialKind::LocalDefault => "local default",
            CredentialKind::None => "none",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HeaderScheme {
    Bearer,
    ApiKey,
    /// A helper does not say which of the two its key is.
    Both,
}

#[derive(Clone)]
pub struct Credential {
    kind: CredentialKind,
    scheme: HeaderScheme,
    secret: SecretString,
}

impl Credential {
    /// `source` names the value in the error if it cannot be a header.
    fn new(
        kind: CredentialKind,
        scheme: HeaderScheme,
        source: &'static str,
        secret: SecretString,
    ) -> Result<Self, AuthError> {
        let text = secret.expose_secret();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(AuthError::Unusable(source));
        }
        Ok(Self { kind, scheme, secret })
    }

    pub fn kind(&self) -> CredentialKind {
        self.kind
    }

    /// Returns the value, for a redactor.
    pub fn secret(&self) -> &SecretString {
        &self.secret
    }

    /// Returns the headers of a request; their values are marked as sensitive.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let secret = self.secret.expose_secret();
        let mut carry = |name, value: &str| {
            let mut value = HeaderValue::from_str(value).expect("checked when the credential was made");
            value.set_sensitive(true);
            headers.insert(name, value);
        };
        if self.scheme != HeaderScheme::Bearer {
            carry(X_API_KEY, secret);
        }
        if self.scheme != HeaderScheme::ApiKey {
            carry(AUTHORIZATION, &format!("Bearer {secret}"));
        }
        if self.is_oauth() {
            headers.insert(BETA, OAUTH_BETA);
        }
        headers
    }

    fn is_oauth(&self) -> bool {
        self.kind == CredentialKind::OauthToken
            || self.kind == CredentialKind::Login && self.scheme == HeaderScheme::Bearer
            || self.kind == CredentialKind::EnvBearer && self.secret.expose_secret().starts_with(OAUTH_PREFIX)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({})", self.kind.as_str())
    }
}

/// Everything that could supply an Anthropic credential.
#[derive(Clone, Copy, Debug)]
pub struct CredentialSources<'a> {
    pub env: &'a Env,
    /// Only ANTHROPIC_API_KEY and the helper count.
    pub bare: bool,
    /// In a bare run the one from `--settings`, never another.
    pub helper: Option<&'a ApiKeyHelper>,
    /// See [`crate::inherited_token`].
    pub inherited: Option<&'a SecretString>,
    pub stored: Option<&'a LoginSource>,
}

impl<'a> CredentialSources<'a> {
    pub fn new(env: &'a Env) -> Self {
        Self { env, bare: false, helper: None, inherited: None, stored: None }
    }

    /// Returns which source is used. Runs nothing, so status and the default model can use it.
    pub fn kind(&self) -> CredentialKind {
        match self.selected() {
            Some(SelectedSource::Bearer(_)) => CredentialKind::EnvBearer,
            Some(SelectedSource::ApiKey(_)) => CredentialKind::EnvApiKey,
            Some(SelectedSource::Helper(_)) => CredentialKind::Helper,
            Some(SelectedSource::Token(_)) => CredentialKind::OauthToken,
            Some(SelectedSource::Login(_)) => CredentialKind::Login,
            None => CredentialKind::None,
        }
    }

    /// Returns the source to use, in the order of DEC-084.
    fn selected(&self) -> Option<SelectedSource<'a>> {
        let variable = |variable| self.env.non_empty(variable);
        let key = || variable(environment::ANTHROPIC_API_KEY).map(SelectedSource::ApiKey);
        let helper = || self.helper.map(SelectedSource::Helper);
        if self.bare {
            return key().or_else(helper);
        }
        variable(environment::ANTHROPIC_AUTH_TOKEN)
            .map(SelectedSource::Bearer)
            .or_else(key)
            .or_else(helper)
            .or_else(|| variable(environment::CLAUDE_CODE_OAUTH_TOKEN).map(SelectedSource::Token))
            .or_else(|| self.inherited.map(|token| SelectedSource::Token(token.expose_secret())))
            .or_else(|| self.stored.map(SelectedSource::Login))
    }
}

enum SelectedSource<'a> {
    Bearer(&'a str),
    ApiKey(&'a str),
    Helper(&'a ApiKeyHelper),
    Token(&'a str),
    Login(&'a LoginSource),
}

/// Says what to do; a key of another provider that is there is likely to be the one that was meant (DEC-190).
fn nothing_signs(sources: &CredentialSources<'_>) -> AuthError {
    let set = |variable| sources.env.non_empty(variable).is_some();
    match (sources.bare, set(environment::OPENAI_API_KEY), set(environment::OPENAI_BASE_URL)) {
        (true, ..) => AuthError::NoAnthropicBare,
        (false, false, _) => AuthError::NoAnthropic,
        (false, true, true) => AuthError::OnlyOpenai("OPENAI_API_KEY is set: use --model gpt_4o"),
        (false, true, false) => AuthError::OnlyOpenai(
            "OPENAI_API_KEY is set: export OPENAI_BASE_URL=https://api.openai.com/v1 and use --model gpt_4o",
        ),
    }
}

/// Returns the credential of a model call to Anthropic. Part of the model-call path: it may
/// run the operator's helper, which nothing else may (A6), or renew a login.
pub async fn resolve_anthropic(
    sources: &CredentialSources<'_>,
    cancel: &CancellationToken,
) -> Result<Credential, AuthError> {
    let (scheme, source, secret) = match sources.selected().ok_or_else(|| nothing_signs(sources))? {
        SelectedSource::Bearer(token) => (HeaderScheme::Bearer, environment::ANTHROPIC_AUTH_TOKEN.name(), token.into()),
        SelectedSource::ApiKey(key) => (HeaderScheme::ApiKey, environment::ANTHROPIC_API_KEY.name(), key.into()),
        SelectedSource::Helper(helper) => (HeaderScheme::Both, "apiKeyHelper", helper.key(cancel).await?),
        SelectedSource::Token(token) => {
            (HeaderScheme::Bearer, environment::CLAUDE_CODE_OAUTH_TOKEN.name(), token.into())
        }
        SelectedSource::Login(login) => {
            let scheme = match login.kind() {
                LoginKind::ApiKey => HeaderScheme::ApiKey,
                LoginKind::Oauth | LoginKind::Token => HeaderScheme::Bearer,
            };
            (scheme, "the stored login", login.value(cancel).await?)
        }
    };
    Credential::new(sources.kind(), scheme, source, secret)
}

/// Returns the credential of `openai_compatible`.
pub fn openai(env: &Env) -> Result<Credential, AuthError> {
    let key = env.non_empty(environment::OPENAI_API_KEY).ok_or(AuthError::Missing(environment::OPENAI_API_KEY))?;
    Credential::new(CredentialKind::EnvApiKey, HeaderScheme::Bearer, environment::OPENAI_API_KEY.name(), key.into())
}

/// Returns the credential of `lm_studio_local`.
pub fn lm_studio(env: &Env) -> Result<Credential, AuthError> {
    let (kind, key) = match env.non_empty(environment::LM_STUDIO_API_KEY) {
        Some(key) => (CredentialKind::EnvApiKey, key),
        None => (CredentialKind::LocalDefault, LM_STUDIO_KEY),
    };
    Credential::new(kind, HeaderScheme::Bearer, environment::LM_STUDIO_API_KEY.name(), key.into())
}
