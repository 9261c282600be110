//! What is sent, byte for byte.

use crate::{assistant, call, failed, params, picture, result, text, user};
use ona_api::model::{Message, Part, RequestParams};
use ona_auth::{ModelChoice, WireModels, resolve_model};
use ona_providers::{EncodedMessages, ImageSupport, WireFormat};
use serde_json::{Value, json};

const CHAT: WireFormat = WireFormat::Chat(ImageSupport::Images);

fn body(wire: WireFormat, params: &RequestParams, messages: &[Message]) -> String {
    let mut dialogue = EncodedMessages::new(wire);
    dialogue.sync(messages, 0);
    String::from_utf8(dialogue.body(params).concat()).unwrap()
}

fn sent(wire: WireFormat, messages: &[Message]) -> Value {
    let body: Value = serde_json::from_str(&body(wire, &params(), messages)).unwrap();
    body["messages"].clone()
}

fn bare() -> RequestParams {
    RequestParams { system: String::new(), tools: vec![], ..params() }
}

#[test]
fn a_whole_body_of_the_messages_api() {
    let messages = [
        user([text("read a")]),
        assistant([text("Reading."), call("c1", "Read", json!({"z": 1, "a": "ü\n"}))]),
        user([result("c1", "1\tone")]),
    ];
    let expected = concat!(
        r#"{"model":"m-1","max_tokens":8192,"stream":true,"#,
        r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
        r#""tools":[{"name":"Read","description":"The Read tool.","input_schema":{"type":"object","properties":{}}},"#,
        r#"{"name":"Bash","description":"The Bash tool.","input_schema":{"type":"object","properties":{}},"#,
        r#""cache_control":{"type":"ephemeral"}}],"messages":["#,
        r#"{"role":"user","content":[{"type":"text","text":"read a","cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"Reading."},"#,
        r#"{"type":"tool_use","id":"c1","name":"Read","input":{"z":1,"a":"ü\n"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1\tone","#,
        r#""cache_control":{"type":"ephemeral"}}]}]}"#,
    );
    assert_eq!(body(WireFormat::Messages(ImageSupport::Images), &params(), &messages), expected);
}

#[test]
fn a_whole_body_of_chat_completions() {
    let messages = [
        user([text("read a")]),
        assistant([text("Reading."), call("c1", "Read", json!({"z": 1, "a": "ü"}))]),
        user([result("c1", "1\tone")]),
    ];
    let expected = concat!(
        r#"{"model":"m-1","max_tokens":8192,"stream":true,"stream_options":{"include_usage":true},"#,
        r#""tools":[{"type":"function","function":{"name":"Read","description":"The Read tool.","#,
        r#""parameters":{"type":"object","properties":{}}}},"#,
        r#"{"type":"function","function":{"name":"Bash","description":"The Bash tool.","#,
        r#""parameters":{"type":"object","properties":{}}}}],"#,
        r#""messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"read a"},"#,
        r#"{"role":"assistant","content":"Reading.","tool_calls":[{"type":"function","id":"c1","#,
        r#""function":{"name":"Read","arguments":"{\"z\":1,\"a\":\"ü\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"1\tone"}]}"#,
    );
    assert_eq!(body(CHAT, &params(), &messages), expected);
}

#[test]
fn without_system_tools_and_messages_a_body_is_still_json() {
    let nothing = r#"{"model":"m-1","max_tokens":8192,"stream":true,"messages":[]}"#;
    assert_eq!(body(WireFormat::Messages(ImageSupport::Images), &bare(), &[]), nothing);
    let chat = |messages: &[Message]| serde_json::from_str::<Value>(&body(CHAT, &bare(), messages)).unwrap();
    assert_eq!(chat(&[])["messages"], json!([]));
    assert_eq!(chat(&[user([text("a")])])["messages"], json!([{"role": "user", "content": "a"}]));
    assert!(chat(&[]).get("tools").is_none());
}

#[test]
fn the_o_series_takes_its_own_limit() {
    for (model, has, has_not) in
        [("o3", "max_completion_tokens", "max_tokens"), ("gpt-4o", "max_tokens", "max_completion_tokens")]
    {
        let params = RequestParams { model: model.into(), ..params() };
        let body: Value = serde_json::from_str(&body(CHAT, &params, &[])).unwrap();
        assert_eq!(body[has], 8192, "{model}");
        for never in [has_not, "temperature", "parallel_tool_calls"] {
            assert!(body.get(never).is_none(), "{model} {never}");
        }
    }
}

/// A message with everything: results come first, what hooks said comes last (DEC-033).
fn everything() -> Message {
    user([
        Part::HookContext("from a hook".into()),
        failed("c1", "", Some(2)),
        picture("image", "image/png"),
        picture("document", "application/pdf"),
        result("c2", ""),
        text("and now?"),
    ])
}

