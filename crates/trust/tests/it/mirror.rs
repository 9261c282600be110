use crate::World;
use ona_api::permission_update::PermissionUpdate;
use ona_trust::{
    EditError, ImportAction, ImportMode, ImportRecord, MirrorError, RuleAnchors, StoredSettings, import, mirror,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn update(kind: &str, what: Value, destination: &str) -> PermissionUpdate {
    let mut update = json!({"type": kind, "destination": destination});
    update.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
    serde_json::from_value(update).unwrap()
}

fn rules(kind: &str, behavior: &str, rules: &[&str], destination: &str) -> PermissionUpdate {
    let rule = |text: &&str| match text.split_once('(') {
        Some((tool, content)) => json!({"toolName": tool, "ruleContent": content.trim_end_matches(')')}),
        None => json!({"toolName": text}),
    };
    let rules: Vec<_> = rules.iter().map(rule).collect();
    update(kind, json!({"rules": rules, "behavior": behavior}), destination)
}

/// In a project's own file `/` means what it means in the row.
fn apply(text: &str, update: &PermissionUpdate) -> Result<String, EditError> {
    let root = Path::new("/repo");
    ona_trust::apply(text, update, RuleAnchors { row: root, file: root })
}

#[test]
fn only_the_list_in_question_is_rewritten() {
    let text = "{\n    \"zeta\": 1.0e2,\n    \"permissions\": {\n        \"deny\": [ \"Read(./.env)\" ],\n        \"allow\": [\"Bash(ls:*)\"]\n    },\n    \"alpha\": [1,2]\n}\n";
    let add = rules("addRules", "allow", &["Bash(make:*)", "Bash(ls:*)"], "localSettings");
    assert_eq!(
        apply(text, &add).unwrap(),
        "{\n    \"zeta\": 1.0e2,\n    \"permissions\": {\n        \"deny\": [ \"Read(./.env)\" ],\n        \"allow\": [\n            \"Bash(ls:*)\",\n            \"Bash(make:*)\"\n        ]\n    },\n    \"alpha\": [1,2]\n}\n"
    );
    let ask = rules("addRules", "ask", &["WebFetch"], "localSettings");
    assert_eq!(
        apply(text, &ask).unwrap(),
        text.replace(
            "[\"Bash(ls:*)\"]\n",
            "[\"Bash(ls:*)\"],\n        \"ask\": [\n            \"WebFetch\"\n        ]\n"
        )
    );
}

#[test]
fn every_kind_of_update_on_every_kind_of_text() {
    let updates = [
        (rules("addRules", "allow", &["A", "B(x)"], "localSettings"), "allow", json!(["A", "B(x)"])),
        (rules("addRules", "deny", &["D", "N"], "localSettings"), "deny", json!(["D", "N"])),
        (rules("replaceRules", "deny", &["N"], "localSettings"), "deny", json!(["N"])),
        (update("setMode", json!({"mode": "plan"}), "userSettings"), "defaultMode", json!("plan")),
        (
            update("addDirectories", json!({"directories": ["/d"]}), "userSettings"),
            "additionalDirectories",
            json!(["/d"]),
        ),
    ];
    let texts = [
        "{}",
        "{ }\n",
        "{\"x\":[{\"permissions\":{}}]}",
        "{\"permissions\":{}}",
        "{\"permissions\":null}",
        "{\"permissions\": {\n}\n}",
        "{\"permissions\":{\"deny\":[\"D\"]},\"y\":\"}\"}",
        "{\n\t\"permissions\": {\n\t\t\"deny\": [\n\t\t\t\"D\"\n\t\t]\n\t}\n}\n",
        "{\"permissions\": {\"deny\": null, \"unknown\": {\"deny\": 1}}}",
        "\u{feff}{\"a\": \"\u{fc}\\u00e4\\\"{\"}",
        "{\"permissions\": {\"deny\": [\"old\"]}, \"permissions\": {\"deny\": [\"D\"]}}",
    ];
    for text in texts {
        let before: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        for (update, key, value) in &updates {
            let after = apply(text, update).unwrap();
            let mut expected = before.clone();
            if !expected["permissions"].is_object() {
                expected["permissions"] = json!({});
            }
            expected["permissions"][key] = match (value, before["permissions"]["deny"].as_array()) {
                (_, None) if *key == "deny" && value[0] == "D" => json!(["D", "N"]),
                _ => value.clone(),
            };
            assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), expected, "{text}\n{after}");
            assert_eq!(apply(&after, update).unwrap(), after, "twice is once");
        }
    }
    let remove = rules("removeRules", "deny", &["D"], "localSettings");
    assert_eq!(apply(r#"{"permissions":{"deny":["D"]}}"#, &remove).unwrap(), r#"{"permissions":{"deny":[]}}"#);
    assert_eq!(apply("{}", &remove).unwrap(), "{}", "nothing to remove, nothing to write");
}

#[test]
fn a_text_that_is_not_understood_is_not_touched() {
    let add = rules("addRules", "allow", &["A"], "localSettings");
    assert!(matches!(apply("{,}", &add), Err(EditError::NotSettings { line: Some(1), .. })));
    assert_eq!(apply(r#"{"permissions": 1}"#, &add), Err(EditError::NotAnObject));
    assert_eq!(apply(r#"{"permissions": {"allow": "A"}}"#, &add), Err(EditError::NotAList("allow")));
    assert_eq!(apply(r#"{"permissions": {"allow": [1]}}"#, &add), Err(EditError::NotAList("allow")));
}

#[test]
fn each_destination_has_its_own_file_and_modes_are_kept() {
    let world = World::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (destination, scope) in [("userSettings", "user"), ("projectSettings", "project"), ("localSettings", "local")] {
        let add = rules("addRules", "allow", &["Bash(make:*)"], destination);
        let mirrored = mirror(&add, &world.env, &world.repo).unwrap().unwrap();
        let file = world.file(scope);
        assert_eq!((&mirrored.file, mirrored.before.as_str()), (&file, "absent"));
        assert_eq!(mode(&file), 0o600, "{scope}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let more = rules("addRules", "allow", &["Bash(ls:*)"], destination);
        let again = mirror(&more, &world.env, &world.repo).unwrap().unwrap();
        assert_eq!((again.before, mode(&file)), (mirrored.after, 0o640), "{scope}");
        let text =
            "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(make:*)\",\n      \"Bash(ls:*)\"\n    ]\n  }\n}\n";
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        let left: Vec<_> = fs::read_dir(file.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().contains("tmp")), "{left:?}");
    }
    for destination in ["session", "cliArg"] {
        assert_eq!(mirror(&rules("addRules", "allow", &["A"], destination), &world.env, &world.repo).unwrap(), None);
    }
}

#[test]
fn rules_of_processes_that_write_at_once_all_arrive() {
    let world = World::new();
    let names: Vec<String> = (0..16).map(|i| format!("Bash(make {i})")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let add = rules("addRules", "allow", &[name], "localSettings");
            let (env, repo) = (&world.env, &world.repo);
            scope.spawn(move || mirror(&add, env, repo).unwrap());
        }
    });
    let text = fs::read_to_string(world.file("local")).unwrap();
    for name in &names {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn a_rule_means_the_same_after_it_went_through_the_users_file() {
    let world = World::new();
    let row = |world: &World| world.effective()["permissions"]["deny"].clone();
    let rule = ["Read(/secrets/**)"];
    mirror(&rules("addRules", "deny", &rule, "userSettings"), &world.env, &world.repo).unwrap();
    let absolute = format!("Read(/{}/secrets/**)", world.repo.display());
    assert_eq!(row(&world), json!([absolute]), "the project's folder, not the user's");
    mirror(&rules("removeRules", "deny", &rule, "userSettings"), &world.env, &world.repo).unwrap();
    assert_eq!(row(&world), Value::Null);

    world.put_all(json!({"user": {"permissions": {"deny": ["Read(/x)"]}}}));
    let as_in_row = format!("Read(/{}/.ona/x)", world.home.display());
    mirror(&rules("removeRules", "deny", &[&as_in_row], "userSettings"), &world.env, &world.repo).unwrap();
    assert_eq!(row(&world), Value::Null, "a rule of the file is found by what it means");
}

#[test]
fn a_project_file_is_not_given_what_it_could_not_say() {
    let world = World::new();
    for update in [
        update("addDirectories", json!({"directories": ["/"]}), "localSettings"),
        update("setMode", json!({"mode": "bypassPermissions"}), "projectSettings"),
    ] {
        assert!(matches!(mirror(&update, &world.env, &world.repo), Err(MirrorError::NotFromHere { .. })));
    }
    assert!(!world.repo.join(".ona").exists());
}

#[test]
fn links_in_a_project_are_not_followed_and_the_users_own_are() {
    let add = |destination| rules("addRules", "allow", &["Bash"], destination);
    let world = World::with(json!({"user.claude": {}}));
    let victim = world.file("user.claude");
    fs::create_dir_all(world.repo.join(".ona")).unwrap();
    std::os::unix::fs::symlink(&victim, world.file("local")).unwrap();
    assert!(matches!(mirror(&add("localSettings"), &world.env, &world.repo), Err(MirrorError::Link { .. })));
    fs::remove_dir_all(world.repo.join(".ona")).unwrap();
    std::os::unix::fs::symlink(victim.parent().unwrap(), world.repo.join(".ona")).unwrap();
    assert!(matches!(mirror(&add("projectSettings"), &world.env, &world.repo), Err(MirrorError::Link { .. })));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "{}");

    let dotfiles = world.home.join("dotfiles/ona.json");
    world.put(&dotfiles, "{}");
    fs::create_dir_all(world.home.join(".ona")).unwrap();
    std::os::unix::fs::symlink(&dotfiles, world.file("user")).unwrap();
    mirror(&add("userSettings"), &world.env, &world.repo).unwrap();
    assert!(world.file("user").is_symlink() && fs::read_to_string(&dotfiles).unwrap().contains("Bash"));
}

#[test]
fn after_our_own_writing_the_next_start_has_nothing_to_import() {
    let world = World::with(json!({"project": {"theme": "dark"}}));
    let mut found = world.discover();
    let merged = ona_trust::merge(&found, &world.env);
    let ImportAction::Insert { mut effective, record } = import(None, None, &merged, ImportMode::Follow) else {
        panic!("a first start")
    };

    let mut record: ImportRecord = record;
    for rule in ["Bash(make:*)", "Bash(ls:*)"] {
        let add = rules("addRules", "allow", &[rule], "localSettings");
        let mirrored = mirror(&add, &world.env, &world.repo).unwrap().unwrap();
        record = record.after(&mut found, &mirrored).unwrap();
    }
    assert_eq!(record.keys, ["theme", "permissions"]);
    effective["permissions"]["allow"] = json!(["Bash(make:*)"]);
    assert_eq!(
        import(
            Some(StoredSettings { value: &effective, is_ours: true }),
            Some(&record),
            &world.merged(),
            ImportMode::Follow
        ),
        ImportAction::Keep
    );

    // Another program edits another file in the meantime: that must still be noticed.
    world.put_all(json!({"user": {"theme": "light"}}));
    let add = rules("addRules", "allow", &["Read"], "localSettings");
    let record = record.after(&mut found, &mirror(&add, &world.env, &world.repo).unwrap().unwrap()).unwrap();
    assert!(matches!(
        import(
            Some(StoredSettings { value: &effective, is_ours: true }),
            Some(&record),
            &world.merged(),
            ImportMode::Follow
        ),
        ImportAction::Replace { .. }
    ));

    // Another program edits the very file: the record stays behind, and the next start imports.
    world.put_all(json!({"local": {"theme": "theirs"}}));
    assert_eq!(record.after(&mut found, &mirror(&add, &world.env, &world.repo).unwrap().unwrap()), None);
}
