//! Every way to fail, byte by byte.

use crate::client::{Client, End, ask, ask_raw, streaming};
use ona_scripted_model::{
    Gate, ModelServer, StreamFault, Wire, body, context_too_long, empty, error_event, garbage, half_line, hang_until,
    html, out_of_credit, overloaded, rate_limited, raw, reset, say, status,
};
use serde_json::{Value, json};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_reset_comes_before_or_after_so_many_bytes() {
    for wire in [Wire::Messages, Wire::Chat] {
        assert_eq!(ask_raw(wire, reset()), (Vec::new(), End::Reset));
        let mut whole = ask_raw(wire, say("Hello").breaks(StreamFault::Close(usize::MAX))).0;
        for bytes in [0, 1, 100, 400] {
            let (seen, end) = ask_raw(wire, say("Hello").breaks(StreamFault::Reset(bytes)));
            assert_eq!((text(seen), end), (text(whole[..bytes].to_vec()), End::Reset));
        }
        let (seen, end) = ask_raw(wire, say("Hello").breaks(StreamFault::Close(150)));
        whole.truncate(150);
        assert_eq!((seen, end), (whole, End::Closed));
    }
}

#[test]
fn a_request_without_a_body_and_one_in_chunks_can_be_reset_too() {
    let model = ModelServer::start(Wire::Messages, [reset(), reset()]);
    for request in [
        "POST /v1/messages HTTP/1.1\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ] {
        let mut client = Client::of(&model);
        client.send(request);
        assert_eq!(client.rest(), (Vec::new(), End::Reset));
    }
}

#[test]
fn half_a_line_and_then_nothing() {
    let (bytes, end) = ask_raw(Wire::Messages, half_line().whole());
    let stream = text(bytes);
    assert_eq!(end, End::Closed);
    assert!(
        stream.ends_with(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"t\r\n"
        ),
        "{stream}"
    );
    let (bytes, end) = ask_raw(Wire::Chat, half_line().whole());
    let stream = text(bytes);
    assert_eq!(end, End::Closed);
    assert!(stream.ends_with("\"created\":1700000000,\"model\":\"scripted\",\"choi\r\n"), "{stream}");
    // Of a document the half is less than its headers promise.
    let (bytes, end) = ask_raw(Wire::Chat, half_line().plain());
    let answer = text(bytes);
    let (head, half) = answer.split_once("\r\n\r\n").unwrap();
    let promised: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!((half.len(), end), (promised / 2, End::Closed));
}

#[test]
fn a_body_can_end_in_order_while_the_message_does_not() {
    let answer = ask(Wire::Messages, say("Hello").breaks(StreamFault::Unfinished(1)));
    assert!(answer.body().ends_with("\"text\":\"Hello\"}}\n\n"), "{answer:?}");
    let answer = ask(Wire::Chat, say("Hello").breaks(StreamFault::Unfinished(0)));
    assert!(answer.body().ends_with("\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n"), "{answer:?}");
}

#[test]
fn an_error_can_come_in_mid_stream() {
    let answer = ask(Wire::Messages, error_event("overloaded_error", "Overloaded"));
    assert!(
        answer.body().ends_with(
            "\"text\":\"This much was said.\"}}\n\n\
             event: error\n\
             data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
        ),
        "{answer:?}"
    );
    let at_once = StreamFault::Error { after: 0, kind: "server_error".to_owned(), message: "Oh".to_owned() };
    let answer = ask(Wire::Chat, say("x").breaks(at_once));
    assert!(
        answer.body().ends_with(
            "data: {\"error\":{\"message\":\"Oh\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n"
        ),
        "{answer:?}"
    );
}

