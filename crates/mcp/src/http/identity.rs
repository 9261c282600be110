//! Which headers a request to a server carries: those of its definition, those its helper prints,
//! and the token of a login (`ona mcp login`).

use super::headers_helper::HeadersHelper;
use super::parsed;
use crate::context::ServerContext;
use crate::definition::{HttpEndpoint, HttpStyle, ServerDefinition};
use ::http::{HeaderMap, HeaderValue, header};
use ona_api::Redactor;
use ona_auth::{LoginError, LoginSource};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

pub(super) struct Identity {
    server: String,
    fixed: HeaderMap,
    helper: Option<HeadersHelper>,
    /// What the helper printed last.
    helped: Mutex<Option<HeaderMap>>,
    login: Option<LoginSource>,
    /// Logins are for servers that are asked over HTTP.
    may_log_in: bool,
    redactor: Redactor,
}

pub(super) enum IdentityError {
    /// What can be done about it.
    NeedsLogin(String),
    Failed(String),
}

impl Identity {
    pub(super) async fn of(
        definition: &ServerDefinition,
        endpoint: &HttpEndpoint,
        around: &Arc<ServerContext>,
    ) -> Result<Self, String> {
        let fixed = parsed(&endpoint.headers)?;
        let helper = endpoint.headers_helper.as_deref();
        let helper = helper.map(|script| HeadersHelper::new(script, definition, &endpoint.url, around));
        // A header that the operator wrote is what they want.
        let has_own = fixed.contains_key(header::AUTHORIZATION);
        let may_log_in = endpoint.style != HttpStyle::WebSocket;
        let login = match around.logins.as_ref().filter(|_| !has_own && may_log_in) {
            Some(logins) => {
                let (store, redactor) = (logins.of(&definition.name, &endpoint.url), around.redactor.clone());
                let opened = tokio::task::spawn_blocking(move || LoginSource::open(store, redactor)).await;
                let opened = opened.expect("reading a login does not panic");
                opened.map_err(|error| format!("its stored login is not used: {error}"))?
            }
            None => None,
        };
        Ok(Self {
            server: definition.name.clone(),
            fixed,
            helper,
            helped: Mutex::default(),
            login,
            may_log_in,
            redactor: around.redactor.clone(),
        })
    }

    pub(super) async fn headers(&self) -> Result<HeaderMap, IdentityError> {
        let mut headers = self.fixed.clone();
        if let Some(helper) = &self.helper {
            let mut helped = self.helped.lock().await;
            if helped.is_none() {
                let printed = helper.headers().await.map_err(IdentityError::Failed)?;
                for (name, value) in &printed {
                    self.redactor.learn(name, value);
                    if let Some((_, bare)) = value.split_once(' ') {
                        self.redactor.learn(name, bare.trim());
                    }
                }
                *helped = Some(parsed(&printed).map_err(IdentityError::Failed)?);
            }
            headers.extend(helped.clone().unwrap_or_default());
        }
        if let Some(login) = self.login.as_ref().filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
            let value = login.value(&CancellationToken::new()).await.map_err(|error| self.login_error(error))?;
            headers.insert(header::AUTHORIZATION, bearer(&value)?);
        }
        Ok(headers)
    }

    /// The server refused these headers. Returns whether another request can carry better ones.
    pub(super) async fn renew(&self, refused: &HeaderMap) -> bool {
        let sent = refused.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if self.helper.is_some() {
            *self.helped.lock().await = None;
            return true;
        }
        match (&self.login, sent.and_then(|sent| sent.strip_prefix("Bearer "))) {
            (Some(login), Some(token)) => login.refused(&SecretString::from(token)).await,
            _ => false,
        }
    }

    /// Says how a person logs in.
    pub(super) fn remedy(&self) -> String {
        if self.helper.is_some() {
            return "it refuses the headers that its headersHelper prints".into();
        }
        if self.fixed.contains_key(header::AUTHORIZATION) {
            return "it refuses the Authorization header of its definition".into();
        }
        if !self.may_log_in {
            return "give it a header in `headers` or a headersHelper: a WebSocket has no login".into();
        }
        format!("ona mcp login {}", shell_word(&self.server))
    }

    fn login_error(&self, error: LoginError) -> IdentityError {
        let remedy = self.remedy();
        match error {
            LoginError::Expired | LoginError::LoggedOut => IdentityError::NeedsLogin(remedy),
            LoginError::NotRenewed(why) => {
                IdentityError::Failed(format!("the login could not be renewed: {why}; try again, or: {remedy}"))
            }
            LoginError::NotSaved(why) => {
                IdentityError::Failed(format!("the login was renewed, but {why}; make room, then: {remedy}"))
            }
        }
    }
}

fn bearer(token: &SecretString) -> Result<HeaderValue, IdentityError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
    let mut value = value.map_err(|_| IdentityError::Failed("the token of its login cannot be sent".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A name as a person types it.
fn shell_word(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
