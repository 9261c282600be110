//! From the effective settings to the effective hook list.
//!
//! Snapshot hooks come first in document order, then plugins by id (section 5.2).
//! A bad entry is reported and left out; the rest stays active.

use crate::claude::Claude;
use crate::entries::{RawEntry, flatten};
use crate::handler_spec::{HandlerFactory, HandlerSpec};
use crate::lint::{self, UnknownField};
use crate::matcher::{InvalidMatcher, Matcher, ToolAliases};
use crate::persistent::Persistent;
use crate::rule_matcher::{self, RuleMatcher};
use crate::sdlc::Sdlc;
use ona_api::{EventName, Ordinal, SkipReason};
use ona_hookplane::{Applies, Dialect, Firing, Hook, HookAction, HookHandler, HookShell, PluginDirs};
use ona_permissions::{Condition, SessionDirs};
use ona_settings::{HookSettings, Settings};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The hooks of one source, and what is wrong with them.
#[derive(Default)]
pub struct LoadedHooks {
    /// In the order they run.
    pub hooks: Vec<Hook>,
    pub rejected: Vec<Rejected>,
    /// Fields of hooks that have no effect.
    pub unknown: Vec<UnknownField>,
    /// Matchers that would be tried as permission rules in gastown mode, and without it
    /// match no tool.
    pub idle: Vec<String>,
    /// Configurations and scripts the hooks consist of, which the agent must not change.
    pub files: Vec<PathBuf>,
}

/// A configured hook that will not run, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    pub entry: Value,
    pub why: String,
}

/// The hooks of the settings, then those of plugins.
pub fn load(settings: &Settings, dirs: &SessionDirs, make: HandlerFactory<'_>) -> LoadedHooks {
    let mut loaded = settings_hooks(settings, dirs, make);
    let LoadedHooks { hooks, rejected, unknown, idle, files } = plugin_hooks(settings, dirs, make);
    loaded.hooks.extend(hooks);
    loaded.rejected.extend(rejected);
    loaded.unknown.extend(unknown);
    loaded.idle.extend(idle);
    loaded.files.extend(files);
    loaded
}

/// The hooks of the settings themselves, in document order. `make` makes the handlers of
/// hooks that are not a process.
pub fn settings_hooks(settings: &Settings, dirs: &SessionDirs, make: HandlerFactory<'_>) -> LoadedHooks {
    let mut reader = HookReader::new(settings, dirs, make);
    reader.read(&settings.hooks.entries, &settings.hooks.dialect, None);
    reader.finish()
}

/// The hooks of plugins, by the plugins' ids.
pub fn plugin_hooks(settings: &Settings, dirs: &SessionDirs, make: HandlerFactory<'_>) -> LoadedHooks {
    let mut reader = HookReader::new(settings, dirs, make);
    let mut plugins: Vec<_> = settings.hooks.plugins.iter().collect();
    plugins.sort_by_key(|plugin| &plugin.id);
    for plugin in plugins {
        let folder = |path: &Option<String>| path.clone().unwrap_or_default();
        let dirs = PluginDirs { root: folder(&plugin.root), data: folder(&plugin.data) };
        reader.read(&plugin.hooks, &plugin.dialect, Some((&plugin.id, dirs)));
    }
    reader.finish()
}

impl<'a> HookReader<'a> {
    pub(crate) fn new(settings: &'a Settings, place: &SessionDirs, make: HandlerFactory<'a>) -> Self {
        let effort = settings.effort_level.clone();
        HookReader {
            sdlc: Arc::new(Sdlc),
            claude: Arc::new(Claude { effort }),
            place: Arc::new(place.clone()),
            make,
            settings: &settings.hooks,
            gastown: settings.gastown_mode,
            all_disabled: settings.hooks.all_disabled,
            fail_closed: settings.hooks.fail_closed.value,
            hooks: Vec::new(),
            rejected: Vec::new(),
            unknown: Vec::new(),
            idle: Vec::new(),
            persistent: HashMap::new(),
        }
    }
}

pub(crate) struct HookReader<'a> {
    sdlc: Arc<dyn Dialect>,
    claude: Arc<dyn Dialect>,
    place: Arc<SessionDirs>,
    make: HandlerFactory<'a>,
    settings: &'a HookSettings,
    gastown: bool,
    all_disabled: bool,
    /// `hooksFailClosed`: as if every hook said `fail_closed`.
    fail_closed: bool,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) rejected: Vec<Rejected>,
    unknown: Vec<UnknownField>,
    idle: Vec<String>,
    /// By label, so that entries with the same command share one process.
    persistent: HashMap<String, Arc<Persistent>>,
}

