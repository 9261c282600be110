//! The content of a user message on stdin: text, images, documents.

use ona_api::digest::from_base64;
use ona_orchestration::UserPrompt;
use serde_json::Value;

/// Returns the prompt, or `None` if it is empty, and a sentence for every block that cannot be used.
pub(crate) fn parse_content(content: &Value) -> (Option<UserPrompt>, Vec<String>) {
    let mut said = UserPrompt::default();
    let mut problems = Vec::new();
    match content {
        Value::String(text) => said.text.clone_from(text),
        Value::Array(blocks) => {
            let mut texts = Vec::new();
            for block in blocks {
                match block["type"].as_str() {
                    Some("text") => texts.extend(block["text"].as_str()),
                    Some(kind @ ("image" | "document")) => match bytes(&block["source"]) {
                        Ok(bytes) => said.pictures.push(bytes),
                        Err(why) => problems.push(format!("a block of type {kind} is ignored: {why}")),
                    },
                    other => {
                        let kind = other.unwrap_or("unknown");
                        problems.push(format!("a block of type {kind} is ignored"));
                    }
                }
            }
            said.text = texts.join("\n");
        }
        _ => {}
    }
    let empty = said.text.trim().is_empty() && said.pictures.is_empty();
    ((!empty).then_some(said), problems)
}

fn bytes(source: &Value) -> Result<Vec<u8>, &'static str> {
    match source["type"].as_str() {
        Some("base64") => source["data"].as_str().and_then(from_base64).ok_or("its data is not base64"),
        Some("url") => Err("only base64 data is accepted, nothing is fetched"),
        _ => Err("its source is not base64 data"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn blocks_become_words_and_bytes() {
        let (said, problems) = super::parse_content(&json!([
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
            problems,
            [
                "a block of type image is ignored: only base64 data is accepted, nothing is fetched",
                "a block of type document is ignored: its data is not base64",
                "a block of type tool_result is ignored",
            ]
        );
        for nothing in [json!(null), json!(""), json!(" \n"), json!([]), json!([{"type": "text", "text": ""}])] {
            assert!(super::parse_content(&nothing).0.is_none(), "{nothing}");
        }
    }
}
