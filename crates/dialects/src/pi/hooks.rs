//! Turns definitions into hooks of the effective list.

use super::config::{PiDefinition, PiMatch};
use super::redact::redact;
use super::source::PiSource;
use super::{Pi, alias, is_on_tool};
use crate::claude::Claude;
use crate::lint::UnknownField;
use crate::matcher::{InvalidMatcher, Matcher, ToolAliases};
use crate::read::{self, LoadedHooks, Rejected, switched_off};
use crate::rule_matcher::{self, RuleMatcher};
use ona_api::{EventName, Ordinal, SkipReason};
use ona_hookplane::{Applies, Dialect, Firing, Hook, HookAction, HookShell};
use ona_permissions::SessionDirs;
use ona_settings::Settings;
use serde_json::{Value, json};
use std::sync::Arc;

/// What hooks of a session depend on besides their definitions.
pub struct PiContext<'a> {
    /// The settings of this session, with its own Gastown mode.
    pub settings: &'a Settings,
    pub dirs: &'a SessionDirs,
}

pub fn hooks(source: PiSource, definitions: &[PiDefinition], context: &PiContext<'_>) -> LoadedHooks {
    let settings = context.settings;
    let effort = settings.effort_level.clone();
    let maker = PiHookBuilder {
        source,
        dialect: Arc::new(Pi { source, others: Claude { effort } }),
        place: Arc::new(context.dirs.clone()),
        gastown: settings.gastown_mode,
        disabled: switched_off(&settings.hooks),
    };
    let mut made = LoadedHooks::default();
    for definition in definitions {
        let mut notes = Vec::new();
        let hook = maker.hook(definition.clone(), &mut notes);
        if !maker.gastown && rule_matcher::is_idle(&hook.matcher) {
            made.idle.push(hook.matcher.clone());
        }
        let entry = json!({"hook_event_name": hook.event.as_str(), "matcher": hook.matcher,
            "command": redact(hook.command()), "source": source.as_str()});
        let unknown = definition.unknown.iter().cloned();
        made.unknown.extend(unknown.map(|field| UnknownField { field, entry: entry.clone() }));
        made.rejected.extend(notes.into_iter().map(|why| Rejected { entry: entry.clone(), why }));
        made.hooks.push(hook);
    }
    made
}

struct PiHookBuilder {
    source: PiSource,
    dialect: Arc<dyn Dialect>,
    place: Arc<SessionDirs>,
    gastown: bool,
    disabled: Option<SkipReason>,
}

impl PiHookBuilder {
    fn hook(&self, definition: PiDefinition, notes: &mut Vec<String>) -> Hook {
        let matches = self.matches(&definition, notes);
        let applies = if definition.condition.is_empty() {
            matches
        } else {
            let condition = read::condition(&definition.condition, &self.place, notes);
            let both: Applies = Arc::new(move |firing, input| matches(firing, input) && condition(firing, input));
            both
        };
        let action = match definition.args {
            Some(args) => HookAction::Exec { program: definition.command, args },
            None => HookAction::Shell { shell: HookShell::LoginSh, command: definition.command },
        };
        Hook {
            ordinal: Ordinal(0),
            event: definition.event,
            matcher: matcher_text(&definition.matching),
            condition: definition.condition,
            action,
            timeout: definition.timeout,
            dialect: Arc::clone(&self.dialect),
            source: self.source.as_str().to_owned(),
            disabled: self.disabled,
            fail_closed: !definition.fail_open && definition.event == EventName::PreToolUse,
            detached: definition.detached,
            plugin: None,
            once: None,
            registered: None,
            applies,
        }
    }

    fn matches(&self, definition: &PiDefinition, notes: &mut Vec<String>) -> Applies {
        match &definition.matching {
            PiMatch::All => Arc::new(|_: &Firing, _: &Value| true),
            PiMatch::Tools(_) if !is_on_tool(definition.event) => Arc::new(|_: &Firing, _: &Value| true),
            PiMatch::Tools(names) => {
                let names = names.clone();
                Arc::new(move |firing: &Firing, _: &Value| {
                    let tool = firing.tool().unwrap_or_default();
                    names.iter().any(|name| name == tool || Some(name.as_str()) == alias(tool))
                })
            }
            PiMatch::Text(text) => {
                let matcher = Matcher::claude(definition.event, text).unwrap_or_else(|InvalidMatcher(why)| {
                    notes.push(format!("the matcher {text:?} is not a valid expression and matches nothing: {why}"));
                    Matcher::Nothing
                });
                let matcher = RuleMatcher::new(matcher, text, self.gastown, &self.place);
                Arc::new(move |firing: &Firing, input: &Value| {
                    let pi_name = firing.tool().and_then(alias).filter(|_| is_on_tool(firing.event));
                    matcher.matches(firing, input, ToolAliases::WithAliases)
                        || pi_name.is_some_and(|name| matcher.matches_name(name))
                })
            }
        }
    }
}

/// Returns the tools of a configured text that names some.
pub(crate) fn tool_names(text: &str) -> Option<Vec<String>> {
    let Value::Object(mut matcher) = serde_json::from_str(text).ok()? else { return None };
    serde_json::from_value(matcher.remove("toolNames")?).ok()
}

/// Returns the configured text.
fn matcher_text(matching: &PiMatch) -> String {
    match matching {
        PiMatch::All => String::new(),
        PiMatch::Tools(names) => json!({ "toolNames": names }).to_string(),
        PiMatch::Text(text) => text.clone(),
    }
}
