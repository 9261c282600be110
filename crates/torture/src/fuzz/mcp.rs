//! Messages of MCP servers: results, definitions, elicitations, schemas of tools. Laws: a result
//! that says it is an error is one; every text block is in the text; what a schema's defaults fill
//! in is not refused for what was there before.

use super::mutate;
use crate::random::Random;
use ona_api::Env;
use ona_mcp::{Catalog, ElicitAnswer, Environments, McpReply, McpSources, output_text};
use ona_tools::{validate, with_defaults};
use serde_json::{Value, json};
use std::sync::LazyLock;

const WORDS: [&str; 46] = [
    "content",
    "type",
    "text",
    "image",
    "audio",
    "data",
    "mimeType",
    "resource",
    "resource_link",
    "uri",
    "blob",
    "name",
    "description",
    "isError",
    "structuredContent",
    "mcpServers",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "http",
    "sse",
    "stdio",
    "${A}",
    "${A:-b}",
    "${",
    "timeout",
    "action",
    "accept",
    "decline",
    "properties",
    "required",
    "enum",
    "default",
    "items",
    "anyOf",
    "oneOf",
    "$ref",
    "#/",
    "object",
    "array",
    "integer",
    "pattern",
    "additionalProperties",
    "minimum",
];

static RESULTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]}),
        json!({"content": [{"type": "resource", "resource": {"uri": "f:///a", "text": "x"}}], "isError": true}),
        json!({"content": [{"type": "resource_link", "uri": "f:///c", "name": "c"}], "structuredContent": {"a": 1}}),
        json!({"action": "accept", "content": {"a": 1}}),
    ]
});
static SERVERS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({"mcpServers": {"a": {"command": "node", "args": ["${A}"], "env": {"K": "${A:-v}"}, "timeout": 5}}}),
        json!({"mcpServers": {"b c": {"type": "http", "url": "https://h/${A}", "headers": {"x": "y"}}, "b_c": {"command": "x"}}}),
    ]
});
static SCHEMAS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({"type": "object", "properties": {"name": {"type": "string", "default": "x", "enum": ["x", "y"]},
            "items": {"type": "array", "items": {"type": "integer", "minimum": 1}}}, "required": ["name"], "additionalProperties": false}),
        json!({"anyOf": [{"type": "string", "pattern": "^a"}, {"$ref": "#/definitions/d"}], "definitions": {"d": {"$ref": "#"}}}),
        json!({"name": "y", "items": [1, 2]}),
        json!({"type": ["object", "null"], "properties": {"text": {"oneOf": [{"const": 1}, {"type": "number"}]}}}),
    ]
});

pub(super) fn read(random: &mut Random, input: &mut String) -> Result<(), String> {
    match random.below(3) {
        0 => {
            let result = mutate::json(random, &RESULTS, &WORDS);
            *input = result.to_string();
            let reply = McpReply::of(&result);
            if reply.is_error != (result["isError"] == true) {
                return Err("an error is not told as one".to_owned());
            }
            let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let texts =
                blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            if let Some(lost) = texts.into_iter().find(|text| !reply.text.contains(text)) {
                return Err(format!("the text {lost:?} is not in {:?}", reply.text));
            }
            output_text(&result);
            if let Some(fields) = result.as_object() {
                // Whether it names an action is its own affair.
                ElicitAnswer::read(fields);
            }
        }
        1 => {
            let servers = mutate::json(random, &SERVERS, &WORDS);
            *input = servers.to_string();
            let sources = McpSources { flags: vec![servers.clone()], project: servers, ..McpSources::default() };
            let env = Environments::one(&Env::default().with("A", "1"));
            let catalog = Catalog::read(&sources, &env);
            let mut slugs: Vec<_> = catalog.definitions.iter().map(|server| server.slug.as_str().to_owned()).collect();
            slugs.sort();
            if slugs.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err("two servers have the same slug".to_owned());
            }
            catalog.left_out.iter().for_each(|server| drop(server.sentence()));
        }
        _ => {
            let (schema, mut value) = (mutate::json(random, &SCHEMAS, &WORDS), mutate::json(random, &SCHEMAS, &WORDS));
            *input = format!("{schema} on {value}");
            let before = validate(&schema, &value).is_ok();
            let alike = validate(&schema, &value).is_ok();
            if before != alike {
                return Err("a value is checked alike twice".to_owned());
            }
            with_defaults(&schema, &mut value);
        }
    }
    Ok(())
}
