use crate::World;
use ona_settings::Settings;
use ona_trust::{ClaudeHooks, FlagSettings, SessionHookFilter, keep_for_session};
use serde_json::{Value, json};

fn hooks(world: &World) -> Vec<Value> {
    world.effective()["hooks"].as_array().cloned().unwrap_or_default()
}

/// `command disabled?` of every entry.
fn states(world: &World) -> Vec<String> {
    let state = |hook: &Value| match hook["disabled"].as_str() {
        Some(reason) => format!("{} {reason}", hook["command"].as_str().unwrap()),
        None => hook["command"].as_str().unwrap().to_owned(),
    };
    hooks(world).iter().map(state).collect()
}

fn hook(command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "command": command})
}

#[test]
fn a8_every_shape_becomes_the_same_entries() {
    let handlers = [
        json!({"command": "guard"}),
        json!({"type": "command", "command": "guard", "timeout": 5, "if": "Bash(git *)", "shell": "sh"}),
        json!({"type": "http", "url": "http://x", "headers": {"A": "b"}}),
        json!({"command": "x", "args": ["a"], "once": true, "statusMessage": "…", "fail_closed": true}),
        json!({}),
    ];
    let with = |handler: &Value, more: Value| {
        let mut object = more.as_object().unwrap().clone();
        object.extend(handler.as_object().unwrap().clone());
        Value::Object(object)
    };
    for handler in &handlers {
        for matcher in [json!("Bash|Edit"), json!("")] {
            let event = "PreToolUse";
            let shapes = [
                json!([with(handler, json!({"hook_event_name": event, "matcher": matcher}))]),
                json!([{"hook_event_name": event, "matcher": matcher, "hooks": [handler]}]),
                json!({event: [{"matcher": matcher, "hooks": [handler]}], "Stop": null}),
                json!({event: [with(handler, json!({"matcher": matcher}))], "Stop": []}),
            ];
            let entries = shapes.map(|shape| hooks(&World::with(json!({"project.claude": {"hooks": shape}}))));
            assert_eq!(entries[0].len(), 1);
            for entry in &entries {
                assert_eq!(entry, &entries[0], "A-8: {handler}");
                let text = |entries: &[Value]| Value::from(entries.to_vec()).to_string();
                assert_eq!(text(entry), text(&entries[0]), "A-8: in the same order of keys");
            }
        }
    }
}

#[test]
fn entries_have_their_keys_in_one_order_and_tags_that_a_file_cannot_set() {
    let world = World::with(json!({"user.claude": {"hooks": {"PreToolUse": [{
        "_gstack_source": "x",
        "matcher": "Bash",
        "hooks": [{
            "zeta": 1, "disabled": "managed_only", "source": "managed:/etc", "timeout": 5, "if_condition": "Bash(a)",
            "shell": "sh", "args": ["q"], "command": "c", "type": "command", "hook_event_name": "Stop",
        }],
    }]}}}));
    assert_eq!(
        hooks(&world)[0].to_string(),
        r#"{"hook_event_name":"PreToolUse","matcher":"Bash","type":"command","command":"c","args":["q"],"shell":"sh","if":"Bash(a)","timeout":5,"zeta":1,"dialect":"claude","source":"user:~/.claude/settings.json"}"#
    );
}

#[test]
fn what_is_not_an_object_is_kept_out_with_a_notice() {
    let world = World::new();
    world.put(
        &world.file("user"),
        "{\"hooks\": {\n\"Stop\": 7,\n\"PreToolUse\": [\"x\", {\"hooks\": [1, {\"command\": \"ok\"}]}, {\"hooks\": {}}],\n\
         \"SessionEnd\": [{\"hooks\": [{\"hooks\": [{\"command\": \"inner\"}]}]}]\n}}",
    );
    assert_eq!(states(&world), ["ok"]);
    assert_eq!(
        world.notices(),
        [
            "<home>/.ona/settings.json:2: the hooks of an event must be an array",
            "<home>/.ona/settings.json:3: a hook must be an object",
            "<home>/.ona/settings.json:3: a hook must be an object",
            "<home>/.ona/settings.json:3: the `hooks` of a group must be an array",
            "<home>/.ona/settings.json:4: a group cannot contain another group",
        ]
    );
}

#[test]
fn hooks_add_up_in_the_order_of_their_layers() {
    let file = |name: &str| json!({"hooks": [hook(name)]});
    let mut world = World::with(json!({
        "local": file("local"), "local.claude": file("local.claude"), "project": file("project"),
        "project.claude": file("project.claude"), "user": file("user"), "user.claude": file("user.claude"),
        "managed": file("managed"),
    }));
    world.how.settings = Some(FlagSettings::Json(file("flag").to_string()));
    let order = ["managed", "user.claude", "user", "project.claude", "project", "local.claude", "local", "flag"];
    assert_eq!(states(&world), order);
    let sources: Vec<_> = hooks(&world).iter().map(|hook| hook["source"].as_str().unwrap().to_owned()).collect();
    let managed = format!("managed:{}", world.file("managed").display());
    assert_eq!(
        sources,
        [
            &managed,
            "user:~/.claude/settings.json",
            "user:~/.ona/settings.json",
            "project:.claude/settings.json",
            "project:.ona/settings.json",
            "local:.claude/settings.local.json",
            "local:.ona/settings.local.json",
            "flag:--settings",
        ]
    );
}

