//! The messages as the programs on the other side read them, letter by letter.

use super::*;
use serde_json::json;

fn json(message: &StreamMessage) -> Value {
    serde_json::to_value(message).unwrap()
}

#[test]
fn messages_have_the_shapes_of_the_reference() {
    let hook = HookId { hook_id: "h".into(), hook_name: "PreToolUse:Bash".into(), hook_event: "PreToolUse" };
    let call = ToolCall { id: "c1".into(), name: "Bash".into(), input: json!({"command": "ls"}) };
    let golden = [
        (
            StreamMessage::System(SystemMessage::ApiRetry {
                attempt: 1,
                max_retries: 4,
                retry_delay_ms: 500,
                error_status: Some(529),
                error: "server_error",
                message: "overloaded".into(),
            }),
            json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 4, "retry_delay_ms": 500,
                "error_status": 529, "error": "server_error", "message": "overloaded"}),
        ),
        (
            StreamMessage::System(SystemMessage::status(Some("compacting"))),
            json!({"type": "system", "subtype": "status", "status": "compacting"}),
        ),
        (
            StreamMessage::System(SystemMessage::CompactBoundary {
                compact_metadata: CompactMetadata { trigger: "auto", pre_tokens: 9, post_tokens: 2, duration_ms: 7 },
            }),
            json!({"type": "system", "subtype": "compact_boundary",
                "compact_metadata": {"trigger": "auto", "pre_tokens": 9, "post_tokens": 2, "duration_ms": 7}}),
        ),
        (
            StreamMessage::System(SystemMessage::HookStarted(hook.clone())),
            json!({"type": "system", "subtype": "hook_started", "hook_id": "h", "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse"}),
        ),
        (
            StreamMessage::System(SystemMessage::HookResponse {
                hook,
                output: "o".into(),
                stdout: "o".into(),
                stderr: String::new(),
                exit_code: Some(0),
                outcome: "success",
            }),
            json!({"type": "system", "subtype": "hook_response", "hook_id": "h", "hook_name": "PreToolUse:Bash",
                "hook_event": "PreToolUse", "output": "o", "stdout": "o", "stderr": "", "exit_code": 0, "outcome": "success"}),
        ),
        (
            StreamMessage::Assistant {
                message: AssistantMessage {
                    id: "msg_1".into(),
                    kind: "message",
                    role: "assistant",
                    model: "m".into(),
                    content: vec![json!({"type": "text", "text": "hi"})],
                    stop_reason: Some("end_turn".into()),
                    stop_sequence: None,
                    usage: Tokens { input_tokens: 1, output_tokens: 2, ..Tokens::default() },
                },
                parent_tool_use_id: None,
                timestamp: "t".into(),
            },
            json!({"type": "assistant", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}},
                "parent_tool_use_id": null, "timestamp": "t"}),
        ),
        (
            StreamMessage::User(UserMessage {
                message: json!({"role": "user", "content": "x"}),
                parent_tool_use_id: Some("c1".into()),
                timestamp: "t".into(),
                tool_use_result: None,
                is_replay: Some(true),
                uuid: Some("u".into()),
            }),
            json!({"type": "user", "message": {"role": "user", "content": "x"}, "parent_tool_use_id": "c1", "timestamp": "t",
                "isReplay": true, "uuid": "u"}),
        ),
        (
            StreamMessage::Result(Box::new(ResultMessage {
                subtype: "error_max_turns",
                is_error: true,
                duration_ms: 3,
                duration_api_ms: 2,
                num_turns: 1,
                result: String::new(),
                errors: Some(vec!["why".into()]),
                stop_reason: Some("tool_use".into()),
                terminal_reason: Some("max_turns"),
                total_cost_usd: None,
                usage: Tokens::default(),
                model_usage: Map::new(),
                permission_denials: vec![Denial::from(&call)],
                error: None,
                api_error_status: None,
                conversation_id: "conv".into(),
                result_index: 0,
            })),
            json!({"type": "result", "subtype": "error_max_turns", "is_error": true, "duration_ms": 3, "duration_api_ms": 2,
                "num_turns": 1, "result": "", "errors": ["why"], "stop_reason": "tool_use", "terminal_reason": "max_turns",
                "total_cost_usd": null,
                "usage": {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
                "modelUsage": {},
                "permission_denials": [{"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": "ls"}}],
                "api_error_status": null, "conversation_id": "conv", "result_index": 0}),
        ),
        (
            StreamMessage::ControlResponse {
                response: Response::Error {
                    request_id: json!("r"),
                    error: "no".into(),
                    error_code: Some("unsupported_request"),
                },
            },
            json!({"type": "control_response",
                "response": {"subtype": "error", "request_id": "r", "error": "no", "error_code": "unsupported_request"}}),
        ),
        (
            StreamMessage::ControlRequest { request_id: "r".into(), request: json!({"subtype": "can_use_tool"}) },
            json!({"type": "control_request", "request_id": "r", "request": {"subtype": "can_use_tool"}}),
        ),
        (
            StreamMessage::ControlCancelRequest { request_id: "r".into() },
            json!({"type": "control_cancel_request", "request_id": "r"}),
        ),
    ];
    for (message, expected) in golden {
        assert_eq!(json(&message), expected);
    }
}

#[test]
fn the_first_message_has_every_field_a_client_looks_for() {
    let init = json(&StreamMessage::System(SystemMessage::Init(Box::default())));
    let names: Vec<_> = init.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "type",
            "subtype",
            "cwd",
            "tools",
            "mcp_servers",
            "model",
            "permissionMode",
            "slash_commands",
            "apiKeySource",
            "claude_code_version",
            "ona_version",
            "output_style",
            "agents",
            "skills",
            "plugins",
            "capabilities",
            "memory_paths",
            "original_cwd",
            "additional_directories",
            "conversation_id",
            "source",
        ]
    );
}
