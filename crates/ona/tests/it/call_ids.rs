//! Servers that number their calls from 1 in every reply.

use crate::ona;
use ona_testkit::model::{ScriptedCall, Wire, calls, say};
use serde_json::{Value, json};

fn read(file: &str) -> ScriptedCall {
    ScriptedCall::new("Read", json!({ "file_path": file })).id("call_1")
}

#[test]
fn calls_that_share_an_id_keep_their_own_results() {
    for wire in [Wire::Messages, Wire::Chat] {
        let mut ona = ona();
        for name in ["one", "two", "three"] {
            ona.file(name, format!("text of {name}\n"));
        }
        let server = ona.model(
            wire,
            [calls([read("one")]), calls([read("two")]), say("first"), calls([read("three")]), say("second")],
        );
        let provider = match wire {
            Wire::Messages => ("claude_code_subscription", "claude_sonnet_4"),
            Wire::Chat => ("openai_compatible", "gpt_4o"),
        };
        ona.use_provider(provider.0, provider.1);
        ona.run(["-p", "read both", "--session-id", "s"]).expect_code(0);
        ona.run(["-p", "and the third", "-r", "s"]).expect_code(0);

        let rows = ona.rows(
            "SELECT u.tool_use_id, json_extract(u.payload_json,'$.input.file_path'), json_extract(r.payload_json,'$.content') \
             FROM transcript_entries u JOIN transcript_entries r ON r.parent_entry_id = u.id AND r.entry_type = 'tool_result' \
             WHERE u.entry_type = 'tool_use' ORDER BY u.sequence",
        );
        assert_eq!(rows.len(), 3, "{rows:?}");
        let mut ids: Vec<_> = rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).collect();
        for (row, name) in rows.iter().zip(["one", "two", "three"]) {
            assert!(row[1].as_str().unwrap().ends_with(name), "{row:?}");
            assert!(row[2].as_str().unwrap().contains(&format!("text of {name}")), "{row:?}");
        }
        assert_eq!(ids[0], "call_1");
        ids.dedup();
        assert_eq!(ids.len(), 3);

        let last = server.request(4);
        let (mut made, mut answered) = (Vec::new(), Vec::new());
        collect(last.json(), &mut made, &mut answered);
        assert_eq!(made, ids, "what was sent is what was written");
        assert_eq!(answered, ids);
        assert_eq!(
            ona.value("SELECT count(DISTINCT json_extract(detail,'$.tool_use_id')) FROM events WHERE event_type='tool_started'"),
            3
        );
    }
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
