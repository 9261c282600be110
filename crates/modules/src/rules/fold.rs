//! How the results of several handlers of one event combine. Pure.

use super::truthy;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventClass {
    /// Results are ignored.
    Notice,
    /// The newest truthy result counts; after `cancel` later handlers do not run.
    Cancellable,
    /// The newest truthy result counts.
    Latest,
    /// The first result with a `message` counts; later handlers still run. The system prompt is
    /// passed from one to the next.
    FirstMessage,
    /// Each handler gets what the one before made of the messages.
    Chain,
    /// Each handler gets what the one before made of the text; after `handled` later handlers
    /// do not run.
    Input,
}

impl EventClass {
    pub fn of(event: &str) -> Self {
        match event {
            "context" => EventClass::Chain,
            "input" => EventClass::Input,
            "before_agent_start" => EventClass::FirstMessage,
            "session.compacting" => EventClass::Latest,
            _ if event.starts_with("session_before_") => EventClass::Cancellable,
            _ => EventClass::Notice,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldFlow {
    Next,
    /// Later handlers do not run.
    Enough,
}

/// Results so far.
#[derive(Clone, Debug)]
pub struct Fold {
    class: EventClass,
    pub result: Option<Value>,
    /// The system prompt as handlers left it, once one has changed it.
    pub system: Option<String>,
}

impl Fold {
    pub fn new(class: EventClass) -> Self {
        Self { class, result: None, system: None }
    }

    /// Adds the return value of a handler.
    pub fn take(&mut self, returned: Option<&Value>) -> FoldFlow {
        let Some(value) = returned.filter(|value| truthy(value)) else { return FoldFlow::Next };
        match self.class {
            EventClass::Notice => {}
            EventClass::Latest => self.result = Some(value.clone()),
            EventClass::Cancellable => {
                self.result = Some(value.clone());
                if truthy(&value["cancel"]) {
                    return FoldFlow::Enough;
                }
            }
            EventClass::FirstMessage => {
                if self.result.is_none() && truthy(&value["message"]) {
                    self.result = Some(value.clone());
                }
            }
            EventClass::Input => {
                if truthy(&value["handled"]) || value["action"] == "handled" {
                    self.result = Some(json!({"handled": true}));
                    return FoldFlow::Enough;
                }
                if let Some(text) = value["text"].as_str() {
                    self.result = Some(json!({ "text": text }));
                }
            }
            EventClass::Chain => {
                if value["messages"].is_array() {
                    self.result = Some(json!({ "messages": value["messages"] }));
                }
            }
        }
        FoldFlow::Next
    }

    /// Adds the system prompt that a `before_agent_start` handler returned.
    pub fn reword(&mut self, returned: Option<&Value>, before: &str) {
        let Some(value) = returned.filter(|_| self.class == EventClass::FirstMessage) else { return };
        let whole = match &value["systemPrompt"] {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => Some(parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n\n")),
            _ => None,
        };
        let more = value["systemPromptAppend"].as_str();
        if whole.is_some() || more.is_some() {
            let so_far = self.system.take().unwrap_or_else(|| before.to_owned());
            let text = whole.unwrap_or(so_far);
            self.system = Some(more.map_or(text.clone(), |more| format!("{text}\n\n{more}")));
        }
    }

    /// Returns the messages for the next handler of a chain, if one has changed them.
    pub fn messages(&self) -> Option<&Value> {
        self.result.as_ref().filter(|_| self.class == EventClass::Chain).map(|result| &result["messages"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(event: &str, results: &[Value]) -> (Option<Value>, usize) {
        let mut fold = Fold::new(EventClass::of(event));
        let mut ran = 0;
        for result in results {
            ran += 1;
            if fold.take(Some(result)) == FoldFlow::Enough {
                break;
            }
        }
        (fold.result, ran)
    }

    /// OM-9, OM-11, OM-31, OM-32, OM-33 and the table of section 10.
    #[test]
    fn every_class_combines_as_its_document_says() {
        let cases = [
            ("agent_end", vec![json!({"cancel": true}), json!(1)], None, 2),
            ("session_before_switch", vec![json!({"cancel": true}), json!({})], Some(json!({"cancel": true})), 1),
            ("session_before_switch", vec![json!({"cancel": "yes"})], Some(json!({"cancel": "yes"})), 1),
            (
                "session_before_branch",
                vec![json!({"skipConversationRestore": true}), json!({"cancel": false})],
                Some(json!({"cancel": false})),
                2,
            ),
            ("session_before_branch", vec![json!({"skipConversationRestore": true}), json!({})], Some(json!({})), 2),
            (
                "session_before_tree",
                vec![json!({"a": 1}), json!(null), json!(0), json!(false)],
                Some(json!({"a": 1})),
                4,
            ),
            (
                "session.compacting",
                vec![json!({"prompt": "a"}), json!({"prompt": "b"})],
                Some(json!({"prompt": "b"})),
                2,
            ),
            ("session.compacting", vec![json!({"cancel": true}), json!({})], Some(json!({})), 2),
            (
                "before_agent_start",
                vec![json!({}), json!({"message": {"n": 1}}), json!({"message": {"n": 2}})],
                Some(json!({"message": {"n": 1}})),
                3,
            ),
            (
                "context",
                vec![json!({"messages": [1]}), json!({"other": 1}), json!("x")],
                Some(json!({"messages": [1]})),
                3,
            ),
        ];
        for (event, results, expected, ran) in cases {
            assert_eq!(folded(event, &results), (expected, ran), "{event} {results:?}");
        }
    }
}
