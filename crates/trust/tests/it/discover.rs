use crate::World;
use ona_trust::{
    BadFiles, Compatible, FlagSettings, NoticeKind, SettingSources, SettingsError, SettingsScope, Trust, UnknownSource,
};
use serde_json::json;
use std::fs;
use std::path::Path;

fn scopes(world: &World) -> Vec<(SettingsScope, bool)> {
    world.discover().layers.iter().map(|layer| (layer.scope, layer.own)).collect()
}

fn everything() -> World {
    World::with(json!({
        "managed": {"a": 1}, "user": {"a": 1}, "user.claude": {"a": 1}, "project": {"a": 1}, "project.claude": {"a": 1},
        "local": {"a": 1}, "local.claude": {"a": 1},
    }))
}

#[test]
fn files_are_read_in_the_order_in_which_their_hooks_run() {
    let mut world = everything();
    world.how.settings = Some(FlagSettings::Json("{\"a\": 1}".into()));
    let order = [
        (SettingsScope::Seed, true),
        (SettingsScope::Managed, true),
        (SettingsScope::User, false),
        (SettingsScope::User, true),
        (SettingsScope::Project, false),
        (SettingsScope::Project, true),
        (SettingsScope::Local, false),
        (SettingsScope::Local, true),
        (SettingsScope::Flag, true),
    ];
    assert_eq!(scopes(&world), order);
}

#[test]
fn switches_leave_files_out_but_never_the_policy() {
    let named = |list: &[(SettingsScope, bool)]| {
        let start = [(SettingsScope::Seed, true), (SettingsScope::Managed, true)];
        start.iter().chain(list).copied().collect::<Vec<_>>()
    };
    let own = [(SettingsScope::User, true), (SettingsScope::Project, true), (SettingsScope::Local, true)];

    let mut world = everything();
    world.how.compatible = Compatible::Off;
    assert_eq!(scopes(&world), named(&own), "--no-claude-settings");

    let mut world = everything();
    world.env.set("ONA_CLAUDE_SETTINGS", "0");
    assert_eq!(scopes(&world), named(&own), "ONA_CLAUDE_SETTINGS=0");

    let mut world = everything();
    world.how.sources = "user".parse().unwrap();
    assert_eq!(
        scopes(&world),
        named(&[(SettingsScope::User, false), (SettingsScope::User, true)]),
        "--setting-sources user"
    );

    let mut world = everything();
    world.how.bare = true;
    world.how.settings = Some(FlagSettings::Json("{}".into()));
    assert_eq!(scopes(&world), named(&[(SettingsScope::Flag, true)]), "--bare");
}

#[test]
fn setting_sources_are_a_closed_list() {
    assert_eq!("".parse(), Ok(SettingSources { user: false, project: false, local: false }));
    assert_eq!("user, local".parse(), Ok(SettingSources { user: true, project: false, local: true }));
    assert_eq!("policy".parse::<SettingSources>(), Err(UnknownSource("policy".into())));
}

