//! Servers that number their calls from 1 in every reply.

use crate::ona;
use ona_testkit::model::{ScriptedCall, Wire, calls, say};
use serde_json::{Value, json};

fn read(file: &str) -> ScriptedCall {
    ScriptedCall::new("Read", json!({ "file_path": file })).id("call_1")
}

/// The ids of calls and of results, in the order of the request, on either wire.
fn collect(body: &Value, made: &mut Vec<String>, answered: &mut Vec<String>) {
    for message in body["messages"].as_array().unwrap() {
        answered.extend(message["tool_call_id"].as_str().map(str::to_owned));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            made.extend(call["id"].as_str().map(str::to_owned));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            answered.extend(block["tool_use_id"].as_str().map(str::to_owned));
            if block["type"] == "tool_use" {
                made.extend(block["id"].as_str().map(str::to_owned));
            }
        }
    }
}

#[test]
fn a_crash_leaves_open_the_call_that_was_open() {
    let mut ona = ona();
    ona.file("one", "text of one\n");
    let server = ona.model(Wire::Chat, [calls([read("one")]), say("first"), say("second")]);
    ona.use_provider("openai_compatible", "gpt_4o");
    ona.run(["-p", "read", "--session-id", "s"]).expect_code(0);
    // As a kill leaves it: a reply with the same number again, and no result.
    let reply = json!({"_t": "assistant", "uuid": "u", "content": [
        {"type": "tool_use", "id": "call_1", "name": "Read", "input": {"file_path": "one"}}]});
    ona.execute(
        "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) \
         SELECT 's', max(sequence) + 1, 'assistant', ?1 FROM transcript_entries",
        [reply.to_string()],
    );
    ona.run(["-p", "go on", "-r", "s"]).expect_code(0);
    let last = server.request(2);
    let (mut made, mut answered) = (Vec::new(), Vec::new());
    collect(last.json(), &mut made, &mut answered);
    assert_eq!((made.len(), answered.len()), (2, 2));
    assert!(last.last_message().contains("interrupted before a result"), "{}", last.last_message());
}
