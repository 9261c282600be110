//! Server-sent events as bytes.

use serde_json::Value;

/// One event of a streamed reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServerSentEvent {
    pub name: Option<&'static str>,
    pub data: String,
    /// A piece of content, by which tests count.
    pub delta: bool,
}

impl ServerSentEvent {
    pub(crate) fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string(), delta: false }
    }

    pub(crate) fn unnamed(data: impl ToString) -> Self {
        Self { name: None, data: data.to_string(), delta: false }
    }

    pub(crate) fn delta(self) -> Self {
        Self { delta: true, ..self }
    }

    pub(crate) fn bytes(&self, sloppy: bool) -> Vec<u8> {
        let (end, colon) = if sloppy { ("\r\n", ":") } else { ("\n", ": ") };
        let mut text = String::new();
        if sloppy {
            text += ": scripted\r\nretry:3000\r\n";
        }
        if let Some(name) = self.name {
            text += &format!("event{colon}{name}{end}");
        }
        text += &format!("data{colon}{}{end}{end}", self.data);
        text.into_bytes()
    }

    /// Returns the event up to the middle of its data.
    pub(crate) fn half(&self, sloppy: bool) -> Vec<u8> {
        let mut bytes = self.bytes(sloppy);
        bytes.truncate(bytes.len() - self.data.len().div_ceil(2) - 2);
        bytes
    }
}
