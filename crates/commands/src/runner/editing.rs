//! `/config`, `/permissions`, `/effort` and `/autocompact`: settings and rules, looked at and changed.
//!
//! Values are written by the same code as `ona config set`. A session keeps the settings it began with
//! (section 4.4); what can change in it at once is said where it does. Hooks hear of a change once, because
//! the file that was written is looked at right after it (DEC-063).

use super::SessionRunner;
use super::answers::Said;
use crate::screen::{
    CommandQuestion, CommandReply, ScreenAction, ScreenEntry, SettingEntry, SettingScope, SettingValue,
};
use ona_api::permission_update::{Behavior, Destination, PermissionUpdate, RuleText};
use ona_orchestration::look_at_files;
use ona_permissions::printable;
use ona_runtime::settings_files::{fixed_by_policy, value_of, values, write};
use ona_runtime::{Failure, OpenProject};
use ona_settings::{CATALOG, KnownSetting, SettingKind, known_setting};
use ona_store::StoreError;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

impl SessionRunner<'_> {
    /// `/config`: an editor, or without a person a table; `/config KEY=VALUE` changes one.
    pub(super) async fn config(&mut self, rest: &str) -> Said {
        if let Some(name) = rest.strip_prefix("model=") {
            return self.set_model(name.trim()).await;
        }
        if rest == "--help" {
            let line = |one: &KnownSetting| format!("- `{}`: {} ({})", one.key, one.help, accepts(one.kind));
            let lines: Vec<_> = CATALOG.iter().map(line).collect();
            return Ok(Ok(format!("{}\n\n`/config KEY=VALUE` changes one for you.", lines.join("\n"))));
        }
        if let Some((key, value)) = rest.split_once('=') {
            let (key, value) = (key.trim(), value.trim());
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            return Ok(match self.write_setting(SettingScope::User, key, Some(value)).await? {
                Ok(words) => Ok(words),
                Err(failure) => Self::failed(&failure),
            });
        }
        if !rest.is_empty() {
            return Ok(Err(format!("/config takes KEY=VALUE, for example model=ID; {rest} is something else")));
        }
        if !self.has_person() {
            return Ok(match self.settings_table() {
                Ok(text) => Ok(text),
                Err(failure) => Self::failed(&failure),
            });
        }
        self.edit_settings().await
    }

    fn settings_table(&self) -> Result<String, Failure> {
        let look = self.parts.launch.look()?;
        let mut text = "| setting | value | from |\n|---|---|---|\n".to_owned();
        for (key, value, sources) in values(self.parts.launch, &look)? {
            let from = sources.last().map_or("a default", |source| source.scope);
            let value = shown(&value).replace('|', "\\|");
            writeln!(text, "| {key} | {} | {from} |", printable(&value)).unwrap_or_default();
        }
        text.push_str("\n`/config KEY=VALUE` changes one for you; `/config --help` lists what there is.");
        Ok(text)
    }

    async fn edit_settings(&mut self) -> Said {
        let (mut scope, mut at, mut problem) = (SettingScope::User, None, None);
        let mut changed = Vec::new();
        loop {
            let entries = match self.setting_entries() {
                Ok(entries) => entries,
                Err(failure) => return Ok(Self::failed(&failure)),
            };
            let question = CommandQuestion::Settings { entries, scope, at: at.take(), problem: problem.take() };
            let Some(CommandReply::Set { key, value, scope: wanted }) = self.ask(question).await else { break };
            scope = wanted;
            at = Some(key.clone());
            match self.write_setting(scope, &key, value).await? {
                Ok(words) => changed.push(words),
                Err(failure) => problem = Some(failure.to_string()),
            }
        }
        Ok(Ok(match changed.as_slice() {
            [] => String::new(),
            lines => lines.join("\n\n"),
        }))
    }

    fn setting_entries(&self) -> Result<Vec<SettingEntry>, Failure> {
        let launch = self.parts.launch;
        let look = launch.look()?;
        CATALOG.iter().map(|known| entry(self.parts.launch, &look, known)).collect()
    }

    /// Writes a setting, has it take effect where that is possible at once, and tells hooks.
    pub(super) async fn write_setting(
        &mut self,
        scope: SettingScope,
        key: &str,
        value: Option<Value>,
    ) -> Result<Result<String, Failure>, StoreError> {
        if let Some(failure) = value.as_ref().and_then(|value| wrong_value(key, value)) {
            return Ok(Err(failure));
        }
        let file = match write(self.parts.launch, scope.of_files(), key, value.clone()) {
            Ok(file) => file,
            Err(failure) => return Ok(Err(failure)),
        };
        let at_once = self.take_effect(key, value.as_ref());
        self.tell_of_files().await?;
        let what = match &value {
            Some(value) => format!("{key} is {} in {}", printable(&shown(value)), shown_file(&file, &self.home())),
            None => format!("{key} is not set any more in {}", shown_file(&file, &self.home())),
        };
        Ok(Ok(match at_once {
            true => format!("{what}."),
            false => format!("{what}; it counts from the next start."),
        }))
    }

    /// Whether the setting counts in this session from now on.
    fn take_effect(&mut self, key: &str, value: Option<&Value>) -> bool {
        let word = value.and_then(Value::as_str);
        match key {
            "theme" => self.act(ScreenAction::Theme(word.unwrap_or("auto").to_owned())).is_ok(),
            "editorMode" => self.act(ScreenAction::Vim(word == Some("vim"))).is_ok(),
            "autoCompactEnabled" => {
                self.parts.runtime.settings.compaction.enabled = value != Some(&Value::Bool(false));
                self.refresh_model().is_ok()
            }
            "autoCompactWindow" => {
                let tokens = value.and_then(Value::as_u64).map(|tokens| tokens as usize);
                self.parts.runtime.settings.compaction.window = Ok(tokens);
                self.refresh_model().is_ok()
            }
            _ => false,
        }
    }

    /// Hooks hear of what was written (ConfigChange).
    pub(super) async fn tell_of_files(&mut self) -> Result<(), StoreError> {
        let Self { parts, session, .. } = self;
        look_at_files(&parts.open.store, &parts.runtime.hooks, session, &parts.events).await
    }

    pub(super) fn home(&self) -> PathBuf {
        self.parts.launch.env.home()
    }

    /// `/effort [LEVEL]`
    pub(super) async fn effort(&mut self, rest: &str) -> Said {
        let value = match rest {
            "" | "status" => {
                let level = &self.parts.runtime.settings.effort_level;
                return Ok(Ok(format!(
                    "The effort is **{}**. Hooks and skills know it; models think as much as they do by \
                     themselves. `/effort low|medium|high|xhigh|max|auto` changes it.",
                    printable(level)
                )));
            }
            "auto" => None,
            level => Some(json!(level)),
        };
        // As in the reference, the highest is for one session.
        if rest == "max" {
            self.parts.runtime.settings.effort_level = "max".to_owned();
            return Ok(Ok("The effort of this session is **max**, for skills that are loaded from now on.".to_owned()));
        }
        Ok(match self.write_setting(SettingScope::User, "effortLevel", value).await? {
            Ok(words) => {
                let level = if rest == "auto" { "medium" } else { rest };
                self.parts.runtime.settings.effort_level = level.to_owned();
                Ok(format!("{words} Skills that are loaded from now on are told at once."))
            }
            Err(failure) => Self::failed(&failure),
        })
    }

    /// `/autocompact auto|off|TOKENS`
    pub(super) async fn autocompact(&mut self, rest: &str) -> Said {
        let (enabled, window) = match rest {
            "" => {
                let compaction = &self.parts.runtime.settings.compaction;
                let now = match (compaction.enabled, &compaction.window) {
                    (false, _) => "off".to_owned(),
                    (true, Ok(Some(tokens))) => format!("{tokens} tokens"),
                    (true, _) => "auto".to_owned(),
                };
                return Ok(Ok(format!("Automatic summaries: **{now}**. `/autocompact auto|off|TOKENS` changes it.")));
            }
            "auto" | "on" => (true, None),
            "off" => (false, None),
            text => match text.replace(['_', ','], "").parse::<u64>() {
                Ok(tokens) if tokens >= 1_000 => (true, Some(json!(tokens))),
                _ => return Ok(Err("/autocompact takes auto, off, or a number of tokens of at least 1000".to_owned())),
            },
        };
        for (key, value) in [("autoCompactEnabled", (!enabled).then_some(json!(false))), ("autoCompactWindow", window)]
        {
            if let Err(failure) = self.write_setting(SettingScope::User, key, value).await? {
                return Ok(Self::failed(&failure));
            }
        }
        Ok(Ok(match (enabled, rest) {
            (false, _) => "The conversation is not summarised by itself any more; /compact does it.".to_owned(),
            (true, "auto" | "on") => "The conversation is summarised when its context is almost full.".to_owned(),
            (true, tokens) => format!("The conversation is summarised when it comes near {tokens} tokens."),
        }))
    }

    /// `/permissions [SCOPE] allow|ask|deny|remove RULE`, and without words what there is, to be changed.
    pub(super) async fn permissions_command(&mut self, rest: &str) -> Said {
        if rest.is_empty() {
            return match self.has_person() {
                true => self.edit_permissions().await,
                false => self.permissions(),
            };
        }
        if let Err(failure) = self.parts.launch.operator_only("permission rules") {
            return Ok(Self::failed(&failure));
        }
        let (first, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let scope = SettingScope::ALL.into_iter().find(|scope| scope.as_str() == first);
        let rest = if scope.is_some() { more.trim() } else { rest };
        let scope = scope.unwrap_or(SettingScope::Local);
        let (verb, rule) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let rule = rule.trim();
        let behavior = match verb {
            "allow" => Behavior::Allow,
            "ask" => Behavior::Ask,
            "deny" => Behavior::Deny,
            "remove" => {
                let found = self.ruled().into_iter().find(|one| one.rule == rule);
                return match found {
                    Some(one) => self.remove_rule(&one).await,
                    None => Ok(Err(format!("no rule reads {rule}; /permissions lists them"))),
                };
            }
            other => {
                return Ok(Err(format!(
                    "/permissions does not know {other}; /permissions allow|ask|deny|remove RULE, for example \
                     /permissions allow Bash(ls:*)"
                )));
            }
        };
        if rule.is_empty() {
            return Ok(Err(format!("say a rule: /permissions {verb} Bash(ls:*)")));
        }
        self.add_rule(rule, behavior, scope).await
    }

    async fn edit_permissions(&mut self) -> Said {
        let mut last = String::new();
        let mut at = 0;
        loop {
            let rules = self.ruled();
            let mode = self.session.with_rules(|rules| rules.mode());
            let mut entries = vec![ScreenEntry {
                label: "Add a rule…".to_owned(),
                detail: format!("mode {}", mode.as_str()),
                ..ScreenEntry::default()
            }];
            entries.extend(rules.iter().map(|one| ScreenEntry {
                label: format!("{:<5} {}", one.behavior.as_str(), printable(&one.rule)),
                detail: one.from.clone(),
                page: String::new(),
                actions: Vec::new(),
            }));
            let title = if last.is_empty() { "Permissions".to_owned() } else { last.clone() };
            let question = CommandQuestion::Pick { title, empty: String::new(), entries, at };
            let Some(CommandReply::Chosen(chosen)) = self.ask(question).await else { break };
            at = chosen;
            let said = match chosen.checked_sub(1).and_then(|index| rules.get(index)) {
                None => self.ask_for_rule().await?,
                Some(one) => {
                    let title = format!("{} {}", one.behavior.as_str(), printable(&one.rule));
                    let body = format!("From {}.", one.from);
                    match self.choose(&title, body, &[("Remove it", ""), ("Keep it", "")]).await {
                        Some(0) => self.remove_rule(one).await?,
                        _ => Ok(String::new()),
                    }
                }
            };
            last = said.unwrap_or_else(|why| why).lines().next().unwrap_or_default().to_owned();
        }
        Ok(Ok(String::new()))
    }

    async fn ask_for_rule(&mut self) -> Said {
        let Some(rule) = self.input("Rule", "Bash(npm test), Edit(src/**), WebFetch(domain:docs.rs)", false).await
        else {
            return Ok(Ok(String::new()));
        };
        let behaviors = [("Allow", "without asking"), ("Ask", "each time"), ("Deny", "always; nothing lifts it")];
        let Some(at @ 0..=2) =
            self.choose(&format!("What about {}?", printable(&rule)), String::new(), &behaviors).await
        else {
            return Ok(Ok(String::new()));
        };
        let behavior = [Behavior::Allow, Behavior::Ask, Behavior::Deny][at];
        let scopes = [
            ("This project, for you", ".ona/settings.local.json"),
            ("This project, for everybody", ".ona/settings.json"),
            ("All your projects", "~/.ona/settings.json"),
        ];
        let scope = match self.choose("Where is it kept?", String::new(), &scopes).await {
            Some(0) => SettingScope::Local,
            Some(1) => SettingScope::Project,
            Some(2) => SettingScope::User,
            _ => return Ok(Ok(String::new())),
        };
        self.add_rule(&rule, behavior, scope).await
    }

    async fn add_rule(&mut self, rule: &str, behavior: Behavior, scope: SettingScope) -> Said {
        let update =
            PermissionUpdate::AddRules { rules: vec![RuleText::split(rule)], behavior, destination: scope.of_rules() };
        Ok(match self.update(&update).await? {
            Ok(()) => {
                Ok(format!("{} {} is kept in the {} settings.", behavior.as_str(), printable(rule), scope.as_str()))
            }
            Err(why) => Err(why),
        })
    }

    async fn remove_rule(&mut self, one: &Ruled) -> Said {
        let Some(destination) = one.destination else {
            return Ok(Err(format!("{} comes from {}, which is not changed here", printable(&one.rule), one.from)));
        };
        let update = PermissionUpdate::RemoveRules {
            rules: vec![RuleText::split(&one.rule)],
            behavior: one.behavior,
            destination,
        };
        Ok(match self.update(&update).await? {
            Ok(()) => Ok(format!("{} {} is removed from {}.", one.behavior.as_str(), printable(&one.rule), one.from)),
            Err(why) => Err(why),
        })
    }

    async fn update(&mut self, update: &PermissionUpdate) -> Result<Result<(), String>, StoreError> {
        if let Err(failure) = self.parts.launch.operator_only("permission rules") {
            return Ok(Err(failure.message));
        }
        let rows = match self.session.update_rules(update) {
            Ok(rows) => rows,
            Err(why) => return Ok(Err(why)),
        };
        if !rows.is_empty() {
            self.parts.open.store.commit(&self.session.place, rows).await?;
        }
        self.tell_of_files().await?;
        Ok(Ok(()))
    }

    /// The rules in force, with where each comes from.
    fn ruled(&self) -> Vec<Ruled> {
        let layers = self.parts.launch.discover().map(|found| found.layers).unwrap_or_default();
        // A layer whose permissions cannot be read has no rule in force.
        let layers: Vec<_> =
            layers.into_iter().filter_map(|layer| Some((layer.settings().permissions.ok()?, layer))).collect();
        let origin = |behavior: Behavior, rule: &str| {
            layers.iter().rev().find_map(|(permissions, layer)| {
                let listed = match behavior {
                    Behavior::Allow => &permissions.allow,
                    Behavior::Ask => &permissions.ask,
                    Behavior::Deny => &permissions.deny,
                };
                listed.iter().any(|one| one == rule).then(|| {
                    let destination = match layer.scope {
                        ona_trust::SettingsScope::User if layer.own => Some(Destination::UserSettings),
                        ona_trust::SettingsScope::Project if layer.own => Some(Destination::ProjectSettings),
                        ona_trust::SettingsScope::Local if layer.own => Some(Destination::LocalSettings),
                        _ => None,
                    };
                    let file = layer.file.as_ref().map(|file| shown_file(file, &self.home()));
                    (file.unwrap_or_else(|| layer.scope.as_str().to_owned()), destination)
                })
            })
        };
        self.session.with_rules(|rules| {
            let mut found = Vec::new();
            for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
                for rule in rules.rules().list(behavior) {
                    let (from, destination) = origin(behavior, &rule.text)
                        .unwrap_or_else(|| ("this session".to_owned(), Some(Destination::Session)));
                    found.push(Ruled { behavior, rule: rule.text.clone(), from, destination });
                }
            }
            found
        })
    }
}

