//! The text of a rule: `Tool` or `Tool(specifier)` (DEC-072).
//!
//! A rule that cannot mean anything is dropped with a reason, never bent into
//! one that does. What a rule matches is for `deny` (deny, ask) and `allow`
//! (allow).

use crate::bash::is_assignment;
use crate::domain::Domain;
use crate::parameters::{is_primary, parameter};
use crate::path;
use crate::wildcard::Wildcard;
use ona_api::permission_update::Behavior;
use ona_api::tool::{BUILTINS, canonical};

/// A rule that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    pub(crate) target: RuleTarget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RuleTarget {
    /// Every call of a tool.
    Tool(String),
    /// Every tool whose name fits.
    Names(Wildcard),
    /// Tools of an MCP server. `literal` is the pattern up to its first star.
    Mcp {
        names: Wildcard,
        literal: String,
    },
    Command(CommandPattern),
    /// Commands that only read (DEC-191).
    ReadOnly,
    Path {
        kind: PathKind,
        pattern: String,
    },
    Domain(Domain),
    Agent(String),
    Skill {
        name: String,
        arguments: bool,
    },
    Parameter {
        tool: String,
        name: String,
        value: Wildcard,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKind {
    Read,
    Edit,
}

/// `git push`, `git push *`, `git push:*`, `git * main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    whole: Wildcard,
    /// The command without arguments, when the pattern ends at a word.
    bare: Option<Wildcard>,
    /// Starts with `NAME=`.
    pub assigns: bool,
}

impl CommandPattern {
    fn parse(spec: &str) -> Self {
        let prefix = spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *"));
        let assigns = spec.split(' ').next().is_some_and(is_assignment);
        match prefix {
            Some(prefix) => {
                Self { whole: Wildcard::new(&format!("{prefix} *")), bare: Some(Wildcard::new(prefix)), assigns }
            }
            None => Self { whole: Wildcard::new(spec), bare: None, assigns },
        }
    }

    fn is_everything(&self) -> bool {
        self.whole.is_everything()
    }

    /// Spells out one command.
    pub(crate) fn is_exact(&self) -> bool {
        !self.whole.has_star()
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        self.whole.fits(text) || self.bare.as_ref().is_some_and(|bare| bare.fits(text))
    }

    /// Spells out this word.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.whole.literal().split(' ').any(|part| part == word)
    }

    pub(crate) fn could_fit(&self, text: &str, hole: char) -> bool {
        self.whole.could_fit(text, hole) || self.bare.as_ref().is_some_and(|bare| bare.could_fit(text, hole))
    }
}

/// The specifier of commands that only read.
const READ_ONLY: &str = "@read-only";

/// Why a rule has no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("it is empty")]
    Empty,
    #[error("its parentheses do not match")]
    Unbalanced,
    #[error("its parentheses are empty")]
    EmptySpecifier,
    #[error("no tool is called {0}{meant}", meant = meant(.0))]
    UnknownTool(String),
    #[error("a path on {tool} is never consulted; write {instead}(…)")]
    PathOnOtherTool { tool: String, instead: &'static str },
    #[error("{0} takes no specifier")]
    NoSpecifier(String),
    #[error("an allow rule cannot have a pattern for tool names, except behind mcp__<server>__")]
    NamesInAllow,
    #[error("an allow rule cannot name a parameter")]
    ParameterInAllow,
    #[error("{0} is matched by the tool's own rules, not as a parameter")]
    PrimaryParameter(String),
    #[error("WebFetch takes domain:<host>")]
    NotDomain,
    #[error("{0:?} is not a valid pattern")]
    BadPattern(String),
    #[error("{0} is not a set of commands; there is @read-only")]
    UnknownSet(String),
    #[error("@read-only can only be allowed")]
    ReadOnlyNotAllowed,
}

/// Returns the built-in tool that was probably meant.
fn meant(name: &str) -> String {
    ona_api::nearest(name, BUILTINS).map(|tool| format!("; did you mean {tool}?")).unwrap_or_default()
}

impl Rule {
    pub fn parse(text: &str, list: Behavior) -> Result<Self, RuleError> {
        Self::parse_knowing(text, list, &|_| false)
    }

    /// With tools that are neither built in nor a server's.
    pub(crate) fn parse_knowing(text: &str, list: Behavior, known: &dyn Fn(&str) -> bool) -> Result<Self, RuleError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(RuleError::Empty);
        }
        let (name, spec) = split(text)?;
        let name = canonical(name);
        let target = match spec {
            None => whole_tool(name, list, known)?,
            Some(spec) => specified(name, spec, list, known)?,
        };
        Ok(Self { text: text.to_owned(), target })
    }
}

