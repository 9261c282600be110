//! What hooks make of a result after the tool has run (DEC-154, DEC-172). Pure.

use ona_api::ToolResult;
use ona_api::tool::ResultClass;
use ona_hookplane::{HookOutcome, Injection};

/// The result the model gets and, if hooks changed it, the one the tool gave.
pub(crate) fn apply(tool: &str, result: ToolResult, outcome: &HookOutcome) -> (ToolResult, Option<ToolResult>) {
    let mut amended = result.clone();
    if let Some(output) = other_output(tool, &result, outcome) {
        amended.content = output;
    }
    if let Some((_, change)) = &outcome.result {
        if let Some(content) = &change.content {
            amended.content.clone_from(content);
        }
        match change.is_error {
            Some(true) if !amended.is_error() => amended.class = ResultClass::Rejected,
            Some(false) => amended.class = ResultClass::Success,
            Some(true) | None => {}
        }
    }
    for (_, injection) in &outcome.injected {
        if let Injection::ToolResult(text) = injection {
            amended.content.push('\n');
            amended.content.push_str(text);
        }
    }
    let changed = amended != result;
    (amended, changed.then_some(result))
}

/// What a hook put in the place of an MCP tool's output; the last one is heard (Appendix B).
fn other_output(tool: &str, result: &ToolResult, outcome: &HookOutcome) -> Option<String> {
    if !tool.starts_with("mcp__") || result.is_error() {
        return None;
    }
    let given = outcome.specific.iter().rev().find_map(|(_, fields)| fields.get("updatedMCPToolOutput"));
    given.filter(|output| !output.is_null()).map(ona_mcp::output_text)
}

/// The texts that follow the result as words of the user, in ordinal order.
pub(crate) fn user_messages(outcome: &HookOutcome) -> impl Iterator<Item = &str> {
    outcome.injected.iter().filter_map(|(_, injection)| match injection {
        Injection::UserMessage(text) => Some(text.as_str()),
        Injection::ToolResult(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::Ordinal;
    use ona_hookplane::ResultChange;

    fn outcome(result: Option<ResultChange>, injected: Vec<Injection>) -> HookOutcome {
        HookOutcome {
            result: result.map(|change| (Ordinal(0), change)),
            injected: injected.into_iter().map(|one| (Ordinal(1), one)).collect(),
            ..HookOutcome::default()
        }
    }

    #[test]
    fn nothing_said_leaves_the_result_alone() {
        let (result, original) = apply("Bash", ToolResult::success("out"), &HookOutcome::default());
        assert_eq!((result.content.as_str(), original), ("out", None));
    }

    #[test]
    fn injections_follow_a_replaced_content_in_order() {
        let change = ResultChange { content: Some("other".into()), is_error: Some(true) };
        let injected = vec![
            Injection::ToolResult("A".into()),
            Injection::UserMessage("U".into()),
            Injection::ToolResult("B".into()),
        ];
        let outcome = outcome(Some(change), injected);
        let (result, original) = apply("Bash", ToolResult::success("out"), &outcome);
        assert_eq!((result.content.as_str(), result.is_error()), ("other\nA\nB", true));
        assert_eq!(original.map(|one| one.content), Some("out".to_owned()));
        assert_eq!(user_messages(&outcome).collect::<Vec<_>>(), ["U"]);
    }

    #[test]
    fn only_the_output_of_an_mcp_tool_that_succeeded_is_replaced() {
        let fields =
            |value: serde_json::Value| serde_json::Map::from_iter([("updatedMCPToolOutput".to_owned(), value)]);
        let outcome = HookOutcome {
            specific: vec![(Ordinal(0), fields("first".into())), (Ordinal(1), fields("last".into()))],
            ..HookOutcome::default()
        };
        let amended = |tool, result| apply(tool, result, &outcome).0.content;
        assert_eq!(amended("mcp__s__t", ToolResult::success("out")), "last");
        assert_eq!(amended("Bash", ToolResult::success("out")), "out");
        assert_eq!(amended("mcp__s__t", ToolResult::rejected("no")), "no");
    }
}