/// A rule in force.
struct Ruled {
    behavior: Behavior,
    rule: String,
    /// The file, or the session.
    from: String,
    /// Where it can be removed from.
    destination: Option<Destination>,
}

fn entry(launch: &ona_runtime::Launch, look: &OpenProject, known: &KnownSetting) -> Result<SettingEntry, Failure> {
    let (value, sources) = value_of(launch, look, known.key)?;
    let origin = sources.last().map_or("default", |source| source.scope).to_owned();
    let value = match fixed_by_policy(launch, known.key)? {
        Some(file) => SettingValue::Fixed {
            value: shown(&value),
            why: format!("{} is fixed by the managed policy {}", known.key, file.display()),
        },
        None => match known.kind {
            SettingKind::Switch(default) => SettingValue::Switch(value.as_bool().unwrap_or(default)),
            SettingKind::Choice(words) => {
                let word = value.as_str().unwrap_or(words[0]).to_owned();
                let mut choices: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                let chosen = choices.iter().position(|choice| *choice == word).unwrap_or_else(|| {
                    choices.push(word);
                    choices.len() - 1
                });
                SettingValue::Choice { choices, chosen }
            }
            SettingKind::Number | SettingKind::Text => {
                SettingValue::Text(if value.is_null() { String::new() } else { shown(&value) })
            }
        },
    };
    Ok(SettingEntry { key: known.key.to_owned(), help: known.help.to_owned(), value, origin })
}

