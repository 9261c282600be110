//! The tool WebFetch (DEC-133): a page as text, without a second model.

use crate::lookup::Reach;
use crate::request::{self, Outcome, RequestError, objection, reach};
use crate::{BODY_CAP, Web, capped};
use ona_api::{Access, ToolResult};
use ona_tools::{Offer, Tool, ToolContext};
use reqwest::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// How long a call may take, redirects included.
const TIMEOUT: Duration = Duration::from_secs(60);
const INTERRUPTED: &str = "Interrupted by the operator";

pub struct WebFetchTool(Arc<Web>);

impl WebFetchTool {
    pub fn new(web: &Arc<Web>) -> Self {
        Self(Arc::clone(web))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebFetchInput {
    /// The address of the page, http or https.
    url: String,
    /// What you want to know from the page; kept in the record.
    #[expect(dead_code, reason = "kept in the record with the input, for hooks and for people")]
    prompt: Option<String>,
}

/// A page that was fetched.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub code: StatusCode,
    /// Where it was in the end.
    pub url: Url,
    /// Every address on the way, the first and the last included.
    pub hops: Vec<Url>,
    /// Its host is not a public one.
    pub hidden: bool,
    /// Size of the body.
    pub bytes: usize,
    pub text: String,
}

impl Page {
    #[cfg(test)]
    pub(crate) fn of_text(text: String) -> Self {
        let url = Url::parse("https://a.test/").expect("it is one");
        Self { code: StatusCode::OK, hops: vec![url.clone()], url, hidden: false, bytes: text.len(), text }
    }

    /// Whether this call would get here too: rules may have changed, and a subagent has not typed what
    /// the operator has.
    fn is_open_to(&self, cx: &ToolContext) -> bool {
        let Some((start, rest)) = self.hops.split_first() else { return false };
        let first = (cx.judge_address)(start.as_str());
        let mut rulings = rest.iter().map(|hop| (cx.judge_address)(hop.as_str()));
        let allowed = rulings.all(|ruling| objection(&first.verdict, &ruling.verdict).is_none());
        allowed && (!self.hidden || reach(cx, &(cx.judge_address)(self.url.as_str())) == Reach::Anywhere)
    }
}

impl Tool for WebFetchTool {
    type Input = WebFetchInput;
    const NAME: &'static str = "WebFetch";
    const DESCRIPTION: &'static str = "Fetches a page of the web and returns it as text, HTML as Markdown, at most \
        1 MiB; the first line is the status and the address. Redirects to another host are reported, not followed. \
        Addresses of this machine and of private networks are refused unless a rule names them. Pages are kept for 15 \
        minutes. No credentials are sent: for what needs a login use a command or an MCP server.";

    fn access(&self, input: &WebFetchInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Fetch { url: input.url.clone() }]
    }

    async fn offer(&self, input: &WebFetchInput, _: &ToolContext) -> Offer {
        match request::address(&input.url) {
            Ok(_) => Offer::Plain,
            Err(why) => Offer::Refused(ToolResult::rejected(why)),
        }
    }

    async fn run(&self, input: WebFetchInput, cx: &ToolContext) -> ToolResult {
        let url = match request::address(&input.url) {
            Ok(url) => url,
            Err(why) => return ToolResult::rejected(why),
        };
        let began = Instant::now();
        if let Some(page) = self.0.pages.get(&url).filter(|page| page.is_open_to(cx)) {
            tracing::debug!(%url, "from the cache");
            return shown(&page, began);
        }
        let outcome = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return ToolResult::rejected(INTERRUPTED).data(json!({"is_interrupt": true})),
            outcome = tokio::time::timeout(TIMEOUT, request::fetch(&url, cx)) => outcome,
        };
        match outcome {
            Ok(Ok(Outcome::Page(page))) => {
                let page = Arc::new(page);
                if page.code.is_success() {
                    self.0.pages.put(url, Arc::clone(&page));
                }
                shown(&page, began)
            }
            Ok(Ok(Outcome::Redirect { status, from, to, why })) => {
                let to = capped(to, 2048, false);
                let text = format!("This is a redirect that was not followed. {why}\nTarget: {to}");
                let content = format!("{} {from}\n{text}", status.as_u16());
                ToolResult::success(content).data(data(status, &from, 0, &text, began))
            }
            Ok(Err(RequestError::Refused(why))) => ToolResult::rejected(why),
            Ok(Err(RequestError::Transport(why))) => ToolResult::internal(format!("the page was not fetched: {why}")),
            Err(_) => {
                let seconds = TIMEOUT.as_secs();
                ToolResult::internal(format!("the page was not fetched: {url} took more than {seconds} s"))
            }
        }
    }
}

/// 7.1: what is not 2xx is a rejection.
fn shown(page: &Page, began: Instant) -> ToolResult {
    debug_assert!(page.text.len() <= BODY_CAP + crate::TRUNCATED.len());
    let content = format!("{} {}\n{}", page.code.as_u16(), page.url, page.text);
    let result = if page.code.is_success() { ToolResult::success(content) } else { ToolResult::rejected(content) };
    result.data(data(page.code, &page.url, page.bytes, &page.text, began))
}

fn data(code: StatusCode, url: &Url, bytes: usize, text: &str, began: Instant) -> serde_json::Value {
    json!({
        "bytes": bytes,
        "code": code.as_u16(),
        "codeText": code.canonical_reason().unwrap_or_default(),
        "result": text,
        "durationMs": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "url": url.as_str(),
    })
}
