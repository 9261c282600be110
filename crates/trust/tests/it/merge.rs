use crate::World;
use ona_trust::{FlagSettings, Trust};
use serde_json::{Value, json};

/// Settings per scope, and the value of one key of the result.
#[track_caller]
fn merges(settings: Value, key: &str, expected: Value) {
    let effective = World::with(settings.clone()).effective();
    assert_eq!(effective[key], expected, "{settings}");
}

#[test]
fn without_files_the_seed_is_the_result() {
    let merged = World::new().merged();
    let seed = "{\"permissions\":{\"defaultMode\":\"default\",\"allow\":[\"Read(./**)\",\"Glob\",\"Grep\",\
        \"TodoWrite\",\"TaskOutput\",\"TaskStop\",\"AskUserQuestion\",\"Agent\",\"EnterPlanMode\",\
        \"ListMcpResources\",\"ReadMcpResource\",\"ToolSearch\",\"Brief\",\"Bash(@read-only)\"]},\"sdlc\":{\"planning\":{\"mcp\":\"ask\"}}}";
    assert_eq!(merged.effective.to_string(), seed);
    assert_eq!(ona_trust::SEED, seed);
    assert_eq!(merged.from_files, [""; 0]);
}

#[test]
fn plain_values_come_from_the_highest_scope_and_own_files_win() {
    let all = ["user.claude", "user", "project.claude", "project", "local.claude", "local"];
    for (rank, highest) in all.iter().enumerate() {
        let settings: serde_json::Map<_, _> =
            all[..=rank].iter().map(|scope| (scope.to_string(), json!({"theme": scope}))).collect();
        merges(settings.into(), "theme", json!(highest));
    }
    let mut world = World::with(json!({"local": {"theme": "l", "tui": "l"}, "managed": {"theme": "m"}}));
    world.how.settings = Some(FlagSettings::Json(r#"{"theme": "f", "tui": "f"}"#.into()));
    assert_eq!((&world.effective()["theme"], &world.effective()["tui"]), (&json!("m"), &json!("f")));
}

#[test]
fn objects_merge_per_key_and_servers_stay_whole() {
    merges(
        json!({"user": {"env": {"A": "1", "B": "1"}}, "project": {"env": {"B": "2", "C": null}}}),
        "env",
        json!({"A": "1", "B": "2"}),
    );
    merges(
        json!({
            "user": {"mcpServers": {"x": {"command": "mine", "env": {"PLAIN": "1"}}, "y": {"command": "y"}}},
            "project": {"mcpServers": {"x": {"command": "theirs"}}},
        }),
        "mcpServers",
        json!({"x": {"command": "theirs"}, "y": {"command": "y"}}),
    );
    merges(json!({"user": {"env": {"A": "1"}}, "project": {"env": "none"}}), "env", json!({"A": "1"}));
    merges(json!({"user": {"env": {"A": "1"}}, "project": {"env": null}}), "env", json!({"A": "1"}));
}

#[test]
fn the_status_line_is_a_command_like_a_hook() {
    let (mine, theirs) = (json!({"command": "mine"}), json!({"command": "theirs", "padding": 1}));
    merges(json!({"user": {"statusLine": mine}, "project": {"statusLine": theirs}}), "statusLine", theirs.clone());
    let both =
        |managed: Value| json!({"managed": managed, "user": {"statusLine": mine}, "project": {"statusLine": theirs}});
    merges(both(json!({"allowManagedHooksOnly": true})), "statusLine", Value::Null);
    merges(
        both(json!({"allowManagedHooksOnly": true, "statusLine": {"command": "m"}})),
        "statusLine",
        json!({"command": "m"}),
    );
    merges(json!({"user": {"statusLine": mine, "disableAllHooks": true}}), "statusLine", Value::Null);
}

#[test]
fn lists_of_rules_are_joined_and_deduplicated() {
    let world = World::with(json!({
        "user": {"permissions": {"allow": ["Bash(ls:*)", "Glob"], "deny": ["WebFetch"]}},
        "user.claude": {"permissions": {"allow": ["Bash(ls:*)"], "ask": ["Bash(git push:*)"]}},
        "project": {"permissions": {"deny": ["Read(./.env)", "WebFetch"]}},
    }));
    let mut allow = json!(["Bash(ls:*)", "Glob"]).as_array().unwrap().clone();
    let seed = World::new().effective();
    let more = seed["permissions"]["allow"].as_array().unwrap().iter().filter(|rule| *rule != "Glob").cloned();
    allow.extend(more);
    assert_eq!(
        world.effective()["permissions"],
        json!({
            "defaultMode": "default", "allow": allow, "deny": ["Read(./.env)", "WebFetch"], "ask": ["Bash(git push:*)"],
        })
    );
}

#[test]
fn h11_h12_a_deny_stands_beside_an_allow_of_any_other_scope() {
    let world = World::with(json!({
        "managed": {"permissions": {"deny": ["Bash(curl:*)"]}}, "user": {"permissions": {"allow": ["Bash(curl:*)"]}},
    }));
    assert_eq!(world.effective()["permissions"]["deny"], json!(["Bash(curl:*)"]), "H-11");
    let world = World::with(json!({
        "user": {"permissions": {"deny": ["WebFetch"]}}, "project": {"permissions": {"allow": ["WebFetch"]}},
    }));
    assert_eq!(world.effective()["permissions"]["deny"], json!(["WebFetch"]), "H-12");
    assert_eq!(world.effective()["permissions"]["allow"][0], "WebFetch", "H-12");
}

#[test]
fn with_managed_rules_only_other_allows_go_and_every_restriction_stays() {
    for managed in [
        json!({"allowManagedPermissionRulesOnly": true, "permissions": {"allow": ["Bash(make:*)"]}}),
        json!({"permissions": {"allow": ["Bash(make:*)"], "allowManagedPermissionRulesOnly": true}}),
    ] {
        let world = World::with(json!({
            "managed": managed,
            "user": {"permissions": {"allow": ["Bash"], "deny": ["WebFetch"], "defaultMode": "acceptEdits"}},
            "project": {"permissions": {"allow": ["Edit"], "ask": ["Bash(git:*)"]}},
        }));
        assert_eq!(
            world.effective()["permissions"],
            json!({
                "defaultMode": "acceptEdits", "allow": ["Bash(make:*)"], "deny": ["WebFetch"], "ask": ["Bash(git:*)"],
                "allowManagedPermissionRulesOnly": true,
            })
        );
        let told: Vec<_> = world.notices().iter().map(|notice| notice.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(told, ["<repo>/.ona/settings.json", "<home>/.ona/settings.json"]);
    }
}

#[test]
fn an_unknown_mode_becomes_default_and_a_disabled_bypass_stays_disabled() {
    for mode in ["auto", "Plan", "yolo"] {
        let world = World::with(json!({"user": {"permissions": {"defaultMode": mode}}}));
        assert_eq!(world.effective()["permissions"]["defaultMode"], "default");
        let expected =
            format!("<home>/.ona/settings.json:3: \"{mode}\" is not a permission mode here; `default` is used");
        assert_eq!(world.notices(), [expected]);
    }
    let world = World::with(json!({
        "user": {"permissions": {"disableBypassPermissionsMode": "disable"}},
        "project": {"permissions": {"disableBypassPermissionsMode": "enable"}},
    }));
    assert_eq!(world.effective()["permissions"]["disableBypassPermissionsMode"], "disable");
}

#[test]
fn slash_rules_of_files_outside_the_project_are_written_out() {
    let mut world = World::with(json!({
        "user": {"permissions": {"deny": ["Read(/x)"]}},
        "user.claude": {"permissions": {"deny": ["Edit(/y/**)"]}},
        "project": {"permissions": {"deny": ["Read(/z)"]}},
    }));
    let file = world.home.join("extra/s.json");
    world.put(&file, r#"{"permissions": {"deny": ["Read(/w)"]}}"#);
    world.how.settings = Some(FlagSettings::File(file));
    let home = world.home.display();
    assert_eq!(
        world.effective()["permissions"]["deny"],
        json!([
            format!("Read(/{home}/extra/w)"),
            "Read(/z)",
            format!("Read(/{home}/.ona/x)"),
            format!("Edit(/{home}/.claude/y/**)"),
        ])
    );
}

#[test]
fn a_deny_that_is_not_a_list_still_denies_and_an_allow_does_not_allow() {
    let world = World::with(json!({"user": {"permissions": {"deny": "Bash", "allow": "Edit", "ask": [1, "Read"]}}}));
    let permissions = &world.effective()["permissions"];
    assert_eq!((&permissions["deny"], &permissions["ask"]), (&json!(["Bash"]), &json!(["Read"])));
    assert!(!permissions["allow"].as_array().unwrap().contains(&json!("Edit")));
    assert_eq!(world.notices().len(), 3);
}

#[test]
fn without_trust_only_what_restricts_counts_and_hooks_are_disabled() {
    let hooks = json!([{"hook_event_name": "SessionStart", "command": "touch canary"}]);
    let folder = json!({
        "hooks": hooks, "env": {"A": "1"}, "permissions": {"allow": ["Bash"], "deny": ["Read"], "ask": ["Edit"]},
        "mcpServers": {"x": {"command": "x"}}, "plugins": {"p": {"hooks": hooks}}, "model_config": {"api_key": "x"},
        "disableAllHooks": true, "apiKeyHelper": "x", "hooksDialect": "claude",
    });
    let world = World::untrusted();
    world.put_all(json!({"project": folder, "user": {"theme": "dark", "hooks": hooks}}));
    let mut expected = World::new().effective();
    expected["theme"] = json!("dark");
    let entry = json!({"hook_event_name": "SessionStart", "matcher": "", "type": "command", "command": "touch canary"});
    let mut user = entry.clone();
    user["dialect"] = json!("sdlc");
    user["source"] = json!("user:~/.ona/settings.json");
    let mut project = entry;
    project["dialect"] = json!("claude");
    project["source"] = json!("project:.ona/settings.json");
    project["disabled"] = json!("untrusted_workspace");
    expected["hooks"] = json!([user, project]);
    expected["permissions"]["deny"] = json!(["Read"]);
    expected["permissions"]["ask"] = json!(["Edit"]);
    assert_eq!(world.effective(), expected);
    assert_eq!(
        world.notices(),
        [
            "<repo>/.ona/settings.json: not used, because this folder is not trusted: hooks, env, allow rules, MCP servers, plugins, model_config, disableAllHooks, apiKeyHelper"
        ]
    );
    assert_eq!(world.merged().trust, Trust::Withheld);
    assert_eq!(world.merged().from_files, ["permissions", "theme", "hooks"]);
}

/// "A stricter rule never widens access": whatever a folder says, what the
/// operator forbade stays forbidden.
#[test]
fn no_folder_file_takes_a_restriction_away() {
    let operator = json!({
        "permissions": {"deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"], "disableBypassPermissionsMode": "disable"},
        "deniedMcpServers": [{"serverName": "x"}],
        "disableSkillShellExecution": true,
        "hooks": [{"hook_event_name": "PreToolUse", "command": "guard"}],
    });
    let attempts = [
        json!({"permissions": null, "deniedMcpServers": null, "hooks": null}),
        json!({"permissions": {"deny": [], "ask": null}, "deniedMcpServers": [], "hooks": []}),
        json!({"permissions": "none", "deniedMcpServers": false, "hooks": {}}),
        json!({"permissions": {"deny": {}, "disableBypassPermissionsMode": ""}, "disableSkillShellExecution": false}),
        json!({"disableAllHooks": true, "allowManagedHooksOnly": true, "deniedMcpServers": "x"}),
        json!({"disableSkillShellExecution": null, "hooks": "off", "disableAllHooks": "yes"}),
    ];
    for attempt in attempts {
        for file in ["project", "project.claude", "local", "local.claude"] {
            let effective = World::with(json!({"user": operator, file: attempt})).effective();
            let permissions = &effective["permissions"];
            assert_eq!(permissions["deny"], operator["permissions"]["deny"], "{attempt}");
            assert_eq!(permissions["ask"], operator["permissions"]["ask"], "{attempt}");
            assert_eq!(permissions["disableBypassPermissionsMode"], "disable", "{attempt}");
            assert_eq!(effective["deniedMcpServers"], operator["deniedMcpServers"], "{attempt}");
            assert_eq!(effective["disableSkillShellExecution"], true, "{attempt}");
            assert_eq!(effective["hooks"][0]["command"], "guard", "{attempt}");
            assert_eq!(effective["hooks"][0].get("disabled"), None, "{attempt}");
            assert_eq!(effective.get("disableAllHooks"), None, "{attempt}");
        }
    }
}

#[test]
fn the_strictest_word_on_guards_counts_from_whatever_scope() {
    let strict = json!({"guards": "strict", "hooksFailClosed": true});
    let lax = json!({"guards": "warn", "hooksFailClosed": false});
    for (user, local) in [(&strict, &lax), (&lax, &strict)] {
        let effective = World::with(json!({"user": user, "local": local})).effective();
        assert_eq!((&effective["guards"], &effective["hooksFailClosed"]), (&json!("strict"), &json!(true)));
    }
    let effective = World::with(json!({"user": lax})).effective();
    assert_eq!((&effective["guards"], &effective["hooksFailClosed"]), (&json!("warn"), &json!(false)));
}
