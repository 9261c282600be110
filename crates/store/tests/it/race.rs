//! Many at once on a path where nothing is yet.

use crate::support::{Db, begin, place, plain, query, user};
use ona_api::row::SessionKey;
use ona_api::{Group, Redactor, Row};
use ona_store::{Store, check};
use std::path::Path;
use std::sync::Barrier;

const CROWD: usize = 8;

/// Name of the variable that tells a child where the database is to be.
const TARGET: &str = "ONA_STORE_TEST_DB";

fn open_and_write(path: &Path, name: &str) {
    let store = Store::open(path, Redactor::default()).unwrap();
    let at = SessionKey { conversation: name.into(), ..place(name) };
    store.commit_now(&at, begin()).unwrap();
    for _ in 0..5 {
        store.commit_now(&at, Group(vec![Row::Transcript(user(name)), Row::Transcript(user(name))])).unwrap();
    }
}

fn assert_whole(path: &Path) {
    assert!(check(path).is_clean(), "{:?}", check(path));
    let per_session = "SELECT DISTINCT count(*), max(sequence) FROM transcript_entries GROUP BY session_id";
    assert_eq!(query(&plain(path), per_session), ["10|9"]);
    assert_eq!(query(&plain(path), "SELECT count(*) FROM sessions"), [CROWD.to_string()]);
}

#[test]
fn threads_make_a_database_together() {
    for _ in 0..5 {
        let db = Db::new();
        let path = db.dir.path().join("new/ona.db");
        let start = Barrier::new(CROWD);
        std::thread::scope(|scope| {
            for i in 0..CROWD {
                let (start, path) = (&start, &path);
                scope.spawn(move || {
                    start.wait();
                    open_and_write(path, &format!("t{i}"));
                });
            }
        });
        assert_whole(&path);
    }
}

#[test]
fn processes_make_a_database_together() {
    for _ in 0..3 {
        let db = Db::new();
        let path = db.dir.path().join("new/ona.db");
        #[expect(clippy::disallowed_methods, reason = "the children are this test again")]
        let spawn = || {
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "race::child", "--ignored", "--quiet"])
                .env(TARGET, &path)
                .output()
        };
        std::thread::scope(|scope| {
            let children: Vec<_> = (0..CROWD).map(|_| scope.spawn(spawn)).collect();
            for child in children {
                let output = child.join().unwrap().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            }
        });
        assert_whole(&path);
    }
}

#[test]
#[ignore = "one of the processes above"]
fn child() {
    #[expect(clippy::disallowed_methods, reason = "how the parent reaches its child")]
    let target = std::env::var_os(TARGET).expect("set by the parent");
    open_and_write(Path::new(&target), &format!("p{}", std::process::id()));
}

#[test]
fn many_threads_share_one_writer() {
    let db = Db::new();
    let store = db.started();
    std::thread::scope(|scope| {
        for _ in 0..CROWD {
            scope.spawn(|| {
                for _ in 0..20 {
                    store.commit_now(&place("s"), Group(vec![Row::Transcript(user("a"))])).unwrap();
                }
            });
        }
    });
    assert_eq!(db.sql("SELECT count(*), min(sequence), max(sequence) FROM transcript_entries"), ["160|0|159"]);
}
