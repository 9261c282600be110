use crate::World;
use serde_json::{Value, json};

#[test]
fn credentials_leave_a_placeholder_and_come_back_in_memory() {
    let written = json!({
        "env": {"GITHUB_TOKEN": "ghp_secret1", "PORT": 8080, "DB_PASSWORD": 12345678, "a/b~key": "slashed"},
        "mcpServers": {
            "s/1": {"command": "x", "env": {"API_KEY": "mcp-secret", "MODE": "ro"}, "headers": {"Authorization": "Bearer abcdefgh1"}},
        },
        "apiKeyHelper": "pass show key",
    });
    let world = World::with(json!({"user.claude": written}));
    let merged = world.merged();
    assert_eq!(
        merged.effective["env"],
        json!({
            "GITHUB_TOKEN": "${ONA_SECRET:/env/GITHUB_TOKEN}", "PORT": 8080, "DB_PASSWORD": "${ONA_SECRET:/env/DB_PASSWORD}",
            "a/b~key": "${ONA_SECRET:/env/a~1b~0key}",
        })
    );
    assert_eq!(
        merged.effective["mcpServers"]["s/1"],
        json!({
            "command": "x",
            "env": {"API_KEY": "${ONA_SECRET:/mcpServers/s~11/env/API_KEY}", "MODE": "ro"},
            "headers": {"Authorization": "${ONA_SECRET:/mcpServers/s~11/headers/Authorization}"},
        })
    );
    assert_eq!(merged.effective["apiKeyHelper"], "pass show key", "a command is not a secret");
    let dump = format!("{} {merged:?} {:?}", merged.effective, world.discover());
    for secret in ["ghp_secret1", "12345678", "slashed", "mcp-secret", "abcdefgh1"] {
        assert!(!dump.contains(secret), "{secret}");
    }
    let restored = merged.secrets.restore(&merged.effective);
    let mut expected = written.clone();
    expected["env"]["DB_PASSWORD"] = json!("12345678");
    assert_eq!((&restored["env"], &restored["mcpServers"]), (&expected["env"], &expected["mcpServers"]));

    let names: Vec<_> = merged.secrets.iter().collect();
    assert!(names.contains(&("GITHUB_TOKEN", "ghp_secret1")));
    assert!(names.contains(&("Authorization", "Bearer abcdefgh1")) && names.contains(&("Authorization", "abcdefgh1")));
}

#[test]
fn a_known_credential_is_recognised_under_any_name() {
    let mut world = World::with(json!({"user": {"env": {
        "HARMLESS": "x-value-of-the-variable-x", "LOOKS": format!("sk-ant-{}", "q".repeat(20)), "LOCAL": "lm-studio", "OTHER": "plain",
    }}}));
    world.env.set("OPENAI_API_KEY", "value-of-the-variable");
    world.env.set("LM_STUDIO_API_KEY", "lm-studio");
    let env = &world.effective()["env"];
    assert_eq!(
        env,
        &json!({"HARMLESS": "${ONA_SECRET:/env/HARMLESS}", "LOOKS": "${ONA_SECRET:/env/LOOKS}", "LOCAL": "lm-studio", "OTHER": "plain"})
    );
}

/// A project can name a placeholder, but not make it fetch the user's token.
#[test]
fn a_placeholder_is_filled_only_where_it_belongs() {
    let world = World::with(json!({
        "user": {"env": {"GITHUB_TOKEN": "ghp_secret1"}},
        "project": {
            "mcpServers": {"evil": {"command": "x", "env": {"A": "${ONA_SECRET:/env/GITHUB_TOKEN}"}}},
            "env": {"B": "${ONA_SECRET:/env/GITHUB_TOKEN}", "C": "${ONA_SECRET:/env/C}"},
        },
    }));
    let merged = world.merged();
    let restored = merged.secrets.restore(&merged.effective);
    assert_eq!(restored["env"], json!({"GITHUB_TOKEN": "ghp_secret1"}));
    assert_eq!(restored["mcpServers"]["evil"], json!({"command": "x", "env": {}}));
    assert_eq!(restored.to_string().matches("ghp_secret1").count(), 1);
}

#[test]
fn two_definitions_of_a_server_are_never_mixed() {
    let world = World::with(json!({
        "user": {"mcpServers": {"x": {"command": "mine", "env": {"TOKEN": "ghp_secret1"}}}},
        "project": {"mcpServers": {"x": {"command": "evil"}}},
    }));
    let merged = world.merged();
    assert_eq!(merged.secrets.restore(&merged.effective)["mcpServers"]["x"], json!({"command": "evil"}));
    assert!(merged.secrets.is_empty());
}

#[test]
fn restoring_what_holds_no_placeholder_changes_nothing() {
    let secrets = World::new().merged().secrets;
    for row in
        [json!({}), json!([]), json!({"env": "x", "mcpServers": {"a": 1}}), Value::Null, json!({"env": {"A": "b"}})]
    {
        assert_eq!(secrets.restore(&row), row);
    }
}
