//! Answers of both wires, streamed and whole, as replies.

use crate::{call, text};
use ona_api::model::{Delta, EndReason, FailureClass, ModelFailure, Part, Reply, Usage};
use ona_providers::{BodyFormat, ImageSupport, ResponseDecoder, WireFormat};
use serde_json::{Value, json};

pub(crate) const MESSAGES: WireFormat = WireFormat::Messages(ImageSupport::Images);
pub(crate) const CHAT: WireFormat = WireFormat::Chat(ImageSupport::Images);

/// Each value as an event.
pub(crate) fn events(values: &[Value]) -> String {
    values.iter().map(|value| format!("data: {value}\n\n")).collect()
}

fn read(wire: WireFormat, format: BodyFormat, answer: &str) -> (Vec<Delta>, Result<Reply, ModelFailure>) {
    let mut deltas = Vec::new();
    let mut reading = ResponseDecoder::new(wire, format);
    let mut on_delta = |delta| deltas.push(delta);
    let reply = match reading.push(answer.as_bytes(), &mut on_delta) {
        Ok(()) => reading.finish(&mut on_delta),
        Err(failure) => Err(failure),
    };
    (deltas, reply)
}

fn reply(wire: WireFormat, format: BodyFormat, answer: &str) -> Reply {
    read(wire, format, answer).1.unwrap()
}

fn calls(reply: &Reply) -> Vec<(&str, &Value)> {
    let parts = reply.parts.iter();
    parts
        .filter_map(|part| match part {
            Part::ToolUse { name, input, .. } => Some((name.as_str(), input)),
            _ => None,
        })
        .collect()
}

/// The documented sequence of a reply with text and a call.
fn anthropic() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 9, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Look"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ing"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{\"file_path\":"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "\"a\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]
}

fn chat_chunk(delta: Value, finish_reason: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

fn looking(id: &str, usage: Usage) -> Reply {
    Reply {
        parts: vec![text("Looking"), call(id, "Read", json!({"file_path": "a"}))],
        usage,
        end: Some(EndReason::ToolUse),
        dropped: vec![],
    }
}

#[test]
fn a_streamed_message() {
    let usage = Usage { input_tokens: 9, output_tokens: 20, cache_read_tokens: 4, cache_write_tokens: 3 };
    let (deltas, reply) = read(MESSAGES, BodyFormat::Events, &events(&anthropic()));
    assert_eq!(reply.unwrap(), looking("toolu_1", usage));
    let name = Some("Read".to_owned());
    assert_eq!(
        deltas[1..5],
        [
            Delta::Text("Look".into()),
            Delta::Text("ing".into()),
            Delta::Call { index: 0, id: Some("toolu_1".into()), name, json: String::new() },
            Delta::Call { index: 0, id: None, name: None, json: "{\"file_path\":".into() },
        ]
    );
}

#[test]
fn a_whole_message() {
    let answer = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "Looking"},
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "a"}},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 20},
    });
    let usage = Usage { input_tokens: 9, output_tokens: 20, ..Usage::default() };
    assert_eq!(reply(MESSAGES, BodyFormat::Json, &answer.to_string()), looking("toolu_1", usage));
    assert_eq!(reply(MESSAGES, BodyFormat::Unknown, &format!("\n {answer}")), looking("toolu_1", usage));
}

#[test]
fn a_streamed_completion() {
    let function = |arguments: &str| json!({"arguments": arguments});
    let stream = events(&[
        chat_chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chat_chunk(json!({"content": "Look"}), Value::Null),
        chat_chunk(json!({"content": "ing"}), Value::Null),
        chat_chunk(
            json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                "function": {"name": "Read", "arguments": ""}}]}),
            Value::Null,
        ),
        chat_chunk(json!({"tool_calls": [{"index": 0, "function": function("{\"file_")}]}), Value::Null),
        chat_chunk(json!({"tool_calls": [{"index": 0, "function": function("path\":\"a\"}")}]}), Value::Null),
        chat_chunk(json!({}), json!("tool_calls")),
        json!({"choices": [], "usage": {"prompt_tokens": 13, "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 4}}}),
    ]) + "data: [DONE]\n\n";
    let usage = Usage { input_tokens: 9, output_tokens: 20, cache_read_tokens: 4, cache_write_tokens: 0 };
    assert_eq!(reply(CHAT, BodyFormat::Events, &stream), looking("call_1", usage));
    assert_eq!(reply(CHAT, BodyFormat::Unknown, &stream), looking("call_1", usage));
}

#[test]
fn a_whole_completion() {
    let answer = json!({
        "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Looking",
            "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "Read", "arguments": "{\"file_path\":\"a\"}"}}]}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 20},
    });
    let usage = Usage { input_tokens: 9, output_tokens: 20, ..Usage::default() };
    assert_eq!(reply(CHAT, BodyFormat::Json, &answer.to_string()), looking("call_1", usage));
}

