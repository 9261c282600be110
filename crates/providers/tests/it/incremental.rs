//! A dialogue that grows is the dialogue encoded at once, and costs what was added.

use crate::{assistant, call, failed, params, picture, result, text, user};
use ona_api::model::{Message, Part, RequestParams};
use ona_providers::{EncodedMessages, ImageSupport, WireFormat};
use proptest::prelude::*;
use serde_json::{Value, json};

const WIRES: [WireFormat; 3] = [
    WireFormat::Messages(ImageSupport::Images),
    WireFormat::Chat(ImageSupport::Images),
    WireFormat::Chat(ImageSupport::TextOnly),
];

fn at_once(wire: WireFormat, messages: &[Message]) -> Vec<u8> {
    let mut dialogue = EncodedMessages::new(wire);
    dialogue.sync(messages, 0);
    dialogue.body(&params()).concat()
}

/// `n` rounds of a call and its result.
fn rounds(n: usize) -> Vec<Message> {
    let round = |i: usize| {
        let id = format!("c{i}");
        [
            assistant([text("Next."), call(&id, "Read", json!({"file_path": format!("src/{i}.rs")}))]),
            user([result(&id, "one\ntwo\n")]),
        ]
    };
    std::iter::once(user([text("begin")])).chain((0..n).flat_map(round)).collect()
}

#[test]
fn only_what_is_new_is_encoded() {
    let messages = rounds(500);
    for wire in WIRES {
        let mut dialogue = EncodedMessages::new(wire);
        assert_eq!(dialogue.sync(&messages[..999], 0), 999);
        assert_eq!(dialogue.sync(&messages[..999], 999), 0);
        assert_eq!(dialogue.sync(&messages, 999), 2);
        assert_eq!(dialogue.body(&params()).concat(), at_once(wire, &messages));
    }
}

