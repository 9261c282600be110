use crate::World;
use ona_trust::{ImportAction, ImportMode, ImportRecord, StoredSettings, Trust, beside, import};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;

fn load(meta: impl Fn(&str) -> Option<String>) -> Option<ImportRecord> {
    let Ok(record) = ImportRecord::load(|key| Ok::<_, Infallible>(meta(key)));
    record
}

/// The database of a test: the row and the record, as a caller would keep them.
#[derive(Default)]
struct Database {
    row: Option<Value>,
    /// The row as the program left it.
    ours: Option<Value>,
    meta: BTreeMap<String, String>,
}

impl Database {
    fn start(&mut self, world: &World, how: ImportMode) -> ImportAction {
        let record = load(|key| self.meta.get(key).cloned());
        let row = self.row.as_ref().map(|value| StoredSettings { value, is_ours: self.row == self.ours });
        let import = import(row, record.as_ref(), &world.merged(), how);
        match &import {
            ImportAction::Insert { effective, record } | ImportAction::Replace { effective, record, .. } => {
                self.row = Some(effective.clone());
                self.ours = self.row.clone();
                self.meta.extend(record.rows().map(|(key, value)| (key.to_owned(), value)));
            }
            ImportAction::Keep | ImportAction::Operators => {}
        }
        import
    }

    /// A change by the program itself.
    fn change(&mut self, key: &str, value: Value) {
        self.row.as_mut().unwrap()[key] = value;
        self.ours = self.row.clone();
    }

    fn record(&self) -> Option<ImportRecord> {
        load(|key| self.meta.get(key).cloned())
    }

    fn row(&self) -> &Value {
        self.row.as_ref().unwrap()
    }
}

#[test]
fn an_empty_database_is_filled_in_every_form() {
    for how in [ImportMode::AsItStands, ImportMode::Follow, ImportMode::Forced] {
        let world = World::with(json!({"user": {"theme": "dark"}}));
        let mut database = Database::default();
        assert!(matches!(database.start(&world, how), ImportAction::Insert { .. }), "{how:?}");
        assert_eq!(database.row(), &world.effective());
        assert_eq!(database.meta["settings_import_keys"], r#"["theme"]"#);
        assert_eq!(database.meta["settings_project_root"], world.repo.to_str().unwrap());
        assert_eq!(database.meta["settings_import_sha256"], world.discover().sha256);
        assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Keep, "and then left alone");
    }
}

#[test]
fn a_row_written_by_the_operator_is_left_alone() {
    let row = json!({"hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "exit 2"}]});
    let world = World::with(json!({"project": {"permissions": {"allow": ["Bash"]}}}));
    let mut database = Database { row: Some(row.clone()), ..Database::default() };
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Operators);
    assert_eq!(database.start(&world, ImportMode::AsItStands), ImportAction::Keep);
    assert!(matches!(database.start(&world, ImportMode::Forced), ImportAction::Replace { .. }));
    assert_eq!(database.row()["hooks"], row["hooks"], "keys that no file has survive");
    assert_eq!(database.row()["permissions"]["allow"][0], "Bash");
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Keep, "it follows the files again");
}

#[test]
fn an_imported_row_that_an_operator_changed_is_theirs_in_every_project() {
    let (world, other) = (World::with(json!({"user": {"theme": "dark"}})), World::new());
    let mut database = Database::default();
    database.start(&world, ImportMode::Follow);
    database.row.as_mut().unwrap()["mine"] = json!(1);
    world.put_all(json!({"user": {"theme": "light"}}));
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Operators);
    assert_eq!(database.start(&other, ImportMode::Follow), ImportAction::Operators);
    assert_eq!((&database.row()["theme"], &database.row()["mine"]), (&json!("dark"), &json!(1)));
}

