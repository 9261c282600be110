//! What the server remembers of its requests.

use crate::client::{Client, streaming};
use ona_scripted_model::{Gate, ModelServer, Wire, hang, say};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The request a server makes of a body.
fn received(wire: Wire, body: &Value) -> (String, Vec<String>, String) {
    let model = ModelServer::start(wire, []);
    let mut client = Client::of(&model);
    client.post(body);
    client.answer();
    let request = model.request(0);
    (request.last_message(), request.tool_names(), request.system())
}

#[test]
fn a_request_is_kept_as_it_came() {
    let model = ModelServer::start(Wire::Messages, []);
    let before = Instant::now();
    let mut client = Client::of(&model);
    client.send("POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nX-API-Key:  secret \r\nContent-Length: 9\r\n\r\n{\"a\": 1 }");
    client.answer();
    let request = model.request(0);
    let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/v1/messages?beta=true"));
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.headers, [named("host", "x"), named("x-api-key", "secret"), named("content-length", "9")]);
    assert_eq!((request.header("X-Api-Key"), request.header("authorization")), (Some("secret"), None));
    assert_eq!((request.body.as_slice(), request.json()), (&b"{\"a\": 1 }"[..], &json!({"a": 1})));
    assert!(request.arrived >= before && !request.overlapped);
    assert_eq!(request.connection, 1);
}

#[test]
fn a_chunked_body_is_put_together_however_it_arrives() {
    let model = ModelServer::start(Wire::Messages, []);
    let request = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\nTrailer: t\r\n\r\n";
    let mut client = Client::of(&model);
    client.send(request);
    client.answer();
    for byte in request.bytes() {
        client.send([byte]);
    }
    client.answer();
    assert_eq!(*model.request(0).json(), json!({"a": 1}));
    assert_eq!(*model.request(1).json(), json!({"a": 1}));
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    let model = ModelServer::start(Wire::Messages, []);
    let mut client = Client::of(&model);
    client.send("POST /v1/messages HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n");
    client.send("{}");
    assert_eq!(client.answer().status(), 200);
}

#[test]
fn a_body_that_is_not_json_is_kept_as_well() {
    let model = ModelServer::start(Wire::Chat, []);
    let mut client = Client::of(&model);
    client.send("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 3\r\n\r\n\u{e9}!");
    assert_eq!(client.answer().status(), 200);
    assert_eq!((model.request(0).body.as_slice(), model.request(0).json()), ("é!".as_bytes(), &Value::Null));
    assert_eq!(model.request(0).last_message(), "");
}

#[test]
fn both_wires_return_the_same_text_for_what_the_model_received() {
    let messages = received(
        Wire::Messages,
        &json!({
            "system": [{"type": "text", "text": "Be good."}],
            "tools": [{"name": "Read"}, {"name": "Bash"}],
            "messages": [
                {"role": "user", "content": "old"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "one\ntwo"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "three"}]},
                    {"type": "text", "text": "and this"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ]},
            ],
        }),
    );
    let chat = received(
        Wire::Chat,
        &json!({
            "tools": [{"type": "function", "function": {"name": "Read"}}, {"type": "function", "function": {"name": "Bash"}}],
            "messages": [
                {"role": "system", "content": "Be good."},
                {"role": "user", "content": "old"},
                {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "one\ntwo"},
                {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "three"}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "and this"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ]},
            ],
        }),
    );
    assert_eq!(
        messages.0,
        "tool_result c1: one\ntwo\ntool_result c2: three\nuser: and this\nimage image/png, 4 base64 characters"
    );
    assert_eq!((&messages.1, messages.2.as_str()), (&vec!["Read".to_owned(), "Bash".to_owned()], "Be good."));
    assert_eq!(chat, messages);
}

