//! Tool calls and results: the input of handlers and the effect of their results. Pure.

use super::emitter::failure;
use super::truthy;
use crate::module::CallOutcome;
use serde_json::{Map, Value, json};

pub const BLOCKED: &str = "Tool execution was blocked by a hook";

/// Returns the name and input of a call as hooks of this dialect know them (DEC-172).
pub fn presented(tool: &str, input: &Value) -> (String, Value) {
    // Tools of servers and modules are known by their own names.
    if !ona_api::tool::BUILTINS.contains(&tool) {
        return (tool.to_owned(), input.clone());
    }
    let aliases: &[(&str, &str)] = match tool {
        "Read" | "Write" => &[("path", "file_path")],
        "Edit" => &[
            ("path", "file_path"),
            ("old_text", "old_string"),
            ("oldText", "old_string"),
            ("new_text", "new_string"),
            ("newText", "new_string"),
            ("all", "replace_all"),
        ],
        "NotebookEdit" => &[("path", "notebook_path")],
        "Grep" => &[("i", "-i")],
        "WebFetch" => &[("path", "url")],
        _ => &[],
    };
    let Value::Object(given) = input else { return (tool.to_lowercase(), input.clone()) };
    let mut shown = Map::new();
    for (alias, key) in aliases {
        if let (Some(value), false) = (given.get(*key), given.contains_key(*alias)) {
            shown.insert((*alias).to_owned(), value.clone());
        }
    }
    shown.extend(given.clone());
    // Ours counts milliseconds.
    if let (Some(ms), "Bash") = (given.get("timeout").and_then(Value::as_f64), tool) {
        shown.insert("timeout".into(), json!(ms / 1000.0));
    }
    (tool.to_lowercase(), Value::Object(shown))
}

/// A call as a module sees it (DEC-187).
#[derive(Clone, Copy, Debug)]
pub struct ToolCallView<'a> {
    pub tool: &'a str,
    pub call: &'a str,
    /// As the model wrote it, or as the hook before left it.
    pub written: &'a Value,
    /// Under our own key names, paths absolute.
    pub input: &'a Value,
    /// The absolute path of what the call is about, if that is a file or folder.
    pub resolved: Option<&'a str>,
}

impl ToolCallView<'_> {
    /// Returns the fields of every event about it.
    fn event(&self, kind: &str) -> Value {
        let mut input = self.written.clone();
        // What was left out has its default, and a key written under another name is there under
        // ours as well: a guard that looks for `path` must find one.
        if let (Value::Object(shown), Value::Object(ours)) = (&mut input, self.input) {
            for (key, value) in ours {
                shown.entry(key).or_insert_with(|| value.clone());
            }
        }
        let (name, input) = presented(self.tool, &input);
        let mut event = json!({"type": kind, "toolName": name, "toolCallId": self.call, "input": input});
        if let Some(path) = self.resolved {
            event["resolvedPath"] = path.into();
        }
        event
    }
}

pub fn call_event(told: ToolCallView<'_>) -> Value {
    told.event("tool_call")
}

