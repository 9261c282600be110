//! Texts and names as both wires send them (DEC-032, DEC-033, DEC-090).
//!
//! What a row holds stays as it is; these forms exist on the wire only. All of them
//! are functions of their input, so that equal messages give equal bytes.

use ona_api::digest::sha256_hex;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;

pub(crate) const NO_OUTPUT: &str = "(no output)";

/// OpenAI refuses longer ids of calls.
const MAX_ID: usize = 40;

/// Returns the content of a result: never empty, with the exit code of a failed shell as its last line.
pub(crate) fn result(content: &str, exit_code: Option<i32>) -> Cow<'_, str> {
    let content = if content.is_empty() { NO_OUTPUT } else { content };
    match exit_code {
        None => content.into(),
        Some(code) => {
            let gap = if content.ends_with('\n') { "" } else { "\n" };
            format!("{content}{gap}[exit code {code}]").into()
        }
    }
}

pub(crate) fn hook_context(text: &str) -> String {
    format!("<hook-context>\n{text}\n</hook-context>")
}

/// Returns the text in place of an image or document that the model does not accept.
pub(crate) fn omitted_media(kind: &str, media_type: &str, data: &str) -> String {
    format!("[{kind} {media_type}, {} bytes, not shown: this model takes no such input]", data.len() / 4 * 3)
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns the id of a call in the characters and length every provider takes. A session may
/// hold ids of another provider, or of a server with ideas of its own.
pub(crate) fn call_id(id: &str) -> Cow<'_, str> {
    if id.is_empty() || id.len() > MAX_ID {
        return format!("call_{}", &sha256_hex(id.as_bytes())[..32]).into();
    }
    in_name_characters(id)
}

/// Returns the name of a called tool; a model can make one up that no provider takes back.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    if name.is_empty() { "unknown".into() } else { in_name_characters(name) }
}

/// Letters, digits, `_` and `-`; anything else becomes `_` and its hexadecimal code.
fn in_name_characters(text: &str) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if text.bytes().all(fits) {
        return text.into();
    }
    let escaped = text.bytes().fold(String::new(), |mut escaped, byte| {
        if fits(byte) {
            escaped.push(byte as char);
        } else {
            write!(escaped, "_{byte:02x}").expect("writing to a String cannot fail");
        }
        escaped
    });
    escaped.into()
}

/// Returns the input of a call; providers take objects only.
pub(crate) fn input(input: &Value) -> Cow<'_, Value> {
    if input.is_object() { Cow::Borrowed(input) } else { Cow::Owned(json!({"_raw": input})) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_never_empty_and_tells_the_exit_code_last() {
        for (content, exit_code, expected) in [
            ("a", None, "a"),
            ("", None, "(no output)"),
            ("", Some(1), "(no output)\n[exit code 1]"),
            ("a", Some(2), "a\n[exit code 2]"),
            ("a\n", Some(-1), "a\n[exit code -1]"),
        ] {
            assert_eq!(result(content, exit_code), expected);
        }
    }

    #[test]
    fn ids_and_names_fit_every_provider_and_stay_distinct() {
        assert_eq!(call_id("toolu_01-A"), "toolu_01-A");
        assert_eq!(call_id("functions.Bash:0"), "functions_2eBash_3a0");
        assert_eq!(call_id("").len(), 37);
        assert_eq!(call_id(&"x".repeat(41)).len(), 37);
        assert_ne!(call_id(&"x".repeat(41)), call_id(&"x".repeat(42)));
        assert_eq!(tool_name("mcp__s__t"), "mcp__s__t");
        assert_eq!(tool_name("a.ü"), "a_2e_c3_bc");
        assert_eq!(tool_name(""), "unknown");
    }
}
