//! Finds hooks that load but cannot do what they were written for. Pure: the caller looks
//! at files and programs.

use crate::entries::{RawEntry, flatten};
use crate::matcher::{Matcher, ToolAliases};
use crate::{massgen, pi};
use ona_api::event::{FieldType, Query};
use ona_api::tool::{ALIASES, BUILTINS};
use ona_hookplane::Hook;
use serde_json::{Map, Value};
use std::fmt;

/// A possible name of an MCP tool, as an example for all of them.
const SOME_MCP_TOOL: &str = "mcp__server__tool";

/// Every field of a handler, or of the entry around it.
pub(crate) const FIELDS: [&str; 32] = [
    "type",
    "command",
    "args",
    "shell",
    "timeout",
    "if",
    "if_condition",
    "matcher",
    "hooks",
    "hook_event_name",
    "dialect",
    "source",
    "disabled",
    "fail_closed",
    "failClosed",
    "async",
    "asyncRewake",
    "once",
    "persistent",
    "statusMessage",
    "description",
    "id",
    "name",
    "url",
    "headers",
    "prompt",
    "model",
    "allowedEnvVars",
    "continueOnBlock",
    "server",
    "tool",
    "input",
];

/// Fields of an entry, or of the handler in it, that no part of ona reads.
pub fn unknown_handler_fields(handler: &Map<String, Value>) -> Vec<&String> {
    unknown_keys(handler, &FIELDS).collect()
}

/// A field no part of ona reads.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownField {
    pub field: String,
    pub entry: Value,
}

impl UnknownField {
    /// The field that was probably meant.
    pub fn meant(&self) -> Option<&'static str> {
        ona_api::nearest(&self.field, FIELDS)
    }
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the field {:?} has no effect", self.field)?;
        match self.meant() {
            Some(meant) => write!(f, "; did you mean {meant:?}?"),
            None => Ok(()),
        }
    }
}

/// Returns the fields of configured handlers that have no effect. A leading `_` marks a
/// field of another program.
pub(crate) fn unknown_fields(hooks: &Value) -> Vec<UnknownField> {
    let of_entry = |entry: RawEntry| {
        let shown = Value::Object(entry.handler.clone());
        let fields: Vec<_> = unknown_keys(&entry.handler, &FIELDS).cloned().collect();
        fields.into_iter().map(move |field| UnknownField { field, entry: shown.clone() })
    };
    flatten(hooks).0.into_iter().flat_map(of_entry).collect()
}

/// Returns the keys of a handler that no part of ona reads, without the usual keys for
/// comments.
pub(crate) fn unknown_keys<'a>(handler: &'a Map<String, Value>, known: &'a [&str]) -> impl Iterator<Item = &'a String> {
    let noted = |key: &str| key.starts_with('_') || ["description", "id", "name"].contains(&key);
    handler.keys().filter(move |key| !noted(key) && !known.contains(&key.as_str()))
}

/// A matcher as its dialect reads it.
pub struct MatcherReach<'a> {
    hook: &'a Hook,
    how: How,
}

enum How {
    /// The event ignores it.
    Always,
    /// It cannot be read.
    Never,
    Pattern(Matcher, ToolAliases),
    ToolGlob(massgen::ToolGlob),
    /// Tools by any of their names.
    Tools(Vec<String>),
}

impl<'a> MatcherReach<'a> {
    pub fn of(hook: &'a Hook) -> Self {
        let text = hook.matcher.as_str();
        let claude = |text: &str| match Matcher::claude(hook.event, text) {
            Ok(matcher) => How::Pattern(matcher, ToolAliases::WithAliases),
            Err(_) => How::Never,
        };
        let how = match (hook.event.query(), hook.dialect.name()) {
            (Query::Ignored, _) => How::Always,
            (_, "massgen") => How::ToolGlob(massgen::ToolGlob::new(text)),
            (_, "pi") => match pi::tool_names(text) {
                Some(_) if !pi::is_on_tool(hook.event) => How::Always,
                Some(names) => How::Tools(names),
                None => claude(text),
            },
            (_, "sdlc") => match Matcher::sdlc(text) {
                Ok(matcher) => How::Pattern(matcher, ToolAliases::Frozen),
                Err(_) => How::Never,
            },
            (_, "claude") => claude(text),
            // Modules are asked about everything.
            _ => How::Always,
        };
        Self { hook, how }
    }

