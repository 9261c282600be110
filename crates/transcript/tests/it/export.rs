//! Sessions as files for people and other programs.

use crate::support::*;
use ona_api::Entry;
use ona_api::model::Usage;
use ona_api::row::Block;
use ona_transcript::{
    ExportHead, Prices, TokenUsage, Trigger, UsageReport, collapse_entry, json, jsonl, markdown, usage_entry,
};
use serde_json::{Value, json};

fn head() -> ExportHead {
    ExportHead {
        session: "s-1".into(),
        conversation: "k-1".into(),
        parent: None,
        project_dir: "/home/me/p".into(),
        started_at: "2026-01-02 03:04:00".into(),
        title: Some("Two *files*".into()),
        version: "0.1.0".into(),
        account: UsageReport::default(),
        prices: Prices::default(),
    }
}

fn usage(input_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens: 7, cache_read_tokens: 5, cache_write_tokens: 3 }
}

fn with_uuid(uuid: &str, content: Vec<Block>) -> Entry {
    Entry::Assistant { uuid: uuid.into(), content }
}

/// A bit of everything.
fn session() -> Session {
    let shell = Block::ToolUse { id: "c2".into(), name: "Bash".into(), input: json!({"command": "ls `pwd`"}) };
    let rewritten = json!({"hook_event": "PreToolUse", "requested_input": {}, "effective_input": {"command": "ls"}});
    let mut session = Session::of([
        context("SessionStart", "be kind"),
        Entry::User { uuid: "u1".into(), content: vec![Block::Text("look at\nthis".into())] },
        picture("iVBORw0KGgo=", None),
        with_uuid("a1", vec![Block::Text("I will.".into()), block("c1"), shell]),
        usage_entry("claude-x", "claude_opus_4", &usage(100)),
        call("c1"),
        Entry::ToolUse { id: "c2".into(), name: "Bash".into(), input: json!({"command": "ls `pwd`"}) },
        result("c1", "1\tone\n"),
        snapshot("c1"),
        Entry::InternalHook { fields: fields(rewritten), call: Some("c2".into()) },
        failure("c2", "\u{1b}[31mno\u{1b}[0m ```such```"),
        exit_code("c2", 2),
        hook_message(),
        with_uuid("a2", vec![Block::Text("Done.".into())]),
        usage_entry("claude-x", "claude_opus_4", &usage(200)),
        collapse_entry(Trigger::Manual, "All is well.", 14),
        attachment(json!({"kind": "custom_message", "content": "from a hook"})),
        attachment(json!({"kind": "custom_entry", "content": "kept"})),
        call("e1"),
        result("e1", ""),
    ]);
    session = session.sql("user", "{broken").sql("ai_title", r#"{"_t":"ai_title","title":"Two files"}"#);
    session
}

#[test]
fn a_page_to_read() {
    assert_shown(
        &markdown(&head(), &session().raws()),
        r#"
        # Two *files*

        - Session: `s-1`
        - Conversation: `k-1`
        - Project: `/home/me/p`
        - Started (UTC): `2026-01-02 03:04:00`

        *context of a SessionStart hook*

        ```
        be kind
        ```

        ## Prompt

        > look at
        > this

        *image, image/png, 8 bytes, not shown*

        ## Reply

        I will.

        ### Read `c1`

        ```json
        {
          "file_path": "c1.txt"
        }
        ```

        ### Bash `c2`

        ```json
        {
          "command": "ls `pwd`"
        }
        ```

        #### Result of Read `c1`

        ```
        1	one
        ```

        *a PreToolUse hook changed the input to*

        ```json
        {
          "command": "ls"
        }
        ```

        #### Error of Bash `c2`

        ````
        ␛[31mno␛[0m ```such```
        ````

        *exit code 2*

        *hook_message: for the operator*

        ## Reply

        Done.

        ## Summary of everything above

        > All is well.

        *message of a hook*

        > from a hook

        ### Read `e1`

        ```json
        {
          "file_path": "e1.txt"
        }
        ```

        #### Result of Read `e1`

        ```
        ```

        *row 20: the payload cannot be read: key must be a string at line 1 column 2*
        "#,
    );
}

#[test]
fn a_title_cannot_break_out_of_its_line() {
    let head =
        ExportHead { title: Some("a\n# b\u{1b}c".into()), session: "a`b\n".into(), parent: Some("p".into()), ..head() };
    let page = markdown(&head, &[]);
    assert!(page.starts_with("# a␊# b␛c\n\n- Session: ``a`b␊``\n"), "{page}");
    assert!(page.contains("- Part of: `p`\n"), "{page}");
}

#[test]
fn json_holds_every_row_as_it_is_stored() {
    let session = session();
    let text = json(&head(), &session.raws());
    let document: Value = serde_json::from_str(&text).unwrap();
    let entries = document["entries"].as_array().unwrap();
    assert_eq!(entries.len(), session.raws().len());
    assert_eq!(document["session_id"], "s-1");
    assert_eq!(document["conversation_id"], "k-1");
    assert_eq!(document["title"], "Two *files*");
    assert_eq!(
        entries[7],
        json!({
            "sequence": 7,
            "entry_type": "tool_result",
            "created_at": "2026-01-02 03:04:05",
            "tool_use_id": "c1",
            "payload": {"_t": "tool_result", "tool_use_id": "c1", "content": "1\tone\n", "is_error": false},
        })
    );
    assert_eq!(entries[20]["payload"], "{broken");
    assert!(
        text.contains(r#""payload":{"_t":"tool_result","tool_use_id":"c1","content":"1\tone\n","is_error":false}"#)
    );
}

fn lines(head: &ExportHead, session: &Session) -> Vec<Value> {
    jsonl(head, &session.raws()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_reply_is_one_line_with_its_usage() {
    let lines = lines(&head(), &session());
    let reply = lines.iter().find(|line| line["uuid"] == "a1").unwrap();
    assert_eq!(
        reply,
        &json!({
            "parentUuid": lines[1]["uuid"],
            "isSidechain": false,
            "userType": "external",
            "cwd": "/home/me/p",
            "sessionId": "s-1",
            "version": "0.1.0",
            "type": "assistant",
            "message": {
                "id": "msg_a1",
                "type": "message",
                "role": "assistant",
                "model": "claude-x",
                "content": [
                    {"type": "text", "text": "I will."},
                    {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "c1.txt"}},
                    {"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "ls `pwd`"}},
                ],
                "stop_reason": "tool_use",
                "stop_sequence": null,
                "usage": {
                    "input_tokens": 100,
                    "cache_creation_input_tokens": 3,
                    "cache_read_input_tokens": 5,
                    "output_tokens": 7,
                },
            },
            "requestId": "req_a1",
            "uuid": "a1",
            "timestamp": "2026-01-02T03:04:05.000Z",
        })
    );
}

#[test]
fn lines_are_a_chain_of_what_was_said() {
    let lines = lines(&head(), &session());
    let told = |line: &Value| {
        let content = line["message"]["content"][0]["type"].as_str().or(line["subtype"].as_str());
        format!("{} {}", line["type"].as_str().unwrap(), content.unwrap_or("-"))
    };
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        [
            "user text",
            "user image",
            "assistant text",
            "user tool_result",
            "user tool_result",
            "assistant text",
            "system compact_boundary",
            "user -",
            "user text",
            "assistant tool_use",
            "user tool_result",
            "summary -",
        ]
    );
    let mut before = Value::Null;
    for line in &lines[..11] {
        let boundary = line["subtype"] == "compact_boundary";
        assert_eq!(line[if boundary { "logicalParentUuid" } else { "parentUuid" }], before);
        assert!(!boundary || line["parentUuid"].is_null());
        before = line["uuid"].clone();
    }
    assert_eq!(lines[11], json!({"type": "summary", "summary": "Two files", "leafUuid": before}));
    assert_eq!(lines[7]["message"]["content"], "All is well.");
    assert_eq!(lines[7]["isCompactSummary"], true);
    assert_eq!(lines[9]["message"]["model"], "<synthetic>");
}

/// However a counter sums up, by line or by message, the tokens are the same.
#[test]
fn usage_is_counted_once() {
    let lines = lines(&head(), &session());
    let counted: u64 = lines.iter().filter_map(|line| line["message"]["usage"]["input_tokens"].as_u64()).sum();
    let records = session().records();
    assert_eq!(counted, 300);
    let mut spent = TokenUsage::default();
    records.iter().for_each(|record| spent.push(record));
    assert_eq!(
        spent.usage(),
        Usage { input_tokens: 300, output_tokens: 14, cache_read_tokens: 10, cache_write_tokens: 6 }
    );
    let ids: Vec<_> = lines.iter().filter_map(|line| line["message"]["id"].as_str()).collect();
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len());
}

#[test]
fn a_subagent_is_a_side_chain_and_a_reply_of_unknown_cost_has_no_usage() {
    let head = ExportHead { parent: Some("s-0".into()), ..head() };
    let lines = lines(&head, &Session::of([says("hm")]));
    assert_eq!(lines[0]["isSidechain"], true);
    assert_eq!(lines[0]["message"]["model"], "unknown");
    assert_eq!(lines[0]["message"].get("usage"), None);
    assert_eq!(lines[0]["message"]["stop_reason"], "end_turn");
}

#[test]
fn an_export_is_the_same_every_time() {
    let (one, two) = (session(), session());
    assert_eq!(jsonl(&head(), &one.raws()), jsonl(&head(), &two.raws()));
    let made: Vec<_> = lines(&head(), &one).iter().filter_map(|line| line["uuid"].as_str().map(str::len)).collect();
    assert_eq!(made.iter().filter(|len| **len == 36).count(), 8, "{made:?}");
}
