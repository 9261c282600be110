//! Upgrades over real files, with steps that exist only here: the tables as they are are
//! version 3, and version 1 lacked a column.

use super::*;
use crate::{BUSY_TIMEOUT, Reader, Store};
use ona_api::Redactor;
use rusqlite::types::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const MADE_UP: &[MigrationStep] = &[
    MigrationStep { to: 2, sql: "ALTER TABLE sdlc_test_runs ADD COLUMN seen_event INTEGER DEFAULT 7;" },
    MigrationStep {
        to: 3,
        sql: "CREATE TABLE sdlc_made_up (id INTEGER); INSERT INTO sdlc_made_up SELECT id FROM sdlc_test_runs;",
    },
];

/// Takes long enough to be killed in the middle of it.
const SLOW: &[MigrationStep] = &[
    MADE_UP[0],
    MigrationStep {
        to: 3,
        sql: "CREATE TABLE sdlc_made_up (text TEXT);
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400000)
              INSERT INTO sdlc_made_up SELECT printf('%0100d', i) FROM n;",
    },
];

/// Name of the variable that tells a child which database to open.
const TARGET: &str = "ONA_STORE_TEST_DB";

struct Old {
    dir: TempDir,
    path: PathBuf,
}

impl Old {
    /// Returns a database of version 1 with a row, and a table of another program.
    fn new() -> Old {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ona.db");
        let old = Old { dir, path };
        drop(Store::open(&old.path, Redactor::default()).unwrap());
        old.execute(
            "ALTER TABLE sdlc_test_runs DROP COLUMN seen_event;
             DROP TABLE sdlc_chain;
             UPDATE schema_meta SET value = '1' WHERE key = 'sdlc_schema_version';
             INSERT INTO sdlc_test_runs(test_case_id, run_id, stdout_text) VALUES ('case', 'run', 'said');
             CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);",
        );
        old
    }

    fn open(&self, steps: &[MigrationStep]) -> Result<Store, StoreError> {
        Store::open_with_steps(&self.path, Redactor::default(), BUSY_TIMEOUT, steps)
    }

    fn execute(&self, sql: &str) {
        plain(&self.path).execute_batch(sql).unwrap();
    }

    fn version(&self) -> Option<String> {
        recorded(&plain(&self.path)).unwrap()
    }

    /// Files beside the database that an upgrade may leave, sorted.
    fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.contains("backup"));
        names.sort();
        names
    }

    fn backup(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

#[expect(clippy::disallowed_methods, reason = "the operator's own connection")]
fn plain(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// Returns everything a database holds: its tables and their rows.
fn dump(path: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let connection = plain(path);
    let rows = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|i| row.get(i)).collect();
        statement.query_map([], read).unwrap().map(Result::unwrap).collect::<Vec<Vec<Value>>>()
    };
    let tables = rows("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let read = |table: Vec<Value>| match &table[0] {
        Value::Text(name) => (format!("{table:?}"), rows(&format!("SELECT * FROM {name}"))),
        other => panic!("{other:?}"),
    };
    tables.into_iter().map(read).collect()
}

fn is_sound(path: &Path) -> bool {
    plain(path).query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap() == "ok"
}

#[test]
fn steps_are_numbered_without_gaps_from_two() {
    for steps in [STEPS, MADE_UP, SLOW] {
        assert!(steps.iter().zip(2..).all(|(step, number)| step.to == number), "{steps:?}");
    }
}

#[test]
fn an_older_database_is_upgraded_and_a_backup_kept() {
    for preparation in ["", "DELETE FROM schema_meta WHERE key = 'sdlc_schema_version'"] {
        let old = Old::new();
        old.execute(preparation);
        let before = dump(&old.path);

        let store = old.open(MADE_UP).unwrap();
        assert_eq!(old.version().as_deref(), Some("3"));
        let backup = old.backup("ona.db.schema-1.backup");
        let sentence = format!("upgraded the database from schema 1 to 3; a backup is in {}", backup.display());
        assert_eq!(store.notices(), [sentence]);
        let run = plain(&old.path)
            .query_row("SELECT stdout_text || seen_event FROM sdlc_test_runs", [], |row| row.get::<_, String>(0));
        assert_eq!(run.unwrap(), "said7");
        let theirs = plain(&old.path).query_row("SELECT x FROM theirs", [], |row| row.get::<_, i64>(0));
        assert_eq!(theirs.unwrap(), 1);

        assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(dump(&backup), before);
        drop(store);
        assert_eq!(old.open(MADE_UP).unwrap().notices(), [""; 0]);
        assert_eq!(old.left().iter().filter(|name| name.ends_with("backup")).count(), 1, "{:?}", old.left());
    }
}

