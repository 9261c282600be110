//! The search that the Messages API does on its own side.
//!
//! One request with the server's search tool and no other. What the model says about the results is not used:
//! the caller is a model itself.

use super::filter::DomainFilter;
use super::{SearchError, SearchHit, SearchReply, exchange, server_of};
use ona_tools::BoxFuture;
use reqwest::Client;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use url::Url;

const MAX_TOKENS: u32 = 4096;
/// Searches the server may make for one call.
const MAX_USES: u32 = 8;

/// What a search is sent with.
pub struct MessagesSearch {
    pub client: Client,
    pub url: Url,
    /// The credential's, and the version of the interface.
    pub headers: HeaderMap,
    pub model: String,
}

/// Returns what a search is sent with, or why a credential cannot be had; `None` where another provider answers.
/// It may run the operator's helper, so it is called for a search and not before.
pub type MessagesAccess =
    Arc<dyn Fn(CancellationToken) -> BoxFuture<'static, Option<Result<MessagesSearch, String>>> + Send + Sync>;

pub(super) async fn search(
    access: &MessagesSearch,
    query: &str,
    filter: &DomainFilter,
) -> Result<SearchReply, SearchError> {
    let server = server_of(&access.url);
    let body = request(&access.model, query, filter);
    let request = access.client.post(access.url.clone()).headers(access.headers.clone()).json(&body);
    let (status, body) = exchange(&server, request).await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if !status.is_success() {
        let why = body["error"]["message"].as_str().unwrap_or("it gave no reason");
        return Err(SearchError::Refused(format!("{server} refused the search with {status}: {why}")));
    }
    read(&body).map_err(|why| SearchError::Refused(format!("{server}: {why}")))
}

fn request(model: &str, query: &str, filter: &DomainFilter) -> Value {
    let mut tool = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": MAX_USES});
    if !filter.allowed.is_empty() {
        tool["allowed_domains"] = filter.allowed.clone().into();
    }
    if !filter.blocked.is_empty() {
        tool["blocked_domains"] = filter.blocked.clone().into();
    }
    json!({
        "model": model,
        "max_tokens": MAX_TOKENS,
        "messages": [{"role": "user", "content": format!("Search the web for: {query}")}],
        "tools": [tool],
    })
}

fn read(body: &Value) -> Result<SearchReply, String> {
    let blocks = body["content"].as_array().ok_or("the answer is not a message")?;
    let answers: Vec<&Value> = blocks
        .iter()
        .filter(|block| block["type"] == "web_search_tool_result")
        .map(|block| &block["content"])
        .collect();
    let hits: Vec<_> = answers
        .iter()
        .filter_map(|content| content.as_array())
        .flatten()
        .filter_map(|found| {
            let text = |key: &str| found[key].as_str().unwrap_or_default();
            SearchHit::new(text("title"), text("url"), text("page_age"))
        })
        .collect();
    let error = answers.iter().find_map(|content| content["error_code"].as_str());
    match (hits.is_empty(), error) {
        (true, Some(code)) => Err(format!("the search failed: {code}")),
        (true, None) if answers.is_empty() => Err("the model made no search".to_owned()),
        _ => Ok(SearchReply { hits, searches: answers.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_go_along_where_they_are_given() {
        let filter = DomainFilter { allowed: vec!["a.test".into()], blocked: Vec::new() };
        assert_eq!(
            request("m", "q", &filter)["tools"],
            json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8, "allowed_domains": ["a.test"]}])
        );
    }

    #[test]
    fn results_are_read_from_every_search_of_the_answer() {
        let found =
            |url: &str| json!({"type": "web_search_result", "title": "T", "url": url, "encrypted_content": "x"});
        let result = |content: Value| json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": content});
        let body = json!({"content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            result(json!([found("https://a.test/")])),
            result(json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"})),
            result(json!([found("https://b.test/")])),
            {"type": "text", "text": "I found two."},
        ]});
        let reply = read(&body).unwrap();
        assert_eq!((reply.hits.len(), reply.searches), (2, 3));
        let failed = json!({"content": [result(json!({"error_code": "unavailable"}))]});
        assert_eq!(read(&failed).unwrap_err(), "the search failed: unavailable");
        assert_eq!(read(&json!({"content": [{"type": "text"}]})).unwrap_err(), "the model made no search");
        assert_eq!(read(&Value::Null).unwrap_err(), "the answer is not a message");
    }
}
