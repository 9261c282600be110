//! Hooks a driving program registers in its first message: `{Event: [{matcher,
//! hookCallbackIds, timeout}]}`.
//!
//! They use the claude dialect, because such programs are written for it. A wrong entry is
//! an error: a guard that is silently missing would be worse than no session.

use crate::claude::Claude;
use crate::matcher::{InvalidMatcher, Matcher, ToolAliases};
use ona_api::{EventName, Ordinal, SkipReason};
use ona_hookplane::{Dialect, Firing, Hook, HookAction, HookHandler};
use ona_settings::Settings;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The source of such hooks in lists.
pub const CALLBACKS: &str = "initialize";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    matcher: Option<String>,
    hook_callback_ids: Vec<String>,
    timeout: Option<f64>,
}

#[derive(Default)]
pub struct Callbacks {
    pub hooks: Vec<Hook>,
    /// Events that ona does not have; their hooks never run.
    pub unknown: Vec<String>,
}

/// `answering` makes the handler for the callback with this id.
pub fn callbacks(
    value: &Value,
    settings: &Settings,
    answering: impl Fn(String) -> Arc<dyn HookHandler>,
) -> Result<Callbacks, String> {
    let mut read = Callbacks::default();
    if value.is_null() {
        return Ok(read);
    }
    let events: BTreeMap<String, Option<Vec<Group>>> =
        serde_json::from_value(value.clone()).map_err(|error| format!("hooks cannot be read: {error}"))?;
    let effort = settings.effort_level.clone();
    let dialect: Arc<dyn Dialect> = Arc::new(Claude { effort });
    let disabled = settings.hooks.all_disabled.then_some(SkipReason::AllHooksDisabled);
    for (name, groups) in events {
        let Ok(event) = name.parse::<EventName>() else {
            read.unknown.push(name);
            continue;
        };
        for group in groups.unwrap_or_default() {
            let text = group.matcher.unwrap_or_default();
            let timeout = match group.timeout {
                None => None,
                Some(seconds) if seconds > 0.0 && seconds < 1e9 => Some(Duration::from_secs_f64(seconds)),
                Some(other) => return Err(format!("the timeout {other} is not a positive number of seconds")),
            };
            for id in group.hook_callback_ids {
                let matcher = Matcher::claude(event, &text)
                    .map_err(|InvalidMatcher(why)| format!("the matcher {text:?} is not a valid expression: {why}"))?;
                read.hooks.push(Hook {
                    ordinal: Ordinal(0),
                    event,
                    matcher: text.clone(),
                    condition: String::new(),
                    action: HookAction::Handler(answering(id)),
                    timeout,
                    dialect: Arc::clone(&dialect),
                    source: CALLBACKS.to_owned(),
                    disabled,
                    fail_closed: false,
                    detached: false,
                    plugin: None,
                    once: None,
                    registered: None,
                    applies: Arc::new(move |firing: &Firing, _: &Value| {
                        matcher.matches(firing, ToolAliases::WithAliases)
                    }),
                });
            }
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_hookplane::{Exit, HandlerFuture, HookExecution, HookInvocation};
    use serde_json::json;

    struct Named(String);

    impl HookHandler for Named {
        fn label(&self) -> &str {
            &self.0
        }

        fn run<'a>(&'a self, _: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
            Box::pin(async { HookExecution::ended(String::new(), Exit::Code(0), String::new(), String::new()) })
        }
    }

    fn named(id: String) -> Arc<dyn HookHandler> {
        Arc::new(Named(id))
    }

    #[test]
    fn each_callback_is_a_hook_and_what_cannot_be_read_is_an_error() {
        let hooks = json!({
            "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["a", "b"], "timeout": 5}, {"hookCallbackIds": ["c"]}],
            "Stop": null,
            "Nonesuch": [{"hookCallbackIds": ["d"]}],
        });
        let read = callbacks(&hooks, &Settings::default(), named).unwrap();
        let told: Vec<_> =
            read.hooks.iter().map(|hook| (hook.command(), hook.matcher.as_str(), hook.timeout.is_some())).collect();
        assert_eq!(told, [("a", "Bash", true), ("b", "Bash", true), ("c", "", false)]);
        assert_eq!(read.unknown, ["Nonesuch"]);
        for wrong in
            [json!([]), json!({"Stop": [{}]}), json!({"PreToolUse": [{"matcher": "(", "hookCallbackIds": ["a"]}]})]
        {
            assert!(callbacks(&wrong, &Settings::default(), named).is_err(), "{wrong}");
        }
        assert!(callbacks(&Value::Null, &Settings::default(), named).unwrap().hooks.is_empty());
    }
}
