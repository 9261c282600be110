//! The client against a server of a few lines.

use crate::env;
use ona_api::model::{FailureClass, ModelFailure, ProviderName};
use ona_auth::Endpoint;
use ona_auth::http::{HttpLimits, client};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers one request with these bytes, then keeps the connection open. Returns what was asked.
async fn serve(answer: &'static str) -> (Endpoint, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = vec![0; 4096];
        let count = stream.read(&mut asked).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        // The end of the client ends the server.
        stream.read_to_end(&mut Vec::new()).await.ok();
        String::from_utf8_lossy(&asked[..count]).into_owned()
    });
    let endpoint = Endpoint::of(ProviderName::LmStudioLocal, &env([("LM_STUDIO_BASE_URL", &base)])).unwrap();
    (endpoint, asked)
}

fn impatient() -> HttpLimits {
    HttpLimits { read_timeout: Duration::from_millis(30), ..HttpLimits::default() }
}

#[tokio::test]
async fn the_user_agent_names_the_version() {
    let (endpoint, asked) = serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    let http = client(&endpoint, HttpLimits::default()).unwrap();
    let text = http.get(endpoint.url().clone()).send().await.unwrap().text().await.unwrap();
    assert_eq!(text, "ok");
    drop(http);
    assert!(asked.await.unwrap().contains("user-agent: ona/0.1.0\r\n"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (endpoint, _asked) =
        serve("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n").await;
    let http = client(&endpoint, HttpLimits::default()).unwrap();
    assert_eq!(http.get(endpoint.url().clone()).send().await.unwrap().status(), 307);
}

#[tokio::test]
async fn silence_before_the_answer_ends_the_call() {
    let (endpoint, _asked) = serve("").await;
    let http = client(&endpoint, impatient()).unwrap();
    assert!(http.get(endpoint.url().clone()).send().await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn silence_inside_the_answer_ends_the_call() {
    let (endpoint, _asked) = serve("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await;
    let http = client(&endpoint, impatient()).unwrap();
    let mut answer = http.get(endpoint.url().clone()).send().await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "half");
    assert!(answer.chunk().await.unwrap_err().is_timeout());
}

#[test]
fn the_time_to_wait_can_be_set() {
    let otherwise = Duration::from_secs(300);
    let read_timeout = |text| HttpLimits::from_env(&env([("ONA_READ_TIMEOUT_MS", text)]), otherwise).read_timeout;
    assert_eq!(read_timeout("250"), Duration::from_millis(250));
    for nothing in ["", "0", "-1", "soon"] {
        assert_eq!(read_timeout(nothing), otherwise, "{nothing}");
    }
}

#[test]
fn missing_certificate_roots_are_reported() {
    let endpoint = Endpoint::of(ProviderName::ClaudeCodeSubscription, &env([])).unwrap();
    if let Err(error) = client(&endpoint, HttpLimits::default()) {
        let failure = ModelFailure::from(error);
        assert_eq!(failure.class, FailureClass::InvalidRequest);
        assert!(failure.message.contains("No CA certificates"), "{}", failure.message);
    }
}
