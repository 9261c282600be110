//! Paths as tools name them: absolute and lexically normalised, links untouched.
//!
//! Rules judge the same path that is opened, which is why `..` is resolved here,
//! on the text, and not by the file system.

use crate::ToolContext;
use ona_api::path::lexical;
use serde_json::Value;
use std::path::PathBuf;

/// `~` is the home directory; anything relative starts at the session's directory.
pub fn absolute(text: &str, cx: &ToolContext) -> PathBuf {
    let path = match text.strip_prefix('~') {
        Some("") => cx.home.clone(),
        Some(rest) if rest.starts_with('/') => cx.home.join(rest.trim_start_matches('/')),
        _ => cx.cwd.join(text),
    };
    lexical(&path)
}

/// Makes the path under `key` absolute. What is not a string is left alone.
pub(crate) fn absolutise(input: &mut Value, key: &str, cx: &ToolContext) {
    if let Some(Value::String(text)) = input.get_mut(key) {
        // A directory that is not UTF-8 cannot be named in JSON; what this names then does not exist.
        *text = absolute(text, cx).to_string_lossy().into_owned();
    }
}
