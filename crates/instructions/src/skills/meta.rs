//! The front matter of a skill, a command or an agent, read as people write it.

use crate::frontmatter;
use serde_json::{Map, Value};

/// The keys of the block and the text after it; what is wrong with the block, if anything.
pub(super) struct SkillPage<'t> {
    keys: Map<String, Value>,
    pub body: &'t str,
    pub wrong: Option<String>,
}

impl<'t> SkillPage<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let Some((block, body)) = frontmatter::block(text) else {
            return Self { keys: Map::new(), body: text.trim_start_matches('\u{feff}'), wrong: None };
        };
        match serde_saphyr::from_str::<Option<Map<String, Value>>>(block) {
            Ok(keys) => Self { keys: keys.unwrap_or_default(), body, wrong: None },
            // A colon in a description is the usual mistake. What can be told line by line is
            // kept, so that a switch that narrows is not lost with it.
            Err(error) => {
                let wrong = error.to_string().lines().next().unwrap_or_default().to_owned();
                Self { keys: lines(block), body, wrong: Some(wrong) }
            }
        }
    }

    pub(super) fn value(&self, key: &str) -> Value {
        self.keys.get(key).cloned().unwrap_or_default()
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        let text = match self.keys.get(key)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            Value::Null | Value::Object(_) => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        let word = self.text(key)?.to_ascii_lowercase();
        match word.as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    /// Returns a list, or text separated by blanks.
    pub(super) fn words(&self, key: &str) -> Vec<String> {
        match self.keys.get(key) {
            Some(Value::Array(words)) => words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            Some(Value::String(text)) => {
                text.split([' ', ',']).map(str::to_owned).filter(|word| !word.is_empty()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Patterns of paths: a list, or text separated by commas outside braces.
    pub(super) fn paths(&self, key: &str) -> Vec<String> {
        let one = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        match self.keys.get(key) {
            Some(Value::Array(patterns)) => patterns.iter().filter_map(|pattern| one(pattern.as_str()?)).collect(),
            Some(Value::String(text)) => {
                let mut depth = 0_usize;
                let split = |c: char| {
                    match c {
                        '{' => depth += 1,
                        '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    c == ',' && depth == 0
                };
                text.split(split).filter_map(one).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Permission rules: a list, or text separated by commas and blanks outside parentheses.
    pub(super) fn rules(&self, key: &str) -> Vec<String> {
        match self.keys.get(key) {
            Some(Value::Array(rules)) => {
                rules.iter().filter_map(Value::as_str).map(|rule| rule.trim().to_owned()).collect()
            }
            Some(Value::String(text)) => ona_api::notation::split_rules(text),
            _ => Vec::new(),
        }
    }
}

/// `key: text` lines at the left margin, and nothing of what is below them.
fn lines(block: &str) -> Map<String, Value> {
    let mut keys = Map::new();
    for line in block.lines() {
        let Some((key, value)) = line.split_once(": ") else { continue };
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if is_key {
            let value = value.trim().trim_matches(['"', '\'']);
            keys.insert(key.to_owned(), value.into());
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_keep_what_stands_in_parentheses() {
        let page = SkillPage::read("---\nallowed-tools: Bash(git add:*), Read Bash(git status, x)\n---\n");
        assert_eq!(page.rules("allowed-tools"), ["Bash(git add:*)", "Read", "Bash(git status, x)"]);
        let page = SkillPage::read("---\nallowed-tools:\n  - Read\n  - Bash(ls *)\n---\n");
        assert_eq!(page.rules("allowed-tools"), ["Read", "Bash(ls *)"]);
    }

    #[test]
    fn paths_keep_what_stands_in_braces() {
        let page = SkillPage::read("---\npaths: src/**/*.{ts,tsx}, docs/*.md\n---\n");
        assert_eq!(page.paths("paths"), ["src/**/*.{ts,tsx}", "docs/*.md"]);
    }

    #[test]
    fn a_broken_block_still_narrows() {
        let page = SkillPage::read("---\ndescription: Use when: asked\ndisable-model-invocation: true\n---\nbody\n");
        assert!(page.wrong.is_some());
        assert_eq!((page.flag("disable-model-invocation"), page.body), (Some(true), "body\n"));
        assert_eq!(page.text("description").as_deref(), Some("Use when: asked"));
    }

    #[test]
    fn switches_are_written_in_many_ways() {
        for (word, expected) in [
            ("yes", Some(true)),
            ("On", Some(true)),
            ("1", Some(true)),
            ("no", Some(false)),
            ("0", Some(false)),
            ("?", None),
        ] {
            let text = format!("---\nuser-invocable: \"{word}\"\n---\n");
            assert_eq!(SkillPage::read(&text).flag("user-invocable"), expected, "{word}");
        }
    }
}