#[test]
fn everything_beside_a_result_on_the_messages_api() {
    let source = |media_type| json!({"type": "base64", "media_type": media_type, "data": "QUJD"});
    assert_eq!(
        sent(WireFormat::Messages(ImageSupport::Images), &[everything()])[0]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "c1", "content": "(no output)\n[exit code 2]", "is_error": true},
            {"type": "tool_result", "tool_use_id": "c2", "content": "(no output)"},
            {"type": "image", "source": source("image/png")},
            {"type": "document", "source": source("application/pdf")},
            {"type": "text", "text": "and now?"},
            {"type": "text", "text": "<hook-context>\nfrom a hook\n</hook-context>",
             "cache_control": {"type": "ephemeral"}},
        ])
    );
}

#[test]
fn everything_beside_a_result_on_chat_completions() {
    let unseen = "[document application/pdf, 3 bytes, not shown: this model takes no such input]";
    let sent = sent(CHAT, &[everything()]);
    assert_eq!(
        sent,
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "tool", "tool_call_id": "c1", "content": "ERROR: (no output)\n[exit code 2]"},
            {"role": "tool", "tool_call_id": "c2", "content": "(no output)"},
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                {"type": "text", "text": unseen},
                {"type": "text", "text": "and now?"},
            ]},
            {"role": "user", "content": "<hook-context>\nfrom a hook\n</hook-context>"},
        ])
    );
}

#[test]
fn a_model_without_image_support_gets_a_line_of_text() {
    let sent = sent(WireFormat::Chat(ImageSupport::TextOnly), &[user([text("see"), picture("image", "image/png")])]);
    let line = "[image image/png, 3 bytes, not shown: this model takes no such input]";
    assert_eq!(sent[1], json!({"role": "user", "content": format!("see\n{line}")}));
}

#[test]
fn an_unknown_image_format_becomes_a_line_of_text() {
    let sent = sent(WireFormat::Messages(ImageSupport::Images), &[user([picture("image", "image/bmp")])]);
    assert_eq!(sent[0]["content"][0]["text"], "[image image/bmp, 3 bytes, not shown: this model takes no such input]");
}

#[test]
fn blank_text_and_empty_messages_are_not_sent() {
    let messages = [user([text("a")]), assistant([text("")]), assistant([]), user([text(" \n"), text("b")])];
    let contents = |value: &Value| value.as_array().unwrap().iter().map(|m| m["content"].clone()).collect::<Vec<_>>();
    assert_eq!(contents(&sent(CHAT, &messages)), [json!("Be brief."), json!("a"), json!("b")]);
    let anthropic = contents(&sent(WireFormat::Messages(ImageSupport::Images), &messages));
    assert_eq!(anthropic.len(), 2);
    assert_eq!(anthropic[1][0]["text"], "b");
}

#[test]
fn a_call_alone_has_no_text() {
    let sent = sent(CHAT, &[assistant([call("c1", "Bash", json!({"_raw": "{\"com"}))])]);
    assert_eq!(sent[1]["content"], Value::Null);
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], r#"{"_raw":"{\"com"}"#);
}

/// A session can hold ids and names of a server with ideas of its own.
#[test]
fn foreign_ids_match_on_both_sides_of_a_call() {
    let messages =
        [assistant([call("functions.Bash:0", "no such.tool", json!([1]))]), user([result("functions.Bash:0", "x")])];
    let sent = sent(WireFormat::Messages(ImageSupport::Images), &messages);
    assert_eq!(
        sent[0]["content"][0],
        json!({"type": "tool_use", "id": "functions_2eBash_3a0", "name": "no_20such_2etool", "input": {"_raw": [1]}})
    );
    assert_eq!(sent[1]["content"][0]["tool_use_id"], "functions_2eBash_3a0");
}

#[test]
fn the_wire_follows_from_the_choice() {
    let wire = |provider: &str, model_id: &str| {
        let env = ona_api::Env::default().with("LM_STUDIO_MODEL", "m");
        let choice: ModelChoice =
            resolve_model(&json!({"provider": provider, "model_id": model_id}), &env, &WireModels::default()).unwrap();
        WireFormat::of(&choice)
    };
    assert_eq!(wire("claude_code_subscription", "claude_opus_4"), WireFormat::Messages(ImageSupport::Images));
    assert_eq!(wire("openai_compatible", "o3"), CHAT);
    assert_eq!(wire("openai_compatible", "o3_mini"), WireFormat::Chat(ImageSupport::TextOnly));
    assert_eq!(wire("lm_studio_local", "lm_studio_server_routed"), CHAT);
}
