//! A request as it arrived, and how a test reads it.

use super::Wire;
use super::http;
use serde_json::Value;
use std::sync::OnceLock;
use std::time::Instant;

#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub method: String,
    /// As in the request line: with a query, or whole if the client takes us for a proxy.
    pub target: String,
    /// Of the target, the path alone.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Empty where the server keeps only the newest (`ModelServer::repeating`).
    pub body: Vec<u8>,
    pub arrived: Instant,
    /// Another request was open when this one arrived, by a client that was still there.
    pub overlapped: bool,
    /// Which connection it came on, from 1.
    pub connection: usize,
    pub(super) wire: Wire,
    pub(super) json: OnceLock<Value>,
}

/// `/v1/messages` of `http://host:1/v1/messages?beta=true`.
pub(super) fn path_of(target: &str) -> String {
    let path = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    };
    path.split(['?', '#']).next().unwrap_or_default().to_owned()
}

impl ModelRequest {
    /// Returns the body, or null if it is not JSON.
    pub fn json(&self) -> &Value {
        self.json.get_or_init(|| serde_json::from_slice(&self.body).unwrap_or_default())
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        http::find(&self.headers, name)
    }

    /// Returns the names of the tools that were offered.
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.json()["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools
            .iter()
            .map(|tool| match self.wire {
                Wire::Messages => text_of(&tool["name"]),
                Wire::Chat => text_of(&tool["function"]["name"]),
            })
            .collect()
    }

    /// Returns the system prompt.
    pub fn system(&self) -> String {
        match self.wire {
            Wire::Messages => texts(&self.json()["system"]),
            Wire::Chat => {
                let messages = self.messages().iter().filter(|message| is_system(message));
                messages.map(|message| texts(&message["content"])).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Returns what the model is told since it last spoke, the same text on both wires:
    /// `user: ...`, `tool_result c1: ...`, one after another. On Chat these are several
    /// messages.
    pub fn last_message(&self) -> String {
        let messages = self.messages();
        let spoke = messages.iter().rposition(|message| message["role"] == "assistant");
        let news = match spoke {
            Some(last) if last + 1 == messages.len() => &messages[last..],
            Some(last) => &messages[last + 1..],
            None => messages,
        };
        let mut lines = Vec::new();
        for message in news.iter().filter(|message| !is_system(message)) {
            describe(message, &mut lines);
        }
        lines.join("\n")
    }

    fn messages(&self) -> &[Value] {
        self.json()["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

fn describe(message: &Value, lines: &mut Vec<String>) {
    let role = text_of(&message["role"]);
    if role == "tool" {
        lines.push(format!("tool_result {}: {}", text_of(&message["tool_call_id"]), texts(&message["content"])));
        return;
    }
    match &message["content"] {
        Value::Array(blocks) => lines.extend(blocks.iter().map(|block| part(&role, block))),
        Value::Null => {}
        content => lines.push(format!("{role}: {}", text_of(content))),
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let (id, name, input) = (text_of(&call["id"]), text_of(&function["name"]), text_of(&function["arguments"]));
        lines.push(format!("tool_use {id}: {name} {input}"));
    }
}

/// One block of a message's content.
fn part(role: &str, block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => format!("{role}: {}", text_of(&block["text"])),
        Some("tool_use") => {
            format!("tool_use {}: {} {}", text_of(&block["id"]), text_of(&block["name"]), block["input"])
        }
        Some("tool_result") => {
            let error = if block["is_error"] == true { " (error)" } else { "" };
            format!("tool_result {}{error}: {}", text_of(&block["tool_use_id"]), texts(&block["content"]))
        }
        Some(kind @ ("image" | "document")) => {
            let source = &block["source"];
            picture(kind, &text_of(&source["media_type"]), &text_of(&source["data"]))
        }
        Some("image_url") => {
            let url = text_of(&block["image_url"]["url"]);
            match url.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) {
                Some((media_type, data)) => picture("image", media_type, data),
                None => format!("image {url}"),
            }
        }
        _ => block.to_string(),
    }
}

fn picture(kind: &str, media_type: &str, data: &str) -> String {
    format!("{kind} {media_type}, {} base64 characters", data.len())
}

/// Content that is a string or a list of blocks.
fn texts(content: &Value) -> String {
    match content {
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => part("", block),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => text_of(other),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn a_target_has_one_path() {
        for (target, path) in [
            ("/v1/messages", "/v1/messages"),
            ("/v1/messages?beta=true", "/v1/messages"),
            ("http://127.0.0.1:9/v1/messages", "/v1/messages"),
            ("http://127.0.0.1:9", "/"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(path_of(target), path, "{target}");
        }
    }
}
