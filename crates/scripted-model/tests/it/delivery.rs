//! How an answer travels: chunks, pauses, gates, the looks of the events.

use crate::client::{Client, ask, streaming};
use ona_scripted_model::{Gate, ModelServer, Split, StreamPosition, Wire, call, say, status};
use serde_json::json;
use std::time::{Duration, Instant};

const WIRES: [Wire; 2] = [Wire::Messages, Wire::Chat];

#[test]
fn every_event_is_a_chunk_unless_said_otherwise() {
    for wire in WIRES {
        let answer = ask(wire, say("Hello"));
        assert!(answer.chunks.iter().all(|chunk| chunk.ends_with(b"\n\n")), "{answer:?}");
        let events = answer.body().matches("\n\n").count();
        assert_eq!(answer.chunks.len(), events);
    }
}

#[test]
fn pieces_of_any_size_make_up_the_same_body() {
    for wire in WIRES {
        let turn = call("Read", json!({"file_path": "größe.txt"}));
        let body = ask(wire, turn.clone()).body();
        for size in [1, 2, 3, 7, 64, 1000] {
            let answer = ask(wire, turn.clone().pieces(size));
            assert_eq!(answer.body(), body);
            let (last, others) = answer.chunks.split_last().unwrap();
            assert!(others.iter().all(|chunk| chunk.len() == size), "{size}");
            assert!(last.len() <= size);
        }
        assert_eq!(ask(wire, turn.whole()).chunks.len(), 1);
    }
}

#[test]
fn a_plain_answer_travels_in_pieces_too() {
    for wire in WIRES {
        let body = ask(wire, say("Hello").plain()).body();
        assert_eq!(ask(wire, say("Hello").plain().pieces(1)).body(), body);
    }
}

#[test]
fn sloppy_events_mean_the_same() {
    let proper = ask(Wire::Messages, say("Hello")).body();
    let sloppy = ask(Wire::Messages, say("Hello").sloppy()).body();
    assert!(sloppy.starts_with(": scripted\r\nretry:3000\r\nevent:message_start\r\ndata:{\"type\""), "{sloppy}");
    let undone = sloppy.replace(": scripted\r\nretry:3000\r\n", "").replace("\r\n", "\n");
    assert_eq!(undone.replace("event:", "event: ").replace("data:", "data: "), proper);
}

#[test]
fn a_held_answer_waits_for_its_gate() {
    let gate = Gate::new();
    let model = ModelServer::start(Wire::Messages, [say("Hello").hold(&gate), status(500).hold(&gate)]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    gate.wait_until_reached();
    assert!(!gate.is_open());
    gate.open();
    assert_eq!(client.answer().status(), 200);
    assert_eq!(client.ask().status(), 500);
}

#[test]
fn a_stream_stops_where_a_gate_is() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let turn = say("abc")
        .split_text(Split::EveryByte)
        .hold_at(StreamPosition::Deltas(0), &gates[0])
        .hold_at(StreamPosition::Deltas(2), &gates[1])
        .hold_at(StreamPosition::End, &gates[2])
        .whole();
    let model = ModelServer::start(Wire::Chat, [turn]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    client.head();
    let mut text = || String::from_utf8(client.chunk()).unwrap();
    assert!(text().ends_with("\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n"));
    gates[0].open();
    let two = text();
    assert!(
        two.contains(r#"{"content":"a"}"#) && two.contains(r#"{"content":"b"}"#) && !two.contains(r#""c""#),
        "{two}"
    );
    gates[1].open();
    let end = text();
    assert!(
        end.contains(r#"{"content":"c"}"#) && end.contains("completion_tokens") && !end.contains("[DONE]"),
        "{end}"
    );
    gates[2].wait_until_reached();
    gates[2].open();
    assert_eq!(text(), "data: [DONE]\n\n");
    assert_eq!(text(), "");
}

#[test]
fn a_plain_answer_is_held_behind_its_headers() {
    let gate = Gate::new();
    let model = ModelServer::start(Wire::Chat, [say("x").plain().hold_at(StreamPosition::End, &gate)]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    assert!(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
    gate.wait_until_reached();
    gate.open();
    assert_eq!(client.bytes(1), b"{");
}

#[test]
fn thinking_and_dripping_take_their_time() {
    let time = Duration::from_millis(40);
    let start = Instant::now();
    ask(Wire::Messages, say("x").think(time));
    assert!(start.elapsed() >= time);
    let start = Instant::now();
    let answer = ask(Wire::Messages, say("x").plain().drip(100, Duration::from_millis(10)));
    let pauses = (answer.body().len() as u32 - 1) / 100;
    assert!(pauses > 0 && start.elapsed() >= Duration::from_millis(10) * pauses);
}

#[test]
fn labels_and_headers_can_be_anything() {
    let answer = ask(Wire::Messages, say("x").content_type("text/plain").header("x-more", "yes"));
    assert_eq!((answer.header("content-type"), answer.header("x-more")), (Some("text/plain"), Some("yes")));
    assert!(answer.body().starts_with("event: message_start"));
}