/// Why a value does not fit the setting; what the catalog does not know is judged where it is written.
fn wrong_value(key: &str, value: &Value) -> Option<Failure> {
    let known = known_setting(key)?;
    let fits = match known.kind {
        SettingKind::Switch(_) => value.is_boolean(),
        SettingKind::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        SettingKind::Number => value.as_u64().is_some_and(|number| number > 0),
        SettingKind::Text => value.is_string(),
    };
    (!fits).then(|| {
        Failure::usage(format_args!("{key} takes {}; {} is something else", accepts(known.kind), shown(value)))
    })
}

fn accepts(kind: SettingKind) -> String {
    match kind {
        SettingKind::Switch(_) => "true or false".to_owned(),
        SettingKind::Choice(words) => words.join(", "),
        SettingKind::Number => "a whole number above 0".to_owned(),
        SettingKind::Text => "text".to_owned(),
    }
}

/// A text without quotes, everything else as JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown_file(file: &std::path::Path, home: &std::path::Path) -> String {
    match file.strip_prefix(home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => file.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::wrong_value;
    use serde_json::{Value, json};

    #[test]
    fn a_value_has_the_type_of_its_setting() {
        let fits = |key: &str, value: Value| wrong_value(key, &value).is_none();
        for (key, good, bad) in [
            ("theme", json!("dark"), json!("pink")),
            ("hooksFailClosed", json!(true), json!("true")),
            ("autoCompactWindow", json!(50_000), json!(0)),
            ("outputStyle", json!("Short"), json!(3)),
            ("permissions.defaultMode", json!("plan"), json!("auto")),
        ] {
            assert!(fits(key, good) && !fits(key, bad), "{key}");
        }
        assert!(fits("modelPrices", json!({})), "what the catalog does not know is judged by the writer");
    }
}