    /// Returns whether the matcher can match none of the event's values; `false` where the
    /// values are not known.
    pub fn is_nowhere(&self) -> bool {
        let event = self.hook.event;
        match event.query() {
            Query::Ignored | Query::Basename(_) => false,
            Query::Empty => matches!(&self.how, How::Pattern(matcher, _) if !matches!(matcher, Matcher::Any)),
            Query::Field("tool_name") => {
                let known = BUILTINS.into_iter().chain(ALIASES.iter().map(|(alias, _)| *alias)).chain([SOME_MCP_TOOL]);
                !known.into_iter().any(|tool| self.fits(tool)) && !names_mcp_tools(&self.hook.matcher)
            }
            Query::Field(name) => {
                match event.fields().iter().find(|field| field.name == name).map(|field| field.kind) {
                    Some(FieldType::Enum(values)) => !values.iter().any(|value| self.fits(value)),
                    _ => matches!(self.how, How::Never),
                }
            }
        }
    }

    /// Returns a hint if the matcher matches nothing and is nearly the name of a tool. `None`
    /// where it may name something unknown here. Invalid expressions are rejected when hooks
    /// are read.
    pub fn likely_typo(&self) -> Option<String> {
        if is_a_rule(&self.hook.matcher) || matches!(self.how, How::Never) || !self.is_nowhere() {
            return None;
        }
        let matcher = &self.hook.matcher;
        let words = matcher.split(['|', ',']).map(str::trim);
        let meant = words.filter_map(|word| ona_api::nearest(word, BUILTINS)).next()?;
        Some(format!("the matcher {matcher:?} matches no tool; did you mean {meant}?"))
    }

    /// Returns whether it certainly matches everything the other matches.
    pub fn covers(&self, other: &MatcherReach<'_>) -> bool {
        let all = matches!(&self.how, How::Always | How::Pattern(Matcher::Any, _)) || self.hook.matcher == "*";
        let names = || other.names().is_some_and(|names| names.iter().all(|name| self.fits(name)));
        all || self.hook.matcher == other.hook.matcher || names()
    }

    fn fits(&self, word: &str) -> bool {
        match &self.how {
            How::Always => true,
            How::Never => false,
            How::Pattern(matcher, names) => {
                let former = ALIASES.iter().any(|(alias, _)| *alias == word);
                (*names == ToolAliases::WithAliases || !former) && matcher.matches_name(word)
            }
            How::ToolGlob(globs) => globs.matches(word),
            How::Tools(names) => names.iter().any(|name| name == word || Some(name.as_str()) == pi::alias(word)),
        }
    }

    /// Returns the words of the matcher, if it is a list of words and nothing else.
    fn names(&self) -> Option<Vec<String>> {
        let text = self.hook.matcher.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-| ,".contains(c);
        // A single word is an expression in the sdlc dialect.
        let is_list = match (&self.how, self.hook.dialect.name()) {
            (How::Tools(names), _) => return Some(names.clone()).filter(|names| !names.is_empty()),
            (How::Pattern(..), "sdlc") => text.contains('|') && text.chars().all(plain),
            (How::Pattern(..) | How::ToolGlob(_), _) => text.chars().all(plain),
            (How::Always | How::Never, _) => false,
        };
        let words = text.split(['|', ',']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned);
        Some(words.collect::<Vec<_>>()).filter(|words| is_list && !words.is_empty())
    }
}

/// Tools of MCP servers, which are not known here.
fn names_mcp_tools(matcher: &str) -> bool {
    matcher.contains("mcp__")
}

/// Returns whether a matcher looks like a permission rule, which belongs in `if`.
pub fn is_a_rule(matcher: &str) -> bool {
    matcher.split_once('(').is_some_and(|(tool, rest)| BUILTINS.contains(&tool) && rest.ends_with(')'))
}