/// After a success: `response` is the tool's own answer with `content` and `is_error`.
pub fn result_event(told: ToolCallView<'_>, response: &Value) -> Value {
    let content = match &response["content"] {
        Value::String(text) => json!([{"type": "text", "text": text}]),
        other => other.clone(),
    };
    let mut event = told.event("tool_result");
    event["content"] = content;
    event["isError"] = false.into();
    if let Some(details) = response.get("details").filter(|_| !ona_api::tool::BUILTINS.contains(&told.tool)) {
        event["details"] = details.clone();
    } else if let Value::Object(fields) = response {
        let own = fields.iter().filter(|(key, _)| !matches!(key.as_str(), "content" | "is_error"));
        event["details"] = Value::Object(own.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    event
}

/// After a failure: the error's text, and nothing that could be overridden.
pub fn failure_event(told: ToolCallView<'_>, error: &str) -> Value {
    let mut event = told.event("tool_result");
    event["content"] = json!([{"type": "text", "text": error}]);
    event["isError"] = true.into();
    event
}

/// Returns why a call must not run; `None` if the handler lets it pass.
pub fn block(answer: &CallOutcome) -> Option<String> {
    match answer {
        CallOutcome::Returned(None) => None,
        CallOutcome::Returned(Some(value)) => {
            let reason = value["reason"].as_str().filter(|reason| !reason.is_empty()).unwrap_or(BLOCKED);
            truthy(&value["block"]).then(|| reason.to_owned())
        }
        CallOutcome::Threw { message, is_error: true } => Some(message.clone()),
        CallOutcome::Threw { message, is_error: false } => Some(format!("Hook failed, blocking execution: {message}")),
        CallOutcome::TimedOut(_) | CallOutcome::Overrun(_) | CallOutcome::Lost(_) | CallOutcome::Cancelled => {
            failure(answer)
        }
    }
}

/// A result handler's replacement for the result of a successful tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Override {
    pub content: Option<String>,
    pub details: Option<Value>,
}

/// A truthy result replaces the result of earlier handlers as a whole.
pub fn replacement(returned: Option<&Value>) -> Option<Override> {
    let value = returned.filter(|value| truthy(value))?;
    let content = match &value["content"] {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => Some(text_of(blocks)),
        _ => None,
    };
    Some(Override { content, details: value.get("details").filter(|one| !one.is_null()).cloned() })
}

/// Returns the text blocks, a line break between them.
fn text_of(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter(|one| one["type"] == "text").filter_map(|one| one["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(value: Value) -> CallOutcome {
        CallOutcome::Returned(Some(value))
    }

    /// OM-18, OM-19, OM-28 and what counts as true.
    #[test]
    fn a_call_is_blocked_by_a_true_block_and_by_every_failure() {
        let error = |message: &str, is_error| CallOutcome::Threw { message: message.into(), is_error };
        let cases = [
            (returned(json!({"block": true, "reason": "no"})), Some("no")),
            (returned(json!({"block": "yes"})), Some(BLOCKED)),
            (returned(json!({"block": true, "reason": ""})), Some(BLOCKED)),
            (returned(json!({"reason": "x"})), None),
            (returned(json!({"block": 0})), None),
            (returned(json!("block")), None),
            (CallOutcome::Returned(None), None),
            (error("bad", true), Some("bad")),
            (error("bad", false), Some("Hook failed, blocking execution: bad")),
            (CallOutcome::Overrun(crate::Overrun::Cpu), Some("the module was stopped: it used up its CPU time")),
        ];
        for (answer, reason) in cases {
            assert_eq!(block(&answer).as_deref(), reason, "{answer:?}");
        }
    }

    /// OM-X12: both spellings are there.
    #[test]
    fn inputs_have_the_keys_of_both_worlds() {
        let (name, input) = presented("Edit", &json!({"file_path": "/a", "old_string": "x", "new_string": "y"}));
        assert_eq!(name, "edit");
        assert_eq!(
            [&input["path"], &input["file_path"], &input["oldText"], &input["new_string"]],
            ["/a", "/a", "x", "y"]
        );
        assert_eq!(presented("Bash", &json!({"command": "ls", "timeout": 1500})).1["timeout"], 1.5);
        assert_eq!(presented("mcp__Server__Tool", &json!({})).0, "mcp__Server__Tool");
    }

    /// DEC-187
    #[test]
    fn an_input_is_told_as_it_was_written() {
        let ours = json!({"file_path": "/p/src/a.rs"});
        let told = |written: &Value| {
            call_event(ToolCallView { tool: "Read", call: "c", written, input: &ours, resolved: Some("/p/src/a.rs") })
        };
        let event = told(&json!({"file_path": "src/a.rs"}));
        assert_eq!(event["input"], json!({"path": "src/a.rs", "file_path": "src/a.rs"}));
        assert_eq!(event["resolvedPath"], "/p/src/a.rs");
        let renamed = told(&json!({"filePath": "src/a.rs"}));
        assert_eq!(
            renamed["input"],
            json!({"path": "/p/src/a.rs", "filePath": "src/a.rs", "file_path": "/p/src/a.rs"})
        );
    }

    /// OM-21: what is not said stays.
    #[test]
    fn an_override_has_the_parts_the_handler_gave() {
        let blocks =
            json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]});
        assert_eq!(replacement(Some(&blocks)), Some(Override { content: Some("a\nb".into()), details: None }));
        assert_eq!(
            replacement(Some(&json!({"details": {"n": 1}, "isError": true}))),
            Some(Override { content: None, details: Some(json!({"n": 1})) })
        );
        assert_eq!(
            [replacement(None), replacement(Some(&json!(null))), replacement(Some(&json!(0)))],
            [None, None, None]
        );
    }
}
