//! Finds tools by name and description (DEC-139).

use crate::ToolContext;
use crate::tool::Tool;
use crate::toolbox::ToolBox;
use ona_api::tool::canonical;
use ona_api::{Access, ToolResult, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many are shown by default.
const USUAL: usize = 5;

/// Looks through a box of tools: its own copy, which sees what servers add later.
pub struct ToolSearchTool(pub ToolBox);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolSearchInput {
    /// Words to look for, or `select:NAME,NAME` for exactly those tools.
    query: String,
    /// How many tools to return at most; 5 if left out.
    max_results: Option<crate::Count>,
}

impl Tool for ToolSearchTool {
    type Input = ToolSearchInput;
    const NAME: &'static str = "ToolSearch";
    const DESCRIPTION: &'static str = "Finds tools, built-in or of MCP servers, by words of their name and description and \
        returns each with its input schema. `select:A,B` returns exactly the tools of these names.";

    fn access(&self, _: &ToolSearchInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: ToolSearchInput, _: &ToolContext) -> ToolResult {
        self.0.refresh().await;
        let all = self.0.specs();
        let query = input.query.trim();
        if query.is_empty() {
            return ToolResult::rejected("The query is empty.");
        }
        let found = match query.strip_prefix("select:") {
            Some(names) => match selected(&all, names) {
                Ok(found) => found,
                Err(unknown) => return ToolResult::rejected(format!("Unknown tool {unknown}.")),
            },
            None => ranked(&all, query, input.max_results.map_or(USUAL, crate::Count::get).max(1)),
        };
        if found.is_empty() {
            return ToolResult::success(format!("No tool fits {query:?}.")).data(json!({"matches": []}));
        }
        let names: Vec<_> = found.iter().map(|tool| tool.name.clone()).collect();
        let shown: Vec<Value> = found
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}))
            .collect();
        let lines: Vec<_> = shown.iter().map(Value::to_string).collect();
        ToolResult::success(lines.join("\n")).data(json!({ "matches": names }))
    }
}

fn selected<'a>(all: &'a [ToolSpec], names: &str) -> Result<Vec<&'a ToolSpec>, String> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| all.iter().find(|tool| tool.name == canonical(name)).ok_or_else(|| name.to_owned())).collect()
}

/// Returns the best matches first; equal ones keep the order of the list.
fn ranked<'a>(all: &'a [ToolSpec], query: &str, most: usize) -> Vec<&'a ToolSpec> {
    let words: Vec<String> = query.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let words: Vec<_> = words.iter().filter(|word| !word.is_empty()).map(String::as_str).collect();
    let mut scored: Vec<_> = all.iter().map(|tool| (score(tool, query, &words), tool)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(most).map(|(_, tool)| tool).collect()
}

/// Scores a tool. An exact name ranks above all; a word of the name above one of the description.
fn score(tool: &ToolSpec, query: &str, words: &[&str]) -> usize {
    if tool.name.eq_ignore_ascii_case(query) {
        return usize::MAX;
    }
    let name = tool.name.to_lowercase();
    let parts = parts(&tool.name);
    let description = tool.description.to_lowercase();
    let described: Vec<_> = description.split(|c: char| !c.is_alphanumeric()).collect();
    let of_word = |word: &&str| match () {
        () if parts.iter().any(|part| part == word) => 8,
        () if name.contains(word) => 4,
        () if described.contains(word) => 2,
        () if description.contains(word) => 1,
        () => 0,
    };
    words.iter().map(of_word).sum()
}

/// `NotebookEdit` and `notebook_edit` have the same two words.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
            parts.push(String::new());
        }
        if c.is_alphanumeric() {
            parts.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        before = c;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let tool = |name: &str, words: &str| ToolSpec {
            name: name.into(),
            description: words.into(),
            input_schema: json!({}),
        };
        vec![
            tool("Read", "Reads a file as numbered lines"),
            tool("Grep", "Searches files"),
            tool("Edit", "Replaces text in a file"),
            tool("NotebookEdit", "Changes a cell"),
            tool("mcp__github__list_issues", "Lists issues of a repository"),
            tool("mcp__jira__search", "Searches issues"),
        ]
    }

    fn names(found: Vec<&ToolSpec>) -> Vec<&str> {
        found.into_iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn names_rank_above_descriptions_and_a_pasted_name_above_all() {
        let all = tools();
        for (query, expected) in [
            ("issues", vec!["mcp__github__list_issues", "mcp__jira__search"]),
            ("read", vec!["Read"]),
            ("edit notebook", vec!["NotebookEdit", "Edit"]),
            ("search issues", vec!["mcp__jira__search", "mcp__github__list_issues", "Grep"]),
            ("MCP__jira__search", vec!["mcp__jira__search", "mcp__github__list_issues", "Grep"]),
            ("nothing", vec![]),
        ] {
            assert_eq!(names(ranked(&all, query, 5)), expected, "{query}");
        }
        assert_eq!(names(ranked(&all, "issues", 1)), ["mcp__github__list_issues"]);
    }

    #[test]
    fn a_selection_is_exact() {
        let all = tools();
        assert_eq!(names(selected(&all, "mcp__jira__search, Read").unwrap()), ["mcp__jira__search", "Read"]);
        assert_eq!(selected(&all, "Read,read").unwrap_err(), "read");
    }
}
