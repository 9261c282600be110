//! Changes of permissions during a session (DEC-078), in memory.
//!
//! An update touches the rules of its own destination. Those of the snapshot
//! belong to the three settings files together; the code that writes the files
//! rebuilds the engine from the row. So no update for a session lifts a deny
//! or ask rule of the operator.

use crate::engine::PermissionEngine;
use crate::rules::{DroppedRule, RuleEntry};
use ona_api::Mode;
use ona_api::permission_update::{Behavior, Destination, PermissionUpdate, RuleText};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    #[error("bypassPermissions is switched off by disableBypassPermissionsMode")]
    BypassDisabled,
    #[error("{0} is too wide to be a working directory")]
    TooWide(String),
    #[error("only the managed policy may allow something (allowManagedPermissionRulesOnly)")]
    ManagedOnly,
    #[error("the rule {0:?} belongs to the managed policy")]
    Managed(String),
}

impl PermissionEngine {
    /// Applies an update to this engine. Rules that mean nothing are dropped and returned.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<Vec<DroppedRule>, UpdateError> {
        let mut dropped = Vec::new();
        self.refuse(update)?;
        match update {
            PermissionUpdate::AddRules { rules, behavior, destination } => {
                dropped = self.rules.add(*behavior, &texts(rules), Some(*destination));
            }
            PermissionUpdate::ReplaceRules { rules, behavior, destination } => {
                self.rules.entries.retain(|entry| entry.list != *behavior || !entry.belongs_to(*destination));
                dropped = self.rules.add(*behavior, &texts(rules), Some(*destination));
            }
            PermissionUpdate::RemoveRules { rules, behavior, destination } => {
                let named = texts(rules);
                self.rules.entries.retain(|entry| {
                    // Taking an allow back only narrows, wherever it came from.
                    let removable = *behavior == Behavior::Allow || entry.belongs_to(*destination);
                    entry.list != *behavior || !removable || !named.contains(&entry.rule.text)
                });
            }
            PermissionUpdate::SetMode { mode, .. } => {
                if *mode == Mode::BypassPermissions && self.rules.disable_bypass {
                    return Err(UpdateError::BypassDisabled);
                }
                self.mode = *mode;
                // What a person chooses is not undone by the end of planning.
                self.before_planning = None;
            }
            PermissionUpdate::AddDirectories { directories, .. } => {
                let absolute =
                    |text: &String| self.session_dirs.directory(text).ok_or_else(|| UpdateError::TooWide(text.clone()));
                let new: Vec<_> = directories.iter().map(absolute).collect::<Result<_, _>>()?;
                self.session_dirs.extra.retain(|directory| !new.contains(directory));
                self.session_dirs.extra.extend(new);
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => {
                let gone: Vec<_> = directories.iter().filter_map(|text| self.session_dirs.directory(text)).collect();
                self.session_dirs.extra.retain(|directory| !gone.contains(directory));
            }
        }
        self.recompile();
        Ok(dropped)
    }
}

/// Rules that come with a skill and go with the turn that loaded it.
impl PermissionEngine {
    /// Adds allow rules until the end of the turn. Where only the managed policy may allow,
    /// none are added; an invalid rule, or one that would answer a question meant for a
    /// person, is left out. Returns what was left out, one sentence each.
    pub fn allow_for_turn(&mut self, rules: &[String]) -> Vec<String> {
        if self.rules.managed_only {
            return vec![UpdateError::ManagedOnly.to_string()];
        }
        let (asking, rules): (Vec<_>, Vec<_>) = rules.iter().cloned().partition(|rule| is_for_a_person(rule));
        let mut left_out: Vec<_> = asking.iter().map(|rule| format!("{rule:?} is a question to a person")).collect();
        left_out.extend(self.for_turn(Behavior::Allow, &rules));
        left_out
    }

    /// Adds deny rules until the end of the turn.
    pub fn deny_for_turn(&mut self, rules: &[String]) -> Vec<String> {
        self.for_turn(Behavior::Deny, rules)
    }

    /// Removes the rules that were added for the turn.
    pub fn end_turn(&mut self) {
        if self.rules.entries.iter().any(|entry| entry.of_turn) {
            self.rules.entries.retain(|entry| !entry.of_turn);
            self.compiled = self.compiled_rules();
        }
    }

    /// Removes the allow rules of the turn; its deny rules stay.
    pub fn end_turn_allows(&mut self) {
        self.rules.entries.retain(|entry| !entry.of_turn || entry.list != Behavior::Allow);
        self.compiled = self.compiled_rules();
    }

    fn for_turn(&mut self, list: Behavior, rules: &[String]) -> Vec<String> {
        let before = self.rules.entries.len();
        let dropped = self.rules.add(list, rules, Some(Destination::Session));
        self.rules.entries[before..].iter_mut().for_each(|entry| entry.of_turn = true);
        self.compiled = self.compiled_rules();
        dropped.iter().map(|one| format!("{:?} means nothing: {}", one.rule, one.why)).collect()
    }

    /// Adds files that nothing may change from now on.
    pub fn add_guarded(&mut self, files: impl IntoIterator<Item = std::path::PathBuf>) {
        self.guarded.add(files, &self.session_dirs);
    }
}

/// An allow of these tools would be taken for an answer (attack case L-2).
fn is_for_a_person(rule: &str) -> bool {
    let tool = rule.split('(').next().unwrap_or(rule).trim();
    matches!(ona_api::tool::canonical(tool), "AskUserQuestion" | "ExitPlanMode")
}

