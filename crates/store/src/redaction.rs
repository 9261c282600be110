//! Removes credentials from a column value (DEC-016) and keeps JSON well-formed.
//!
//! JSON is redacted string by string, not as text; see `Redactor::apply_to_json`.

use ona_api::Redactor;
use serde_json::Value;
use std::borrow::Cow;

/// Redacts a text column. Text that is a JSON object or array stays one.
pub(crate) fn text<'t>(redactor: &Redactor, text: &'t str) -> Cow<'t, str> {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(parsed) = serde_json::from_str::<Value>(text)
    {
        let mut clean = parsed.clone();
        redactor.apply_to_json(&mut clean);
        if clean != parsed {
            return Cow::Owned(clean.to_string());
        }
    }
    redactor.apply(text)
}

/// Redacts a JSON column and serialises it compactly (DEC-031).
pub(crate) fn json(redactor: &Redactor, value: &Value) -> String {
    let mut clean = value.clone();
    redactor.apply_to_json(&mut clean);
    clean.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor() -> Redactor {
        Redactor::new([("OPENAI_API_KEY", "hunter2hunter2"), ("PIN", "123456789")])
    }

    #[test]
    fn json_is_redacted_in_keys_strings_and_numbers() {
        let value = json!({"hunter2hunter2": ["a hunter2hunter2 b", {"n": 123456789, "m": 12345678}], "b": null});
        assert_eq!(
            json(&redactor(), &value),
            r#"{"[REDACTED:OPENAI_API_KEY]":["a [REDACTED:OPENAI_API_KEY] b",{"n":"[REDACTED:PIN]","m":12345678}],"b":null}"#
        );
    }

    #[test]
    fn a_header_inside_quotes_leaves_json_whole() {
        let value = json!({"command": "curl -H \"Authorization: Bearer abc\" x"});
        let expected = r#"{"command":"curl -H \"[REDACTED:authorization]\" x"}"#;
        assert_eq!(json(&redactor(), &value), expected);
        assert_eq!(text(&redactor(), &value.to_string()), expected);
    }

    #[test]
    fn a_header_broken_over_two_lines_is_found_in_json() {
        let value = json!(["Authorization:\n Bearer abc"]);
        assert_eq!(text(&redactor(), &value.to_string()), r#"["[REDACTED:authorization]"]"#);
    }

    #[test]
    fn text_without_credentials_keeps_its_spelling() {
        for same in ["{ \"a\" : 1.0e2 }", "[1,\n2]", "plain", ""] {
            assert_eq!(text(&redactor(), same), same);
        }
    }
}
