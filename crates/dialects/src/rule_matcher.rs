//! Matchers in the shape of a permission rule, as Gastown writes them: `Bash(gh pr create*)`.
//!
//! Tried on a tool's name such a matcher never fits, so a guard that has one would be
//! a dead letter. In gastown mode it is also tried as the rule it looks like, on the
//! whole command and on each of its parts (DEC-044).

use crate::matcher::{Matcher, ToolAliases};
use ona_api::tool::{ALIASES, BUILTINS, canonical};
use ona_hookplane::Firing;
use ona_permissions::{Condition, SessionDirs};
use serde_json::Value;
use std::sync::Arc;

/// A matcher, and the permission rule it may be.
pub(crate) struct RuleMatcher {
    matcher: Matcher,
    rule: Option<(Condition, Arc<SessionDirs>)>,
}

impl RuleMatcher {
    pub(crate) fn new(matcher: Matcher, text: &str, gastown: bool, place: &Arc<SessionDirs>) -> Self {
        let rule = if gastown { rule(text) } else { None };
        Self { matcher, rule: rule.map(|rule| (rule, Arc::clone(place))) }
    }

    pub(crate) fn matches(&self, firing: &Firing, input: &Value, names: ToolAliases) -> bool {
        self.matcher.matches(firing, names) || self.matches_rule(firing, input)
    }

    fn matches_rule(&self, firing: &Firing, input: &Value) -> bool {
        let (Some((rule, place)), Some(tool)) = (&self.rule, firing.tool()) else { return false };
        rule.matches(tool, input, &(firing.access)(input), place)
    }

    /// Returns whether the matcher itself fits this word.
    pub(crate) fn matches_name(&self, word: &str) -> bool {
        self.matcher.matches_name(word)
    }
}

/// `<known tool>(<rule>)`
fn rule(text: &str) -> Option<Condition> {
    let (tool, rest) = text.trim().split_once('(')?;
    if !rest.ends_with(')') || !BUILTINS.contains(&canonical(tool)) {
        return None;
    }
    Condition::parse(text)
}

/// Returns whether a matcher means something only in gastown mode.
pub(crate) fn is_idle(text: &str) -> bool {
    let fits_a_name = |matcher: Matcher| {
        let aliases = ALIASES.iter().map(|(alias, _)| *alias);
        BUILTINS.into_iter().chain(aliases).any(|name| matcher.matches_name(name))
    };
    rule(text).is_some() && !Matcher::sdlc(text).is_ok_and(fits_a_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_tools_with_a_rule_are_rules() {
        for text in ["Bash(gh pr create*)", "Bash(*bd mol pour*patrol*)", "Bash(rm -rf /*)", "Write(*.ts)"] {
            assert!(rule(text).is_some() && is_idle(text), "{text}");
        }
        for text in ["Bash", "", "*", "Bash|Edit", "(Bash|Edit)", "Nope(x)", "mcp__.*(get|set)", "Bash(x"] {
            assert!(!is_idle(text), "{text}");
        }
        assert!(!is_idle("Bash(Output)"), "an expression that fits the name BashOutput");
    }
}