#[test]
fn the_dialect_comes_from_the_entry_then_the_file_then_the_source() {
    let nested = |handler: Value| json!({"PreToolUse": [{"hooks": [handler]}]});
    let flat = json!([hook("x")]);
    let of = |world: &World| hooks(world)[0]["dialect"].clone();
    let cases = [
        ("user.claude", json!({"hooks": flat}), "claude"),
        ("user", json!({"hooks": flat}), "sdlc"),
        ("user", json!({"hooks": nested(json!({"command": "x"}))}), "sdlc"),
        ("managed", json!({"hooks": nested(json!({"command": "x"}))}), "sdlc"),
        ("user.claude", json!({"hooks": flat, "hooksDialect": "sdlc"}), "sdlc"),
        ("user", json!({"hooks": flat, "hooksDialect": "claude"}), "claude"),
        ("user", json!({"hooks": nested(json!({"command": "x", "dialect": "pi"})), "hooksDialect": "claude"}), "pi"),
    ];
    for (file, settings, dialect) in cases {
        let world = World::with(json!({file: settings}));
        assert_eq!(of(&world), dialect, "{file} {settings}");
        assert_eq!(world.effective().get("hooksDialect"), None, "every entry has its tag");
    }
    for (hooks, dialect) in [(nested(json!({"command": "x"})), "claude"), (flat, "sdlc")] {
        let mut world = World::new();
        world.how.settings = Some(FlagSettings::Json(json!({"hooks": hooks}).to_string()));
        assert_eq!(of(&world), dialect, "--settings");
    }
}

#[test]
fn i15_a_scope_switches_off_its_own_hooks_and_those_below() {
    let off = " all_hooks_disabled";
    let cases: [(&str, [&str; 4]); 4] = [
        ("managed", [off, off, off, off]),
        ("user", ["", off, off, off]),
        ("local", ["", "", off, off]),
        ("project", ["", "", off, ""]),
    ];
    for (switch, marks) in cases {
        let mut settings = json!({});
        for scope in ["managed", "user", "project", "local"] {
            settings[scope] = json!({"hooks": [hook(scope)], "disableAllHooks": scope == switch});
        }
        let world = World::with(settings);
        let expected: Vec<_> = ["managed", "user", "project", "local"]
            .iter()
            .zip(marks)
            .map(|(scope, mark)| format!("{scope}{mark}"))
            .collect();
        assert_eq!(states(&world), expected, "I-15: {switch}");
        let kept = (switch == "managed").then(|| json!(true));
        assert_eq!(world.effective().get("disableAllHooks"), kept.as_ref(), "in the row it would reach every hook");
    }
    let world = World::with(json!({"user": {"hooks": [hook("u")], "disableAllHooks": true}}));
    assert_eq!(world.effective()["disableAllHooks"], true, "with nothing above, that is what the user said");
    let world = World::with(json!({
        "user.claude": {"disableAllHooks": true, "hooks": [hook("c")]}, "user": {"disableAllHooks": false},
    }));
    assert_eq!(states(&world), ["c"], "within a scope the own file has the word");
}

#[test]
fn with_managed_hooks_only_the_others_are_listed_but_off() {
    let world = World::with(json!({
        "managed": {"allowManagedHooksOnly": true, "hooks": [hook("m")]},
        "user": {"hooks": [hook("u")], "plugins": {"p": {"hooks": [hook("q")]}}},
        "project.claude": {"hooks": [hook("p")], "disableAllHooks": true},
    }));
    assert_eq!(states(&world), ["m", "u managed_only", "p managed_only"]);
    let effective = world.effective();
    assert_eq!(effective["plugins"]["p"]["hooks"][0]["disabled"], "managed_only");
    assert_eq!(effective["allowManagedHooksOnly"], true, "for hooks that no settings file holds");
}

#[test]
fn plugin_hooks_keep_their_place_and_a_folder_cannot_empty_them() {
    let nested = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]});
    let world = World::with(json!({
        "user": {"plugins": {"p": {"root": "/p", "hooks": nested}}},
        "project": {"plugins": {"p": {"root": "/evil", "hooks": []}, "q": {"hooks": [hook("q")]}}},
    }));
    let plugins = &world.effective()["plugins"];
    assert_eq!(plugins["p"]["root"], "/p");
    assert_eq!(
        plugins["p"]["hooks"],
        json!([{"hook_event_name": "PreToolUse", "matcher": "Bash", "type": "command", "command": "guard",
            "dialect": "claude", "source": "user:~/.ona/settings.json"}])
    );
    assert_eq!(plugins["q"]["hooks"][0]["command"], "q");
}

#[test]
fn in_a_pi_session_hooks_of_compatible_files_are_off_and_their_rules_are_not() {
    let world = World::with(json!({
        "user.claude": {"hooks": [hook("c")], "permissions": {"deny": ["WebFetch"]}}, "user": {"hooks": [hook("u")]},
    }));
    let settings = Settings::read(&world.effective());
    let context = SessionHookFilter { claude_hooks: ClaudeHooks::Off, in_town: false };
    let (kept, off) = keep_for_session(&settings.hooks, context);
    assert_eq!((off, kept.entries.as_array().unwrap().len()), (1, 1));
    assert_eq!(kept.entries[0]["command"], "u");
    assert_eq!(settings.permissions.unwrap().deny, ["WebFetch"]);
}
