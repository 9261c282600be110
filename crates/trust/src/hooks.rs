//! The `hooks` of one settings file as one flat array (DEC-040).
//!
//! Three shapes are accepted, and all become the same entries, so that what is
//! listed for a trust question, what is stored and what runs are one thing
//! . Whether an entry makes sense as a hook is judged where the row is
//! read; only what is not an object is kept out here.

use crate::clean::SettingsSource;
use crate::layer::SettingsScope;
use crate::notice::NoticeKind;
use ona_api::SkipReason;
use ona_settings::keys;
use serde_json::{Map, Value};

/// Handler keys in the order they are stored; others follow as written.
const HANDLER_KEYS: [&str; 7] = ["type", "command", "args", "url", "shell", "if", "timeout"];

/// Keys this module sets itself. A file that sets them could pose as another file.
const OUR_KEYS: [&str; 3] = ["dialect", "source", "disabled"];

#[derive(Debug, Default)]
pub(crate) struct FlattenedHooks {
    pub entries: Vec<FlatHook>,
    /// What was kept out: the event it stood under, and why.
    pub odd: Vec<(Option<String>, &'static str)>,
}

#[derive(Debug)]
pub(crate) struct FlatHook {
    pub entry: Map<String, Value>,
    /// The entry's or its group's own word on its dialect.
    pub dialect: Option<Value>,
    /// Written as groups below an event name, the shape of `.claude` files.
    pub nested: bool,
}

pub(crate) fn flatten(hooks: &Value) -> FlattenedHooks {
    let mut flat = FlattenedHooks::default();
    match hooks {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| flat.item(None, item)),
        Value::Object(events) => {
            for (event, items) in events {
                match items {
                    Value::Null => {}
                    Value::Array(items) => items.iter().for_each(|item| flat.item(Some(event), item)),
                    _ => flat.keep_out(Some(event), "the hooks of an event must be an array"),
                }
            }
        }
        _ => flat.keep_out(None, "`hooks` must be an array or an object"),
    }
    flat
}

impl FlattenedHooks {
    fn keep_out(&mut self, event: Option<&str>, why: &'static str) {
        self.odd.push((event.map(str::to_owned), why));
    }

    fn item(&mut self, event: Option<&str>, item: &Value) {
        let Some(item) = item.as_object() else {
            return self.keep_out(event, "a hook must be an object");
        };
        match item.get("hooks") {
            None => self.handler(event, None, item),
            Some(Value::Null) => {}
            Some(Value::Array(handlers)) => {
                if item.contains_key("command") {
                    self.keep_out(event, "a group with `hooks` has no `command` of its own");
                }
                for handler in handlers {
                    match handler.as_object() {
                        // Stored as it is, it would be read back as a group.
                        Some(handler) if handler.contains_key("hooks") => {
                            self.keep_out(event, "a group cannot contain another group");
                        }
                        Some(handler) => self.handler(event, Some(item), handler),
                        None => self.keep_out(event, "a hook must be an object"),
                    }
                }
            }
            Some(_) => self.keep_out(event, "the `hooks` of a group must be an array"),
        }
    }

    fn handler(&mut self, event: Option<&str>, group: Option<&Map<String, Value>>, handler: &Map<String, Value>) {
        let said = |key: &str| group.and_then(|group| group.get(key)).or(handler.get(key)).filter(|v| !v.is_null());
        let text = |value: Option<&Value>| value.cloned().unwrap_or_else(|| "".into());
        let mut entry = Map::new();
        entry.insert("hook_event_name".into(), event.map_or_else(|| text(said("hook_event_name")), Value::from));
        entry.insert("matcher".into(), text(said("matcher")));
        entry.insert("type".into(), "command".into());
        for key in HANDLER_KEYS {
            let alias = if key == "if" { handler.get("if_condition") } else { None };
            if let Some(value) = handler.get(key).or(alias) {
                entry.insert(key.into(), value.clone());
            }
        }
        for (key, value) in handler {
            if key != "if_condition" && !OUR_KEYS.contains(&key.as_str()) {
                entry.entry(key).or_insert_with(|| value.clone());
            }
        }
        let dialect = handler.get("dialect").or(group.and_then(|group| group.get("dialect")));
        let dialect = dialect.filter(|value| !value.is_null()).cloned();
        self.entries.push(FlatHook { entry, dialect, nested: event.is_some() && group.is_some() });
    }
}

/// Flattens the hooks of a file and of the plugins it carries, and tags each
/// entry with its dialect and source.
pub(crate) fn clean(source: &mut SettingsSource<'_>, value: &mut Map<String, Value>, label: &str, withheld: bool) {
    let dialect = value.shift_remove(keys::HOOKS_DIALECT);
    if let Some(written) = value.shift_remove(keys::HOOKS) {
        let entries = tagged(source, &[keys::HOOKS], &written, dialect.as_ref(), label, withheld);
        if !entries.is_empty() {
            value.insert(keys::HOOKS.into(), entries.into());
        }
    }
    let Some(plugins) = value.get_mut(keys::PLUGINS).and_then(Value::as_object_mut) else { return };
    for (id, plugin) in plugins {
        // Plugins are written in the `.claude` shape unless they say otherwise (DEC-041).
        let dialect = plugin.get(keys::HOOKS_DIALECT).cloned().unwrap_or_else(|| "claude".into());
        if let Some(written) = plugin.get_mut(keys::HOOKS) {
            *written =
                tagged(source, &[keys::PLUGINS, id, keys::HOOKS], written, Some(&dialect), label, withheld).into();
        }
    }
}

fn tagged(
    source: &mut SettingsSource<'_>,
    at: &[&str],
    written: &Value,
    dialect: Option<&Value>,
    label: &str,
    withheld: bool,
) -> Vec<Value> {
    let flat = flatten(written);
    for (event, why) in flat.odd {
        let at: Vec<_> = at.iter().copied().chain(event.as_deref()).collect();
        source.note(NoticeKind::Hook, &at, why);
    }
    let by_source = |nested: bool| match source.scope {
        SettingsScope::Flag if nested => "claude",
        _ if !source.own => "claude",
        _ => "sdlc",
    };
    let tag = |hook: FlatHook| {
        let mut entry = hook.entry;
        let dialect = hook.dialect.or_else(|| dialect.cloned()).unwrap_or_else(|| by_source(hook.nested).into());
        entry.insert("dialect".into(), dialect);
        entry.insert("source".into(), label.into());
        if withheld {
            entry.insert("disabled".into(), SkipReason::UntrustedWorkspace.as_str().into());
        }
        Value::Object(entry)
    };
    flat.entries.into_iter().map(tag).collect()
}
