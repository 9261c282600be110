use crate::World;
use ona_trust::{How, Import, ImportRecord, Trust, import};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The database of a test: the row and the record, as a caller would keep them.
#[derive(Default)]
struct Database {
    row: Option<Value>,
    meta: BTreeMap<String, String>,
}

impl Database {
    fn start(&mut self, world: &World, how: How) -> Import {
        let record = ImportRecord::load(|key| self.meta.get(key).cloned());
        let import = import(self.row.as_ref(), record.as_ref(), &world.merged(), how);
        match &import {
            Import::Insert { effective, record } | Import::Replace { effective, record, .. } => {
                self.row = Some(effective.clone());
                self.meta.extend(record.rows().map(|(key, value)| (key.to_owned(), value)));
            }
            Import::Keep | Import::Narrow { .. } => {}
        }
        import
    }

    fn row(&self) -> &Value {
        self.row.as_ref().unwrap()
    }
}

#[test]
fn an_empty_database_is_filled_in_every_form() {
    for how in [How::FirstUseOnly, How::AtStart, How::Forced] {
        let world = World::with(json!({"user": {"theme": "dark"}}));
        let mut database = Database::default();
        assert!(matches!(database.start(&world, how), Import::Insert { .. }), "{how:?}");
        assert_eq!(database.row(), &world.effective());
        assert_eq!(database.meta["settings_import_keys"], r#"["theme"]"#);
        assert_eq!(database.meta["settings_project_root"], world.repo.to_str().unwrap());
        assert_eq!(database.meta["settings_import_sha256"], world.discover().sha256);
        assert_eq!(database.start(&world, How::AtStart), Import::Keep, "and then left alone");
    }
}

#[test]
fn a_row_written_by_the_operator_is_left_alone() {
    let row = json!({"hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "exit 2"}]});
    let world = World::with(json!({"project": {"permissions": {"allow": ["Bash"]}}}));
    let mut database = Database { row: Some(row.clone()), ..Database::default() };
    for how in [How::FirstUseOnly, How::AtStart] {
        assert_eq!(database.start(&world, how), Import::Keep, "{how:?}");
    }
    assert!(matches!(database.start(&world, How::Forced), Import::Replace { .. }));
    assert_eq!(database.row()["hooks"], row["hooks"], "keys that no file has survive");
    assert_eq!(database.row()["permissions"]["allow"][0], "Bash");
}

#[test]
fn changed_files_replace_their_keys_and_nothing_else() {
    let world =
        World::with(json!({"user": {"theme": "dark", "env": {"A": "1"}, "permissions": {"deny": ["WebFetch"]}}}));
    let mut database = Database::default();
    database.start(&world, How::AtStart);
    // Written by the runtime and by SQL.
    let row = database.row.as_mut().unwrap();
    row["model_config"] = json!({"provider": "openai_compatible", "model_id": "o3"});
    row["mine"] = json!(1);
    row["theme"] = json!("edited");

    world.put_all(json!({"user": {"env": {"B": "2"}}}));
    assert_eq!(database.start(&world, How::FirstUseOnly), Import::Keep, "--eval does not import");
    assert!(matches!(database.start(&world, How::AtStart), Import::Replace { moved_from: None, .. }));
    let mut expected = World::new().effective();
    expected["env"] = json!({"B": "2"});
    expected["model_config"] = json!({"provider": "openai_compatible", "model_id": "o3"});
    expected["mine"] = json!(1);
    assert_eq!(database.row(), &expected, "permissions went back to the seed, theme went away");
    assert_eq!(database.start(&world, How::AtStart), Import::Keep);
    assert!(matches!(database.start(&world, How::Forced), Import::Replace { .. }), "unconditionally");
}

#[test]
fn granting_and_withholding_trust_imports_again() {
    let mut world = World::untrusted();
    world.put_all(json!({"project": {"theme": "dark", "hooks": [{"hook_event_name": "Stop", "command": "x"}]}}));
    let mut database = Database::default();
    database.start(&world, How::AtStart);
    assert_eq!(database.row()["hooks"][0]["disabled"], "untrusted_workspace");

    world.how.trust = Trust::Trusted;
    database.start(&world, How::AtStart);
    assert_eq!((&database.row()["theme"], database.row()["hooks"][0].get("disabled")), (&json!("dark"), None));

    world.how.trust = Trust::Withheld;
    let Import::Narrow { effective } = database.start(&world, How::FirstUseOnly) else { panic!("--eval --no-trust") };
    assert_eq!((effective.get("theme"), &effective["hooks"][0]["disabled"]), (None, &json!("untrusted_workspace")));
    assert_eq!(database.row()["theme"], "dark", "a running session keeps its row");

    database.start(&world, How::AtStart);
    assert_eq!(database.row(), &effective);
    assert_eq!(database.start(&world, How::FirstUseOnly), Import::Keep, "nothing left to withhold");
}

#[test]
fn withholding_trust_does_not_touch_what_the_operator_wrote() {
    let world = World::untrusted();
    let mut database = Database { row: Some(json!({"hooks": []})), ..Database::default() };
    assert_eq!(database.start(&world, How::FirstUseOnly), Import::Keep);
}

#[test]
fn another_project_says_whose_settings_it_replaces() {
    let (one, other) = (World::new(), World::new());
    let mut database = Database::default();
    database.start(&one, How::AtStart);
    assert_eq!(database.start(&other, How::FirstUseOnly), Import::Keep);
    let Import::Replace { moved_from, .. } = database.start(&other, How::AtStart) else { panic!("it imports") };
    assert_eq!(moved_from.as_deref(), one.repo.to_str());
}

#[test]
fn a_row_that_is_no_object_is_imported_anew() {
    let world = World::new();
    let mut database = Database { row: Some(json!("garbage")), ..Database::default() };
    assert_eq!(database.start(&world, How::AtStart), Import::Keep, "whoever reads it will say so");
    database.start(&world, How::Forced);
    assert_eq!(database.row(), &world.effective());
}

#[test]
fn a_record_that_can_not_be_read_is_none() {
    let load =
        |keys: &str| ImportRecord::load(|key| Some(if key == "settings_import_keys" { keys } else { "x" }.into()));
    let record = ImportRecord { sha256: "x".into(), keys: vec!["a".into()], project_root: "x".into() };
    assert_eq!(load(r#"["a"]"#), Some(record));
    assert_eq!((load("a,b"), load("[1]"), load("{}")), (None, None, None));
    assert_eq!(ImportRecord::load(|_| None), None);
}
