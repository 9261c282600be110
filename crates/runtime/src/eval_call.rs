//! The calls that `--eval` is given, as JSON values (DEC-100).

use crate::failure::Failure;
use ona_api::{CallId, ConversationId, SessionId, digest};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A call that the operator typed, and what it says about where it belongs.
#[derive(Debug)]
pub struct EvalCall {
    pub tool: String,
    pub input: Value,
    pub conversation: Option<ConversationId>,
    pub session: Option<SessionId>,
    pub call: Option<CallId>,
    pub cwd: Option<PathBuf>,
}

/// One conversation per directory, so that calls typed there share a phase.
pub fn own_conversation(cwd: &Path) -> ConversationId {
    let digest = digest::sha256_hex(cwd.as_os_str().as_encoded_bytes());
    ConversationId(format!("eval:{}", &digest[..12]))
}

const SHAPE: &str = r#"ona --eval '{"tool":"Read","input":{"file_path":"README.md"}}'"#;

/// Reads one or more JSON values, one after another; paths in them begin at `cwd`.
pub fn parse(text: &str, cwd: &Path) -> Result<Vec<EvalCall>, Failure> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let values =
        values.map_err(|error| Failure::usage(format_args!("the call is not valid JSON: {error}")).hint(SHAPE))?;
    if values.is_empty() {
        return Err(Failure::usage("no call to evaluate").hint(SHAPE));
    }
    values.into_iter().map(|value| request(value, cwd)).collect()
}

fn request(value: Value, cwd: &Path) -> Result<EvalCall, Failure> {
    let wrong = |what: &str| Failure::usage(format_args!("the call {what}")).hint(SHAPE);
    let Value::Object(mut object) = value else {
        return Err(wrong("must be a JSON object"));
    };
    let mut text = |key: &str| match object.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(wrong(&format!("has a {key:?} that is not a non-empty string"))),
    };
    let request = EvalCall {
        tool: text("tool")?.ok_or_else(|| wrong("has no \"tool\""))?,
        conversation: text("conversation_id")?.map(Into::into),
        session: text("session_id")?.map(Into::into),
        call: text("tool_use_id")?.map(Into::into),
        cwd: text("cwd")?.map(|dir| cwd.join(dir)),
        input: object.shift_remove("input").ok_or_else(|| wrong("has no \"input\""))?,
    };
    match object.keys().next() {
        None => Ok(request),
        Some(key) => Err(wrong(&format!("has the unknown key {key:?}"))),
    }
}
