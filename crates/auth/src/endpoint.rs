//! Where the requests of a provider go (section 2.3).
//!
//! A base URL may end in slashes and may carry a query (some gateways want one);
//! the path of the wire is added to its path. Only `shown` is for eyes: a URL can
//! hold a password.

use crate::ModelConfigError;
use ona_api::model::ProviderName;
use ona_api::{Env, environment};
use reqwest::Url;
use std::fmt;

const ANTHROPIC: &str = "https://api.anthropic.com";
const LM_STUDIO: &str = "http://127.0.0.1:1234/v1";

#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    provider: ProviderName,
    url: Url,
}

impl Endpoint {
    pub fn of(provider: ProviderName, env: &Env) -> Result<Self, ModelConfigError> {
        let (variable, default, path) = match provider {
            ProviderName::ClaudeCodeSubscription => (environment::ANTHROPIC_BASE_URL, Some(ANTHROPIC), "/v1/messages"),
            ProviderName::OpenaiCompatible => (environment::OPENAI_BASE_URL, None, "/chat/completions"),
            ProviderName::LmStudioLocal => (environment::LM_STUDIO_BASE_URL, Some(LM_STUDIO), "/chat/completions"),
        };
        let base = env.non_empty(variable).or(default).ok_or(ModelConfigError::MissingVariable(variable))?;
        let mut url = Url::parse(base.trim()).map_err(|_| ModelConfigError::BadUrl(variable))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(ModelConfigError::BadUrl(variable));
        }
        let path = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self { provider, url })
    }

    pub fn provider(&self) -> ProviderName {
        self.provider
    }

    /// Returns the address of the request itself.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the addresses at which the server may list its models, the most telling first.
    pub fn model_lists(&self) -> Vec<Url> {
        let at = |path: String, limit: Option<&str>| {
            let mut url = self.url.clone();
            url.set_path(&path);
            if let Some(limit) = limit {
                url.query_pairs_mut().append_pair("limit", limit);
            }
            url
        };
        let path = self.url.path();
        // A list of its own, with the size a model was loaded with; at the root, whatever the base is.
        let native = || at("/api/v0/models".to_owned(), None);
        match self.provider {
            ProviderName::ClaudeCodeSubscription => {
                vec![at(format!("{}/models", path.trim_end_matches("/messages")), Some("1000"))]
            }
            ProviderName::OpenaiCompatible | ProviderName::LmStudioLocal => {
                let compatible = at(format!("{}/models", path.trim_end_matches("/chat/completions")), None);
                match (self.provider, self.is_loopback()) {
                    (ProviderName::LmStudioLocal, _) => vec![native(), compatible],
                    (_, true) => vec![compatible, native()],
                    (_, false) => vec![compatible],
                }
            }
        }
    }

    /// Scheme, host, port: what status and error texts may say.
    pub fn shown(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// On this machine: no proxy can be meant, whatever the environment says.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str().unwrap_or_default().trim_matches(['[', ']']) {
        "localhost" => true,
        host => host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()),
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} at {})", self.provider.as_str(), self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_listed_beside_where_requests_go() {
        for (provider, variable, base, lists) in [
            (
                ProviderName::ClaudeCodeSubscription,
                "ANTHROPIC_BASE_URL",
                "https://gate.example/proxy/?key=1",
                &["https://gate.example/proxy/v1/models?key=1&limit=1000"][..],
            ),
            (
                ProviderName::OpenaiCompatible,
                "OPENAI_BASE_URL",
                "https://api.example/v1",
                &["https://api.example/v1/models"],
            ),
            (
                ProviderName::OpenaiCompatible,
                "OPENAI_BASE_URL",
                "http://127.0.0.1:8080/v1/",
                &["http://127.0.0.1:8080/v1/models", "http://127.0.0.1:8080/api/v0/models"],
            ),
            (
                ProviderName::LmStudioLocal,
                "LM_STUDIO_BASE_URL",
                "http://localhost:1234/v1",
                &["http://localhost:1234/api/v0/models", "http://localhost:1234/v1/models"],
            ),
        ] {
            let endpoint = Endpoint::of(provider, &Env::new([(variable.into(), base.into())])).unwrap();
            let found: Vec<_> = endpoint.model_lists().iter().map(ToString::to_string).collect();
            assert_eq!(found, lists);
        }
    }
}
