//! The bytes of the Chat Completions wire.

use crate::client::{Client, ask, streaming};
use ona_scripted_model::{
    ModelServer, ScriptedCall, ScriptedTurn, ScriptedUsage, Split, Stop, Wire, call, calls, say, say_and_call,
};
use serde_json::{Value, json};

/// The delta of each chunk.
fn deltas(turn: ScriptedTurn) -> Vec<Value> {
    let body = ask(Wire::Chat, turn).body();
    let chunks = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let chunks = chunks.map(|data| serde_json::from_str::<Value>(data).unwrap());
    chunks.filter_map(|chunk| chunk["choices"].get(0).map(|choice| choice["delta"].clone())).collect()
}

#[test]
fn a_text_is_streamed_as_the_api_streams_it() {
    let answer = ask(Wire::Chat, say("Hello").split_text(Split::At(vec![3])));
    assert_eq!(
        answer.head,
        "HTTP/1.1 200 OK\r\n\
         content-type: text/event-stream; charset=utf-8\r\n\
         x-ona-scripted: 1\r\n\
         x-request-id: req_1\r\n\
         transfer-encoding: chunked\r\n"
    );
    assert_eq!(
        answer.body(),
        r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"scripted","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":0}}}

data: [DONE]

"#
    );
}

#[test]
fn usage_comes_only_if_it_was_asked_for() {
    let model = ModelServer::start(Wire::Chat, [say("x"), say("x").streamed()]);
    let mut client = Client::of(&model);
    client.post(&json!({"stream": true}));
    assert!(!client.answer().body().contains("usage"));
    client.post(&json!({}));
    assert!(client.answer().body().contains(r#""usage":{"prompt_tokens":100"#));
}

#[test]
fn calls_are_streamed_in_pieces_by_index() {
    let first = ScriptedCall::new("Read", json!({"a": 1})).split(Split::At(vec![4]));
    let second = ScriptedCall::new("Glob", json!({})).without_id();
    let third = ScriptedCall::new("Bash", json!({"b": 2})).id("mine").at_once();
    assert_eq!(
        deltas(say_and_call("Look", [first, second, third]).thinking("hm")),
        [
            json!({"role": "assistant", "content": ""}),
            json!({"content": "Look"}),
            json!({"reasoning_content": "hm"}),
            json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "Read", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\""}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}),
            json!({"tool_calls": [{"index": 1, "type": "function", "function": {"name": "Glob", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]}),
            json!({"tool_calls": [{"index": 2, "id": "mine", "type": "function", "function": {"name": "Bash", "arguments": "{\"b\":2}"}}]}),
            json!({}),
        ]
    );
}

#[test]
fn a_reply_of_calls_alone_has_no_content() {
    assert_eq!(deltas(call("Read", json!({})))[0], json!({"role": "assistant", "content": null}));
    assert!(ask(Wire::Chat, call("Read", json!({}))).body().contains(r#""finish_reason":"tool_calls""#));
}

#[test]
fn a_plain_answer_is_one_completion() {
    let usage = ScriptedUsage { input_tokens: 7, output_tokens: 3, cache_read_tokens: 2, cache_write_tokens: 1 };
    let turn =
        calls([ScriptedCall::with_arguments("Read", "{\"a")]).thinking("hm").usage(usage).stop(Stop::MaxTokens).plain();
    let model = ModelServer::start(Wire::Chat, [turn, say("Hi")]);
    let mut client = Client::of(&model);
    client.post(&streaming());
    assert_eq!(
        client.answer().json(),
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "scripted",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": null, "reasoning_content": "hm",
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{\"a"}}],
                },
                "finish_reason": "length",
            }],
            "usage": {
                "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
                "prompt_tokens_details": {"cached_tokens": 2},
            },
        })
    );
    client.post(&json!({}));
    assert_eq!(client.answer().json()["choices"][0]["message"], json!({"role": "assistant", "content": "Hi"}));
}