/// Longer than what is kept in one piece, also where a change goes back by several pieces.
#[test]
fn a_long_conversation_is_the_same_however_it_grew() {
    let long = |i: usize| match i % 2 {
        0 => user([text(&format!("{i} ").repeat(9_000))]),
        _ => assistant([text(&format!("{i} ").repeat(9_000))]),
    };
    let messages: Vec<Message> = (0..30).map(long).collect();
    for wire in WIRES {
        let mut dialogue = EncodedMessages::new(wire);
        for count in [1, 4, 5, 29, 12, 11, 30] {
            dialogue.sync(&messages[..count], count.min(9));
            let body = dialogue.body(&params()).concat();
            assert_eq!(body, at_once(wire, &messages[..count]), "{count}");
            let body: Value = serde_json::from_slice(&body).unwrap();
            let texts: Vec<String> = body["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
            let first = texts.iter().position(|text| text.contains("0 0 0 ")).unwrap();
            let is_message = |(i, text): (usize, &String)| text.contains(&format!("{i} ").repeat(9_000));
            assert!(texts[first..].iter().enumerate().all(is_message), "{count}");
            assert_eq!(texts.len() - first, count);
        }
    }
}

#[test]
fn a_message_that_changed_is_encoded_again_with_all_after_it() {
    let mut messages = rounds(3);
    for wire in WIRES {
        let mut dialogue = EncodedMessages::new(wire);
        dialogue.sync(&messages, 0);
        messages[6].parts.push(Part::HookContext("said a hook".into()));
        assert_eq!(dialogue.sync(&messages, 6), 1, "the last");
        messages.splice(0..4, [user([text("a summary")])]);
        assert_eq!(dialogue.sync(&messages, 0), 4, "after a compaction");
        assert_eq!(dialogue.body(&params()).concat(), at_once(wire, &messages));
        messages = rounds(3);
    }
}

#[test]
fn another_system_text_or_tool_is_seen() {
    let mut dialogue = EncodedMessages::new(WireFormat::Messages(ImageSupport::Images));
    dialogue.sync(&rounds(1), 0);
    let first = dialogue.body(&params()).concat();
    let other = RequestParams { system: "Be long.".into(), ..params() };
    assert_ne!(dialogue.body(&other).concat(), first);
    let fewer = RequestParams { tools: params().tools[..1].to_vec(), ..params() };
    assert_ne!(dialogue.body(&fewer).concat(), first);
    assert_eq!(dialogue.body(&params()).concat(), first);
}

/// The provider allows four marks and finds a cached beginning by its bytes.
#[test]
fn cache_marks_are_four_and_move_with_the_newest_user_messages() {
    let marked = |rounds_: usize| {
        let mut dialogue = EncodedMessages::new(WireFormat::Messages(ImageSupport::Images));
        dialogue.sync(&rounds(rounds_), 0);
        let body: Value = serde_json::from_slice(&dialogue.body(&params()).concat()).unwrap();
        assert_eq!(body.to_string().matches("cache_control").count(), 3 + usize::from(rounds_ > 0));
        let messages = body["messages"].as_array().unwrap().clone();
        let marked = |message: &Value| message["content"].to_string().contains("cache_control");
        (0..messages.len()).filter(|at| marked(&messages[*at])).collect::<Vec<_>>()
    };
    assert_eq!(marked(0), [0]);
    assert_eq!(marked(1), [0, 2]);
    assert_eq!(marked(9), [16, 18]);
}

#[test]
fn equal_messages_give_equal_bytes_in_two_dialogues() {
    for wire in WIRES {
        assert_eq!(at_once(wire, &rounds(50)), at_once(wire, &rounds(50)));
    }
}

fn part() -> impl Strategy<Value = Part> {
    let word = || prop_oneof![Just(String::new()), Just(" ".to_owned()), "\\PC{0,12}", "[a-c\"\\\\\n]{0,20}"];
    prop_oneof![
        word().prop_map(Part::Text),
        word().prop_map(Part::HookContext),
        (word(), word()).prop_map(|(name, value)| call("c1", &name, json!({"k": value}))),
        word().prop_map(|content| result("c1", &content)),
        (word(), prop::option::of(-1..130)).prop_map(|(content, code)| failed("c.1", &content, code)),
        Just(picture("image", "image/png")),
        Just(picture("document", "application/pdf")),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let message = (any::<bool>(), prop::collection::vec(part(), 0..4))
        .prop_map(|(from_user, parts)| if from_user { user(parts) } else { assistant(parts) });
    prop::collection::vec(message, 0..8)
}

proptest! {
    /// Whatever was encoded before leaves no trace.
    #[test]
    fn a_dialogue_depends_on_its_messages_only(steps in prop::collection::vec(messages(), 1..5), keep in 0usize..8) {
        for wire in WIRES {
            let mut dialogue = EncodedMessages::new(wire);
            let mut current: Vec<Message> = Vec::new();
            for step in &steps {
                current.truncate(keep);
                let unchanged = current.len();
                current.extend(step.iter().cloned());
                dialogue.sync(&current, unchanged);
                prop_assert_eq!(dialogue.body(&params()).concat(), at_once(wire, &current));
            }
        }
    }

    #[test]
    fn every_body_is_json_with_all_the_calls(messages in messages()) {
        let calls = messages
            .iter()
            .filter(|message| message.role == ona_api::model::Role::Assistant)
            .flat_map(|message| &message.parts)
            .filter(|part| matches!(part, Part::ToolUse { .. }))
            .count();
        let body: Value = serde_json::from_slice(&at_once(WireFormat::Chat(ImageSupport::Images), &messages)).unwrap();
        let sent = body["messages"].as_array().unwrap();
        let sent = sent.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).sum::<usize>();
        prop_assert_eq!(sent, calls);
        prop_assert!(serde_json::from_slice::<Value>(&at_once(WireFormat::Messages(ImageSupport::Images), &messages)).is_ok());
    }
}
