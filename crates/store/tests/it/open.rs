//! Opening: what is made, what is left alone.

use crate::support::{Db, begin, place, plain, user, write};
use ona_api::Redactor;
use ona_store::{Pragmas, SCHEMA, Store};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const MASTER: &str = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_store_and_schema_sql_make_the_same_database() {
    let (by_store, by_sql) = (Db::new(), Db::new());
    let store = by_store.open();
    plain(&by_sql.path).execute_batch(SCHEMA).unwrap();
    assert_eq!(by_store.sql(MASTER), by_sql.sql(MASTER));
    assert_eq!(by_store.sql("SELECT * FROM schema_meta"), ["schema_version|1", "sdlc_schema_version|3"]);
    assert_eq!(by_sql.sql("SELECT * FROM schema_meta"), ["schema_version|1", "sdlc_schema_version|3"]);
    assert_eq!(by_sql.sql("PRAGMA journal_mode"), ["wal"]);
    drop(store);
}

#[test]
fn what_schema_sql_made_is_taken_as_it_is() {
    let db = Db::new();
    plain(&db.path).execute_batch(SCHEMA).unwrap();
    let before = db.sql("PRAGMA schema_version");
    drop(db.open());
    assert_eq!(db.sql("PRAGMA schema_version"), before, "no DDL ran");
}

#[test]
fn opening_again_changes_nothing() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("hello")]);
    let rows = "SELECT * FROM transcript_entries";
    let state = || (db.sql(MASTER), db.sql(rows), db.sql("PRAGMA schema_version"), db.sql("PRAGMA data_version"));
    let before = state();
    let second = db.open();
    assert_eq!(state(), before);
    drop((store, second));
    drop(db.open());
    assert_eq!(state(), before);
}

#[test]
fn rows_an_operator_wrote_before_the_first_start_survive_it() {
    let db = Db::new();
    let operator = plain(&db.path);
    operator
        .execute_batch(
            "CREATE TABLE conversations (id TEXT PRIMARY KEY, project_dir TEXT NOT NULL,
               created_at TEXT NOT NULL DEFAULT (datetime('now')), last_active TEXT NOT NULL DEFAULT (datetime('now')),
               phase TEXT NOT NULL DEFAULT 'idle');
             INSERT INTO conversations(id, project_dir, phase) VALUES ('test-conv-1', '/tmp', 'implement');",
        )
        .unwrap();
    let store = db.open();
    assert_eq!(db.sql("SELECT id, phase FROM conversations"), ["test-conv-1|implement"]);
    assert_eq!(db.sql("SELECT value FROM schema_meta"), ["1", "3"]);
    assert_eq!(db.sql("PRAGMA journal_mode"), ["wal"]);

    let settings =
        "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', '{}', datetime('now'))";
    operator.execute(settings, []).unwrap();
    assert_eq!(store.reader().unwrap().settings().unwrap().unwrap().0, "{}");
    store.commit_now(&place("s"), begin()).unwrap();
    assert_eq!(db.sql("SELECT count(*) FROM conversations"), ["2"]);
}

#[test]
fn a_missing_version_row_is_added() {
    let db = Db::new();
    plain(&db.path).execute_batch(&format!("{SCHEMA} DELETE FROM schema_meta;")).unwrap();
    drop(db.open());
    assert_eq!(db.sql("SELECT * FROM schema_meta"), ["schema_version|1", "sdlc_schema_version|3"]);
}

#[test]
fn a_missing_index_is_added() {
    let db = Db::new();
    plain(&db.path).execute_batch(&format!("{SCHEMA} DROP INDEX idx_hook_inv_session;")).unwrap();
    drop(db.open());
    let found = db.sql("SELECT name FROM sqlite_master WHERE name = 'idx_hook_inv_session'");
    assert_eq!(found, ["idx_hook_inv_session"]);
}

#[test]
fn tables_of_others_are_tolerated() {
    let db = Db::new();
    let replicator = "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
                      CREATE TABLE _litestream_lock (id INTEGER);";
    plain(&db.path).execute_batch(&format!("{SCHEMA} {replicator}")).unwrap();
    drop(db.open());
    assert_eq!(db.sql("SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_litestream%' ESCAPE '\\'"), ["2"]);
}

#[test]
fn directories_and_files_are_private() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state/ona/project/ona.db");
    let store = Store::open(&path, Redactor::default()).unwrap();
    store.commit_now(&place("s"), begin()).unwrap();
    for part in ["state", "state/ona", "state/ona/project"] {
        assert_eq!(mode(&dir.path().join(part)), 0o700, "{part}");
    }
    for suffix in ["", "-wal", "-shm"] {
        let file = dir.path().join(format!("state/ona/project/ona.db{suffix}"));
        assert_eq!(mode(&file), 0o600, "{suffix}");
    }
}

#[test]
fn a_file_made_at_the_end_of_a_link_is_private_too() {
    let db = Db::new();
    let target = db.dir.path().join("elsewhere.db");
    std::os::unix::fs::symlink(&target, &db.path).unwrap();
    drop(db.open());
    assert_eq!(mode(&target), 0o600);
}

#[test]
fn a_file_others_can_read_is_made_private_and_that_is_reported() {
    let db = Db::new();
    plain(&db.path).execute_batch(SCHEMA).unwrap();
    fs::set_permissions(&db.path, fs::Permissions::from_mode(0o640)).unwrap();
    let sentence = format!("other users could use {} (mode 0640); its mode is 0600 now", db.path.display());
    assert_eq!(db.open().notices(), [sentence]);
    assert_eq!(mode(&db.path), 0o600);
    assert_eq!(db.open().notices(), [""; 0]);
}

#[test]
fn both_connections_have_the_pragmas_of_the_specification() {
    let db = Db::new();
    let report = db.open().pragmas().unwrap();
    let expected = Pragmas { foreign_keys: true, journal_mode: "wal".into(), busy_timeout: 30_000, synchronous: 2 };
    assert_eq!(report.writer, expected);
    assert_eq!(report.reader, expected);
}

/// What a power failure in the middle of a write leaves: the tail of the log is
/// short, or is not what was written.
#[test]
fn a_torn_log_opens_with_what_was_committed() {
    for tear in ["cut", "garbage", "appended"] {
        let db = Db::new();
        let store = db.started();
        write(&store, [user("kept")]);
        let kept = fs::metadata(log(&db.path)).unwrap().len();
        write(&store, [user("torn")]);

        // Reading the file drops the store's locks, which nobody contests here.
        let copy = Db::new();
        fs::copy(&db.path, &copy.path).unwrap();
        let mut bytes = fs::read(log(&db.path)).unwrap();
        let kept = usize::try_from(kept).unwrap();
        match tear {
            "cut" => bytes.truncate(bytes.len() - 1),
            "garbage" => bytes[kept + 24..].fill(0x5a),
            _ => bytes.extend([0xff; 5000]),
        }
        fs::write(log(&copy.path), bytes).unwrap();

        let torn = copy.open();
        let found = copy.sql("SELECT payload_json ->> '$.content[0].text' FROM transcript_entries ORDER BY sequence");
        let expected: &[&str] = if tear == "appended" { &["kept", "torn"] } else { &["kept"] };
        assert_eq!(found, expected, "{tear}");
        assert_eq!(copy.sql("PRAGMA integrity_check"), ["ok"]);
        write(&torn, [user("after")]);
    }
}

fn log(path: &Path) -> std::path::PathBuf {
    path.with_file_name("ona.db-wal")
}
