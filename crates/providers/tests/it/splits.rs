//! However the bytes of an answer are cut, the deltas and the reply are the same.

use crate::streams::{CHAT, MESSAGES};
use crate::{call, text};
use ona_api::model::{Delta, EndReason, ModelFailure, Part, Reply};
use ona_providers::{BodyFormat, ResponseDecoder, WireFormat};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn read<'a>(
    wire: WireFormat,
    format: BodyFormat,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<Reply, ModelFailure>) {
    let mut deltas = Vec::new();
    let mut reading = ResponseDecoder::new(wire, format);
    for chunk in chunks {
        if let Err(failure) = reading.push(chunk, &mut |delta| deltas.push(delta)) {
            return (deltas, Err(failure));
        }
    }
    let reply = reading.finish(&mut |delta| deltas.push(delta));
    (deltas, reply)
}

fn cut<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Text in pieces of a few characters, so that every piece is a delta of its own.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

fn messages_events(parts: &[Part], size: usize) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}})];
    for (index, part) in parts.iter().enumerate() {
        let (block, deltas) = match part {
            Part::Text(text) => (
                json!({"type": "text", "text": ""}),
                pieces(text, size).into_iter().map(|t| json!({"type": "text_delta", "text": t})).collect::<Vec<_>>(),
            ),
            Part::ToolUse { id, name, input } => (
                json!({"type": "tool_use", "id": id.0, "name": name, "input": {}}),
                pieces(&input.to_string(), size)
                    .into_iter()
                    .map(|t| json!({"type": "input_json_delta", "partial_json": t}))
                    .collect(),
            ),
            _ => unreachable!("replies have text and calls"),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(deltas.into_iter().map(|d| json!({"type": "content_block_delta", "index": index, "delta": d})));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn chat_events(parts: &[Part], size: usize) -> Vec<Value> {
    let chunk = |delta: Value| json!({"choices": [{"delta": delta, "finish_reason": null}]});
    let mut events = Vec::new();
    let mut calls = 0;
    for part in parts {
        match part {
            Part::Text(text) => events.extend(pieces(text, size).into_iter().map(|t| chunk(json!({"content": t})))),
            Part::ToolUse { id, name, input } => {
                let first = json!({"index": calls, "id": id.0, "function": {"name": name, "arguments": ""}});
                events.push(chunk(json!({"tool_calls": [first]})));
                events.extend(
                    pieces(&input.to_string(), size)
                        .into_iter()
                        .map(|t| chunk(json!({"tool_calls": [{"index": calls, "function": {"arguments": t}}]}))),
                );
                calls += 1;
            }
            _ => unreachable!("replies have text and calls"),
        }
    }
    events.push(json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}));
    events
}

/// Texts and calls in turn, as a model gives them.
fn parts() -> impl Strategy<Value = Vec<Part>> {
    let round = ("[a-z ü😀\"\\\\]{1,30}", prop::option::of(("[A-Z][a-z]{0,8}", "\\PC{0,20}", any::<i32>())));
    prop::collection::vec(round, 0..4).prop_map(|rounds| {
        let mut parts = Vec::new();
        for (n, (said, called)) in rounds.into_iter().enumerate() {
            match (parts.last_mut(), text(&said)) {
                (Some(Part::Text(before)), Part::Text(more)) => before.push_str(&more),
                (_, said) => parts.push(said),
            }
            if let Some((name, value, number)) = called {
                parts.push(call(&format!("c{n}"), &name, json!({"value": value, "number": number})));
            }
        }
        parts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn any_cut_gives_the_reply_that_was_meant(
        parts in parts(),
        size in 1usize..9,
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        extra in prop::sample::select(vec!["", ": ping", "event: x", "id: 1"]),
        cuts in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let calls = parts.iter().any(|part| matches!(part, Part::ToolUse { .. }));
        for (wire, events, last) in
            [(MESSAGES, messages_events(&parts, size), ""), (CHAT, chat_events(&parts, size), "data: [DONE]")]
        {
            let mut stream = String::new();
            for event in &events {
                stream += &format!("{extra}{line_end}data: {event}{line_end}{line_end}");
            }
            stream += &format!("{last}{line_end}{line_end}");
            let bytes = stream.as_bytes();
            let (deltas, reply) = read(wire, BodyFormat::Events, [bytes]);
            let reply = reply.unwrap();
            prop_assert_eq!(&reply.parts, &parts);
            prop_assert_eq!(&reply.end, &Some(if calls { EndReason::ToolUse } else { EndReason::EndTurn }));
            prop_assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (1, 2));
            let expected = (deltas, Ok(reply));
            prop_assert_eq!(&read(wire, BodyFormat::Events, cut(bytes, &cuts)), &expected);
            prop_assert_eq!(&read(wire, BodyFormat::Events, bytes.chunks(1)), &expected);
            prop_assert_eq!(&read(wire, BodyFormat::Unknown, cut(bytes, &cuts)), &expected);
        }
    }

    /// An answer that is cut off anywhere never panics and never gives a call that was not finished.
    #[test]
    fn a_broken_off_answer_is_a_failure_or_the_whole_reply(parts in parts(), at in any::<Index>()) {
        for (wire, events) in [(MESSAGES, messages_events(&parts, 3)), (CHAT, chat_events(&parts, 3))] {
            let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            let broken = &stream.as_bytes()[..at.index(stream.len() + 1)];
            if let (_, Ok(reply)) = read(wire, BodyFormat::Events, [broken]) {
                prop_assert_eq!(&reply.parts, &parts);
            }
        }
    }

    /// Bytes of anything: a failure or a reply, never a panic.
    #[test]
    fn garbage_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), json in any::<bool>()) {
        let mut bytes = bytes;
        if json {
            bytes.splice(0..0, *b"data: {\"choices\":[{\"delta\":");
        }
        for wire in [MESSAGES, CHAT] {
            for format in [BodyFormat::Events, BodyFormat::Json, BodyFormat::Unknown] {
                let whole = read(wire, format, [&bytes[..]]);
                prop_assert_eq!(read(wire, format, bytes.chunks(7)), whole);
            }
        }
    }
}
