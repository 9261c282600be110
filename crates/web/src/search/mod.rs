//! The tool WebSearch and the three places it can ask (DEC-133).
//!
//! The order is: the address the operator set, the search of the Messages API where that is the provider
//! and a credential is set, a public page of results. Domain filters are applied here to each of them.

mod filter;
mod json;
mod messages;
mod public;

pub use messages::{MessagesAccess, MessagesSearch};

use crate::{BODY_CAP, Web, capped};
use filter::DomainFilter;
use ona_api::{Access, ToolResult};
use ona_auth::http;
use ona_tools::{Offer, Tool, ToolContext};
use reqwest::{RequestBuilder, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of searches of a run, its subagents included.
const MAX_SEARCHES: usize = 200;
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
const INTERRUPTED: &str = "Interrupted by the operator";

pub struct WebSearchTool {
    web: Arc<Web>,
    messages: Option<MessagesAccess>,
    /// Where the page of results is.
    public: &'static str,
}

impl WebSearchTool {
    pub fn new(web: &Arc<Web>, messages: Option<MessagesAccess>) -> Self {
        Self { web: Arc::clone(web), messages, public: public::ENDPOINT }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchInput {
    /// What to search for.
    #[schemars(length(min = 2))]
    query: String,
    /// Only results of these domains and those below them.
    allowed_domains: Option<Vec<String>>,
    /// No results of these domains and those below them.
    blocked_domains: Option<Vec<String>>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchHit {
    pub title: String,
    pub url: Url,
    /// A few words of the page; may be empty.
    pub excerpt: String,
}

impl SearchHit {
    /// `None` if the address is not one of the web.
    pub(crate) fn new(title: &str, address: &str, excerpt: &str) -> Option<Self> {
        let url = Url::parse(address.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Self { title: line(title), url, excerpt: line(excerpt) })
    }
}

/// What a place answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchReply {
    pub hits: Vec<SearchHit>,
    /// How many searches were made for it.
    pub searches: usize,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SearchError {
    /// It answered, and not with results.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Transport(String),
}

impl Tool for WebSearchTool {
    type Input = WebSearchInput;
    const NAME: &'static str = "WebSearch";
    const DESCRIPTION: &'static str = "Searches the web and returns titles, addresses and a few words of each result. \
        Results can be limited to domains or kept from domains, not both. WebFetch returns a page itself.";

    fn access(&self, _: &WebSearchInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn offer(&self, input: &WebSearchInput, _: &ToolContext) -> Offer {
        match checked(input) {
            Ok(_) => Offer::Plain,
            Err(why) => Offer::Refused(ToolResult::rejected(why)),
        }
    }

    async fn run(&self, input: WebSearchInput, cx: &ToolContext) -> ToolResult {
        let filter = match checked(&input) {
            Ok(filter) => filter,
            Err(why) => return ToolResult::rejected(why),
        };
        if self.web.searches.fetch_add(1, Ordering::Relaxed) >= MAX_SEARCHES {
            let notice = format!("No search was made: the limit of {MAX_SEARCHES} searches of this run is reached.");
            return ToolResult::success(notice).data(json!({"query": input.query, "results": [], "searchCount": 0}));
        }
        let began = Instant::now();
        let query = input.query.trim();
        let outcome = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return ToolResult::rejected(INTERRUPTED).data(json!({"is_interrupt": true})),
            outcome = tokio::time::timeout(TIMEOUT, self.search(query, &filter, cx)) => outcome,
        };
        let mut reply = match outcome {
            Ok(Ok(reply)) => reply,
            Ok(Err(SearchError::Refused(why))) => return ToolResult::rejected(why),
            Ok(Err(SearchError::Transport(why))) => return ToolResult::internal(format!("the search failed: {why}")),
            Err(_) => return ToolResult::internal(format!("the search took more than {} s", TIMEOUT.as_secs())),
        };
        let mut seen = Vec::new();
        reply.hits.retain(|hit| {
            let first = !seen.contains(&hit.url);
            seen.push(hit.url.clone());
            first && filter.keeps(&hit.url)
        });
        let found: Vec<Value> =
            reply.hits.iter().map(|hit| json!({"title": hit.title, "url": hit.url.as_str()})).collect();
        let call = cx.call.as_ref().map(|call| call.as_str().to_owned());
        ToolResult::success(capped(listing(query, &reply.hits), BODY_CAP, false)).data(json!({
            "query": input.query,
            "results": [{"tool_use_id": call, "content": found}],
            "durationSeconds": began.elapsed().as_secs_f64(),
            "searchCount": reply.searches,
        }))
    }
}

impl WebSearchTool {
    async fn search(&self, query: &str, filter: &DomainFilter, cx: &ToolContext) -> Result<SearchReply, SearchError> {
        if let Some(address) = &self.web.search_url {
            return json::search(address, query).await;
        }
        if let Some(access) = &self.messages
            && let Some(found) = access(cx.cancel.clone()).await
        {
            return messages::search(&found.map_err(SearchError::Refused)?, query, filter).await;
        }
        public::search(self.public, query).await
    }
}

fn checked(input: &WebSearchInput) -> Result<DomainFilter, String> {
    if input.query.trim().chars().count() < 2 {
        return Err("query must have at least 2 characters.".to_owned());
    }
    DomainFilter::new(input.allowed_domains.as_deref(), input.blocked_domains.as_deref())
}

fn listing(query: &str, hits: &[SearchHit]) -> String {
    if hits.is_empty() {
        return format!("No results for {query:?}.");
    }
    let mut text = format!("Results for {query:?}:");
    for (at, hit) in hits.iter().enumerate() {
        text.push_str(&format!("\n{}. {}\n   {}", at + 1, hit.title, hit.url));
        if !hit.excerpt.is_empty() {
            text.push_str(&format!("\n   {}", hit.excerpt));
        }
    }
    text
}

/// Sends a request and reads the answer up to a limit. Errors name the server and never the whole address,
/// which may hold a key.
async fn exchange(server: &str, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), SearchError> {
    let lost = |error| SearchError::Transport(format!("{server}: {}", http::describe_error(error)));
    let mut response = request.send().await.map_err(lost)?;
    let status = response.status();
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(lost)? {
        if bytes.len() + piece.len() > MAX_ANSWER_BYTES {
            return Err(SearchError::Refused(format!("{server} answered with more than {MAX_ANSWER_BYTES} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((status, bytes))
}

fn server_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_numbered_lines() {
        let hit = |title, url, words| SearchHit::new(title, url, words).unwrap();
        let hits = [hit(" A\n page ", "https://a.test/1", "some  words"), hit("B", "https://b.test", "")];
        let expected = "Results for \"q\":\n1. A page\n   https://a.test/1\n   some words\n2. B\n   https://b.test/";
        assert_eq!(listing("q", &hits), expected);
        assert_eq!(listing("q", &[]), "No results for \"q\".");
        assert_eq!(SearchHit::new("x", "javascript:alert(1)", ""), None);
    }
}
