//! The three lists of rules, and their compiled form for the directories of a session.

use crate::dirs::SessionDirs;
use crate::grammar::{Rule, RuleError, RuleTarget};
use crate::path::{PathRule, PatternScope};
use ona_api::permission_update::{Behavior, Destination};
use ona_settings::PermissionSettings;
use std::collections::BTreeSet;

/// The rules of the settings, read.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(crate) entries: Vec<RuleEntry>,
    pub(crate) disable_bypass: bool,
    /// Only allow rules of the managed policy count, so none may join them.
    pub(crate) managed_only: bool,
    /// Deny and ask rules of the managed policy: no update lifts them.
    pub(crate) fixed: Vec<String>,
    /// Tools of hook modules, which are known only when these have run.
    pub(crate) known: BTreeSet<String>,
    /// Rules for tools that are not known, in case they come.
    waiting: Vec<(Behavior, String, Option<Destination>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct RuleEntry {
    pub list: Behavior,
    pub rule: Rule,
    /// Where an update put it; `None` for the snapshot, which is all three files.
    pub from: Option<Destination>,
    /// Ends with the turn (`PermissionEngine::end_turn`).
    pub of_turn: bool,
}

/// A rule that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedRule {
    pub list: Behavior,
    pub rule: String,
    pub why: RuleError,
}

impl Rules {
    pub fn parse(settings: &PermissionSettings) -> (Self, Vec<DroppedRule>) {
        let mut rules =
            Self { disable_bypass: settings.disable_bypass, managed_only: settings.managed_only, ..Self::default() };
        let lists =
            [(Behavior::Deny, &settings.deny), (Behavior::Ask, &settings.ask), (Behavior::Allow, &settings.allow)];
        let dropped = lists.into_iter().flat_map(|(list, texts)| rules.add(list, texts, None)).collect();
        (rules, dropped)
    }

    pub(crate) fn add(&mut self, list: Behavior, texts: &[String], from: Option<Destination>) -> Vec<DroppedRule> {
        let mut dropped = Vec::new();
        for text in texts {
            match Rule::parse_knowing(text, list, &|name| self.known.contains(name)) {
                Ok(rule) => self.entries.push(RuleEntry { list, rule, from, of_turn: false }),
                Err(why) => {
                    if matches!(why, RuleError::UnknownTool(_)) {
                        self.waiting.push((list, text.clone(), from));
                    }
                    dropped.push(DroppedRule { list, rule: text.clone(), why });
                }
            }
        }
        dropped
    }

    /// Registers a tool: rules that name it apply from now on. Returns the texts of these rules.
    pub(crate) fn register_tool(&mut self, tool: &str) -> Vec<String> {
        if !self.known.insert(tool.to_owned()) {
            return Vec::new();
        }
        let mut counting = Vec::new();
        for (list, text, from) in std::mem::take(&mut self.waiting) {
            match Rule::parse_knowing(&text, list, &|name| self.known.contains(name)) {
                Ok(rule) => {
                    self.entries.push(RuleEntry { list, rule, from, of_turn: false });
                    counting.push(text);
                }
                Err(_) => self.waiting.push((list, text, from)),
            }
        }
        counting
    }

    /// Sets the deny and ask rules of the managed policy.
    pub fn set_managed(&mut self, rules: impl IntoIterator<Item = String>) {
        self.fixed.extend(rules);
    }

    /// Returns the rules of one list, in the order they were read.
    pub fn list(&self, list: Behavior) -> impl Iterator<Item = &Rule> {
        self.entries.iter().filter(move |entry| entry.list == list).map(|entry| &entry.rule)
    }
}

/// A rule with its pattern compiled for the directories of a session.
#[derive(Clone, Debug)]
pub(crate) struct CompiledRule {
    pub rule: Rule,
    pub path: Option<PathRule>,
}

impl CompiledRule {
    pub(crate) fn new(rule: &Rule, list: Behavior, session_dirs: &SessionDirs) -> Self {
        let scope = match list {
            Behavior::Allow => PatternScope::Narrow,
            Behavior::Deny | Behavior::Ask => PatternScope::Wide,
        };
        let path = match &rule.target {
            RuleTarget::Path { pattern, .. } => PathRule::new(pattern, scope, session_dirs),
            _ => None,
        };
        Self { rule: rule.clone(), path }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CompiledRules {
    pub deny: Vec<CompiledRule>,
    pub ask: Vec<CompiledRule>,
    pub allow: Vec<CompiledRule>,
}

impl CompiledRules {
    pub(crate) fn new(rules: &Rules, session_dirs: &SessionDirs) -> Self {
        let compiled = |list| rules.list(list).map(|rule| CompiledRule::new(rule, list, session_dirs)).collect();
        Self { deny: compiled(Behavior::Deny), ask: compiled(Behavior::Ask), allow: compiled(Behavior::Allow) }
    }
}