/// Returns the name and what stands in the parentheses.
fn split(text: &str) -> Result<(&str, Option<&str>), RuleError> {
    let mut depth = 0_i32;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '(' if !escaped => depth += 1,
            ')' if !escaped => depth -= 1,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        if depth < 0 {
            return Err(RuleError::Unbalanced);
        }
    }
    match (text.split_once('('), text.strip_suffix(')')) {
        (None, None) => Ok((text, None)),
        (Some((name, rest)), Some(_)) if depth == 0 => {
            let spec = rest.strip_suffix(')').ok_or(RuleError::Unbalanced)?.trim();
            match (name.is_empty(), spec.is_empty()) {
                (true, _) => Err(RuleError::Empty),
                (false, true) => Err(RuleError::EmptySpecifier),
                (false, false) => Ok((name, Some(spec))),
            }
        }
        _ => Err(RuleError::Unbalanced),
    }
}

fn whole_tool(name: &str, list: Behavior, known: &dyn Fn(&str) -> bool) -> Result<RuleTarget, RuleError> {
    if BUILTINS.contains(&name) || known(name) {
        return Ok(RuleTarget::Tool(name.to_owned()));
    }
    if let Some(rest) = name.strip_prefix("mcp__").filter(|rest| !rest.is_empty()) {
        return mcp(name, rest, list);
    }
    match (name.contains('*'), list) {
        (true, Behavior::Allow) => Err(RuleError::NamesInAllow),
        (true, Behavior::Deny | Behavior::Ask) => Ok(RuleTarget::Names(Wildcard::new(name))),
        (false, _) => Err(RuleError::UnknownTool(name.to_owned())),
    }
}

fn mcp(name: &str, rest: &str, list: Behavior) -> Result<RuleTarget, RuleError> {
    let server = rest.split("__").next().unwrap_or(rest);
    let literal = name.split('*').next().unwrap_or(name).to_owned();
    match (rest.contains("__"), name.contains('*')) {
        // The server as a whole.
        (false, false) => {
            let literal = format!("{name}__");
            Ok(RuleTarget::Mcp { names: Wildcard::new(&format!("{literal}*")), literal })
        }
        // One tool. Read widely it is also a server whose name has two underscores in it.
        (true, false) => Ok(RuleTarget::Tool(name.to_owned())),
        (true, true) if list == Behavior::Allow && server.contains('*') => Err(RuleError::NamesInAllow),
        (true, true) => Ok(RuleTarget::Mcp { names: Wildcard::new(name), literal }),
        (false, true) if list == Behavior::Allow => Err(RuleError::NamesInAllow),
        (false, true) => Ok(RuleTarget::Names(Wildcard::new(name))),
    }
}

