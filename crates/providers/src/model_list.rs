//! What servers say about their models: names, context sizes, output limits.
//!
//! Each family of servers calls the size something else, and some say it in a second list beside
//! the compatible one. A list is never needed for a turn: whatever is wrong with one is a reason to
//! go without.

use ona_auth::Endpoint;
use reqwest::Client;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// A list is short; what is longer is something else.
const MAX_BYTES: usize = 4 << 20;

/// A model that a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name in requests.
    pub name: String,
    /// Tokens of the context it is served with.
    pub context: Option<usize>,
    /// Maximum number of tokens of a reply.
    pub output: Option<u32>,
}

/// Names of the size, the one that is in force first: a server may have loaded a model with
/// less than it could hold.
const CONTEXT: [&str; 10] = [
    "/loaded_context_length", // LM Studio
    "/max_input_tokens",      // Messages API
    "/max_model_len",         // vLLM
    "/meta/n_ctx",            // llama.cpp
    "/context_length",        // OpenRouter and others
    "/context_window",        // Groq
    "/max_context_length",    // LM Studio, Mistral
    "/top_provider/context_length",
    "/meta/n_ctx_train",
    "/limits/max_context_window_tokens",
];

const OUTPUT: [&str; 4] =
    ["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/top_provider/max_completion_tokens"];

/// Reads a list of models; `None` if the value is not one.
pub fn parse(list: &Value) -> Option<Vec<ListedModel>> {
    let entries = list.get("data").unwrap_or(list).as_array()?;
    let number = |entry: &Value, names: &[&str]| {
        names.iter().find_map(|name| entry.pointer(name)?.as_u64()).filter(|tokens| *tokens > 0)
    };
    let read = |entry: &Value| {
        Some(ListedModel {
            name: entry.get("id").or_else(|| entry.get("name"))?.as_str()?.to_owned(),
            context: number(entry, &CONTEXT).and_then(|tokens| usize::try_from(tokens).ok()),
            output: number(entry, &OUTPUT).and_then(|tokens| u32::try_from(tokens).ok()),
        })
    };
    Some(entries.iter().filter_map(read).collect())
}

/// Asks for the list at each address until one names `wanted` with a context size, or, without `wanted`, until one
/// is a list. Takes no longer than `limit`.
pub async fn fetch(
    client: &Client,
    endpoint: &Endpoint,
    headers: &HeaderMap,
    wanted: Option<&str>,
    limit: Duration,
) -> Option<Vec<ListedModel>> {
    let look = async {
        let mut best = None;
        for url in endpoint.model_lists() {
            let Some(models) = list(client, url.clone(), headers).await else {
                tracing::debug!(url = %url.origin().ascii_serialization(), path = url.path(), "no list of models here");
                continue;
            };
            let says = |name| models.iter().any(|model| model.name == name && model.context.is_some());
            let is_enough = wanted.is_none_or(says);
            if is_enough || best.is_none() {
                best = Some(models);
            }
            if is_enough {
                break;
            }
        }
        best
    };
    tokio::time::timeout(limit, look).await.unwrap_or_default()
}

async fn list(client: &Client, url: reqwest::Url, headers: &HeaderMap) -> Option<Vec<ListedModel>> {
    let mut response = client.get(url).headers(headers.clone()).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        if body.len() + bytes.len() > MAX_BYTES {
            return None;
        }
        body.extend_from_slice(&bytes);
    }
    parse(&serde_json::from_slice(&body).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_size_in_force_is_read_under_the_name_each_server_gives_it() {
        let listed = |name: &str, context, output| ListedModel { name: name.into(), context, output };
        for (list, models) in [
            (
                json!({"data": [{"type": "model", "id": "claude-next", "max_input_tokens": 1_000_000, "max_tokens": 64000}]}),
                vec![listed("claude-next", Some(1_000_000), Some(64_000))],
            ),
            (
                json!({"object": "list", "data": [
                    {"id": "qwen3-8b", "state": "loaded", "max_context_length": 40960, "loaded_context_length": 8192},
                    {"id": "gemma", "state": "not-loaded", "max_context_length": 131_072},
                ]}),
                vec![listed("qwen3-8b", Some(8192), None), listed("gemma", Some(131_072), None)],
            ),
            (json!({"data": [{"id": "m", "max_model_len": 32768}]}), vec![listed("m", Some(32_768), None)]),
            (
                json!({"data": [{"id": "m", "meta": {"n_ctx": 16384, "n_ctx_train": 131_072}}]}),
                vec![listed("m", Some(16_384), None)],
            ),
            (
                json!({"data": [{"id": "a/b", "context_length": 200_000, "top_provider": {"max_completion_tokens": 32000}}]}),
                vec![listed("a/b", Some(200_000), Some(32_000))],
            ),
            (json!([{"name": "llama3", "context_length": 0}]), vec![listed("llama3", None, None)]),
            (json!({"data": [{"id": "m", "context_length": "many"}, {"id": 7}, "x"]}), vec![listed("m", None, None)]),
        ] {
            assert_eq!(parse(&list), Some(models), "{list}");
        }
        for not_a_list in [json!({}), json!({"data": {}}), json!("models"), json!(null)] {
            assert_eq!(parse(&not_a_list), None, "{not_a_list}");
        }
    }
}