impl HookReader<'_> {
    fn read(&mut self, hooks: &Value, dialect: &str, plugin: Option<(&String, PluginDirs)>) {
        // A plugin's process has the plugin's environment and is not shared beyond it.
        self.persistent.clear();
        self.unknown.extend(lint::unknown_fields(hooks));
        let (entries, misshapen) = flatten(hooks);
        self.rejected.extend(misshapen.into_iter().map(|bad| Rejected { entry: bad.entry, why: bad.why.to_owned() }));
        self.take(entries, dialect, |hook, _| {
            if let Some((id, dirs)) = &plugin {
                hook.source = format!("plugin:{id}");
                hook.plugin = Some(dirs.clone());
            }
        });
    }

    fn finish(self) -> LoadedHooks {
        let Self { hooks, rejected, unknown, idle, .. } = self;
        LoadedHooks { hooks, rejected, unknown, idle, files: Vec::new() }
    }

    /// Takes the hooks of some entries; `finish` may put more into each.
    pub(crate) fn take(&mut self, entries: Vec<RawEntry>, dialect: &str, finish: impl Fn(&mut Hook, &RawEntry)) {
        for entry in entries {
            let mut notes = Vec::new();
            match self.hook(&entry, dialect, &mut notes) {
                Ok(mut hook) => {
                    if !self.gastown && rule_matcher::is_idle(&hook.matcher) {
                        self.idle.push(hook.matcher.clone());
                    }
                    finish(&mut hook, &entry);
                    self.hooks.push(hook);
                }
                Err(why) => notes.push(why),
            }
            let shown = Value::Object(entry.handler.clone());
            self.rejected.extend(notes.into_iter().map(|why| Rejected { entry: shown.clone(), why }));
        }
    }

    /// Returns the hook, or why it is rejected; `notes` gets problems of a hook that stays.
    fn hook(&mut self, entry: &RawEntry, dialect: &str, notes: &mut Vec<String>) -> Result<Hook, String> {
        let handler = &entry.handler;
        let event: EventName = match &entry.event {
            Some(name) => name.parse().map_err(|unknown: ona_api::event::UnknownEvent| unknown.to_string())?,
            None => return Err("hook_event_name is missing".into()),
        };
        let tag = |name: &str| handler.get(name).or(entry.tags.get(name)).and_then(Value::as_str);
        let dialect_name = tag("dialect").unwrap_or(dialect);
        let (dialect, names) = match dialect_name {
            "sdlc" => (Arc::clone(&self.sdlc), ToolAliases::Frozen),
            "claude" => (Arc::clone(&self.claude), ToolAliases::WithAliases),
            other => return Err(format!("the dialect {other:?} is not known here; use sdlc or claude")),
        };
        let matcher_text = match entry.matcher.as_ref().or(handler.get("matcher")) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => return Err("matcher must be a string".into()),
        };
        let compiled =
            if dialect_name == "sdlc" { Matcher::sdlc(&matcher_text) } else { Matcher::claude(event, &matcher_text) };
        let matcher = compiled.unwrap_or_else(|InvalidMatcher(why)| {
            notes.push(format!("the matcher {matcher_text:?} is not a valid expression and matches nothing: {why}"));
            Matcher::Nothing
        });
        let condition_text = match handler.get("if").or(handler.get("if_condition")) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => return Err("if must be a string".into()),
        };
        let flag = |names: [&str; 2]| names.iter().any(|name| handler.get(*name) == Some(&Value::Bool(true)));
        let (action, default_timeout) = match HandlerSpec::read(event, handler, self.settings) {
            Some(wanted) => {
                let wanted = wanted?;
                let default = wanted.timeout();
                if let (HandlerSpec::Prompt { .. } | HandlerSpec::Agent(_), Some(model)) =
                    (&wanted, handler.get("model"))
                {
                    notes.push(format!("the model {model} is not used: such a hook asks the session's own model"));
                }
                if handler.get("persistent") == Some(&Value::Bool(true)) {
                    notes.push("persistent counts for hooks of type command only".into());
                }
                (HookAction::Handler((self.make)(wanted)?), default)
            }
            None => (self.command(handler, dialect_name, notes)?, None),
        };
        let hook = Hook {
            ordinal: Ordinal(0),
            event,
            action,
            timeout: timeout(handler, notes).or(default_timeout),
            dialect,
            source: tag("source").unwrap_or("settings_snapshot").to_owned(),
            disabled: tag("disabled")
                .and_then(SkipReason::from_text)
                .or(self.all_disabled.then_some(SkipReason::AllHooksDisabled)),
            fail_closed: self.fail_closed || flag(["fail_closed", "failClosed"]),
            detached: flag(["async", "asyncRewake"]),
            plugin: None,
            once: self.once(handler, dialect_name, notes).then(|| {
                let parts = [event.as_str(), &matcher_text, &condition_text, tag("source").unwrap_or_default()];
                let entry = Value::Object(handler.clone()).to_string();
                ona_api::digest::sha256_hex(format!("{}\0{entry}", parts.join("\0")).as_bytes())[..16].to_owned()
            }),
            registered: None,
            applies: self.applies(
                RuleMatcher::new(matcher, &matcher_text, self.gastown, &self.place),
                names,
                &condition_text,
                notes,
            ),
            matcher: matcher_text,
            condition: condition_text,
        };
        Ok(hook)
    }

    /// `once` counts in our own files and in skills; the compatible product's settings files
    /// do not know it.
    fn once(&self, handler: &Map<String, Value>, dialect: &str, notes: &mut Vec<String>) -> bool {
        match handler.get("once") {
            Some(Value::Bool(once)) => *once && dialect == "sdlc",
            None | Some(Value::Null) => false,
            Some(other) => {
                notes.push(format!("once must be true or false, not {other}; the hook runs every time"));
                false
            }
        }
    }

    /// Returns the action of a command, with a process for each firing or one that stays.
    fn command(
        &mut self,
        handler: &Map<String, Value>,
        dialect: &str,
        notes: &mut Vec<String>,
    ) -> Result<HookAction, String> {
        let action = action(handler, dialect)?;
        if let HookAction::Exec { program, .. } = &action
            && program.contains(char::is_whitespace)
            && !program.contains('/')
        {
            notes.push(format!("with args, command is one program and {program:?} is none; move its words to args"));
        }
        match handler.get("persistent") {
            None | Some(Value::Null | Value::Bool(false)) => Ok(action),
            Some(Value::Bool(true)) => {
                let new = Persistent::new(action);
                let shared = self.persistent.entry(new.label().to_owned()).or_insert_with(|| Arc::new(new));
                Ok(HookAction::Handler(Arc::clone(shared) as Arc<dyn HookHandler>))
            }
            Some(other) => {
                notes.push(format!("persistent must be true or false, not {other}; the hook is started each time"));
                Ok(action)
            }
        }
    }

    fn applies(&self, matcher: RuleMatcher, names: ToolAliases, condition: &str, notes: &mut Vec<String>) -> Applies {
        if condition.is_empty() {
            return Arc::new(move |firing: &Firing, input: &Value| matcher.matches(firing, input, names));
        }
        let condition = self::condition(condition, &self.place, notes);
        Arc::new(move |firing: &Firing, input: &Value| {
            matcher.matches(firing, input, names) && condition(firing, input)
        })
    }
}

