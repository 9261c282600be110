//! Each key with a good value, a bad one, and what is said about it.

use super::*;
use serde_json::json;
use std::time::Duration;

fn read(written: Value) -> Settings {
    Settings::read(&written)
}

#[test]
fn nothing_written_is_the_default_of_every_field() {
    let settings = Settings::default();
    assert_eq!(settings.effort_level, "medium");
    assert!(settings.compaction.enabled && settings.compaction.window == Ok(None));
    assert!(!settings.gastown_mode && !settings.strict_guards.value && !settings.pass_credentials.value);
    assert_eq!(settings.permissions, Ok(PermissionSettings::default()));
    assert_eq!(settings.hooks.dialect, "sdlc");
    assert!(settings.hooks.allowed_urls.is_none() && settings.hooks.allowed_variables.is_none());
    assert_eq!(settings.massgen_config, Ok(None));
    let limits = ModelTimeouts { idle: Duration::from_secs(300), total: Duration::from_secs(600) };
    assert_eq!(settings.model_timeouts, Ok(limits));
    assert_eq!(settings.sdlc.test_timeout, Ok(None));
    assert!(settings.other.is_empty());
}

/// Switches that only `true` turns on, and of which a wrong value is not reported.
#[test]
fn a_switch_is_on_if_it_is_true_and_nothing_else() {
    type Switch = (&'static str, fn(&Settings) -> bool);
    let switches: [Switch; 5] = [
        (keys::ALLOW_MANAGED_HOOKS_ONLY, |settings| settings.hooks.managed_only),
        (keys::ALLOW_MANAGED_MCP_SERVERS_ONLY, |settings| settings.mcp.managed_only),
        (keys::DISABLE_ALL_HOOKS, |settings| settings.hooks.all_disabled),
        (keys::DISABLE_SKILL_SHELL_EXECUTION, |settings| settings.skill_shell_disabled),
        (keys::GASTOWN_MODE, |settings| settings.gastown_mode),
    ];
    for (key, on) in switches {
        assert!(on(&read(json!({ key: true }))), "{key}");
        for other in [json!(false), json!(null), json!("true"), json!(1), json!({})] {
            assert!(!on(&read(json!({ key: other }))), "{key}: {other}");
        }
    }
    assert!(!read(json!({"autoCompactEnabled": false})).compaction.enabled);
    assert!(read(json!({"autoCompactEnabled": "no"})).compaction.enabled);
}

/// Key, good value, what it yields, bad value, what that yields, notice.
#[test]
fn a_wrong_value_yields_its_fallback_and_a_notice() {
    type Field = fn(&Settings) -> &Checked<bool>;
    let cases: [(Field, Value, bool, Value, bool, &str); 5] = [
        (
            |settings| &settings.strict_guards,
            json!({"guards": "strict"}),
            true,
            json!({"guards": "Warn"}),
            true,
            "`guards` in the settings must be \"warn\" or \"strict\"",
        ),
        (
            |settings| &settings.strict_guards,
            json!({"guards": "warn"}),
            false,
            json!({"guards": false}),
            true,
            "`guards` in the settings must be \"warn\" or \"strict\"",
        ),
        (
            |settings| &settings.hooks.fail_closed,
            json!({"hooksFailClosed": true}),
            true,
            json!({"hooksFailClosed": "no"}),
            true,
            "`hooksFailClosed` in the settings must be true or false; read as true",
        ),
        (
            |settings| &settings.pass_credentials,
            json!({"passCredentials": true}),
            true,
            json!({"passCredentials": "yes"}),
            false,
            "passCredentials must be true or false, not \"yes\"; taken as false",
        ),
        (
            |settings| &settings.transcript_path,
            json!({"claudeCompat": {"transcriptPath": true}}),
            true,
            json!({"claudeCompat": {"transcriptPath": 1}}),
            false,
            "claudeCompat.transcriptPath must be true or false, not 1",
        ),
    ];
    for (field, good, value, bad, fallback, notice) in cases {
        let settings = read(good.clone());
        assert_eq!((field(&settings).value, field(&settings).problem.is_none()), (value, true), "{good}");
        let settings = read(bad.clone());
        let problem = field(&settings).problem.as_ref().map(ToString::to_string);
        assert_eq!((field(&settings).value, problem.as_deref()), (fallback, Some(notice)), "{bad}");
    }
}

/// What a command refuses to work with: the error is kept until that command asks.
#[test]
fn an_unusable_value_is_an_error_of_its_own_field_only() {
    type Field = fn(&Settings) -> Option<String>;
    fn error<T, E: ToString>(result: &Result<T, E>) -> Option<String> {
        result.as_ref().err().map(E::to_string)
    }
    let cases: [(Field, Value, &str); 16] = [
        (
            |settings| error(&settings.compaction.window),
            json!({"autoCompactWindow": 0}),
            "autoCompactWindow must be a number of tokens, not 0",
        ),
        (
            |settings| error(&settings.compaction.window),
            json!({"autoCompactWindow": "100k"}),
            "autoCompactWindow must be a number of tokens, not \"100k\"",
        ),
        (
            |settings| error(&settings.model_timeouts),
            json!({"modelTimeouts": 60}),
            "the setting modelTimeouts must be an object, not 60",
        ),
        (
            |settings| error(&settings.model_timeouts),
            json!({"modelTimeouts": {"idleSeconds": 0}}),
            "the setting modelTimeouts.idleSeconds must be a number above 0 and up to 86400, not 0",
        ),
        (
            |settings| error(&settings.model_timeouts),
            json!({"modelTimeouts": {"totalSeconds": "10m"}}),
            "the setting modelTimeouts.totalSeconds must be a number above 0 and up to 86400, not \"10m\"",
        ),
        (
            |settings| error(&settings.model_timeouts),
            json!({"modelTimeouts": {"readSeconds": 1}}),
            "the setting modelTimeouts has idleSeconds and totalSeconds, but not \"readSeconds\"",
        ),
        (
            |settings| error(&settings.massgen_config),
            json!({"massgenConfig": ""}),
            "the setting massgenConfig must be a non-empty string",
        ),
        (
            |settings| error(&settings.massgen_config),
            json!({"massgenConfig": 1}),
            "the setting massgenConfig must be a non-empty string",
        ),
        (|settings| error(&settings.permissions), json!({"permissions": []}), "permissions must be an object, not []"),
        (
            |settings| error(&settings.permissions),
            json!({"permissions": {"deny": "Bash"}}),
            "permissions.deny must be a list of strings, not \"Bash\"",
        ),
        (
            |settings| error(&settings.sdlc.build_outputs),
            json!({"sdlc": {"buildOutputs": "target"}}),
            "the setting sdlc.buildOutputs must be a list of paths inside the project, and \"target\" is not one",
        ),
        (
            |settings| error(&settings.sdlc.build_outputs),
            json!({"sdlc": {"buildOutputs": [1]}}),
            "the setting sdlc.buildOutputs must be a list of paths inside the project, and 1 is not one",
        ),
        (
            |settings| error(&settings.sdlc.test_timeout),
            json!({"sdlc": {"testTimeoutSeconds": 0}}),
            "the setting sdlc.testTimeoutSeconds must be a number from 1 to 86400, not 0",
        ),
        (
            |settings| error(&settings.sdlc.public_api),
            json!({"sdlc": {"publicApi": "x"}}),
            "the setting sdlc.publicApi must be an object, not \"x\"",
        ),
        (
            |settings| error(&settings.sdlc.public_api),
            json!({"sdlc": {"publicApi": {"files": [" "]}}}),
            "the setting sdlc.publicApi.files must be a list of texts",
        ),
        (
            |settings| error(&settings.sdlc.public_api),
            json!({"sdlc": {"publicApi": {"programs": []}}}),
            "the setting sdlc.publicApi has commands, files and entryPoints, but no \"programs\"",
        ),
    ];
    for (field, bad, message) in cases {
        assert_eq!(field(&read(bad.clone())).as_deref(), Some(message), "{bad}");
        assert_eq!(field(&Settings::default()), None, "{bad}");
    }
}

#[test]
fn good_values_of_structured_keys_are_read() {
    let settings = read(json!({
        "apiKeyHelper": "pass key",
        "autoCompactWindow": 5000,
        "env": {"A": "a", "N": 1, "B": true, "GONE": null, "LIST": []},
        "hookModules": ["a.ts", 1],
        "allowedHttpHookUrls": ["https://a/*", 2],
        "httpHookAllowedEnvVars": "all",
        "massgenConfig": "m.yaml",
        "disabledMcpjsonServers": ["x"],
        "enabledMcpjsonServers": ["y"],
        "enableAllProjectMcpServers": false,
        "model_config": {"provider": "p"},
        "modelTimeouts": {"idleSeconds": 1.5},
        "sdlc": {"testTimeoutSeconds": 7, "buildOutputs": ["target"], "publicApi": {"entryPoints": ["tool"]}},
        "plugins": {"b": {"root": "/b", "hooks": [1]}, "a": {"hooksDialect": "sdlc"}},
        "myNotes": 1,
        "verbose": "dark",
    }));
    assert_eq!(settings.api_key_helper.as_deref(), Some("pass key"));
    assert_eq!(settings.compaction.window, Ok(Some(5000)));
    let env = [("A", "a"), ("N", "1"), ("B", "true")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(settings.env, env);
    assert_eq!(settings.hooks.modules, ["a.ts"]);
    assert_eq!(settings.hooks.allowed_urls.as_deref(), Some(&["https://a/*".to_owned()][..]));
    assert_eq!(settings.hooks.allowed_variables.as_deref(), Some(&[][..]), "a list that is none allows nothing");
    assert_eq!(settings.massgen_config, Ok(Some("m.yaml".to_owned())));
    assert_eq!(settings.mcp.disabled_project_servers, ["x"]);
    assert_eq!(settings.mcp.approved_project_servers, ["y"]);
    assert_eq!(settings.mcp.all_project_servers, Some(false));
    assert_eq!(settings.model_config, Some(json!({"provider": "p"})));
    let limits = ModelTimeouts { idle: Duration::from_millis(1500), ..ModelTimeouts::default() };
    assert_eq!(settings.model_timeouts, Ok(limits));
    assert_eq!(settings.sdlc.test_timeout, Ok(Some(Duration::from_secs(7))));
    assert_eq!(settings.sdlc.build_outputs, Ok(vec!["target".to_owned()]));
    assert_eq!(settings.sdlc.public_api.as_ref().map(|api| api.entry_points.clone()), Ok(vec!["tool".to_owned()]));
    let plugins: Vec<_> = settings.hooks.plugins.iter().map(|one| (one.id.as_str(), one.dialect.as_str())).collect();
    assert_eq!(plugins, [("b", "claude"), ("a", "sdlc")]);
    assert_eq!(Value::from(settings.other.clone()), json!({"myNotes": 1, "verbose": "dark"}), "unknown keys are kept");
}

#[test]
fn a_public_interface_is_lists_of_texts_under_known_keys() {
    let of = |api: Value| read(json!({"sdlc": {"publicApi": api}})).sdlc.public_api;
    let all = of(json!({"commands": ["./x --help"], "files": ["a.md"], "entryPoints": ["./x"]})).unwrap();
    assert_eq!((&*all.commands[0], &*all.files[0], &*all.entry_points[0]), ("./x --help", "a.md", "./x"));
    for bad in [json!([]), json!({"command": []}), json!({"files": "a.md"}), json!({"files": [1]})] {
        assert!(of(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn planning_that_cannot_be_read_asks_and_is_named() {
    use TasksWhilePlanning::{Listed, Stopped};
    use ona_api::Ruling;
    let (ask, deny) = (Some(Ruling::Ask), Some(Ruling::Deny));
    for (planning, mcp, tasks, wrong) in [
        (json!(null), None, Listed, 0),
        (json!({}), None, Listed, 0),
        (json!({"mcp": "allow"}), None, Listed, 0),
        (json!({"mcp": "ask", "tasks": "stop"}), ask, Stopped, 0),
        (json!({"mcp": "deny"}), deny, Listed, 0),
        (json!({"mcp": "Deny"}), ask, Listed, 1),
        (json!({"mcp": true, "tasks": "kill"}), ask, Listed, 2),
        (json!({"mpc": "deny"}), None, Listed, 1),
        (json!("deny"), ask, Listed, 1),
    ] {
        let sdlc = read(json!({"sdlc": {"planning": planning}})).sdlc;
        assert_eq!((sdlc.planning, sdlc.planning_problems.len()), (Planning { mcp, tasks }, wrong), "{planning}");
    }
    assert_eq!(read(json!({"sdlc": 1})).sdlc, Settings::default().sdlc);
}
