//! Matchers, compiled once (section 5.1, DEC-044).
//!
//! Regular expressions are ECMAScript, through a real engine: `(?i)` is invalid
//! there, lookahead is not. What does not compile matches nothing.

use ona_api::EventName;
use ona_api::event::Query;
use ona_api::tool::ALIASES;
use ona_hookplane::Firing;
use regress::Regex;

pub(crate) enum Matcher {
    Any,
    Exact(Vec<String>),
    /// Unanchored, case-sensitive.
    Pattern(Box<Regex>),
    Nothing,
}

/// The expression could not be compiled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidMatcher(pub String);

impl Matcher {
    /// Compiles a matcher by the rule of section 5.1: a list only if there is a `|` in it.
    pub(crate) fn sdlc(text: &str) -> Result<Self, InvalidMatcher> {
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '|');
        if text.is_empty() || text == "*" {
            Ok(Matcher::Any)
        } else if plain && text.contains('|') {
            Ok(Matcher::Exact(text.split('|').map(str::to_owned).collect()))
        } else {
            Self::pattern(text)
        }
    }

    /// Plain names are exact; lists are split at `|` or `,`.
    pub(crate) fn claude(event: EventName, text: &str) -> Result<Self, InvalidMatcher> {
        // These two match on values in which a hyphen, comma or space is ordinary text.
        let narrow = matches!(event, EventName::FileChanged | EventName::StopFailure);
        let separators: &[char] = if narrow { &['|'] } else { &['|', ','] };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '|' || (!narrow && "- ,".contains(c));
        if text.is_empty() || text == "*" {
            Ok(Matcher::Any)
        } else if text.chars().all(plain) {
            Ok(Matcher::Exact(text.split(separators).map(|name| name.trim().to_owned()).collect()))
        } else {
            Self::pattern(text)
        }
    }

    fn pattern(text: &str) -> Result<Self, InvalidMatcher> {
        Regex::new(text)
            .map(|regex| Matcher::Pattern(Box::new(regex)))
            .map_err(|error| InvalidMatcher(error.to_string()))
    }

    pub(crate) fn matches(&self, firing: &Firing, names: ToolAliases) -> bool {
        match (firing.event.query(), firing.query()) {
            (Query::Ignored, _) | (_, None) => true,
            (Query::Empty, _) => matches!(self, Matcher::Any),
            (query @ Query::Field(_), Some(value))
                if names == ToolAliases::WithAliases && query == Query::Field("tool_name") =>
            {
                self.matches_name(&value)
                    || ALIASES.iter().any(|(alias, frozen)| *frozen == value && self.matches_name(alias))
            }
            (_, Some(value)) => self.matches_name(&value),
        }
    }

    pub(crate) fn matches_name(&self, value: &str) -> bool {
        match self {
            Matcher::Any => true,
            Matcher::Exact(names) => names.iter().any(|name| name == value),
            Matcher::Pattern(regex) => regex.find(value).is_some(),
            Matcher::Nothing => false,
        }
    }
}

/// Whether a tool is also known by its former names (DEC-073).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolAliases {
    Frozen,
    WithAliases,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sdlc(text: &str, value: &str) -> bool {
        Matcher::sdlc(text).unwrap_or(Matcher::Nothing).matches_name(value)
    }
    fn claude(text: &str, value: &str) -> bool {
        Matcher::claude(EventName::PreToolUse, text).unwrap_or(Matcher::Nothing).matches_name(value)
    }

    #[test]
    fn sdlc_matchers_follow_section_5_1_literally() {
        let cases = [
            ("", "Bash", true),
            ("*", "Bash", true),
            ("Write|Edit", "Edit", true),
            ("Write|Edit", "NotebookEdit", false),
            ("Edit", "NotebookEdit", true),
            ("^(?!Bash).*$", "Bash", false),
            ("^(?!Bash).*$", "Read", true),
            ("mcp__.*__get", "mcp__x__get_item", true),
            ("(?i)bash", "bash", false),
            ("[", "[", false),
            ("bash", "Bash", false),
        ];
        for (matcher, value, expected) in cases {
            assert_eq!(sdlc(matcher, value), expected, "{matcher:?} on {value:?}");
        }
    }

    #[test]
    fn claude_matchers_are_exact_for_plain_names() {
        let cases = [
            ("Edit", "NotebookEdit", false),
            ("Edit, Write", "Write", true),
            ("Edit|Write", "Write", true),
            ("Edit.*", "NotebookEdit", true),
            ("mcp__memory", "mcp__memory__get", false),
            ("mcp__brave-search", "mcp__brave-search-evil__x", false),
            ("(AskUserQuestion|mcp__.*__AskUserQuestion)", "mcp__conductor__AskUserQuestion", true),
        ];
        for (matcher, value, expected) in cases {
            assert_eq!(claude(matcher, value), expected, "{matcher:?} on {value:?}");
        }
    }
}