/// A restored backup is an ordinary database of its version; upgrading it again does
/// not replace the first backup.
#[test]
fn a_backup_can_be_restored_and_upgraded_again() {
    let old = Old::new();
    let before = dump(&old.path);
    drop(old.open(MADE_UP).unwrap());
    fs::copy(old.backup("ona.db.schema-1.backup"), &old.path).unwrap();
    assert_eq!(dump(&old.path), before);
    drop(old.open(MADE_UP).unwrap());
    assert_eq!(old.version().as_deref(), Some("3"));
    assert_eq!(old.left(), ["ona.db.schema-1.backup", "ona.db.schema-1.backup-2"]);
}

#[test]
fn only_the_steps_that_are_pending_are_taken() {
    let old = Old::new();
    drop(old.open(&MADE_UP[..1]).unwrap());
    assert_eq!(old.version().as_deref(), Some("2"));
    drop(old.open(MADE_UP).unwrap());
    assert_eq!(old.version().as_deref(), Some("3"));
    assert_eq!(old.left(), ["ona.db.schema-1.backup", "ona.db.schema-2.backup"]);
}

#[test]
fn a_new_database_has_the_newest_version_and_needs_no_backup() {
    let dir = tempfile::tempdir().unwrap();
    let old = Old { path: dir.path().join("ona.db"), dir };
    assert_eq!(old.open(MADE_UP).unwrap().notices(), [""; 0]);
    assert_eq!((old.version().as_deref(), old.left()), (Some("3"), vec![]));
}

#[test]
fn a_database_without_the_key_gets_it_silently_if_nothing_has_to_change() {
    let old = Old::new();
    old.execute("DELETE FROM schema_meta WHERE key = 'sdlc_schema_version'");
    old.execute("ALTER TABLE sdlc_test_runs ADD COLUMN seen_event INTEGER");
    assert_eq!(old.open(&[]).unwrap().notices(), [""; 0]);
    assert_eq!((old.version().as_deref(), old.left()), (Some("1"), vec![]));
}

#[test]
fn a_step_that_fails_leaves_the_database_as_it_was() {
    let broken = [MADE_UP[0], MigrationStep { to: 3, sql: "UPDATE sdlc_test_runs SET absent = 1" }];
    let old = Old::new();
    let before = dump(&old.path);
    let error = old.open(&broken).unwrap_err().to_string();
    assert!(error.starts_with("the upgrade to schema 3 failed: no such column: absent"), "{error}");
    assert_eq!(dump(&old.path), before);
    assert_eq!(old.left(), [""; 0], "nothing changed, so there is nothing to go back to");
    drop(old.open(MADE_UP).unwrap());
}

#[test]
fn steps_that_do_not_lead_to_the_tables_of_the_ddl_are_refused() {
    let old = Old::new();
    let before = dump(&old.path);
    let error = old.open(&[MigrationStep { to: 2, sql: "CREATE TABLE sdlc_other (x)" }]).unwrap_err();
    assert!(matches!(error, StoreError::Schema { table: "sdlc_test_runs", .. }), "{error}");
    assert_eq!((dump(&old.path), old.left()), (before, vec![]));
}

#[test]
fn without_a_backup_nothing_is_upgraded() {
    let old = Old::new();
    let before = dump(&old.path);
    fs::create_dir_all(old.backup("ona.db.backup-partial/in-the-way")).unwrap();
    let error = old.open(MADE_UP).unwrap_err();
    assert!(matches!(error, StoreError::Backup { .. }), "{error}");
    assert!(error.to_string().ends_with("the database is unchanged"), "{error}");
    assert_eq!((dump(&old.path), old.left()), (before, vec!["ona.db.backup-partial".to_owned()]));
}

/// A file that may not grow any more stands in for a full disk.
#[test]
fn a_backup_that_does_not_fit_is_removed_and_nothing_is_upgraded() {
    let old = Old::new();
    let before = dump(&old.path);
    let output =
        start("trap '' XFSZ; ulimit -f 64; exec \"$@\"", "open_made_up", &old.path).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("Backup {"), "{said}");
    assert_eq!((dump(&old.path), old.left()), (before, vec![]));
}

