//! The three shapes of a `hooks` value, as one flat list (DEC-040).
//!
//! (i) an array of flat entries, (ii) an array of groups with `hooks`, (iii) an
//! object from event name to either. Only the shape is checked here.

use serde_json::{Map, Value};

/// One handler with the tags of its group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawEntry {
    pub event: Option<String>,
    pub matcher: Option<Value>,
    pub handler: Map<String, Value>,
    /// Tags of the group or entry: `dialect`, `source`, `disabled`.
    pub tags: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MalformedEntry {
    pub entry: Value,
    pub why: &'static str,
}

pub(crate) fn flatten(hooks: &Value) -> (Vec<RawEntry>, Vec<MalformedEntry>) {
    let mut walk = Walk::default();
    match hooks {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| walk.item(item, None)),
        Value::Object(by_event) => {
            for (event, items) in by_event {
                match items {
                    Value::Null => {}
                    Value::Array(items) => items.iter().for_each(|item| walk.item(item, Some(event))),
                    other => walk.reject(other, "an event must have an array of groups or handlers"),
                }
            }
        }
        other => walk.reject(other, "hooks must be an array or an object"),
    }
    (walk.entries, walk.misshapen)
}

#[derive(Default)]
struct Walk {
    entries: Vec<RawEntry>,
    misshapen: Vec<MalformedEntry>,
}

impl Walk {
    fn reject(&mut self, entry: &Value, why: &'static str) {
        self.misshapen.push(MalformedEntry { entry: entry.clone(), why });
    }

    fn item(&mut self, item: &Value, event: Option<&str>) {
        let Some(object) = item.as_object() else {
            return self.reject(item, "a hook entry must be an object");
        };
        let named = object.get("hook_event_name").and_then(Value::as_str);
        let event = event.or(named).map(str::to_owned);
        let matcher = object.get("matcher").cloned();
        let tags = || {
            let tag = |name: &str| object.get(name).map(|value| (name.to_owned(), value.clone()));
            ["dialect", "source", "disabled"].iter().filter_map(|name| tag(name)).collect::<Map<_, _>>()
        };
        match object.get("hooks") {
            None => {
                self.entries.push(RawEntry { event, matcher, handler: object.clone(), tags: tags() });
            }
            Some(Value::Null) => {}
            Some(Value::Array(handlers)) => {
                for handler in handlers {
                    match handler.as_object() {
                        Some(handler) => self.entries.push(RawEntry {
                            event: event.clone(),
                            matcher: matcher.clone(),
                            handler: handler.clone(),
                            tags: tags(),
                        }),
                        None => self.reject(handler, "a handler must be an object"),
                    }
                }
            }
            Some(other) => self.reject(other, "the hooks of a group must be an array"),
        }
    }
}
