//! One request and its body, within limits.

use crate::content::{MediaType, RawBody};
use crate::lookup::Route;
use ona_auth::http::{self, HttpLimits, PageRoute};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, StatusCode};
use std::time::Duration;
use url::Url;

/// What is read of a body. Markup takes more room than the text made of it.
const RAW_CAP: usize = 4 * 1024 * 1024;
const LIMITS: HttpLimits = HttpLimits { connect: Duration::from_secs(15), read_timeout: Duration::from_secs(30) };
const WANTED: &str = "text/markdown, text/html, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";

pub(crate) struct Answer {
    pub status: StatusCode,
    /// As the server wrote it.
    pub location: Option<String>,
    pub media: MediaType,
    response: Response,
}

pub(crate) async fn get(url: &Url, route: &Route) -> Result<Answer, String> {
    let route = route.addresses.as_deref().map_or(PageRoute::Proxy, PageRoute::Direct);
    let client = http::page_client(url, route, LIMITS).map_err(|error| error.to_string())?;
    let response = client.get(url.clone()).header(ACCEPT, WANTED).send().await.map_err(http::describe_error)?;
    let header = |name| response.headers().get(name);
    Ok(Answer {
        status: response.status(),
        location: header(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        media: MediaType::parse(header(CONTENT_TYPE).and_then(|value| value.to_str().ok())),
        response,
    })
}

impl Answer {
    /// Reads the body up to the cap, counted after it was unpacked.
    pub(crate) async fn body(mut self) -> Result<RawBody, String> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.response.chunk().await.map_err(http::describe_error)? {
            let room = RAW_CAP - bytes.len();
            bytes.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() > room {
                return Ok(RawBody { bytes, cut: true });
            }
        }
        Ok(RawBody { bytes, cut: false })
    }
}