fn specified(name: &str, spec: &str, list: Behavior, known: &dyn Fn(&str) -> bool) -> Result<RuleTarget, RuleError> {
    let is_mcp = name.len() > "mcp__".len() && name.starts_with("mcp__");
    if !BUILTINS.contains(&name) && !is_mcp && !known(name) {
        return Err(if name.contains('*') {
            RuleError::NoSpecifier(name.to_owned())
        } else {
            RuleError::UnknownTool(name.to_owned())
        });
    }
    // What a server's tool takes is not known, so nothing in parentheses stands for all of it.
    if is_mcp && spec == "*" {
        return Err(RuleError::NoSpecifier(name.to_owned()));
    }
    // `Tool(*)` is the tool. Only as an allowed path it is less: what lies below the start.
    if spec == "*" && (list != Behavior::Allow || !matches!(name, "Read" | "Edit")) {
        return whole_tool(name, list, known);
    }
    if let Some((parameter, value)) = parameter(name, spec) {
        return match list {
            Behavior::Allow => Err(RuleError::ParameterInAllow),
            Behavior::Deny | Behavior::Ask if is_primary(parameter) => {
                Err(RuleError::PrimaryParameter(parameter.to_owned()))
            }
            Behavior::Deny | Behavior::Ask => Ok(RuleTarget::Parameter {
                tool: name.to_owned(),
                name: parameter.to_owned(),
                value: Wildcard::new(value),
            }),
        };
    }
    match name {
        "Bash" if spec == READ_ONLY => match list {
            Behavior::Allow => Ok(RuleTarget::ReadOnly),
            Behavior::Deny | Behavior::Ask => Err(RuleError::ReadOnlyNotAllowed),
        },
        "Bash" if spec.starts_with('@') => Err(RuleError::UnknownSet(spec.to_owned())),
        "Bash" => {
            let pattern = CommandPattern::parse(spec);
            Ok(if pattern.is_everything() { RuleTarget::Tool(name.to_owned()) } else { RuleTarget::Command(pattern) })
        }
        "Read" | "Edit" => {
            let kind = if name == "Read" { PathKind::Read } else { PathKind::Edit };
            match path::is_valid(spec) {
                true => Ok(RuleTarget::Path { kind, pattern: spec.to_owned() }),
                false => Err(RuleError::BadPattern(spec.to_owned())),
            }
        }
        "Write" | "NotebookEdit" => Err(RuleError::PathOnOtherTool { tool: name.to_owned(), instead: "Edit" }),
        "Glob" | "Grep" => Err(RuleError::PathOnOtherTool { tool: name.to_owned(), instead: "Read" }),
        "WebFetch" => match spec.strip_prefix("domain:").map(str::trim) {
            Some("*") => whole_tool(name, list, known),
            Some(domain) => Domain::parse(domain).map(RuleTarget::Domain).ok_or(RuleError::NotDomain),
            None => Err(RuleError::NotDomain),
        },
        "Agent" => Ok(RuleTarget::Agent(spec.to_owned())),
        "Skill" => {
            let prefix = spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *"));
            let name = prefix.unwrap_or(spec).trim().trim_start_matches('/').to_owned();
            Ok(RuleTarget::Skill { name, arguments: prefix.is_some() })
        }
        _ => Err(RuleError::NoSpecifier(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_without_meaning_are_dropped_with_a_reason() {
        use Behavior::{Allow, Deny};
        for (text, list, why) in [
            ("", Deny, "it is empty"),
            ("  ", Deny, "it is empty"),
            ("Bash(", Deny, "its parentheses do not match"),
            ("Bash)", Deny, "its parentheses do not match"),
            ("Bash(a))", Deny, "its parentheses do not match"),
            ("Bash(a) x", Deny, "its parentheses do not match"),
            ("(a)", Deny, "it is empty"),
            ("Bash()", Deny, "its parentheses are empty"),
            ("Bash( )", Deny, "its parentheses are empty"),
            ("bash", Allow, "no tool is called bash; did you mean Bash?"),
            ("read(.env)", Deny, "no tool is called read; did you mean Read?"),
            ("Write(/src/**)", Allow, "a path on Write is never consulted; write Edit(…)"),
            ("NotebookEdit(a)", Deny, "a path on NotebookEdit is never consulted; write Edit(…)"),
            ("Glob(a)", Deny, "a path on Glob is never consulted; write Read(…)"),
            ("TodoWrite(a)", Deny, "TodoWrite takes no specifier"),
            ("WebSearch(a)", Deny, "WebSearch takes no specifier"),
            ("*", Allow, "an allow rule cannot have a pattern for tool names, except behind mcp__<server>__"),
            ("mcp__*", Allow, "an allow rule cannot have a pattern for tool names, except behind mcp__<server>__"),
            ("mcp__a*__b", Allow, "an allow rule cannot have a pattern for tool names, except behind mcp__<server>__"),
            ("mcp__a__b(x:y)", Allow, "an allow rule cannot name a parameter"),
            ("Bash(run_in_background:true)", Allow, "an allow rule cannot name a parameter"),
            ("Bash(command:rm)", Deny, "command is matched by the tool's own rules, not as a parameter"),
            ("WebFetch(https://a.test/*)", Allow, "WebFetch takes domain:<host>"),
            ("Read([z-a])", Deny, "\"[z-a]\" is not a valid pattern"),
            ("mcp__", Deny, "no tool is called mcp__"),
            ("mcp__s__t(*)", Allow, "mcp__s__t takes no specifier"),
            ("mcp__s__t(*)", Deny, "mcp__s__t takes no specifier"),
            ("mcp__s(*)", Allow, "mcp__s takes no specifier"),
            ("mcp__s__*(*)", Deny, "mcp__s__* takes no specifier"),
            ("mcp__s__t(x)", Deny, "mcp__s__t takes no specifier"),
        ] {
            assert_eq!(Rule::parse(text, list).map_err(|why| why.to_string()).unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn rules_are_read_as_operators_write_them() {
        use Behavior::{Allow, Deny};
        let target = |text: &str, list| Rule::parse(text, list).unwrap().target;
        assert_eq!(target("Bash(*)", Allow), RuleTarget::Tool("Bash".into()));
        assert_eq!(target("Task(Explore)", Deny), RuleTarget::Agent("Explore".into()));
        assert_eq!(target("KillShell", Deny), RuleTarget::Tool("TaskStop".into()));
        assert_eq!(target("Read(*)", Deny), RuleTarget::Tool("Read".into()));
        assert!(matches!(target("Read(*)", Allow), RuleTarget::Path { .. }));
        assert!(matches!(target("Bash(timeout:*)", Deny), RuleTarget::Command(_)));
        assert!(matches!(target("Bash(timeout: 5*)", Deny), RuleTarget::Parameter { .. }));
        assert!(matches!(target("Bash(npm:x*)", Deny), RuleTarget::Command(_)));
        assert!(matches!(target("Bash(echo \"(a)\")", Allow), RuleTarget::Command(_)));
        assert!(matches!(target("mcp__a__b*", Allow), RuleTarget::Mcp { .. }));
        assert!(matches!(target("mcp__*", Deny), RuleTarget::Names(_)));
    }
}