#[test]
fn changed_files_replace_their_keys_and_nothing_else() {
    let world =
        World::with(json!({"user": {"theme": "dark", "env": {"A": "1"}, "permissions": {"deny": ["WebFetch"]}}}));
    let mut database = Database::default();
    database.start(&world, ImportMode::Follow);
    database.change("model_config", json!({"provider": "openai_compatible", "model_id": "o3"}));
    database.change("mine", json!(1));
    database.change("theme", json!("edited"));

    world.put_all(json!({"user": {"env": {"B": "2"}}}));
    assert_eq!(database.start(&world, ImportMode::AsItStands), ImportAction::Keep, "the agent's shell does not import");
    assert!(matches!(database.start(&world, ImportMode::Follow), ImportAction::Replace { moved_from: None, .. }));
    let mut expected = World::new().effective();
    expected["env"] = json!({"B": "2"});
    expected["model_config"] = json!({"provider": "openai_compatible", "model_id": "o3"});
    expected["mine"] = json!(1);
    assert_eq!(database.row(), &expected, "permissions went back to the seed, theme went away");
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Keep);
    assert!(matches!(database.start(&world, ImportMode::Forced), ImportAction::Replace { .. }), "unconditionally");
}

#[test]
fn granting_and_withholding_trust_imports_again() {
    let mut world = World::untrusted();
    world.put_all(json!({"project": {"theme": "dark", "hooks": [{"hook_event_name": "Stop", "command": "x"}]}}));
    let mut database = Database::default();
    database.start(&world, ImportMode::Follow);
    assert_eq!(database.row()["hooks"][0]["disabled"], "untrusted_workspace");

    world.how.trust = Trust::Trusted;
    database.start(&world, ImportMode::Follow);
    assert_eq!((&database.row()["theme"], database.row()["hooks"][0].get("disabled")), (&json!("dark"), None));

    world.how.trust = Trust::Withheld;
    let effective = beside(database.row(), database.record().as_ref(), &world.merged());
    assert_eq!((effective.get("theme"), &effective["hooks"][0]["disabled"]), (None, &json!("untrusted_workspace")));
    assert_eq!(database.row()["theme"], "dark", "a running session keeps its row");

    database.start(&world, ImportMode::Follow);
    assert_eq!(database.row(), &effective);
    assert_eq!(&beside(database.row(), database.record().as_ref(), &world.merged()), database.row());
}

#[test]
fn withholding_trust_does_not_touch_what_the_operator_wrote() {
    let world = World::untrusted();
    let mut database = Database { row: Some(json!({"hooks": []})), ..Database::default() };
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Operators);
    assert_eq!(&beside(database.row(), None, &world.merged()), database.row());
}

#[test]
fn another_project_says_whose_settings_it_replaces() {
    let (one, other) = (World::new(), World::new());
    let mut database = Database::default();
    database.start(&one, ImportMode::Follow);
    let ImportAction::Replace { moved_from, .. } = database.start(&other, ImportMode::Follow) else {
        panic!("it imports")
    };
    assert_eq!(moved_from.as_deref(), one.repo.to_str());
}

#[test]
fn a_row_that_is_no_object_is_imported_anew() {
    let world = World::new();
    let mut database = Database { row: Some(json!("garbage")), ..Database::default() };
    assert_eq!(database.start(&world, ImportMode::Follow), ImportAction::Operators, "the caller reports it");
    database.start(&world, ImportMode::Forced);
    assert_eq!(database.row(), &world.effective());
}

#[test]
fn a_record_that_cannot_be_read_is_none() {
    let with_keys = |keys: &str| load(|key| Some(if key == "settings_import_keys" { keys } else { "x" }.into()));
    let record =
        ImportRecord { sha256: "x".into(), keys: vec!["a".into()], project_root: "x".into(), trust: Trust::Withheld };
    assert_eq!(with_keys(r#"["a"]"#), Some(record));
    assert_eq!((with_keys("a,b"), with_keys("[1]"), with_keys("{}")), (None, None, None));
    assert_eq!(load(|_| None), None);
    assert_eq!(
        ImportRecord::load(|key| if key == "settings_import_keys" { Err("busy") } else { Ok(None) }),
        Err("busy")
    );
}
