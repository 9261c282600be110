//! Questions of MCP servers, and servers of the program that drives this one.

use crate::mcp::{configure, log};
use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

const DRIVEN: [&str; 5] = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

fn question() -> Value {
    json!({"message": "Your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})
}

/// A hook that keeps its stdin and prints this.
fn hook(file: &str, output: Value) -> Value {
    json!([{"matcher": "s", "hooks": [{"type": "command", "command": format!("cat > {file}; echo '{output}'")}]}])
}

/// What the server was told.
fn told(ona: &Ona) -> Value {
    log(ona).into_iter().find(|line| line["id"] == "q1").expect("an answer")["result"].clone()
}

#[test]
fn the_program_on_the_other_side_is_asked_where_there_is_one() {
    let mut ona = ona();
    let model = ona.model(Wire::Messages, [call("mcp__s__ask", question()), say("done")]);
    configure(
        &ona,
        "s",
        json!({"allow": ["mcp__s"]}),
        json!({"hooks": {"ElicitationResult": hook("answered", json!({}))}}),
    );
    let mut talk = ona.talk(DRIVEN);
    talk.say("go");
    let asked = talk.until_asked("elicitation");
    assert_eq!(
        (&asked["request"]["mcp_server_name"], &asked["request"]["message"]),
        (&json!("s"), &json!("Your name?"))
    );
    talk.answer(&asked, json!({"action": "accept", "content": {"name": "Grace"}}));
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    assert_eq!(told(&ona), json!({"action": "accept", "content": {"name": "Grace"}}));
    assert!(model.request(1).last_message().contains("Grace"));
    let answered: Value = serde_json::from_str(&ona.read("answered")).unwrap();
    assert_eq!(answered["content"], json!({"name": "Grace"}));
}

#[test]
fn a_server_of_the_driving_program_is_a_server_like_any_other() {
    let mut ona = ona();
    let model = ona.model(Wire::Messages, [call("mcp__calc__add", json!({"a": 1, "b": 2})), say("three")]);
    let config = json!({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}).to_string();
    let mut talk = ona.talk(DRIVEN.iter().chain(&["--mcp-config", &config, "--allowedTools", "mcp__calc__add"]));
    talk.ask(json!({"subtype": "initialize", "sdkMcpServers": ["calc"]}));
    talk.say("go");
    let result = loop {
        let line = talk.line().expect("a result comes");
        if line["type"] == "result" {
            break line;
        }
        if line["type"] != "control_request" {
            continue;
        }
        assert_eq!(
            (&line["request"]["subtype"], &line["request"]["server_name"]),
            (&json!("mcp_message"), &json!("calc"))
        );
        let message = &line["request"]["message"];
        let answer = match message["method"].as_str().unwrap() {
            "initialize" => {
                json!({"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}})
            }
            "tools/list" => {
                json!({"tools": [{"name": "add", "description": "Adds", "inputSchema": {"type": "object"}}]})
            }
            "tools/call" => {
                let input = &message["params"]["arguments"];
                let sum = input["a"].as_i64().unwrap() + input["b"].as_i64().unwrap();
                json!({"content": [{"type": "text", "text": sum.to_string()}]})
            }
            _ => json!({}),
        };
        talk.answer(&line, json!({"mcp_response": {"jsonrpc": "2.0", "id": message["id"], "result": answer}}));
    };
    assert_eq!(result["result"], "three");
    let init = talk.seen.iter().find(|line| line["subtype"] == "init").unwrap().clone();
    assert_eq!(
        (&init["mcp_servers"][0]["name"], &init["mcp_servers"][0]["status"]),
        (&json!("calc"), &json!("connected"))
    );
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")), "{init}");
    assert!(model.request(1).last_message().contains('3'));
    let status = talk.ask(json!({"subtype": "mcp_status"}))["response"]["mcpServers"][0].clone();
    assert_eq!((&status["status"], &status["tools"]), (&json!("connected"), &json!([{"name": "add"}])));
    talk.ask(json!({"subtype": "mcp_toggle", "serverName": "calc", "enabled": false}));
    assert_eq!(talk.finish().0, 0);
}