#[test]
fn many_at_once_upgrade_once() {
    let old = Old::new();
    let upgraded = std::thread::scope(|scope| {
        let open = || old.open(MADE_UP).unwrap().notices().len();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!((upgraded, old.version().as_deref()), (1, Some("3")));
    assert_eq!(old.left(), ["ona.db.schema-1.backup"]);
}

/// Killed at different moments: before, during and after the backup, in the middle of the
/// steps, or not in time. Whatever was hit, the database has one version or the other.
#[test]
fn a_process_that_is_killed_leaves_one_version_or_the_other() {
    let mut killed = 0;
    for moment in ["ona.db.backup-partial", "ona.db.schema-1.backup", "ona.db.schema-1.backup"] {
        let old = Old::new();
        // Large enough for the backup to take a moment.
        old.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
             INSERT INTO theirs SELECT zeroblob(4000) FROM n;",
        );
        let before = dump(&old.path);
        let mut child = start("exec \"$@\"", "open_slowly", &old.path);
        while child.try_wait().unwrap().is_none() && !old.backup(moment).exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().signal().is_some());

        match old.version().as_deref() {
            Some("1") => assert_eq!(dump(&old.path), before),
            other => assert_eq!(other, Some("3")),
        }
        for name in old.left().iter().filter(|name| name.ends_with(".backup")) {
            assert_eq!(dump(&old.backup(name)), before, "{name}");
        }
        drop(old.open(SLOW).unwrap());
        assert_eq!(old.version().as_deref(), Some("3"));
        assert!(is_sound(&old.path));
        let left = old.left();
        assert!(!left.is_empty() && !left.iter().any(|name| name.contains("partial")), "{left:?}");
    }
    assert!(killed > 0, "every child was faster");
}

/// The chain begins with the rows of the older version, a thousand in one part.
#[test]
fn an_upgrade_begins_the_chain_with_the_rows_that_are_there() {
    let old = Old::new();
    old.execute(
        "ALTER TABLE sdlc_test_runs ADD COLUMN seen_event INTEGER;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1500)
         INSERT INTO events(conversation_id, event_type) SELECT 'k', 'made_up' FROM n;
         DELETE FROM events WHERE id IN (7, 1500);
         INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision) VALUES ('s', 'c', 'Bash', 'deny');",
    );
    drop(old.open(STEPS).unwrap());
    let chain = || {
        let connection = plain(&old.path);
        let sql =
            "SELECT kind || ' ' || (length(rows) / 41) || ' ' || permission_id || ' ' || event_id FROM sdlc_chain";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(chain(), ["start 0 1 1500", "before 1000 1 1500", "before 499 1 1500"]);
    drop(old.open(STEPS).unwrap());
    assert_eq!(chain().len(), 3);
    old.execute("DROP TABLE sdlc_chain");
    drop(old.open(STEPS).unwrap());
    assert_eq!(chain()[0], "restart 0 1 1500");
}

#[test]
fn a_newer_version_is_refused_and_kept() {
    let old = Old::new();
    old.execute("UPDATE schema_meta SET value = '7' WHERE key = 'sdlc_schema_version'");
    let before = dump(&old.path);
    let errors = [
        old.open(MADE_UP).unwrap_err(),
        Store::open_read_only_with_steps(&old.path, Redactor::default(), MADE_UP).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "this database was written by a newer ona (schema 7, this one knows 3)");
    }
    assert!(matches!(Reader::open_read_only(&old.path), Err(StoreError::TooNew { found: 7, known: 3 })));
    assert_eq!((dump(&old.path), old.left()), (before, vec![]));
}

#[test]
fn a_look_does_not_upgrade() {
    let old = Old::new();
    let before = dump(&old.path);
    let error = Store::open_read_only_with_steps(&old.path, Redactor::default(), MADE_UP).unwrap_err();
    assert_eq!(error.to_string(), "the database was written by an older ona (schema 1, this one uses 3)");
    assert_eq!((dump(&old.path), old.left()), (before, vec![]));
}

#[test]
fn what_is_not_a_version_is_refused() {
    for wrong in ["0", "-1", "two", ""] {
        let old = Old::new();
        old.execute(&format!("UPDATE schema_meta SET value = '{wrong}' WHERE key = 'sdlc_schema_version'"));
        let error = old.open(MADE_UP).unwrap_err();
        assert!(matches!(&error, StoreError::OwnVersion { found } if found == wrong), "{error}");
    }
}

/// This test program again, below a shell script that ends in `exec "$@"`.
#[expect(clippy::disallowed_methods, reason = "the children are this test again")]
fn start(script: &str, test: &str, database: &Path) -> Child {
    Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("migrate::tests::{test}"), "--ignored", "--nocapture"])
        .env(TARGET, database)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn open_target(steps: &[MigrationStep]) {
    #[expect(clippy::disallowed_methods, reason = "how the parent reaches its child")]
    let target = std::env::var_os(TARGET).expect("set by the parent");
    Store::open_with_steps(Path::new(&target), Redactor::default(), BUSY_TIMEOUT, steps).unwrap();
}

#[test]
#[ignore = "a child of the tests above"]
fn open_made_up() {
    open_target(MADE_UP);
}

#[test]
#[ignore = "a child of the tests above"]
fn open_slowly() {
    open_target(SLOW);
}
