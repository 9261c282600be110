//! Calls over a real connection: what is sent, what comes back, how it fails.

use crate::server::{LAST_CHUNK, STREAM, Server, Step, answer, chunk};
use crate::streams::events;
use crate::{params, text, user};
use ona_api::Env;
use ona_api::model::{Delta, EndReason, FailureClass, ModelFailure, Part, ProviderName, Reply};
use ona_auth::http::{HttpLimits, client};
use ona_auth::{CredentialSources, Endpoint, lm_studio, openai, resolve_anthropic};
use ona_providers::{EncodedMessages, ImageSupport, Provider, WireFormat};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const KEY: &str = "canary-key-0123456789";
const PATIENT: HttpLimits = HttpLimits { connect: Duration::from_secs(5), read_timeout: Duration::from_secs(5) };
const IMPATIENT: HttpLimits = HttpLimits { read_timeout: Duration::from_millis(40), ..PATIENT };

fn env(address: &str) -> Env {
    Env::default()
        .with("ANTHROPIC_API_KEY", KEY)
        .with("ANTHROPIC_BASE_URL", format!("http://{address}/"))
        .with("OPENAI_API_KEY", KEY)
        .with("OPENAI_BASE_URL", format!("http://me:{KEY}@{address}/v1/"))
        .with("LM_STUDIO_BASE_URL", format!("http://{address}/v1"))
}

async fn provider(name: ProviderName, address: &str, limits: HttpLimits) -> (Provider, WireFormat) {
    let env = env(address);
    let endpoint = Endpoint::of(name, &env).unwrap();
    let (credential, wire) = match name {
        ProviderName::ClaudeCodeSubscription => (
            resolve_anthropic(&CredentialSources::new(&env), &CancellationToken::new()).await,
            WireFormat::Messages(ImageSupport::Images),
        ),
        ProviderName::OpenaiCompatible => (openai(&env), WireFormat::Chat(ImageSupport::Images)),
        ProviderName::LmStudioLocal => (lm_studio(&env), WireFormat::Chat(ImageSupport::Images)),
    };
    (Provider::new(client(&endpoint, limits).unwrap(), endpoint, credential.unwrap()), wire)
}

async fn ask(name: ProviderName, address: &str, limits: HttpLimits) -> (Vec<Delta>, Result<Reply, ModelFailure>) {
    let (provider, wire) = provider(name, address, limits).await;
    let mut dialogue = EncodedMessages::new(wire);
    dialogue.sync(&[user([text("hi")])], 0);
    let mut deltas = Vec::new();
    let cancel = CancellationToken::new();
    let reply = provider.request(&params(), &dialogue, &mut |delta| deltas.push(delta), &cancel).await;
    (deltas, reply)
}

async fn anthropic(server: &Server) -> Result<Reply, ModelFailure> {
    ask(ProviderName::ClaudeCodeSubscription, &server.address, PATIENT).await.1
}

fn said(words: &str) -> Reply {
    Reply { parts: vec![Part::Text(words.into())], end: Some(EndReason::EndTurn), ..Reply::default() }
}

fn messages_stream(words: &str) -> String {
    events(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ])
}