#[test]
fn the_config_folder_of_the_reference_can_stand_elsewhere() {
    let mut world = World::new();
    world.env.set("CLAUDE_CONFIG_DIR", world.home.join("cfg"));
    world.put(&world.home.join("cfg/settings.json"), r#"{"theme": "dark", "model": "opus"}"#);
    world.put_all(json!({"user.claude": {"theme": "light"}}));
    assert_eq!(world.effective()["theme"], "dark");
    assert_eq!(world.effective().get("model"), None, "vendor model names are not ours");
}

#[test]
fn a_broken_file_is_named_with_its_line_and_stops_an_import_unless_ignored() {
    let mut world = World::with(json!({"user": {"permissions": {"deny": ["Bash(rm:*)"]}}}));
    world.put(&world.file("project"), "{\n  \"permissions\": {},\n}\n");
    world.put(&world.file("local"), "");
    world.put(&world.file("project.claude"), "[]");
    world.put(&world.file("local.claude"), "// no comments\n{}");
    assert_eq!(world.effective()["permissions"]["deny"], json!(["Bash(rm:*)"]));
    let told = [
        "<repo>/.claude/settings.json:1: the settings must be one JSON object at line 1 column 1",
        "<repo>/.ona/settings.json:3: not valid JSON: trailing comma at line 3 column 1",
        "<repo>/.claude/settings.local.json:1: not valid JSON: expected value at line 1 column 1",
        "<repo>/.ona/settings.local.json:1: not valid JSON: EOF while parsing a value at line 1 column 0",
    ];
    assert_eq!(world.notices(), told);
    let abouts = |world: &World| -> Vec<NoticeKind> { world.discover().notices.iter().map(|one| one.about).collect() };
    assert_eq!(abouts(&world), [NoticeKind::NotSettings; 4]);
    let refused = world.discover().sha256;

    world.how.bad_files = BadFiles::Ignore;
    assert_eq!(abouts(&world), [NoticeKind::Unreadable; 4]);
    assert_eq!(world.notices()[1], told[1].replace("not valid", "this settings file is not used: not valid"));
    assert_ne!(world.discover().sha256, refused, "a start that does not ignore it imports again");

    world.how.bad_files = BadFiles::Refuse;
    world.how.trust = Trust::Withheld;
    assert!(!abouts(&world).contains(&NoticeKind::NotSettings), "a folder nobody trusts stops no start");
}

#[test]
fn what_always_runs_hears_of_every_problem() {
    let mut world = World::new();
    world.how.bad_files = BadFiles::Report;
    world.put(&world.file("managed"), "{");
    world.put(&world.file("user"), r#"{"model_config": {"api_key": "x"}}"#);
    let notices = world.discover().notices;
    assert_eq!(notices.iter().map(|one| one.about).collect::<Vec<_>>(), [NoticeKind::NotSettings; 2], "{notices:?}");

    world.how.bad_files = BadFiles::Ignore;
    assert!(world.try_discover().is_err(), "L-3: no flag makes a policy that cannot be read go away");
}

#[test]
fn an_unknown_key_of_our_own_files_is_named_with_the_nearest() {
    let world = World::with(json!({
        "user": {"permission": {"deny": ["Bash"]}, "statusLine": {}, "guards": "strikt", "sandbox": {"enabled": true}},
        "user.claude": {"permission": {}, "sandbox": {"enabled": false}},
        "local": {"hooksFailClosed": "yes", "zzz": 1},
    }));
    assert_eq!(
        world.notices(),
        [
            "<home>/.ona/settings.json:2: `permission` is not a setting and has no effect; did you mean `permissions`?",
            "<home>/.ona/settings.json:9: `sandbox` has no effect: this build has no sandbox",
            "<home>/.ona/settings.json:8: `guards` must be \"warn\" or \"strict\"",
            "<repo>/.ona/settings.local.json:3: `zzz` is not a setting and has no effect",
            "<repo>/.ona/settings.local.json:2: `hooksFailClosed` must be true or false; read as true",
        ]
    );
    assert_eq!(world.effective()["guards"], "strict", "a word that cannot be read is the strict one");
}

#[test]
fn only_regular_files_of_a_sensible_size_are_read() {
    let world = World::new();
    fs::create_dir_all(world.file("user")).unwrap();
    world.put(&world.file("project"), &format!("{{\"a\": \"{}\"}}", "x".repeat(4 * 1024 * 1024)));
    let device = world.file("local");
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    assert_eq!(
        world.notices(),
        [
            "<home>/.ona/settings.json: it is a directory, not a regular file",
            "<repo>/.ona/settings.json: this settings file is not used: it is larger than 4 MiB",
            "<repo>/.ona/settings.local.json: this settings file is not used: it is a device, not a regular file",
        ]
    );
}

#[test]
fn l3_a_broken_policy_stops_the_start() {
    let broken: [(&str, &str); 5] = [
        ("{", "not valid JSON: EOF while parsing an object at line 1 column 1"),
        ("", "not valid JSON: EOF while parsing a value at line 1 column 0"),
        ("{\n\"permissions\": []}", "line 2: `permissions` must be an object"),
        (
            "{\"permissions\": {\"deny\": \"Bash\"}}",
            "line 1: `permissions.deny` must be an array; read as an array of one",
        ),
        ("{\"hooks\": {\"PreToolUse\": [7]}}", "line 1: a hook must be an object"),
    ];
    for (text, problem) in broken {
        let world = World::new();
        world.put(&world.file("managed"), text);
        let error = SettingsError::Managed { file: world.file("managed"), problem: problem.into() };
        assert_eq!(world.try_discover().unwrap_err(), error, "L-3: {text}");
    }
    let world = World::new();
    fs::create_dir_all(world.file("managed")).unwrap();
    assert!(matches!(world.try_discover(), Err(SettingsError::Managed { .. })), "L-3: a folder is not a policy");
    let world = World::new();
    world.put(&world.how.managed_dir.join("managed-settings.d/10.json"), "nonsense");
    assert!(matches!(world.try_discover(), Err(SettingsError::Managed { .. })), "L-3: nor is a broken part");
    let world = World::new();
    fs::create_dir_all(&world.how.managed_dir).unwrap();
    std::os::unix::fs::symlink("/nowhere", world.file("managed")).unwrap();
    assert!(matches!(world.try_discover(), Err(SettingsError::Managed { .. })), "L-3: nor a dangling link");
}

#[test]
fn parts_of_the_policy_count_in_order_of_their_names() {
    let world = World::with(json!({"managed": {"a": 0, "b": 0}, "user": {"a": 9, "b": 9, "c": 9}}));
    let dir = world.how.managed_dir.join("managed-settings.d");
    world.put(&dir.join("20.json"), r#"{"b": 20}"#);
    world.put(&dir.join("10.json"), r#"{"a": 10, "b": 10}"#);
    world.put(&dir.join(".hidden.json"), "broken");
    world.put(&dir.join("readme.txt"), "broken");
    let effective = world.effective();
    assert_eq!((&effective["a"], &effective["b"], &effective["c"]), (&json!(10), &json!(20), &json!(9)));
}

#[test]
fn the_managed_variable_can_add_a_policy_but_not_replace_one() {
    let mut world = World::new();
    let mine = world.home.join("policy.json");
    world.put(&mine, r#"{"permissions": {"deny": ["WebFetch"]}}"#);
    world.env.set("ONA_MANAGED_SETTINGS", &mine);
    assert_eq!(world.effective()["permissions"]["deny"], json!(["WebFetch"]));

    world.put_all(json!({"managed": {"permissions": {"deny": ["Bash"]}}}));
    assert_eq!(world.effective()["permissions"]["deny"], json!(["Bash"]), "the host's own policy is the policy");
    assert_eq!(world.notices(), ["ONA_MANAGED_SETTINGS is ignored, because this host has managed settings"]);

    let mut world = World::new();
    for path in [world.home.join("absent.json"), "relative.json".into()] {
        world.env.set("ONA_MANAGED_SETTINGS", &path);
        assert!(matches!(world.try_discover(), Err(SettingsError::Managed { .. })), "{path:?}");
    }
}

#[test]
fn a_model_config_with_any_other_key_refuses_the_start() {
    for file in ["user", "user.claude", "project", "local", "managed"] {
        let world = World::with(json!({file: {"model_config": {"provider": "lm_studio_local", "api_key": "x"}}}));
        let origin = world.file(file).display().to_string();
        assert_eq!(world.try_discover().unwrap_err(), SettingsError::ModelConfig { origin, key: "api_key".into() });
    }
    let world = World::with(json!({"user": {"model_config": "x"}}));
    assert!(matches!(world.try_discover(), Err(SettingsError::ModelConfigShape { .. })));
    let good = json!({"provider": "openai_compatible", "model_id": "o3"});
    assert_eq!(World::with(json!({"user": {"model_config": good}})).effective()["model_config"], good);
}

#[test]
fn what_the_operator_names_with_settings_must_be_readable() {
    let mut world = World::new();
    let parse = |text: &str| Some(FlagSettings::parse(text, Path::new("/cwd")));
    assert_eq!(parse("x.json"), Some(FlagSettings::File("/cwd/x.json".into())));
    world.how.settings = parse("x.json");
    let error = world.try_discover().unwrap_err();
    assert_eq!(error.to_string(), "--settings cannot be used: /cwd/x.json: no such file");
    world.how.settings = parse(" {\"a\": }");
    let error = world.try_discover().unwrap_err();
    assert_eq!(error.to_string(), "--settings cannot be used: not valid JSON: expected value at line 1 column 8");
    world.how.settings = parse("{\"env\": {\"TOKEN\": \"hunter22\"}}");
    assert!(!format!("{:?}", world.how).contains("hunter22"), "a debug print has no credentials");
}

#[test]
fn in_the_home_directory_the_users_file_counts_once_and_as_the_users() {
    let mut world = World::with(json!({"user": {"env": {"PATH": "/x"}}, "user.claude": {"apiKeyHelper": "x"}}));
    world.how.project_root = world.home.clone();
    assert_eq!(
        scopes(&world),
        [(SettingsScope::Seed, true), (SettingsScope::User, false), (SettingsScope::User, true)]
    );
    assert_eq!(world.notices(), [""; 0]);
}

#[test]
fn a_file_named_with_settings_counts_as_named() {
    let mut world = World::with(json!({"project.claude": {"permissions": {"additionalDirectories": ["/data"]}}}));
    world.how.trust = Trust::Withheld;
    world.how.settings = Some(FlagSettings::File(world.file("project.claude")));
    assert_eq!(scopes(&world), [(SettingsScope::Seed, true), (SettingsScope::Flag, true)]);
    assert_eq!(world.effective()["permissions"]["additionalDirectories"], json!(["/data"]));
}

#[test]
fn gastown_settings_above_the_checkout_are_read_when_it_says_so() {
    let mut world = World::new();
    let crew = world.home.join("src/.claude/settings.json");
    let hook = json!({"SessionStart": [{"hooks": [{"type": "command", "command": "gt prime --hook"}]}]});
    world.put(&crew, &json!({"hooks": hook, "env": {"PATH": "x"}}).to_string());
    assert_eq!(world.effective().get("hooks"), None, "without GT_ROLE nothing is looked for");
    world.env.set("GT_ROOT", &world.home);
    world.env.set("GT_ROLE", "crew");
    let effective = world.effective();
    assert_eq!(effective["hooks"][0]["source"], "town:~/src/.claude/settings.json");
    assert_eq!(effective["hooks"][0]["dialect"], "claude");
    assert_eq!(effective["env"], json!({}), "limited like a project file");
    world.how.trust = Trust::Withheld;
    assert_eq!(world.effective()["hooks"][0].get("disabled"), None, "it counts like --settings");
    world.env.set("GT_ROOT", "/elsewhere");
    assert_eq!(world.effective().get("hooks"), None);
}

#[test]
fn h13_a_rule_in_the_wrong_place_is_reported_with_file_and_line() {
    let world = World::new();
    world.put(&world.file("user"), "{\n  \"permissions\": {\n    \"read\": {\"deny\": [\"**/.env*\"]}\n  }\n}\n");
    assert_eq!(
        world.notices(),
        ["<home>/.ona/settings.json:3: `permissions.read` is not a setting; nothing under it takes effect"],
        "H-13"
    );
    assert_eq!(world.discover().notices[0].about.event(), Some(ona_api::EventKind::SettingsUnknownKey));
    assert_eq!(world.effective(), World::new().effective());
}

#[test]
fn the_fingerprint_covers_files_switches_and_trust() {
    let mut world = World::with(json!({"project": {"a": 1}}));
    let first = world.discover().sha256;
    assert_eq!(world.discover().sha256, first, "nothing changed");
    let mut seen = vec![first];
    let mut changed = |world: &World, what: &str| {
        let now = world.discover().sha256;
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    world.put(&world.file("project"), "{\"a\": 2}");
    changed(&world, "content");
    world.put(&world.file("local"), "{\"a\": 2}");
    changed(&world, "a new file");
    fs::remove_file(world.file("project")).unwrap();
    changed(&world, "a removed file");
    world.put(&world.file("user"), "broken");
    changed(&world, "a broken file");
    world.how.trust = Trust::Withheld;
    changed(&world, "trust");
    world.how.compatible = Compatible::Off;
    changed(&world, "a switch");
    world.how.settings = Some(FlagSettings::Json("{}".into()));
    changed(&world, "--settings");
}
