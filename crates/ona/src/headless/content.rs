//! The content of a user message on stdin: words, pictures, documents.

use ona_api::digest::from_base64;
use ona_orchestration::UserPrompt;
use serde_json::Value;

/// What was said, and a sentence for every block that can not be used. `None` if nothing is left.
pub fn said(content: &Value) -> (Option<UserPrompt>, Vec<String>) {
    let mut said = UserPrompt::default();
    let mut complaints = Vec::new();
    match content {
        Value::String(text) => said.text.clone_from(text),
        Value::Array(blocks) => {
            let mut texts = Vec::new();
            for block in blocks {
                match block["type"].as_str() {
                    Some("text") => texts.extend(block["text"].as_str()),
                    Some(kind @ ("image" | "document")) => match bytes(&block["source"]) {
                        Ok(bytes) => said.pictures.push(bytes),
                        Err(why) => complaints.push(format!("a block of type {kind} is left out: {why}")),
                    },
                    other => {
                        let kind = other.unwrap_or("unknown");
                        complaints.push(format!("a block of type {kind} is left out"));
                    }
                }
            }
            said.text = texts.join("\n");
        }
        _ => {}
    }
    let empty = said.text.trim().is_empty() && said.pictures.is_empty();
    ((!empty).then_some(said), complaints)
}

fn bytes(source: &Value) -> Result<Vec<u8>, &'static str> {
    match source["type"].as_str() {
        Some("base64") => source["data"].as_str().and_then(from_base64).ok_or("its data is not base64"),
        Some("url") => Err("only base64 data is taken, nothing is fetched"),
        _ => Err("its source is not base64 data"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn blocks_become_words_and_bytes() {
        let (said, complaints) = super::said(&json!([
            {"type": "text", "text": "a"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "Zm9v"}},
            {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/"}},
            {"type": "document", "source": {"type": "base64", "data": "%%"}},
            {"type": "text", "text": "b"},
            {"type": "tool_result"},
        ]));
        let said = said.unwrap();
        assert_eq!((said.text.as_str(), said.pictures), ("a\nb", vec![b"foo".to_vec()]));
        assert_eq!(
            complaints,
            [
                "a block of type image is left out: only base64 data is taken, nothing is fetched",
                "a block of type document is left out: its data is not base64",
                "a block of type tool_result is left out",
            ]
        );
        for nothing in [json!(null), json!(""), json!(" \n"), json!([]), json!([{"type": "text", "text": ""}])] {
            assert!(super::said(&nothing).0.is_none(), "{nothing}");
        }
    }
}