fn chat_stream(words: &str) -> String {
    events(&[
        json!({"choices": [{"delta": {"content": words}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ]) + "data: [DONE]\n\n"
}

fn streamed(body: &str) -> String {
    format!("{STREAM}{}{LAST_CHUNK}", chunk(body))
}

fn line<'a>(request: &'a str, start: &str) -> Option<&'a str> {
    request.lines().take_while(|line| !line.is_empty()).find(|line| line.starts_with(start))
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn the_messages_api_is_asked_as_documented() {
    let server = Server::answering(&streamed(&messages_stream("hello"))).await;
    let (deltas, reply) = ask(ProviderName::ClaudeCodeSubscription, &server.address, PATIENT).await;
    assert_eq!(reply.unwrap(), said("hello"));
    assert_eq!(deltas, [Delta::Text("hello".into()), Delta::End(EndReason::EndTurn)]);
    let request = &server.requests()[0];
    assert_eq!(request.lines().next(), Some("POST /v1/messages HTTP/1.1"));
    assert_eq!(line(request, "x-api-key"), Some("x-api-key: canary-key-0123456789"));
    assert_eq!(line(request, "anthropic-version"), Some("anthropic-version: 2023-06-01"));
    assert_eq!(line(request, "authorization"), None);
    assert_eq!(line(request, "content-type"), Some("content-type: application/json"));
    assert_eq!(line(request, "user-agent"), Some("user-agent: ona/0.1.0"));
    assert_eq!((&body(request)["stream"], &body(request)["model"]), (&json!(true), &json!("m-1")));
}

#[tokio::test]
async fn chat_completions_is_asked_as_documented() {
    for (name, key) in [(ProviderName::OpenaiCompatible, KEY), (ProviderName::LmStudioLocal, "lm-studio")] {
        let server = Server::answering(&streamed(&chat_stream("hello"))).await;
        assert_eq!(ask(name, &server.address, PATIENT).await.1.unwrap(), said("hello"));
        let request = &server.requests()[0];
        assert_eq!(request.lines().next(), Some("POST /v1/chat/completions HTTP/1.1"));
        assert_eq!(line(request, "authorization"), Some(format!("authorization: Bearer {key}").as_str()));
        assert_eq!(line(request, "anthropic-version"), None);
        assert_eq!(body(request)["messages"][1], json!({"role": "user", "content": "hi"}));
    }
}

#[tokio::test]
async fn a_plain_json_answer_is_accepted() {
    let json = json!({"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"}).to_string();
    for headers in [&[("content-type", "application/json")][..], &[]] {
        let server = Server::answering(&answer("200 OK", headers, &json)).await;
        assert_eq!(anthropic(&server).await.unwrap(), said("hello"));
    }
}

/// The next call of a turn must not pay for a new connection.
#[tokio::test]
async fn a_connection_serves_the_next_call_too() {
    let send = |words| Step::Send(streamed(&messages_stream(words)));
    let server = Server::start(vec![vec![send("one"), Step::Request, send("two")]]).await;
    let (provider, wire) = provider(ProviderName::ClaudeCodeSubscription, &server.address, PATIENT).await;
    let dialogue = EncodedMessages::new(wire);
    let cancel = CancellationToken::new();
    for words in ["one", "two"] {
        assert_eq!(provider.request(&params(), &dialogue, &mut |_| {}, &cancel).await.unwrap(), said(words));
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn refusals_are_classified_with_the_words_of_the_server() {
    let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let after = |seconds| Some(Duration::from_secs(seconds));
    for (status, headers, kind, expected, transient, retry_after) in [
        ("401 Unauthorized", &[][..], "authentication_error", FailureClass::AuthenticationFailed, false, None),
        ("429 Too Many", &[("retry-after", "7")], "rate_limit_error", FailureClass::RateLimit, true, after(7)),
        ("529 Overloaded", &[], "overloaded_error", FailureClass::ServerError, true, None),
        ("400 Bad Request", &[], "invalid_request_error", FailureClass::InvalidRequest, false, None),
    ] {
        let server = Server::answering(&answer(status, headers, &error(kind, "some words").to_string())).await;
        let code: u16 = status[..3].parse().unwrap();
        let message = format!("HTTP {code}: some words ({kind})");
        let status = Some(code);
        let failure = ModelFailure { class: expected, message, transient, retry_after, status };
        assert_eq!(anthropic(&server).await, Err(failure));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let headers = [("location", "http://127.0.0.1:9/v1/messages")];
    let server = Server::answering(&answer("307 Temporary Redirect", &headers, "")).await;
    assert_eq!(
        anthropic(&server).await.unwrap_err().message,
        "HTTP 307: the server redirects, which model calls do not follow"
    );
}

#[tokio::test]
async fn no_failure_shows_a_credential() {
    let echo = format!("Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}");
    let refused = answer("401 Unauthorized", &[], &json!({"error": {"message": echo}}).to_string());
    let in_stream = streamed(&events(&[json!({"error": {"message": echo}})]));
    for script in [refused, in_stream, "HTTP/1.1 200 OK\r\ncontent-le".to_owned(), String::new()] {
        let server = Server::answering(&script).await;
        let failure = ask(ProviderName::OpenaiCompatible, &server.address, PATIENT).await.1.unwrap_err();
        assert!(!format!("{failure:?}").contains("canary"), "{failure:?}");
    }
    let nobody = "127.0.0.1:1";
    let (provider, _) = provider(ProviderName::OpenaiCompatible, nobody, PATIENT).await;
    assert!(!format!("{provider:?}").contains("canary"), "{provider:?}");
    let failure = ask(ProviderName::OpenaiCompatible, nobody, PATIENT).await.1.unwrap_err();
    assert!(!format!("{failure:?}").contains("canary"), "{failure:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failure_that_may_pass() {
    let failure = ask(ProviderName::LmStudioLocal, "127.0.0.1:1", PATIENT).await.1.unwrap_err();
    assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true));
    assert!(failure.message.starts_with("no connection to http://127.0.0.1:1: "), "{}", failure.message);
}

#[tokio::test]
async fn a_server_that_falls_silent_does_not_hold_the_call() {
    let half = chunk(&messages_stream("half")[..130]);
    for script in [vec![Step::Hang], vec![Step::Send(STREAM.to_owned() + &half), Step::Hang]] {
        let server = Server::start(vec![script]).await;
        let failure = ask(ProviderName::ClaudeCodeSubscription, &server.address, IMPATIENT).await.1.unwrap_err();
        assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true));
        let expected =
            format!("http://{} sent nothing for too long (setting modelTimeouts.idleSeconds)", server.address);
        assert_eq!(failure.message, expected);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_is_a_failure_after_what_was_said() {
    let stream = messages_stream("said");
    let until = stream.find("data: {\"type\":\"message_delta\"").unwrap();
    let server = Server::answering(&format!("{STREAM}{}", chunk(&stream[..until]))).await;
    let (deltas, reply) = ask(ProviderName::ClaudeCodeSubscription, &server.address, PATIENT).await;
    assert_eq!(deltas, [Delta::Text("said".into())]);
    let failure = reply.unwrap_err();
    assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true));

    let ended = format!("{STREAM}{}{LAST_CHUNK}", chunk(&stream[..until]));
    let failure = anthropic(&Server::answering(&ended).await).await.unwrap_err();
    assert_eq!(failure.message, "the reply ended in the middle");
}

#[tokio::test]
async fn a_whole_reply_counts_however_the_connection_ends() {
    let stream = messages_stream("said");
    let until = stream.find("data: {\"type\":\"message_stop\"").unwrap();
    let broken = vec![Step::Send(format!("{STREAM}{}", chunk(&stream[..until])))];
    let left_open = vec![Step::Send(format!("{STREAM}{}", chunk(&stream))), Step::Hang];
    for script in [broken, left_open] {
        let server = Server::start(vec![script]).await;
        assert_eq!(anthropic(&server).await.unwrap(), said("said"));
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_call_at_once() {
    let server = Server::start(vec![vec![Step::Send(format!("{STREAM}{}", chunk(": hello\n\n"))), Step::Hang]]).await;
    let (provider, wire) = provider(ProviderName::ClaudeCodeSubscription, &server.address, PATIENT).await;
    let cancel = CancellationToken::new();
    let later = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        later.cancel();
    });
    let dialogue = EncodedMessages::new(wire);
    let failure = provider.request(&params(), &dialogue, &mut |_| {}, &cancel).await.unwrap_err();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Unknown, "interrupted"));
    assert!(!failure.transient);
}