#[test]
fn prompts_errors_and_a_last_word_of_the_model_can_be_read() {
    let last = |wire, messages: Value| received(wire, &json!({ "messages": messages })).0;
    assert_eq!(
        last(Wire::Chat, json!([{"role": "system", "content": "s"}, {"role": "user", "content": "Hi"}])),
        "user: Hi"
    );
    let failed = json!({"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": "no"});
    assert_eq!(last(Wire::Messages, json!([{"role": "user", "content": [failed]}])), "tool_result c1 (error): no");
    let said =
        json!([{"type": "text", "text": "So"}, {"type": "tool_use", "id": "c1", "name": "Read", "input": {"a": 1}}]);
    assert_eq!(
        last(Wire::Messages, json!([{"role": "assistant", "content": said}])),
        "assistant: So\ntool_use c1: Read {\"a\":1}"
    );
    let calls = json!([{"id": "c1", "function": {"name": "Read", "arguments": "{\"a\":1}"}}]);
    assert_eq!(
        last(Wire::Chat, json!([{"role": "assistant", "content": "So", "tool_calls": calls}])),
        "assistant: So\ntool_use c1: Read {\"a\":1}"
    );
}

#[test]
fn a_callback_sees_the_request_before_the_answer_is_sent() {
    let model = ModelServer::start(Wire::Messages, [say("x")]);
    let gate = Gate::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    model.on_request({
        let (gate, seen) = (gate.clone(), seen.clone());
        move |request| {
            seen.lock().unwrap().push(request.path.clone());
            gate.open();
        }
    });
    let mut client = Client::of(&model);
    client.ask();
    assert!(gate.is_open());
    assert_eq!(*seen.lock().unwrap(), ["/v1/messages"]);
}

#[test]
fn a_callback_that_panics_fails_the_test_that_owns_the_server() {
    let owner = std::thread::spawn(|| {
        let model = ModelServer::start(Wire::Messages, []);
        model.on_request(|_| panic!("not what I expected"));
        let mut client = Client::of(&model);
        client.post(&streaming());
        client.rest();
    });
    let panic = owner.join().unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"not what I expected"));
}

#[test]
fn requests_overlap_only_while_the_first_is_waited_for() {
    let gate = Gate::new();
    let model = ModelServer::start(Wire::Messages, [say("a").hold(&gate), say("b"), say("c"), hang(), say("d")]);
    let mut first = Client::of(&model);
    first.post(&streaming());
    gate.wait_until_reached();
    // While the first is open.
    Client::of(&model).ask();
    gate.open();
    first.answer();
    // After it was answered, on another connection.
    Client::of(&model).ask();
    // After a client that hung has given up.
    let mut hanging = Client::of(&model);
    hanging.post(&streaming());
    model.wait_for_requests(4);
    drop(hanging);
    Client::of(&model).ask();
    let overlapped: Vec<_> = model.requests().iter().map(|request| request.overlapped).collect();
    assert_eq!(overlapped, [false, true, false, false, false]);
}

#[test]
fn a_client_that_leaves_during_a_callback_does_not_overlap_the_next() {
    let (entered, leave) = (Gate::new(), Gate::new());
    let model = ModelServer::start(Wire::Messages, []);
    model.on_request({
        let (entered, leave) = (entered.clone(), leave.clone());
        move |_| {
            let first = !entered.is_open();
            entered.open();
            while first && !leave.is_open() {
                std::thread::yield_now();
            }
        }
    });
    let mut first = Client::of(&model);
    first.post(&streaming());
    while !entered.is_open() {
        std::thread::yield_now();
    }
    drop(first);
    Client::of(&model).ask();
    leave.open();
    assert!(!model.request(1).overlapped);
}

#[test]
fn one_after_another_never_overlaps_on_any_connection() {
    for turn in [say("x"), say("x").whole(), say("x").pieces(5), say("x").plain()] {
        let model = ModelServer::start(Wire::Chat, std::iter::repeat_n(turn, 200));
        for _ in 0..200 {
            Client::of(&model).ask();
        }
        assert!(model.requests().iter().all(|request| !request.overlapped));
    }
}
