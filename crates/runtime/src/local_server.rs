//! A model server on this machine: whether one answers at its usual address, and with which models.
//!
//! One request without a credential, to loopback unless the operator named another address.

use ona_api::model::ProviderName;
use ona_api::{Env, environment};
use ona_auth::Endpoint;
use ona_auth::http::{self, HttpLimits};
use serde_json::Value;
use std::time::Duration;

/// How long it may take to answer.
const ANSWER: Duration = Duration::from_millis(800);

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Scheme, host and port.
    pub shown: String,
    /// Names of its models, as `--model local/NAME` takes them.
    pub models: Vec<String>,
}

/// Looks for one. `None` if nothing answers, or it has no models.
pub async fn find(env: &Env) -> Option<LocalServer> {
    let endpoint = Endpoint::of(ProviderName::LmStudioLocal, env).ok()?;
    if !endpoint.is_loopback() && env.non_empty(environment::LM_STUDIO_BASE_URL).is_none() {
        return None;
    }
    let url = endpoint.url().as_str().replace("/chat/completions", "/models");
    let client = http::client(&endpoint, HttpLimits { connect: ANSWER, read_timeout: ANSWER }).ok()?;
    let asked = async {
        let answer = client.get(url).send().await.ok()?;
        answer.text().await.ok()
    };
    let text = tokio::time::timeout(ANSWER, asked).await.ok()??;
    let models = models_of(&text)?;
    Some(LocalServer { shown: endpoint.shown(), models })
}

fn models_of(text: &str) -> Option<Vec<String>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let names = value["data"].as_array()?.iter().filter_map(|model| model["id"].as_str());
    let plain = |name: &&str| {
        !name.is_empty() && name.len() <= 200 && !name.chars().any(|c| c.is_whitespace() || c.is_control())
    };
    let names: Vec<String> = names.filter(plain).map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::models_of;

    #[test]
    fn models_are_named_by_their_ids() {
        let names = |text: &str| models_of(text).unwrap_or_default();
        assert_eq!(names(r#"{"data":[{"id":"qwen"},{"id":"a b"},{"name":"x"}]}"#), ["qwen"]);
        assert_eq!(names(r#"{"data":[]}"#), Vec::<String>::new());
        assert_eq!(names("<html>"), Vec::<String>::new());
    }
}