impl PermissionEngine {
    /// Refuses what no update may do.
    fn refuse(&self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        match update {
            PermissionUpdate::AddRules { behavior: Behavior::Allow, .. }
            | PermissionUpdate::ReplaceRules { behavior: Behavior::Allow, .. }
                if self.rules.managed_only =>
            {
                Err(UpdateError::ManagedOnly)
            }
            PermissionUpdate::RemoveRules { rules, behavior: Behavior::Deny | Behavior::Ask, .. } => {
                match texts(rules).into_iter().find(|text| self.rules.fixed.contains(text)) {
                    Some(text) => Err(UpdateError::Managed(text)),
                    None => Ok(()),
                }
            }
            PermissionUpdate::ReplaceRules { behavior: Behavior::Deny | Behavior::Ask, .. }
                if !self.rules.fixed.is_empty() =>
            {
                Err(UpdateError::Managed(self.rules.fixed[0].clone()))
            }
            _ => Ok(()),
        }
    }
}

impl RuleEntry {
    fn belongs_to(&self, destination: Destination) -> bool {
        match self.from {
            Some(from) => from == destination,
            None => match destination {
                Destination::UserSettings | Destination::ProjectSettings | Destination::LocalSettings => true,
                Destination::Session | Destination::CliArg => false,
            },
        }
    }
}

fn texts(rules: &[RuleText]) -> Vec<String> {
    rules.iter().map(RuleText::joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuardedFiles, Rules, SessionDirs};
    use ona_settings::PermissionSettings;
    use serde_json::json;

    fn engine() -> PermissionEngine {
        let settings = json!({"allow": ["Read"], "deny": ["Bash(rm:*)"], "disableBypassPermissionsMode": "disable"});
        let (settings, _) = PermissionSettings::parse(&settings).unwrap();
        let session_dirs = SessionDirs { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        PermissionEngine::new(Rules::parse(&settings).0, Mode::Default, session_dirs, GuardedFiles::default())
    }

    fn update(value: serde_json::Value) -> PermissionUpdate {
        serde_json::from_value(value).unwrap()
    }

    fn list(engine: &PermissionEngine, list: Behavior) -> Vec<String> {
        engine.rules.list(list).map(|rule| rule.text.clone()).collect()
    }

    #[test]
    fn rules_are_added_replaced_and_removed_by_destination() {
        let mut engine = engine();
        let rules = json!([{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "bash"}]);
        let dropped = engine
            .apply(&update(json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"})));
        assert_eq!(dropped.unwrap().len(), 1);
        assert_eq!(list(&engine, Behavior::Allow), ["Read", "Bash(ls)"]);

        let rules = json!([{"toolName": "Grep"}]);
        engine
            .apply(&update(
                json!({"type": "replaceRules", "rules": rules, "behavior": "allow", "destination": "session"}),
            ))
            .unwrap();
        assert_eq!(list(&engine, Behavior::Allow), ["Read", "Grep"]);

        let rules = json!([{"toolName": "Read"}]);
        engine
            .apply(&update(
                json!({"type": "removeRules", "rules": rules, "behavior": "allow", "destination": "session"}),
            ))
            .unwrap();
        assert_eq!(list(&engine, Behavior::Allow), ["Grep"]);
    }

    #[test]
    fn a_session_cannot_lift_a_deny_rule_of_the_snapshot() {
        let mut engine = engine();
        let rules = json!([{"toolName": "Bash", "ruleContent": "rm:*"}]);
        for kind in ["removeRules", "replaceRules"] {
            let rules = if kind == "removeRules" { rules.clone() } else { json!([]) };
            engine
                .apply(&update(json!({"type": kind, "rules": rules, "behavior": "deny", "destination": "session"})))
                .unwrap();
            assert_eq!(list(&engine, Behavior::Deny), ["Bash(rm:*)"]);
        }
        engine
            .apply(&update(
                json!({"type": "removeRules", "rules": rules, "behavior": "deny", "destination": "userSettings"}),
            ))
            .unwrap();
        assert_eq!(list(&engine, Behavior::Deny), [""; 0]);
    }

    #[test]
    fn mode_and_directories_change_within_their_limits() {
        let mut engine = engine();
        engine.apply(&update(json!({"type": "setMode", "mode": "plan", "destination": "session"}))).unwrap();
        assert_eq!(engine.mode(), Mode::Plan);
        let bypass = update(json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}));
        assert_eq!(engine.apply(&bypass), Err(UpdateError::BypassDisabled));
        engine
            .apply(&update(
                json!({"type": "addDirectories", "directories": ["/data", "../lib"], "destination": "session"}),
            ))
            .unwrap();
        assert_eq!(engine.session_dirs().extra, [std::path::PathBuf::from("/data"), "/lib".into()]);
        engine
            .apply(&update(json!({"type": "removeDirectories", "directories": ["/data"], "destination": "session"})))
            .unwrap();
        assert_eq!(engine.session_dirs().extra, [std::path::PathBuf::from("/lib")]);
        let wide = update(json!({"type": "addDirectories", "directories": ["/"], "destination": "session"}));
        assert_eq!(engine.apply(&wide), Err(UpdateError::TooWide("/".into())));
    }

    #[test]
    fn the_end_of_planning_brings_back_the_mode_of_before_unless_another_was_chosen() {
        let mut engine = engine();
        engine.apply(&update(json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}))).unwrap();
        engine.begin_planning();
        engine.begin_planning();
        assert_eq!((engine.mode(), engine.before_planning()), (Mode::Plan, Some(Mode::AcceptEdits)));
        engine.end_planning();
        engine.end_planning();
        assert_eq!((engine.mode(), engine.before_planning()), (Mode::AcceptEdits, None));
        engine.begin_planning();
        engine.apply(&update(json!({"type": "setMode", "mode": "dontAsk", "destination": "session"}))).unwrap();
        engine.end_planning();
        assert_eq!(engine.mode(), Mode::DontAsk);
    }
}