/// Returns what the settings say about hooks that no settings file holds.
pub fn switched_off(settings: &HookSettings) -> Option<SkipReason> {
    match (settings.managed_only, settings.all_disabled) {
        (true, _) => Some(SkipReason::ManagedOnly),
        (false, true) => Some(SkipReason::AllHooksDisabled),
        (false, false) => None,
    }
}

/// When a hook's `if` holds.
pub(crate) fn condition(text: &str, place: &Arc<SessionDirs>, notes: &mut Vec<String>) -> Applies {
    let Some(rule) = Condition::parse(text) else {
        notes.push(format!("the condition {text:?} is not a permission rule, so the hook never runs"));
        return Arc::new(|_: &Firing, _: &Value| false);
    };
    let place = Arc::clone(place);
    Arc::new(move |firing: &Firing, input: &Value| {
        // On events without a tool a condition never holds (DEC-046).
        firing.tool().is_some_and(|tool| rule.matches(tool, input, &(firing.access)(input), &place))
    })
}

fn action(handler: &Map<String, Value>, dialect: &str) -> Result<HookAction, String> {
    match handler.get("type").map(|kind| kind.as_str().unwrap_or("")) {
        None | Some("command") => {}
        Some(other) => return Err(format!("the hook type {other:?} is not known")),
    }
    let command = match handler.get("command").and_then(Value::as_str) {
        Some(command) if !command.trim().is_empty() => command.to_owned(),
        _ => return Err("command must be a non-empty string".into()),
    };
    match handler.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            let args = words.ok_or("args must be an array of strings")?;
            return Ok(HookAction::Exec { program: command, args });
        }
        Some(_) => return Err("args must be an array of strings".into()),
    }
    let shell = match handler.get("shell") {
        // A login profile does not belong in the path of hooks that never asked for one (DEC-160).
        None | Some(Value::Null) if dialect == "claude" => HookShell::Sh,
        None | Some(Value::Null) => HookShell::Bash,
        Some(value) => {
            let known = value.as_str().and_then(HookShell::from_text);
            known.ok_or_else(|| format!("the shell {value} is not known; use bash, sh or powershell"))?
        }
    };
    Ok(HookAction::Shell { shell, command })
}

fn timeout(handler: &Map<String, Value>, notes: &mut Vec<String>) -> Option<Duration> {
    let value = handler.get("timeout").filter(|value| !value.is_null())?;
    match value.as_f64() {
        Some(seconds) if seconds > 0.0 && seconds < 1e9 => Some(Duration::from_secs_f64(seconds)),
        _ => {
            notes.push(format!("the timeout {value} is not a positive number of seconds; the default applies"));
            None
        }
    }
}
