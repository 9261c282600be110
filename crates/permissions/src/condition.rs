//! The `if` of a hook (DEC-046): one rule, read as a deny rule would be.

use crate::call::Call;
use crate::grammar::Rule;
use crate::overlap::Overlap;
use crate::place::Place;
use crate::rules::Ready;
use ona_api::Access;
use ona_api::permission_update::Behavior;
use serde_json::Value;

/// One rule that says for which calls a hook is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition(Rule);

impl Condition {
    /// `None` for what is no rule; such a hook never applies.
    pub fn parse(text: &str) -> Option<Self> {
        Rule::parse(text, Behavior::Deny).ok().map(Self)
    }

    /// Any part of the call is enough, and what can not be told counts: a hook
    /// that guards something has to see the call.
    pub fn matches(&self, tool: &str, input: &Value, access: &[Access], place: &Place) -> bool {
        let call = Call::new(tool, input, access, place);
        Ready::new(&self.0, Behavior::Deny, place).strikes(&call) != Overlap::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_sees_every_part_of_a_script() {
        let place = Place { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        let matches = |rule: &str, script: &str| {
            let access = [Access::Shell { script: script.into(), cwd: "/w".into() }];
            Condition::parse(rule).unwrap().matches("Bash", &json!({"command": script}), &access, &place)
        };
        assert!(matches("Bash(git push*)", "ls && FOO=1 git push"));
        assert!(matches("Bash(git push*)", "$X push"), "what can not be told matches");
        assert!(matches("Bash(git push*)", "git \"push"), "what can not be parsed matches");
        assert!(matches("Bash", "ls"));
        assert!(!matches("Bash(git push*)", "git status"));
        assert!(!matches("Read", "ls"));
        assert_eq!(Condition::parse("Bash("), None);
    }
}
