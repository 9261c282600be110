//! A short message from the model to the operator (DEC-134).
//!
//! The tool only checks the text and returns it: the front that runs the session shows it,
//! because only a front knows where the operator reads.

use crate::{Tool, ToolContext};
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Maximum length of a message, in characters.
const MAX_CHARS: usize = 4000;

pub(crate) struct BriefTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BriefInput {
    /// The message, at most 4000 characters.
    #[schemars(length(min = 1, max = 4000))]
    text: String,
    /// A few words above it.
    title: Option<String>,
}

impl Tool for BriefTool {
    type Input = BriefInput;
    const NAME: &'static str = "Brief";
    const DESCRIPTION: &'static str = "Shows the operator a short message at once, while the work goes on: a finding, \
        a change of plan, progress of long work. It is not an answer to the prompt and nobody replies to it.";

    fn access(&self, _: &BriefInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: BriefInput, _: &ToolContext) -> ToolResult {
        if input.text.trim().is_empty() {
            return ToolResult::rejected("text is empty.");
        }
        let length = input.text.chars().count();
        if length > MAX_CHARS {
            return ToolResult::rejected(format!("text has {length} characters; at most {MAX_CHARS} are shown."));
        }
        ToolResult::success(&input.text).data(json!({"text": input.text, "title": input.title}))
    }
}

/// Returns what the operator is shown of a result of Brief: title and message.
pub fn brief_message(result: &ToolResult) -> String {
    match result.data.get("title").and_then(|title| title.as_str()).map(str::trim) {
        None | Some("") => result.content.clone(),
        Some(title) => format!("{title}\n{}", result.content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_stands_above_the_message() {
        let result = |title: &str| ToolResult::success("words").data(json!({"title": title}));
        assert_eq!(brief_message(&result("News")), "News\nwords");
        assert_eq!(brief_message(&result(" ")), "words");
        assert_eq!(brief_message(&ToolResult::success("words")), "words");
    }
}
