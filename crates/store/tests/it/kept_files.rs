//! Contents of files as they were before a change: deduplicated, bounded, never with a secret.

use crate::support::{Db, place, user, write};
use ona_api::{
    BeforeChange, ChangeOrigin, ChangedFile, FileNow, Group, KeptFile, Redactor, Row, WhyUnkept, digest::sha256_hex,
};
use ona_store::{Store, StoredBefore};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

fn kept(prompt: i64, path: impl AsRef<Path>, before: BeforeChange) -> Row {
    let path = path.as_ref().to_owned();
    Row::KeptFile(KeptFile { session: "s".into(), origin: ChangeOrigin::Prompt(prompt), path, before, planned: None })
}

fn content(bytes: impl AsRef<[u8]>) -> BeforeChange {
    BeforeChange::File { content: bytes.as_ref().into(), mode: 0o640 }
}

fn changed(prompt: i64, path: &str, now: FileNow) -> Row {
    Row::ChangedFile(ChangedFile { session: "s".into(), origin: ChangeOrigin::Prompt(prompt), path: path.into(), now })
}

fn commit(store: &Store, rows: Vec<Row>) {
    store.commit_now(&place("s"), Group(rows)).unwrap();
}

fn befores(store: &Store) -> Vec<(i64, Option<PathBuf>, StoredBefore)> {
    let changes = store.reader().unwrap().file_changes(&"s".into(), 0).unwrap();
    changes.into_iter().map(|change| (change.sequence, change.path, change.before)).collect()
}

fn file(bytes: impl AsRef<[u8]>) -> StoredBefore {
    StoredBefore::File { sha256: sha256_hex(bytes.as_ref()), mode: 0o640 }
}

#[test]
fn the_first_content_of_a_prompt_counts_and_each_is_stored_once() {
    let db = Db::new();
    let store = db.started();
    let long = "line\n".repeat(1000);
    commit(&store, vec![kept(0, "/a", content(&long)), kept(0, "/a", content("later")), kept(0, "/b", content(&long))]);
    commit(&store, vec![kept(0, "/a", BeforeChange::Absent), kept(4, "/a", BeforeChange::Absent)]);
    let expected = [(0, "/a", file(&long)), (0, "/b", file(&long)), (4, "/a", StoredBefore::Absent)];
    assert_eq!(befores(&store), expected.map(|(at, path, before)| (at, Some(path.into()), before)));
    assert_eq!(db.sql("SELECT count(*) FROM sdlc_kept_content"), ["1"]);
    assert_eq!(db.sql("SELECT deflated AND stored_size < 100 AND size = 5000 FROM sdlc_kept_content"), ["1"]);
    let reader = store.reader().unwrap();
    assert_eq!(reader.kept_content(&sha256_hex(long.as_bytes())).unwrap(), Some(long.into_bytes()));
    assert_eq!(reader.kept_content(&sha256_hex(b"x")).unwrap(), None);
    assert_eq!(reader.file_changes(&"s".into(), 1).unwrap().len(), 1);
}

#[test]
fn what_was_left_is_settled_later_and_a_plan_is_not_settled() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("one")]);
    let now = FileNow::File { sha256: "1".into(), mode: 0o755 };
    commit(&store, vec![kept(0, "/a", content("x")), kept(0, "/b", BeforeChange::Absent)]);
    commit(&store, vec![changed(0, "/a", now.clone()), changed(0, "/never", FileNow::Absent)]);
    let planned = Row::KeptFile(KeptFile {
        session: "s".into(),
        origin: ChangeOrigin::NewestRow,
        path: "/c".into(),
        before: BeforeChange::Absent,
        planned: Some(FileNow::Absent),
    });
    commit(&store, vec![planned]);
    let changes = store.reader().unwrap().file_changes(&"s".into(), 0).unwrap();
    let after: Vec<_> = changes.into_iter().map(|change| (change.shown, change.after, change.settled)).collect();
    let expected = [("/a", Some(now), true), ("/b", None, false), ("/c", Some(FileNow::Absent), false)];
    assert_eq!(after, expected.map(|(path, after, settled)| (path.to_owned(), after, settled)));
}