/// How servers number the calls of a reply, other than as documented.
#[test]
fn several_calls_are_distinguished_however_they_are_numbered() {
    let arguments = |n: u32| format!("{{\"n\":{n}}}");
    let whole = |n: u32| json!({"name": "T", "arguments": arguments(n)});
    let half = |n: u32, from: usize, to: usize| json!({"arguments": &arguments(n)[from..to]});
    for (how, chunks) in [
        (
            "interleaved",
            vec![
                json!([{"index": 0, "id": "a", "function": {"name": "T"}}, {"index": 1, "id": "b", "function": {"name": "T"}}]),
                json!([{"index": 1, "function": half(2, 0, 3)}, {"index": 0, "function": half(1, 0, 4)}]),
                json!([{"index": 0, "function": half(1, 4, 7)}, {"index": 1, "function": half(2, 3, 7)}]),
            ],
        ),
        ("no index, ids", vec![json!([{"id": "a", "function": whole(1)}]), json!([{"id": "b", "function": whole(2)}])]),
        ("no index, no ids", vec![json!([{"function": whole(1)}, {"function": whole(2)}])]),
        (
            "always index 0",
            vec![
                json!([{"index": 0, "id": "a", "function": whole(1)}]),
                json!([{"index": 0, "id": "b", "function": whole(2)}]),
            ],
        ),
        (
            "id and name repeated",
            vec![
                json!([{"index": 0, "id": "a", "function": {"name": "T", "arguments": "{\"n\""}}]),
                json!([{"index": 0, "id": "a", "function": {"name": "T", "arguments": ":1}"}}]),
                json!([{"index": 1, "id": "b", "function": whole(2)}]),
            ],
        ),
        (
            "ids empty",
            vec![
                json!([{"index": 0, "id": "", "function": whole(1)}]),
                json!([{"index": 1, "id": "", "function": whole(2)}]),
            ],
        ),
        (
            "arguments as objects",
            vec![
                json!([{"index": 0, "function": {"name": "T", "arguments": {"n": 1}}}]),
                json!([{"index": 1, "function": {"name": "T", "arguments": {"n": 2}}}]),
            ],
        ),
    ] {
        let mut stream: Vec<Value> =
            chunks.into_iter().map(|calls| chat_chunk(json!({"tool_calls": calls}), Value::Null)).collect();
        stream.push(chat_chunk(json!({}), json!("stop")));
        let reply = reply(CHAT, BodyFormat::Events, &events(&stream));
        assert_eq!(calls(&reply), [("T", &json!({"n": 1})), ("T", &json!({"n": 2}))], "{how}");
        assert_eq!(reply.end, Some(EndReason::ToolUse), "{how}");
    }
}

#[test]
fn blocks_of_no_use_are_dropped_and_noted() {
    let mut stream = anthropic();
    stream.splice(
        1..1,
        [
            json!({"type": "content_block_start", "index": 7, "content_block": {"type": "thinking", "thinking": ""}}),
            json!({"type": "content_block_delta", "index": 7, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "hm"}}),
            json!({"type": "brand_new_event"}),
        ],
    );
    let reply_ = reply(MESSAGES, BodyFormat::Events, &events(&stream));
    assert_eq!((reply_.parts.len(), reply_.dropped), (2, vec!["thinking".to_owned()]));

    let stream = events(&[
        chat_chunk(json!({"reasoning_content": "hm"}), Value::Null),
        chat_chunk(json!({"reasoning_content": "hm"}), Value::Null),
        chat_chunk(json!({"content": [{"type": "text", "text": "hi"}, {"type": "audio"}]}), json!("stop")),
    ]);
    let reply_ = reply(CHAT, BodyFormat::Events, &stream);
    assert_eq!((reply_.parts, reply_.dropped), (vec![text("hi")], vec!["reasoning_content".into(), "audio".into()]));
}

/// Events whose strings are JSON escapes, as a server sends them that cuts text by UTF-16 units.
#[test]
fn half_a_surrogate_pair_is_replaced_on_both_wires() {
    let messages = |pieces: &[&str]| -> String {
        let delta = |piece| {
            format!(
                "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{piece}\"}}}}\n\n"
            )
        };
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
        pieces.iter().map(delta).chain([events(&[end])]).collect()
    };
    let chat = |pieces: &[&str]| -> String {
        let delta =
            |piece| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n");
        let end = events(&[chat_chunk(json!({}), json!("stop"))]);
        pieces.iter().map(delta).chain([end]).collect()
    };
    for (pieces, expected) in [
        (&[r"half \ud83d"][..], "half \u{fffd}"),
        (&[r"split \ud83d", r"\ude00 here"], "split \u{fffd}\u{fffd} here"),
        (&[r"whole \ud83d\ude00"], "whole 😀"),
    ] {
        for (wire, stream) in [(MESSAGES, messages(pieces)), (CHAT, chat(pieces))] {
            assert_eq!(reply(wire, BodyFormat::Events, &stream).parts, [text(expected)], "{stream}");
        }
    }
    let whole = r#"{"content":[{"type":"text","text":"\ud83d!"}],"stop_reason":"end_turn"}"#;
    assert_eq!(reply(MESSAGES, BodyFormat::Json, whole).parts, [text("\u{fffd}!")]);
    let whole = r#"{"choices":[{"message":{"content":"\ud83d!"},"finish_reason":"stop"}]}"#;
    assert_eq!(reply(CHAT, BodyFormat::Json, whole).parts, [text("\u{fffd}!")]);
}

