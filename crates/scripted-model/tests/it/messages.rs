//! The bytes of the Messages wire.

use crate::client::{Client, ask, streaming};
use ona_scripted_model::{
    ModelServer, ReplyBlock, ScriptedCall, ScriptedTurn, ScriptedUsage, Split, Stop, Wire, call, calls, say,
    say_and_call,
};
use serde_json::{Value, json};

fn stream(turn: ScriptedTurn) -> String {
    ask(Wire::Messages, turn).body()
}

/// The data of each event without the opening and the end of the message.
fn content(turn: ScriptedTurn) -> Vec<Value> {
    let body = stream(turn);
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    let kinds = ["content_block_start", "content_block_delta", "content_block_stop"];
    events.into_iter().filter(|event| kinds.contains(&event["type"].as_str().unwrap())).collect()
}

#[test]
fn a_text_is_streamed_as_the_api_streams_it() {
    let answer = ask(Wire::Messages, say("Hello"));
    assert_eq!(
        answer.head,
        "HTTP/1.1 200 OK\r\n\
         content-type: text/event-stream; charset=utf-8\r\n\
         x-ona-scripted: 1\r\n\
         request-id: req_1\r\n\
         transfer-encoding: chunked\r\n"
    );
    assert_eq!(
        answer.body(),
        r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":10}}

event: message_stop
data: {"type":"message_stop"}

"#
    );
}

#[test]
fn a_call_is_streamed_in_pieces_behind_text_and_an_unasked_block() {
    let read = ScriptedCall::new("Read", json!({"file_path": "é"})).split(Split::At(vec![1, 15]));
    assert_eq!(
        content(say_and_call("Look", [read]).thinking("hm")),
        [
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Look"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{"}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "\"file_path\":\""}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "é\"}"}}),
            json!({"type": "content_block_stop", "index": 2}),
        ]
    );
    assert!(stream(call("Read", json!({}))).contains(r#""delta":{"stop_reason":"tool_use""#));
}

#[test]
fn ids_are_counted_over_the_server_given_or_missing() {
    let model = ModelServer::start(
        Wire::Messages,
        [
            calls([("A", json!({})), ("B", json!({}))]),
            calls([ScriptedCall::new("C", json!({})).id("mine"), ScriptedCall::new("D", json!({})).without_id()]),
            call("E", json!({})),
        ],
    );
    let mut client = Client::of(&model);
    let mut blocks = Vec::new();
    for _ in 0..3 {
        client.post(&json!({}));
        blocks.extend(client.answer().json()["content"].as_array().unwrap().clone());
    }
    assert_eq!(
        blocks,
        [
            json!({"type": "tool_use", "id": "c1", "name": "A", "input": {}}),
            json!({"type": "tool_use", "id": "c2", "name": "B", "input": {}}),
            json!({"type": "tool_use", "id": "mine", "name": "C", "input": {}}),
            json!({"type": "tool_use", "name": "D", "input": {}}),
            json!({"type": "tool_use", "id": "c5", "name": "E", "input": {}}),
        ]
    );
}

#[test]
fn arguments_may_be_wrong_or_whole_in_the_opening() {
    let wrong = content(calls([ScriptedCall::with_arguments("Read", "{\"a")]));
    assert_eq!(wrong[2]["delta"], json!({"type": "input_json_delta", "partial_json": "{\"a"}));
    let whole = content(call("Read", json!({"a": 1})).each_call(ScriptedCall::at_once));
    assert_eq!(whole[0]["content_block"], json!({"type": "tool_use", "id": "c1", "name": "Read", "input": {"a": 1}}));
    assert_eq!(whole[1], json!({"type": "content_block_stop", "index": 0}));
    let every_byte = content(call("Read", json!({"a": 1})).each_call(|call| call.split(Split::EveryByte)));
    let pieces: Vec<_> = every_byte.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(pieces, ["", "{", "\"", "a", "\"", ":", "1", "}"]);
}

#[test]
fn a_plain_answer_is_given_on_request_or_against_it() {
    let usage = ScriptedUsage { input_tokens: 7, output_tokens: 3, cache_read_tokens: 2, cache_write_tokens: 1 };
    let turn = say("Hi").usage(usage).stop(Stop::MaxTokens).thinking("hm");
    let document = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2NyaXB0ZWQ="},
            {"type": "text", "text": "Hi"},
        ],
        "stop_reason": "max_tokens", "stop_sequence": null,
        "usage": {"input_tokens": 7, "cache_creation_input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3},
    });
    for (turn, request) in [(turn.clone(), json!({"stream": false})), (turn.plain(), streaming())] {
        let model = ModelServer::start(Wire::Messages, [turn]);
        let mut client = Client::of(&model);
        client.post(&request);
        let answer = client.answer();
        assert_eq!(
            answer.head,
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-ona-scripted: 1\r\nrequest-id: req_1\r\n\
                 content-length: {}\r\n",
                answer.body().len()
            )
        );
        assert_eq!(answer.json(), document);
    }
}

#[test]
fn a_stream_can_be_forced_and_its_reasons_are_the_wires() {
    for (stop, word) in [
        (Stop::EndTurn, "end_turn"),
        (Stop::ToolUse, "tool_use"),
        (Stop::MaxTokens, "max_tokens"),
        (Stop::Refusal, "refusal"),
        (Stop::Other("pause_turn".to_owned()), "pause_turn"),
    ] {
        let model = ModelServer::start(Wire::Messages, [say("x").stop(stop).streamed()]);
        let mut client = Client::of(&model);
        client.post(&json!({"stream": false}));
        assert!(client.answer().body().contains(&format!(r#""delta":{{"stop_reason":"{word}""#)), "{word}");
    }
}

#[test]
fn a_block_of_an_unknown_type_and_no_block_at_all_are_said_as_given() {
    let block = json!({"type": "weather", "sky": "blue"});
    let said = content(ScriptedTurn::of([ReplyBlock::Unknown(block.clone()), ReplyBlock::Text("x".to_owned())]));
    assert_eq!(said[0], json!({"type": "content_block_start", "index": 0, "content_block": block}));
    assert_eq!(said[2]["index"], 1);
    assert_eq!(content(ScriptedTurn::of([])), Vec::<Value>::new());
}
