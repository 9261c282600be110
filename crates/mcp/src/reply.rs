//! The result of a call as text for the model (DEC-136). Pure.
//!
//! Read from plain JSON rather than from the library's types: one block of an unknown
//! kind must not lose the rest of the result.

use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub struct McpReply {
    pub text: String,
    pub is_error: bool,
    pub structured: Option<Value>,
    /// The bytes of pictures, as the server sent them.
    pub pictures: Vec<Vec<u8>>,
}

impl McpReply {
    /// Reads the result of a `tools/call`.
    pub fn of(result: &Value) -> Self {
        let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let structured = result.get("structuredContent").filter(|value| !value.is_null()).cloned();
        let text = match (&structured, blocks) {
            (Some(structured), []) => structured.to_string(),
            _ => joined(blocks),
        };
        Self { text, is_error: result["isError"] == true, structured, pictures: pictures(blocks) }
    }
}

/// Returns the text of several blocks, one after another.
pub(crate) fn joined(blocks: &[Value]) -> String {
    blocks.iter().map(described).collect::<Vec<_>>().join("\n")
}

/// Returns text as it is and a description of anything else.
fn described(block: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = block["type"].as_str().unwrap_or("block");
    match kind {
        "text" => text(&block["text"]).unwrap_or_default(),
        "image" => format!("[image: {}]", measured(&block["mimeType"], &block["data"])),
        // No wire format here carries sound.
        "audio" => format!("[audio: {}; models here take no sound]", measured(&block["mimeType"], &block["data"])),
        "resource" => {
            let resource = &block["resource"];
            let uri = resource["uri"].as_str().unwrap_or("unnamed");
            match resource["text"].as_str() {
                Some(text) => format!("[resource {uri}]\n{text}"),
                None => format!("[resource {uri}: {}]", measured(&resource["mimeType"], &resource["blob"])),
            }
        }
        "resource_link" => {
            let uri = block["uri"].as_str().unwrap_or("unnamed");
            let name = block["name"].as_str().map(|name| format!(" {name}")).unwrap_or_default();
            let words = block["description"].as_str().map(|words| format!(": {words}")).unwrap_or_default();
            format!("[resource link {uri}{name}{words}]")
        }
        _ => match block {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    }
}

/// Returns the bytes of the pictures in some blocks, those of resources as well.
pub(crate) fn pictures(blocks: &[Value]) -> Vec<Vec<u8>> {
    let picture = |block: &Value| {
        let (kind, data) = match block["type"].as_str()? {
            "image" => (&block["mimeType"], &block["data"]),
            "resource" => (&block["resource"]["mimeType"], &block["resource"]["blob"]),
            _ => return None,
        };
        let is_picture = block["type"] == "image" || kind.as_str().is_some_and(|kind| kind.starts_with("image/"));
        ona_api::digest::from_base64(data.as_str().filter(|_| is_picture)?)
    };
    blocks.iter().filter_map(picture).collect()
}

/// Returns the kind and size of base64 data.
pub(crate) fn measured(kind: &Value, data: &Value) -> String {
    let kind = kind.as_str().unwrap_or("unknown kind");
    let data = data.as_str().unwrap_or_default().trim_end_matches('=');
    format!("{kind}, {} bytes", data.len() / 4 * 3 + (data.len() % 4).saturating_sub(1))
}

/// Another output a hook has given, as text (`updatedMCPToolOutput`): a text, blocks, a
/// whole result of a server, or any JSON.
pub fn output_text(output: &Value) -> String {
    let blocks = |value: &Value| {
        let blocks = value.as_array().filter(|blocks| !blocks.is_empty())?;
        blocks.iter().all(|block| block["type"].is_string()).then(|| joined(blocks))
    };
    match output {
        Value::String(text) => text.clone(),
        other => blocks(other).or_else(|| blocks(&other["content"])).unwrap_or_else(|| other.to_string()),
    }
}

/// Returns what `tool_response` says beside the text.
pub(crate) fn data(reply: &McpReply) -> Value {
    match &reply.structured {
        Some(structured) => json!({ "structuredContent": structured }),
        None => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_and_everything_else_is_described() {
        let blocks = [
            json!({"type": "text", "text": "one"}),
            json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}),
            json!({"type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8h"}),
            json!({"type": "resource", "resource": {"uri": "f:///a", "text": "in a"}}),
            json!({"type": "resource", "resource": {"uri": "f:///b", "mimeType": "x/y", "blob": "aA=="}}),
            json!({"type": "resource_link", "uri": "f:///c", "name": "c", "description": "the c"}),
            json!({"type": "hologram", "x": 1}),
        ];
        let reply = McpReply::of(&json!({ "content": blocks }));
        assert_eq!(
            reply.text,
            "one\n[image: image/png, 5 bytes]\n[audio: audio/wav, 6 bytes; models here take no sound]\n[resource f:///a]\nin a\n\
             [resource f:///b: x/y, 1 bytes]\n[resource link f:///c c: the c]\n{\"type\":\"hologram\",\"x\":1}"
        );
        assert!(!reply.is_error);
        assert_eq!(reply.pictures, [b"hello".to_vec()]);
    }

    #[test]
    fn structured_content_is_the_text_without_other_content() {
        let only = McpReply::of(&json!({"structuredContent": {"a": 1}, "isError": true}));
        assert_eq!((only.text.as_str(), only.is_error), (r#"{"a":1}"#, true));
        let both = McpReply::of(&json!({"structuredContent": {"a": 1}, "content": [{"type": "text", "text": "t"}]}));
        assert_eq!((both.text.as_str(), both.structured), ("t", Some(json!({"a": 1}))));
    }

    #[test]
    fn a_hook_may_give_text_blocks_or_anything() {
        for (output, expected) in [
            (json!("t"), "t"),
            (json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "a\nb"),
            (json!({"content": [{"type": "text", "text": "a"}]}), "a"),
            (json!({"x": 1}), r#"{"x":1}"#),
            (json!([1, 2]), "[1,2]"),
            (json!(null), "null"),
        ] {
            assert_eq!(output_text(&output), expected);
        }
    }
}
