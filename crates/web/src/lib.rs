//! Pages and searches of the web: the tools WebFetch and WebSearch.
//!
//! A page is fetched in hops. Each hop looks its host up once, judges every address it stands for and connects
//! to one of those that were judged, so that no name can stand for something else a moment later. What was
//! fetched becomes text: HTML as Markdown, everything else that is text as it is.
//!
//! Whether a call may be made at all is decided by the rules before it gets here; what they say of the target of
//! a redirect is asked through [`ToolContext`](ona_tools::ToolContext). No credential and no cookie is ever sent
//! with a page. Clients are built by `ona_auth`.

mod cache;
mod charset;
mod content;
mod download;
mod fetch;
mod html;
mod lookup;
mod request;
mod search;

pub use fetch::WebFetchTool;
pub use search::{MessagesAccess, MessagesSearch, WebSearchTool};

use cache::PageCache;
use ona_api::{Env, environment};
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// How long a page is kept (`CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS`).
const CACHE_TTL: Duration = Duration::from_secs(15 * 60);

/// Maximum size of a body in a result (7.1), and what marks one that was longer.
const BODY_CAP: usize = 1_048_576;
const TRUNCATED: &str = "[SDLC_TRUNCATED]";

/// What the sessions of a run share: pages that were fetched, searches that were made.
pub struct Web {
    pages: PageCache,
    searches: AtomicUsize,
    /// `ONA_WEBSEARCH_URL`
    search_url: Option<String>,
}

impl Web {
    pub fn from_env(env: &Env) -> Self {
        let ttl = env.get(environment::CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS).and_then(|text| text.trim().parse().ok());
        Self {
            pages: PageCache::new(ttl.map_or(CACHE_TTL, Duration::from_millis)),
            searches: AtomicUsize::new(0),
            search_url: env.non_empty(environment::ONA_WEBSEARCH_URL).map(str::to_owned),
        }
    }
}

/// Returns the first `cap` bytes of a text, never half a character, with the mark if that is not all of it.
fn capped(mut text: String, cap: usize, cut_before: bool) -> String {
    let end = text.floor_char_boundary(cap);
    if cut_before || end < text.len() {
        text.truncate(end);
        text.push_str(TRUNCATED);
    }
    text
}