#[test]
fn statuses_have_the_bodies_of_their_wire() {
    let scripted = "This is a scripted failure.";
    let messages = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
    let chat = |kind: &str, message: &str, code: Value| json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
    let invalid = "invalid_request_error";
    let long =
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 128001 tokens.";
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let poor = "Your credit balance is too low to access the Anthropic API.";
    let table = [
        (status(400), (400, messages(invalid, scripted)), (400, chat(invalid, scripted, Value::Null))),
        (
            status(401),
            (401, messages("authentication_error", scripted)),
            (401, chat(invalid, scripted, json!("invalid_api_key"))),
        ),
        (status(402), (402, messages("billing_error", scripted)), (402, chat(invalid, scripted, Value::Null))),
        (status(403), (403, messages("permission_error", scripted)), (403, chat(invalid, scripted, Value::Null))),
        (
            status(404),
            (404, messages("not_found_error", scripted)),
            (404, chat(invalid, scripted, json!("model_not_found"))),
        ),
        (status(413), (413, messages("request_too_large", scripted)), (413, chat(invalid, scripted, Value::Null))),
        (status(422), (422, messages(invalid, scripted)), (422, chat(invalid, scripted, Value::Null))),
        (
            rate_limited(7),
            (429, messages("rate_limit_error", scripted)),
            (429, chat("requests", scripted, json!("rate_limit_exceeded"))),
        ),
        (status(500), (500, messages("api_error", scripted)), (500, chat("server_error", scripted, Value::Null))),
        (
            overloaded(),
            (529, messages("overloaded_error", scripted)),
            (529, chat("server_error", scripted, Value::Null)),
        ),
        (
            context_too_long(),
            (400, messages(invalid, "prompt is too long: 200001 tokens > 200000 maximum")),
            (400, chat(invalid, long, json!("context_length_exceeded"))),
        ),
        (
            out_of_credit(),
            (400, messages(invalid, poor)),
            (429, chat("insufficient_quota", quota, json!("insufficient_quota"))),
        ),
        (status(500).message("Oh"), (500, messages("api_error", "Oh")), (500, chat("server_error", "Oh", Value::Null))),
    ];
    for (turn, on_messages, on_chat) in table {
        for (wire, expected) in [(Wire::Messages, on_messages), (Wire::Chat, on_chat)] {
            let answer = ask(wire, turn.clone());
            assert_eq!((answer.status(), answer.json()), expected);
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.header("x-ona-scripted"), Some("1"));
            assert_eq!(answer.header("retry-after"), (turn_is_limited(&answer.json())).then_some("7"));
        }
    }
}

fn turn_is_limited(body: &Value) -> bool {
    body["error"]["type"] == "rate_limit_error" || body["error"]["code"] == "rate_limit_exceeded"
}

#[test]
fn things_that_are_no_answer() {
    let (bytes, end) = ask_raw(Wire::Messages, garbage());
    assert_eq!(
        (bytes.as_slice(), end),
        (&b"\x00\xff\xfe\x80 not http \r\n\x01\x02\xc3\x28\r\n\r\n\xf0\x9f"[..], End::Closed)
    );
    assert_eq!(ask_raw(Wire::Chat, raw("HTTP/1.1 200 OK\r\n\r\n")), (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), End::Closed));

    let page = ask(Wire::Chat, html());
    assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.body().starts_with("<!doctype html>"));

    let nothing = ask(Wire::Messages, empty());
    assert_eq!(
        nothing.head,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-ona-scripted: 1\r\nrequest-id: req_1\r\ncontent-length: 0\r\n"
    );
    let odd = ask(Wire::Messages, body("text/event-stream", "data: {\n\ndata: nonsense\n\n"));
    assert_eq!(odd.body(), "data: {\n\ndata: nonsense\n\n");
}

#[test]
fn a_hanging_server_says_nothing_until_its_gate() {
    let gate = Gate::new();
    let model =
        ModelServer::start(Wire::Messages, [hang_until(&gate), hang_until(&gate).breaks(StreamFault::Reset(0))]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    gate.wait_until_reached();
    gate.open();
    assert_eq!(client.rest(), (Vec::new(), End::Closed));
    let mut client = Client::of(&model);
    client.post(&streaming());
    assert_eq!(client.rest(), (Vec::new(), End::Reset));
}

#[test]
fn the_connection_outlives_a_failure_that_http_can_say() {
    let model = ModelServer::start(
        Wire::Messages,
        [
            status(500),
            html(),
            empty(),
            error_event("api_error", "x"),
            say("x").breaks(StreamFault::Unfinished(0)),
            say("y"),
        ],
    );
    let mut client = Client::of(&model);
    let statuses: Vec<_> = (0..6).map(|_| client.ask().status()).collect();
    assert_eq!(statuses, [500, 200, 200, 200, 200, 200]);
    assert_eq!(model.turns_left(), 0);
}
