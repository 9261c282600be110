//! The `if` of a hook (DEC-046): one rule, read as a deny rule would be.

use crate::call::ParsedCall;
use crate::dirs::SessionDirs;
use crate::grammar::{Rule, RuleError};
use crate::overlap::Overlap;
use crate::rules::CompiledRule;
use ona_api::Access;
use ona_api::permission_update::Behavior;
use serde_json::Value;

/// One rule that says for which calls a hook is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    rule: Rule,
    /// `Write(path)`: the path rule is `Edit`'s, the calls are those of one tool.
    only: Option<String>,
}

impl Condition {
    /// `None` if the text is not a rule; such a hook never applies.
    pub fn parse(text: &str) -> Option<Self> {
        match Rule::parse(text, Behavior::Deny) {
            Ok(rule) => Some(Self { rule, only: None }),
            // As a permission such a rule means nothing, but a guard has to guard.
            Err(RuleError::PathOnOtherTool { tool, instead }) => {
                let path = text.trim().strip_prefix(tool.as_str())?;
                let rule = Rule::parse(&format!("{instead}{path}"), Behavior::Deny).ok()?;
                Some(Self { rule, only: Some(tool) })
            }
            Err(_) => None,
        }
    }

    /// Any part of the call is enough, and what cannot be determined counts: a hook
    /// that guards something has to see the call.
    pub fn matches(&self, tool: &str, input: &Value, access: &[Access], session_dirs: &SessionDirs) -> bool {
        if self.only.as_ref().is_some_and(|only| only != tool) {
            return false;
        }
        let call = ParsedCall::new(tool, input, access, session_dirs);
        CompiledRule::new(&self.rule, Behavior::Deny, session_dirs).matches(&call) != Overlap::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_sees_every_part_of_a_script() {
        let session_dirs = SessionDirs { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        let matches = |rule: &str, script: &str| {
            let access = [Access::Shell { script: script.into(), cwd: "/w".into() }];
            Condition::parse(rule).unwrap().matches("Bash", &json!({"command": script}), &access, &session_dirs)
        };
        assert!(matches("Bash(git push*)", "ls && FOO=1 git push"));
        assert!(matches("Bash(git push*)", "$X push"), "what cannot be determined matches");
        assert!(matches("Bash(git push*)", "git \"push"), "what cannot be parsed matches");
        assert!(matches("Bash", "ls"));
        assert!(!matches("Bash(git push*)", "git status"));
        assert!(!matches("Read", "ls"));
        assert_eq!(Condition::parse("Bash("), None);
    }

    #[test]
    fn a_path_may_be_written_on_any_file_tool() {
        let session_dirs = SessionDirs { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        let condition = Condition::parse("Write(*.ts)").unwrap();
        let matches =
            |tool: &str, path: &str| condition.matches(tool, &json!({}), &[Access::Edit(path.into())], &session_dirs);
        assert!(matches("Write", "/w/src/a.ts"));
        assert!(!matches("Edit", "/w/src/a.ts") && !matches("Write", "/w/a.js"));
    }
}
