//! Many clients, bad clients, and the end.

use crate::client::{Client, End, streaming};
use ona_scripted_model::{Gate, ModelServer, StreamPosition, Wire, body, call, hang, say};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_script_that_is_used_up_says_done() {
    let model = ModelServer::start(Wire::Messages, [say("first")]);
    let mut client = Client::of(&model);
    assert!(client.ask().body().contains(r#""text":"first""#));
    assert_eq!(model.turns_left(), 0);
    for _ in 0..2 {
        assert!(client.ask().body().contains(r#""text":"done""#));
    }
    assert_eq!(model.request(2).connection, 1);
}

#[test]
fn a_repeating_server_keeps_the_newest_body_alone() {
    let model = ModelServer::repeating(Wire::Chat, call("Read", json!({})).streamed().whole());
    let mut client = Client::of(&model);
    for count in 1..=300 {
        client.post(&json!({ "count": count }));
        assert!(client.answer().body().contains(&format!(r#""id":"c{count}""#)));
    }
    assert_eq!(model.request_count(), 300);
    assert_eq!(*model.request(299).json(), json!({"count": 300}));
    assert!(model.requests()[..299].iter().all(|request| request.body.is_empty()));
}

#[test]
fn a_function_can_answer() {
    let model = ModelServer::answering(Wire::Messages, |request| say(&request.last_message()));
    let mut client = Client::of(&model);
    client.post(&json!({"messages": [{"role": "user", "content": "Hi"}]}));
    assert_eq!(client.answer().json()["content"][0]["text"], "user: Hi");
}

#[test]
fn parallel_connections_get_a_turn_each() {
    let gate = Gate::new();
    let texts: Vec<_> = (0..16).map(|number| format!("<{number}>")).collect();
    let model = ModelServer::start(Wire::Messages, texts.iter().map(|text| say(text).hold(&gate)));
    let mut clients: Vec<_> = texts.iter().map(|_| Client::of(&model)).collect();
    clients.iter_mut().for_each(|client| client.post(&streaming()));
    let requests = model.wait_for_requests(16);
    assert!(requests[1..].iter().all(|request| request.overlapped));
    gate.open();
    let bodies: String = clients.iter_mut().map(|client| client.answer().body()).collect();
    assert!(texts.iter().all(|text| bodies.matches(text.as_str()).count() == 1), "{bodies}");
}

#[test]
fn another_path_or_method_is_refused_and_uses_no_turn() {
    let model = ModelServer::start(Wire::Messages, [say("x")]);
    for request in
        ["GET /v1/messages HTTP/1.1\r\n\r\n", "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"]
    {
        let mut client = Client::of(&model);
        client.send(request);
        let (bytes, end) = client.rest();
        let answer = String::from_utf8(bytes).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404 Not Found\r\n") && answer.contains("x-ona-scripted: 1"), "{answer}");
        assert!(answer.ends_with("this scripted server answers POST /v1/messages\n"), "{answer}");
        assert_eq!(end, End::Closed);
    }
    assert_eq!((model.request_count(), model.turns_left()), (2, 1));
}

#[test]
fn a_proxied_request_finds_its_path() {
    let model = ModelServer::start(Wire::Messages, [say("x")]);
    let mut client = Client::of(&model);
    client.send("POST http://api.example/v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}");
    assert_eq!(client.answer().status(), 200);
}

#[test]
fn nonsense_is_answered_or_closed_and_never_harms() {
    let model = ModelServer::start(Wire::Messages, [say("x")]);
    let long = format!("POST /v1/messages HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    for (request, status) in [
        ("hello\r\n\r\n", "400"),
        ("\r\n\r\n", "400"),
        ("POST /v1/messages HTTP/1.1\r\nno colon\r\n\r\n", "400"),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "400"),
        ("POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999999999\r\n\r\n", "413"),
        ("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", "400"),
        ("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n", "413"),
        ("POST /v1/messages HTTP/1.0\r\n\r\n", "505"),
        (&long, "431"),
    ] {
        let mut client = Client::of(&model);
        client.send(request);
        let (answer, _) = client.rest();
        assert!(answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{request:?}");
    }
    for half in ["", "POST", "POST /v1/messages HTTP/1.1\r\ncontent-length: 10\r\n\r\n{", "\u{0}\u{1}\u{2}"] {
        Client::of(&model).send(half);
    }
    assert_eq!(model.request_count(), 0);
    assert_eq!(Client::of(&model).ask().status(), 200);
}

#[test]
fn a_client_that_wants_to_close_is_let_go() {
    let model = ModelServer::start(Wire::Messages, [say("x")]);
    let mut client = Client::of(&model);
    client.send("POST /v1/messages HTTP/1.1\r\nConnection: close\r\ncontent-length: 2\r\n\r\n{}");
    assert_eq!(client.rest().1, End::Closed);
}

#[test]
fn dropping_the_server_ends_whatever_hangs() {
    let gate = Gate::new();
    let held = Gate::new();
    let day = Duration::from_secs(86_400);
    let script = [
        hang(),
        say("x").hold(&gate),
        say("x").think(day),
        say("x").drip(1, day),
        say("x").hold_at(StreamPosition::Deltas(1), &held),
        // More than the kernel takes from a server nobody listens to.
        body("text/plain", vec![b'x'; 32 << 20]),
    ];
    let model = ModelServer::start(Wire::Messages, script);
    let mut asking: Vec<_> = (0..6).map(|_| Client::of(&model)).collect();
    for (count, client) in asking.iter_mut().enumerate() {
        client.post(&streaming());
        model.wait_for_requests(count + 1);
    }
    held.wait_until_reached();
    let mut idle = Client::of(&model);
    let mut half = Client::of(&model);
    half.send("POST /v1/mess");
    let start = Instant::now();
    drop(model);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(idle.rest().0, b"");
    assert_eq!(half.rest().0, b"");
    for client in &mut asking[..3] {
        assert_eq!(client.rest(), (Vec::new(), End::Closed));
    }
    let (partial, end) = asking[4].rest();
    assert!(partial.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert_eq!(end, End::Closed);
}

#[test]
fn a_dropped_server_has_no_port() {
    let model = ModelServer::start(Wire::Messages, []);
    let address = model.address();
    drop(model);
    assert!(std::net::TcpStream::connect(address).is_err());
}