#[test]
fn every_end_has_its_reason() {
    let other = |word: &str| EndReason::Other(word.into());
    for (word, expected) in [
        ("end_turn", EndReason::EndTurn),
        ("stop_sequence", EndReason::EndTurn),
        ("max_tokens", EndReason::MaxTokens),
        ("refusal", EndReason::Refusal("refusal".into())),
        ("pause_turn", other("pause_turn")),
        ("model_context_window_exceeded", other("model_context_window_exceeded")),
    ] {
        let stream = events(&[json!({"type": "message_delta", "delta": {"stop_reason": word}})]);
        assert_eq!(reply(MESSAGES, BodyFormat::Events, &stream).end, Some(expected));
    }
    for (word, expected) in [
        ("stop", EndReason::EndTurn),
        ("length", EndReason::MaxTokens),
        ("content_filter", EndReason::Refusal("content_filter".into())),
        ("eos", EndReason::EndTurn),
        ("tool_use", EndReason::ToolUse),
        ("brand_new", other("brand_new")),
    ] {
        assert_eq!(reply(CHAT, BodyFormat::Events, &events(&[chat_chunk(json!({}), json!(word))])).end, Some(expected));
    }
}

#[test]
fn an_answer_that_breaks_off_is_a_failure_that_may_pass() {
    let whole = events(&anthropic());
    let end = whole.find("data: {\"type\":\"message_delta\"").unwrap();
    for (why, answer) in [("no end", &whole[..end]), ("half an event", &whole[..end + 40]), ("nothing", "")] {
        let failure = read(MESSAGES, BodyFormat::Events, answer).1.unwrap_err();
        assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true), "{why}");
        assert_eq!(failure.message, "the reply ended in the middle", "{why}");
    }
    let without_stop = &whole[..whole.find("data: {\"type\":\"message_stop\"").unwrap()];
    assert!(read(MESSAGES, BodyFormat::Events, without_stop).1.is_ok());
}

#[test]
fn an_error_inside_a_stream_ends_it_after_what_was_said() {
    let mut stream = anthropic();
    stream.truncate(5);
    stream.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let (deltas, reply) = read(MESSAGES, BodyFormat::Events, &events(&stream));
    let failure = reply.unwrap_err();
    assert_eq!(failure.message, "Overloaded (overloaded_error)");
    assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true));
    assert_eq!(deltas.last(), Some(&Delta::Text("ing".into())));

    let error = json!({"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}});
    for (format, answer) in
        [(BodyFormat::Events, events(std::slice::from_ref(&error))), (BodyFormat::Json, error.to_string())]
    {
        let failure = read(CHAT, format, &answer).1.unwrap_err();
        assert_eq!(failure.class, FailureClass::RateLimit);
    }
}

#[test]
fn a_response_of_another_shape_is_unreadable() {
    for (wire, format, answer, expected) in [
        (MESSAGES, BodyFormat::Events, "data: {oops\n\n", "unreadable reply: an event that is not JSON"),
        (CHAT, BodyFormat::Json, "{\"choices\":", "unreadable reply: not JSON"),
        (CHAT, BodyFormat::Json, "{\"choices\":[]}", "unreadable reply: no choices"),
        (MESSAGES, BodyFormat::Json, "{}", "unreadable reply: no content"),
        (MESSAGES, BodyFormat::Unknown, "\n<!doctype html>", "unreadable reply: a web page"),
        (CHAT, BodyFormat::Unknown, "  ", "the reply ended in the middle"),
    ] {
        let failure = read(wire, format, answer).1.unwrap_err();
        assert_eq!(failure.message, expected);
        assert_eq!((failure.class, failure.transient), (FailureClass::ServerError, true), "{answer}");
    }
}

#[test]
fn the_content_type_tells_the_format() {
    for (content_type, expected) in [
        (Some("text/event-stream; charset=utf-8"), BodyFormat::Events),
        (Some("application/json"), BodyFormat::Json),
        (Some("Application/JSON; charset=utf-8"), BodyFormat::Json),
        (Some("text/plain"), BodyFormat::Unknown),
        (None, BodyFormat::Unknown),
    ] {
        assert_eq!(BodyFormat::of(content_type), expected);
    }
}
