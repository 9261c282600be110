//! Settings files. Laws: reading is a function of the text; whatever can be read can be read again
//! from its own JSON; a rule that an update adds is there afterwards, and nothing else changed.

use super::{mutate, same};
use crate::random::Random;
use ona_api::permission_update::{Behavior, Destination, PermissionUpdate, RuleText};
use ona_settings::{PermissionSettings, Settings};
use ona_trust::{RuleAnchors, apply};
use serde_json::Value;
use std::path::Path;

pub(super) const EXAMPLES: [&str; 4] = [
    r#"{"permissions":{"allow":["Bash(ls:*)","Read(./**)"],"ask":["WebFetch"],"deny":["Bash(rm:*)","Read(.env)"],
        "defaultMode":"acceptEdits","additionalDirectories":["../x"],"disableBypassPermissionsMode":"disable"},
        "env":{"A":"1","TOKEN":"secret-value"},"model_config":{"provider":"anthropic_api","model_id":"claude_sonnet_4"}}"#,
    r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"./a.sh","timeout":5,"if":"Bash(rm:*)"},
        {"type":"http","url":"http://127.0.0.1/x","headers":{"a":"$B"}},{"type":"prompt","prompt":"ok? $ARGUMENTS"}]}]},
        "disableAllHooks":false,"hooksFailClosed":true,"guards":"strict"}"#,
    "{\n  // a comment\n  \"hooks\": [{\"hook_event_name\": \"Stop\", \"matcher\": \"\", \"command\": \"true\", \"shell\": \"sh\"}],\n  \"sdlc\": {\"planning\": {\"mcp\": \"ask\"}, \"publicApi\": {\"entryPoints\": [\"bin/x\"]}}\n}\n",
    r#"{"mcpServers":{"a":{"command":"node","args":["x.js"],"env":{"K":"${K:-v}"}},"b":{"type":"http","url":"https://h/x"}},
        "apiKeyHelper":"echo k","compaction":{"auto":true,"threshold":0.5},"effortLevel":"high","skillOverrides":{"s":"off"},
        "plugins":{"p":{"hooks":{}}},"claudeCompat":{"transcriptPath":true}}"#,
];

pub(super) const WORDS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "1",
    "-0",
    "1e400",
    "\"permissions\"",
    "\"allow\"",
    "\"deny\"",
    "\"ask\"",
    "\"Bash\"",
    "\"Bash(*)\"",
    "\"hooks\"",
    "\"PreToolUse\"",
    "\"matcher\"",
    "\"command\"",
    "\"timeout\"",
    "\"defaultMode\"",
    "\"bypassPermissions\"",
    "\"env\"",
    "\"guards\"",
    "\"strict\"",
    "\"sdlc\"",
    "\"planning\"",
    "\"mcpServers\"",
    "\"model_config\"",
    "\"hooksDialect\"",
    "\"dialect\"",
    "\"claude\"",
    "\"${X}\"",
    " ",
    "\n",
    "//x\n",
    "/**/",
];

pub(super) fn read(random: &mut Random, input: &mut String) -> Result<(), String> {
    *input = mutate::words(random, &EXAMPLES, &WORDS);
    if let Ok(value) = serde_json::from_str::<Value>(input) {
        let settings = Settings::read(&value);
        same("settings are read alike twice", &settings, &Settings::read(&value))?;
        let again: Value = serde_json::from_str(&value.to_string()).map_err(|error| error.to_string())?;
        same("settings survive being written", &settings, &Settings::read(&again))?;
        // Permissions that cannot be read are an error, never an empty list.
        let deny = &value["permissions"]["deny"];
        if let (Ok((permissions, _)), Some(texts)) = (PermissionSettings::parse(&value["permissions"]), deny.as_array())
            && texts.iter().all(Value::is_string)
        {
            same("every deny rule is kept", &permissions.deny.len(), &texts.len())?;
        }
    }
    let rule =
        RuleText::split(random.pick::<&str>(&["Bash(rm:*)", "Read", "Edit(/src/**)", "mcp__a", "Read(é \"x\")"]));
    let update = PermissionUpdate::AddRules {
        rules: vec![rule.clone()],
        behavior: *random.pick(&[Behavior::Deny, Behavior::Ask, Behavior::Allow]),
        destination: Destination::UserSettings,
    };
    let PermissionUpdate::AddRules { behavior, .. } = &update else { return Ok(()) };
    let anchors = RuleAnchors { row: Path::new("/p"), file: Path::new("/p") };
    let Ok(edited) = apply(input, &update, anchors) else { return Ok(()) };
    let text = edited.trim_start_matches('\u{feff}');
    let mut after: Value =
        serde_json::from_str(text).map_err(|error| format!("the edited file is broken: {error}: {edited}"))?;
    let list = after["permissions"][behavior.as_str()].as_array().cloned().unwrap_or_default();
    if !list.iter().any(|text| text.as_str() == Some(rule.joined().as_str())) {
        return Err(format!("the rule {} was not added: {edited}", rule.joined()));
    }
    let mut before: Value = serde_json::from_str(input.trim_start_matches('\u{feff}')).unwrap_or_default();
    for value in [&mut before, &mut after] {
        if let Some(permissions) = value["permissions"].as_object_mut() {
            permissions.shift_remove(behavior.as_str());
        }
        if value["permissions"].is_null() || value["permissions"] == Value::Object(Default::default()) {
            value.as_object_mut().map(|fields| fields.shift_remove("permissions"));
        }
    }
    same("nothing else changed", &before, &after)
}