#[test]
fn content_and_paths_with_a_secret_are_not_stored() {
    let db = Db::new();
    let secret = "hunter2hunter2";
    let store = Store::open(&db.path, Redactor::new([("OPENAI_API_KEY", secret)])).unwrap();
    store.commit_now(&place("s"), crate::support::begin()).unwrap();
    let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let key = format!("key: sk-ant-{}", "q".repeat(16));
    for (n, bytes) in [secret.as_bytes(), &utf16, key.as_bytes(), b"\xff\x00hunter2hunter2"].into_iter().enumerate() {
        commit(&store, vec![kept(0, format!("/{n}"), content(bytes))]);
    }
    commit(&store, vec![kept(0, format!("/{secret}"), content("x")), kept(0, "/fine", content("Hunter2"))]);
    let mut found = befores(&store);
    assert_eq!(found.pop(), Some((0, Some("/fine".into()), file("Hunter2"))));
    assert_eq!(
        found.pop(),
        Some((0, Some("/[REDACTED:OPENAI_API_KEY]".into()), StoredBefore::Unkept(WhyUnkept::Secret)))
    );
    assert!(found.iter().all(|(_, _, before)| *before == StoredBefore::Unkept(WhyUnkept::Secret)), "{found:?}");
    drop(store);
    let bytes = std::fs::read(&db.path).unwrap();
    assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
}

#[test]
fn names_that_are_not_utf8_are_read_back() {
    let db = Db::new();
    let store = db.started();
    let path = Path::new(OsStr::from_bytes(b"/a/\xff"));
    commit(&store, vec![kept(0, path, content(b"\x00\xff binary"))]);
    assert_eq!(befores(&store), [(0, Some(path.to_owned()), file(b"\x00\xff binary"))]);
}

#[test]
fn the_oldest_contents_are_dropped_and_an_event_says_so() {
    let db = Db::new();
    let store = db.started();
    // Bytes that do not get smaller.
    let noise = |seed: u64| {
        let step =
            |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        std::iter::successors(Some(seed), step).map(|state| (state >> 56) as u8).skip(8).take(100).collect::<Vec<_>>()
    };
    let limit =
        |session_bytes, database_bytes| Row::LimitKeptContent { session: "s".into(), session_bytes, database_bytes };
    commit(&store, vec![kept(0, "/0", content(noise(0))), kept(0, "/1", content(noise(1))), limit(200, 200)]);
    assert_eq!(db.sql("SELECT count(*) FROM events WHERE event_type = 'kept_content_dropped'"), ["0"]);
    // The first content is used again, so the second one is the oldest.
    commit(&store, vec![kept(4, "/0", content(noise(0))), kept(4, "/2", content(noise(2))), limit(250, 1000)]);
    let dropped = StoredBefore::Unkept(WhyUnkept::Dropped);
    let expected = [file(noise(0)), dropped.clone(), file(noise(0)), file(noise(2))];
    assert_eq!(befores(&store).into_iter().map(|one| one.2).collect::<Vec<_>>(), expected);
    let detail = "SELECT count(*) FROM events WHERE detail = '{\"contents\":1,\"bytes\":100,\"limit\":\"session\"}'";
    assert_eq!(db.sql(detail), ["1"]);
    commit(&store, vec![limit(1000, 100)]);
    let expected = [dropped.clone(), dropped.clone(), dropped, file(noise(2))];
    assert_eq!(befores(&store).into_iter().map(|one| one.2).collect::<Vec<_>>(), expected);
    assert_eq!(db.sql("SELECT count(*) FROM events WHERE json_extract(detail, '$.limit') = 'database'"), ["1"]);
    assert_eq!(db.sql("SELECT count(*) FROM sdlc_kept_content"), ["1"]);
}

#[test]
fn content_that_was_changed_by_sql_is_not_given_back() {
    let db = Db::new();
    let store = db.started();
    commit(&store, vec![kept(0, "/a", content("one")), kept(0, "/b", content("two two two two two two two"))]);
    db.sql("UPDATE sdlc_kept_content SET content = x'00'");
    let reader = store.reader().unwrap();
    for text in ["one", "two two two two two two two"] {
        assert_eq!(reader.kept_content(&sha256_hex(text.as_bytes())).unwrap(), None);
    }
}
