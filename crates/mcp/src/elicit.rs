//! Elicitation: questions of a server to the user while it works on a call.

use ona_tools::BoxFuture;
use serde_json::{Map, Value, json};

/// One question (Appendix A, Elicitation).
#[derive(Clone, Debug, PartialEq)]
pub struct Elicitation {
    pub server: String,
    pub message: String,
    /// `form` or `url`.
    pub mode: Option<String>,
    pub url: Option<String>,
    pub id: Option<String>,
    pub schema: Option<Value>,
}

impl Elicitation {
    /// As the protocol says it.
    pub(crate) fn read(server: &str, params: &Value) -> Self {
        let text = |name: &str| params[name].as_str().map(str::to_owned);
        let mode = text("mode").or_else(|| params.get("requestedSchema").map(|_| "form".to_owned()));
        Self {
            server: server.to_owned(),
            message: text("message").unwrap_or_default(),
            mode: mode.filter(|mode| mode == "form" || mode == "url"),
            url: text("url"),
            id: text("elicitationId"),
            schema: params.get("requestedSchema").filter(|schema| schema.is_object()).cloned(),
        }
    }

    /// Returns the fields for hooks and programs, in the order of Appendix A.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("mcp_server_name".into(), self.server.clone().into());
        fields.insert("message".into(), self.message.clone().into());
        let optional = [("mode", &self.mode), ("url", &self.url), ("elicitation_id", &self.id)];
        for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))) {
            fields.insert(name.into(), value.into());
        }
        if let Some(schema) = &self.schema {
            fields.insert("requested_schema".into(), schema.clone());
        }
        fields
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElicitAction {
    Accept,
    Decline,
    Cancel,
}

impl ElicitAction {
    pub fn as_str(self) -> &'static str {
        match self {
            ElicitAction::Accept => "accept",
            ElicitAction::Decline => "decline",
            ElicitAction::Cancel => "cancel",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [ElicitAction::Accept, ElicitAction::Decline, ElicitAction::Cancel]
            .into_iter()
            .find(|action| action.as_str() == name)
    }
}

/// The answer for the server.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitAnswer {
    pub action: ElicitAction,
    pub content: Option<Map<String, Value>>,
}

impl ElicitAnswer {
    pub fn declined() -> Self {
        Self { action: ElicitAction::Decline, content: None }
    }

    /// `{action, content?}` as hooks and programs give it; `None` if it names no action.
    pub fn read(fields: &Map<String, Value>) -> Option<Self> {
        let action = ElicitAction::named(fields.get("action")?.as_str()?)?;
        Some(Self { action, content: fields.get("content").and_then(Value::as_object).cloned() })
    }

    /// As the protocol says it: content belongs to an accept alone.
    pub(crate) fn result(&self) -> Value {
        match (&self.content, self.action) {
            (Some(content), ElicitAction::Accept) => json!({"action": "accept", "content": content}),
            (_, action) => json!({"action": action.as_str()}),
        }
    }
}

/// Answers elicitations. The call that led to the question waits as long as this takes.
pub trait ElicitHandler: Send + Sync {
    fn answer(&self, asked: Elicitation) -> BoxFuture<'_, ElicitAnswer>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elicitation_has_the_field_order_of_appendix_a() {
        let asked = Elicitation::read("s", &json!({"requestedSchema": {"type": "object"}, "message": "who?"}));
        let told = Value::Object(asked.fields()).to_string();
        assert_eq!(
            told,
            r#"{"mcp_server_name":"s","message":"who?","mode":"form","requested_schema":{"type":"object"}}"#
        );
        let asked =
            Elicitation::read("s", &json!({"mode": "url", "url": "https://x", "elicitationId": "e", "message": "m"}));
        let told = Value::Object(asked.fields()).to_string();
        assert_eq!(
            told,
            r#"{"mcp_server_name":"s","message":"m","mode":"url","url":"https://x","elicitation_id":"e"}"#
        );
    }

    #[test]
    fn content_belongs_to_an_accept() {
        let answered = |value: Value| ElicitAnswer::read(value.as_object().unwrap()).map(|answered| answered.result());
        assert_eq!(
            answered(json!({"action": "accept", "content": {"a": 1}})),
            Some(json!({"action": "accept", "content": {"a": 1}}))
        );
        assert_eq!(answered(json!({"action": "decline", "content": {"a": 1}})), Some(json!({"action": "decline"})));
        assert_eq!(answered(json!({"action": "maybe"})), None);
        assert_eq!(answered(json!({})), None);
    }
}
