//! Requests for metadata. They carry no credential and follow no redirect; where they may go is
//! limited, because the addresses come from a server.

use reqwest::{Method, Response, Url};
use serde_json::Value;

/// What is read of an answer.
const MAX_ANSWER: usize = 256 * 1024;

/// An address that a server has named. It is https; on this machine http is good enough, if the
/// server is there as well: no server may make this program ask around behind a firewall in the clear.
pub(super) fn permitted(text: &str, server: &Url) -> Result<Url, String> {
    let url =
        Url::parse(text).map_err(|_| "the server names a login server whose address cannot be read".to_owned())?;
    let is_secure = url.scheme() == "https" && !is_here(&url);
    let both_here = is_here(&url) && is_here(server) && matches!(url.scheme(), "http" | "https");
    if url.host_str().is_some() && (is_secure || both_here) {
        return Ok(url);
    }
    Err(format!("the server names {}, which is not https", url.origin().ascii_serialization()))
}

fn is_here(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "[::1]")) || url.host_str().is_some_and(|host| host.starts_with("127."))
}

/// Returns the JSON object at this address, if one is there.
pub(super) async fn json(url: &Url) -> Result<Option<Value>, String> {
    let response = send(Method::GET, url, None).await?;
    if !response.status().is_success() {
        return Ok(None);
    }
    let body = body(response).await?;
    Ok(serde_json::from_slice(&body).ok().filter(Value::is_object))
}

pub(super) async fn send(method: Method, url: &Url, json: Option<&Value>) -> Result<Response, String> {
    let client = ona_auth::http::login_client(url.as_str()).map_err(|error| error.to_string())?;
    let mut request =
        client.request(method, url.clone()).header(http::header::ACCEPT, "application/json, text/event-stream");
    if let Some(json) = json {
        request = request.header(http::header::CONTENT_TYPE, "application/json").body(json.to_string());
    }
    let host = url.host_str().unwrap_or_default();
    request.send().await.map_err(|error| format!("{host} cannot be reached: {}", ona_auth::http::describe_error(error)))
}

pub(super) async fn body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| "an answer was cut off".to_owned())? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER {
            return Err("an answer about the login is too long".into());
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_or_on_this_machine_with_the_server() {
        let (far, here) = (Url::parse("https://mcp.example/x").unwrap(), Url::parse("http://127.0.0.1:9/x").unwrap());
        assert!(permitted("https://login.example/a", &far).is_ok());
        assert!(permitted("http://127.0.0.1:8/a", &here).is_ok());
        assert!(permitted("https://login.example/a", &here).is_ok());
        for bad in ["http://login.example/a", "http://127.0.0.1:8/a", "https://localhost/a", "file:///etc/passwd", "x"]
        {
            assert!(permitted(bad, &far).is_err(), "{bad}");
        }
        assert!(permitted("http://login.example/a", &here).is_err());
    }
}
