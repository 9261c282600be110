//! Requests to servers behind an address, and the words for those that fail.
//!
//! What is in them is for `protocol`; what a failure means for the session, for `connection`. Which
//! headers a request carries, and where a token comes from, is in `identity`.

mod event_reader;
mod headers_helper;
mod identity;

pub(crate) use crate::protocol::LONGEST;
pub(crate) use event_reader::EventReader;

use crate::connection::McpCallError;
use crate::context::ServerContext;
use crate::definition::{HttpEndpoint, ServerDefinition};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use identity::{Identity, IdentityError};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use std::sync::Arc;

/// What is read of the body of a refusal.
const MAX_REFUSAL: usize = 16 * 1024;
/// What is quoted of it.
const MAX_QUOTE: usize = 200;

/// Prepares requests to a server. Nothing is sent yet.
pub(crate) async fn link(
    definition: &ServerDefinition,
    endpoint: &HttpEndpoint,
    around: &Arc<ServerContext>,
) -> Result<HttpLink, String> {
    // A WebSocket begins as a request.
    let address = match endpoint.url.strip_prefix("ws") {
        Some(rest) => format!("http{rest}"),
        None => endpoint.url.clone(),
    };
    let client = ona_auth::http::server_client(&address).map_err(|error| error.to_string())?;
    let url = Url::parse(&address).map_err(|_| "its `url` is not an address".to_owned())?;
    let identity = Identity::of(definition, endpoint, around).await?;
    Ok(HttpLink { client, url, identity })
}

/// Requests to one server.
pub(crate) struct HttpLink {
    client: Client,
    pub url: Url,
    identity: Identity,
}

impl HttpLink {
    /// Sends one request, and once more if the server wants another credential and there is one.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<&str>,
    ) -> Result<Response, McpCallError> {
        let mut again = true;
        loop {
            let own = self.identity.headers().await.map_err(not_sent)?;
            let mut request = self.client.request(method.clone(), url.clone()).headers(own.clone());
            request = request.headers(headers.clone());
            if let Some(body) = body {
                request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_owned());
            }
            let response = request.send().await.map_err(|error| unreachable(&error))?;
            let refused = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if refused && std::mem::take(&mut again) && self.identity.renew(&own).await {
                continue;
            }
            return Ok(response);
        }
    }

    /// Why a request was not carried out.
    pub(crate) async fn refusal(&self, response: Response, in_session: bool) -> McpCallError {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return McpCallError::NeedsAuth(self.identity.remedy());
        }
        if status == StatusCode::FORBIDDEN && is_challenged(&response) {
            return McpCallError::NeedsAuth(self.identity.remedy());
        }
        let body = limited(response, MAX_REFUSAL).await.unwrap_or_default();
        let json = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        let words = json["error"]["message"].as_str().map(str::to_owned);
        let speaks_of_session = words.as_deref().is_some_and(|words| words.to_ascii_lowercase().contains("session"))
            && status.is_client_error();
        if in_session && (status == StatusCode::NOT_FOUND || speaks_of_session) {
            return McpCallError::SessionEnded;
        }
        // An answer of the protocol, whatever the status says.
        if json["jsonrpc"] == "2.0" && json["error"].is_object() && json.get("id").is_some_and(|id| !id.is_null()) {
            let error = &json["error"];
            return McpCallError::Refused {
                code: error["code"].as_i64().unwrap_or_default(),
                message: words.unwrap_or_else(|| "no reason was given".into()),
                data: error["data"].clone(),
            };
        }
        if status.is_redirection() {
            return McpCallError::NotTaken(format!(
                "the server sends requests to another address (HTTP status {}); put that address into its `url`",
                status.as_u16()
            ));
        }
        let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        let quoted =
            words.map(|words| format!(": {}", ona_api::text::head(words.trim(), MAX_QUOTE).0)).unwrap_or_default();
        McpCallError::NotTaken(format!("the server answered with HTTP status {}{reason}{quoted}", status.as_u16()))
    }
}

fn is_challenged(response: &Response) -> bool {
    response.headers().contains_key(header::WWW_AUTHENTICATE)
}

fn not_sent(error: IdentityError) -> McpCallError {
    match error {
        IdentityError::NeedsLogin(remedy) => McpCallError::NeedsAuth(remedy),
        IdentityError::Failed(why) => McpCallError::NotTaken(why),
    }
}

/// Says in few words why nothing was sent.
fn unreachable(error: &reqwest::Error) -> McpCallError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let why = if error.is_connect() { "cannot be reached" } else { "did not answer" };
    // The innermost cause names no address.
    let cause = cause.to_string();
    let cause = cause.split(" for url (").next().unwrap_or_default();
    let words = format!("the server {why}: {cause}");
    if error.is_connect() { McpCallError::NotTaken(words) } else { McpCallError::Lost(words) }
}

/// Returns a body, unless it is longer than that.
pub(crate) async fn limited(mut response: Response, most: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            return None;
        }
    }
    Some(body)
}

pub(crate) fn content_type(response: &Response) -> String {
    let value = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns headers as they were configured, as requests carry them.
fn parsed(pairs: &[(String, String)]) -> Result<HeaderMap, String> {
    let header = |(name, value): &(String, String)| {
        let wrong = || format!("the header {name:?} cannot be sent");
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value))
    };
    pairs.iter().map(header).collect()
}
