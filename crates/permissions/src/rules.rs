//! The three lists of rules, and their form for one place.

use crate::grammar::{Rule, Target, Why};
use crate::path::{Aim, PathRule};
use crate::place::Place;
use crate::settings::PermissionSettings;
use ona_api::permission_update::{Behavior, Destination};
use std::collections::BTreeSet;

/// The rules of the settings, read.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(crate) entries: Vec<Entry>,
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
pub(crate) struct Entry {
    pub list: Behavior,
    pub rule: Rule,
    /// Where an update put it; `None` for the snapshot, which is all three files.
    pub from: Option<Destination>,
    /// Ends with the turn (`PermissionEngine::end_turn`).
    pub of_turn: bool,
}

/// A rule that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub list: Behavior,
    pub rule: String,
    pub why: Why,
}

impl Rules {
    pub fn parse(settings: &PermissionSettings) -> (Self, Vec<Dropped>) {
        let mut rules =
            Self { disable_bypass: settings.disable_bypass, managed_only: settings.managed_only, ..Self::default() };
        let lists =
            [(Behavior::Deny, &settings.deny), (Behavior::Ask, &settings.ask), (Behavior::Allow, &settings.allow)];
        let dropped = lists.into_iter().flat_map(|(list, texts)| rules.add(list, texts, None)).collect();
        (rules, dropped)
    }

    pub(crate) fn add(&mut self, list: Behavior, texts: &[String], from: Option<Destination>) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        for text in texts {
            match Rule::parse_knowing(text, list, &|name| self.known.contains(name)) {
                Ok(rule) => self.entries.push(Entry { list, rule, from, of_turn: false }),
                Err(why) => {
                    if matches!(why, Why::UnknownTool(_)) {
                        self.waiting.push((list, text.clone(), from));
                    }
                    dropped.push(Dropped { list, rule: text.clone(), why });
                }
            }
        }
        dropped
    }

    /// A tool has come to be known: rules that name it count from now on. Their texts.
    pub(crate) fn know(&mut self, tool: &str) -> Vec<String> {
        if !self.known.insert(tool.to_owned()) {
            return Vec::new();
        }
        let mut counting = Vec::new();
        for (list, text, from) in std::mem::take(&mut self.waiting) {
            match Rule::parse_knowing(&text, list, &|name| self.known.contains(name)) {
                Ok(rule) => {
                    self.entries.push(Entry { list, rule, from, of_turn: false });
                    counting.push(text);
                }
                Err(_) => self.waiting.push((list, text, from)),
            }
        }
        counting
    }

    /// Names the deny and ask rules of the managed policy.
    pub fn fix(&mut self, rules: impl IntoIterator<Item = String>) {
        self.fixed.extend(rules);
    }

    /// The rules of one list, in the order they were read.
    pub fn list(&self, list: Behavior) -> impl Iterator<Item = &Rule> {
        self.entries.iter().filter(move |entry| entry.list == list).map(|entry| &entry.rule)
    }
}

/// A rule with its pattern made ready for one place.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub rule: Rule,
    pub path: Option<PathRule>,
}

impl Ready {
    pub fn new(rule: &Rule, list: Behavior, place: &Place) -> Self {
        let aim = match list {
            Behavior::Allow => Aim::Grant,
            Behavior::Deny | Behavior::Ask => Aim::Strike,
        };
        let path = match &rule.target {
            Target::Path { pattern, .. } => PathRule::new(pattern, aim, place),
            _ => None,
        };
        Self { rule: rule.clone(), path }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyRules {
    pub deny: Vec<Ready>,
    pub ask: Vec<Ready>,
    pub allow: Vec<Ready>,
}

impl ReadyRules {
    pub fn new(rules: &Rules, place: &Place) -> Self {
        let ready = |list| rules.list(list).map(|rule| Ready::new(rule, list, place)).collect();
        Self { deny: ready(Behavior::Deny), ask: ready(Behavior::Ask), allow: ready(Behavior::Allow) }
    }
}
