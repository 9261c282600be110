//! Files that are really damaged: noticed at a start where that is cheap, always by a check, left as
//! they are, and read into a new database as far as they can be.

use crate::support::{Db, begin, call, calls, place, plain, query, result, user};
use ona_api::{Group, Redactor, Row};
use ona_store::{AuditReport, RecoveryReport, Store, StoreError, check, recover, verify_record};
use std::fs;
use std::path::Path;

const CALLS: usize = 400;

/// A closed database of several hundred pages without a log.
fn full() -> Db {
    let db = Db::new();
    let store = db.open();
    store.commit_now(&place("s"), begin()).unwrap();
    for part in 0..CALLS / 20 {
        let rows = (0..20).flat_map(|number| {
            let id = format!("c{}", part * 20 + number);
            let text = format!("{id} {}", "words of a message ".repeat(20));
            [calls(&[&id]), call(&id), result(&id), user(&text)].map(Row::Transcript)
        });
        store.commit_now(&place("s"), Group(rows.collect())).unwrap();
    }
    drop(store);
    plain(&db.path).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    db
}

const PAGE: usize = 4096;

/// Pages of a table or an index as SQLite lists them: root, inner, leaf.
fn pages(db: &Db, name: &str, kind: &str) -> Vec<usize> {
    let connection = plain(&db.path);
    let sql = format!("SELECT pageno FROM dbstat WHERE name = '{name}' AND pagetype = '{kind}' ORDER BY path");
    query(&connection, &sql).iter().map(|page| page.parse().unwrap()).collect()
}

fn root(db: &Db, name: &str) -> usize {
    db.sql(&format!("SELECT rootpage FROM sqlite_master WHERE name = '{name}'"))[0].parse().unwrap()
}

fn damaged(original: &Path, at: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(original).unwrap();
    change(&mut bytes);
    fs::write(at, bytes).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(at, fs::Permissions::from_mode(0o600)).unwrap();
}

fn fill(bytes: &mut [u8], page: usize, value: u8) {
    bytes[(page - 1) * PAGE..page * PAGE].fill(value);
}

/// What a start, a check and a recovery make of a damaged file.
struct Outcome {
    start: Option<StoreError>,
    findings: usize,
    recovered: Result<(RecoveryReport, AuditReport), StoreError>,
}

fn try_on(path: &Path) -> Outcome {
    let before = fs::read(path).unwrap();
    let findings = check(path).findings.len();
    let out = path.with_extension("recovered");
    let recovered = recover(path, &out).map(|report| {
        let found = check(&out);
        let broken: Vec<_> =
            found.findings.iter().map(ToString::to_string).filter(|one| one.starts_with("integrity")).collect();
        assert_eq!(broken, [""; 0]);
        let audit = verify_record(&out, None, &[]).unwrap().unwrap();
        // The result works.
        let store = Store::open_examined(&out, Redactor::default()).unwrap();
        store.commit_now(&place("after"), begin()).unwrap();
        store.commit_now(&place("after"), Group(vec![Row::Transcript(user("goes on"))])).unwrap();
        drop(store);
        (report, audit)
    });
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(format!("{}{suffix}", out.display())).unwrap_or_default();
    }
    let start = Store::open_examined(path, Redactor::default()).err();
    if start.is_some() {
        assert!(fs::read(path).unwrap() == before, "a refused file was changed");
    }
    Outcome { start, findings, recovered }
}

fn rows(report: &RecoveryReport, table: &str) -> u64 {
    report.tables.iter().find(|one| one.table == table).unwrap().rows
}

fn is_refused(error: Option<&StoreError>) -> bool {
    matches!(error, Some(StoreError::Corrupt(_) | StoreError::NotADatabase))
        && error.is_some_and(|error| error.remedy().is_some_and(|remedy| remedy.contains("ona db recover")))
}

#[test]
fn damage_of_the_first_pages_is_refused_at_a_start() {
    let db = full();
    let copy = db.dir.path().join("copy.db");
    let total = db.sql("SELECT count(*) FROM transcript_entries")[0].parse::<u64>().unwrap();
    let table = root(&db, "transcript_entries");
    let index = root(&db, "idx_transcript_session");
    let first = pages(&db, "transcript_entries", "leaf")[0];
    // The damage, and whether all rows come through nevertheless.
    type Change<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;
    let cases: Vec<(&str, Option<bool>, Change<'_>)> = vec![
        ("magic overwritten", None, Box::new(|bytes| bytes[..16].fill(b'x'))),
        ("page size overwritten", None, Box::new(|bytes| bytes[16..18].fill(7))),
        ("first page zeroed behind the header", None, Box::new(|bytes| bytes[100..PAGE].fill(0))),
        ("first page overwritten", None, Box::new(|bytes| bytes[..PAGE].fill(0xa5))),
        ("cut to one page", None, Box::new(|bytes| bytes.truncate(PAGE))),
        ("cut in half", None, Box::new(|bytes| bytes.truncate(bytes.len() / PAGE / 2 * PAGE))),
        ("cut in the middle of a page", None, Box::new(|bytes| bytes.truncate(bytes.len() - 1000))),
        ("root of a table zeroed", Some(false), Box::new(|bytes| fill(bytes, table, 0))),
        ("root of a table overwritten", Some(false), Box::new(|bytes| fill(bytes, table, 0xff))),
        ("kind of a root page flipped", Some(false), Box::new(|bytes| bytes[(table - 1) * PAGE] ^= 0x55)),
        ("root of an index zeroed", Some(true), Box::new(|bytes| fill(bytes, index, 0))),
        ("first leaf of a table overwritten", Some(false), Box::new(|bytes| fill(bytes, first, 0x33))),
    ];
    for (what, comes_through, change) in cases {
        damaged(&db.path, &copy, change);
        let outcome = try_on(&copy);
        assert!(is_refused(outcome.start.as_ref()), "{what}: {:?}", outcome.start);
        assert!(outcome.findings > 0, "{what}: a check finds nothing");
        match (comes_through, outcome.recovered) {
            (Some(all), Ok((report, audit))) => {
                assert_eq!(rows(&report, "transcript_entries") == total, all, "{what}: {report:?}");
                assert_eq!((report.is_complete(), audit.is_clean()), (all, all), "{what}: {report:?} {audit:?}");
            }
            // Without a schema nothing can be read; nothing is made then.
            (None, recovered) => drop(recovered),
            (Some(_), Err(error)) => panic!("{what}: {error}"),
        }
    }
}

#[test]
fn damage_further_inside_is_found_by_a_check_and_the_rest_is_read() {
    let db = full();
    let copy = db.dir.path().join("copy.db");
    let total = db.sql("SELECT count(*) FROM transcript_entries")[0].parse::<u64>().unwrap();
    let leaves = pages(&db, "transcript_entries", "leaf");
    let middle = leaves[leaves.len() / 2];
    let entries = pages(&db, "idx_transcript_session", "leaf");
    let entry = entries[entries.len() / 2];
    let chain = pages(&db, "sdlc_chain", "leaf");
    damaged(&db.path, &copy, |bytes| fill(bytes, middle, 0));
    let outcome = try_on(&copy);
    let (report, audit) = outcome.recovered.unwrap();
    assert!(outcome.findings > 0);
    let table = report.tables.iter().find(|one| one.table == "transcript_entries").unwrap();
    let unread: u64 = table.unread.iter().map(|(from, to)| (to - from + 1) as u64).sum();
    assert_eq!((table.rows + unread, table.unread.len()), (total, 1), "{table:?}");
    assert!(unread > 0 && unread < 40, "only the rows of one page");
    assert_eq!(audit.difference_count, unread, "and the chain names each of them");

    damaged(&db.path, &copy, |bytes| fill(bytes, entry, 0));
    let outcome = try_on(&copy);
    let (report, audit) = outcome.recovered.unwrap();
    assert!(outcome.findings > 0);
    assert!(report.is_complete() && audit.is_clean(), "an index is made again: {report:?}");

    damaged(&db.path, &copy, |bytes| {
        let at = (middle - 1) * PAGE + PAGE - 40;
        bytes[at..at + 8].copy_from_slice(b"tampered");
    });
    let outcome = try_on(&copy);
    assert!(outcome.start.is_none(), "a changed text does not damage the file");
    let (report, audit) = outcome.recovered.unwrap();
    assert_eq!((rows(&report, "transcript_entries"), audit.difference_count), (total, 1));

    damaged(&db.path, &copy, |bytes| fill(bytes, chain[chain.len() / 2], 0));
    let (report, audit) = try_on(&copy).recovered.unwrap();
    assert_eq!(rows(&report, "transcript_entries"), total);
    assert_eq!((audit.differences[0].kind(), audit.difference_count), ("chain_rows_missing", 1), "{audit:?}");
}

/// SQLite ends its reading of a log where a checksum does not fit: the file is as it was before.
#[test]
fn garbage_in_a_log_is_no_damage_of_the_database() {
    let db = full();
    let copy = db.dir.path().join("copy.db");
    fs::copy(&db.path, &copy).unwrap();
    let wal = format!("{}-wal", copy.display());
    fs::write(&wal, vec![0x5a; 100_000]).unwrap();
    let outcome = try_on(&copy);
    assert_eq!((outcome.findings, outcome.start.is_none()), (0, true), "{:?}", outcome.start);
    let (report, audit) = outcome.recovered.unwrap();
    assert!(report.is_complete() && audit.is_clean());
}

#[test]
fn rows_in_the_log_of_a_killed_process_come_through() {
    let db = full();
    let store = db.open();
    store.commit_now(&place("s"), Group(vec![Row::Transcript(user("only in the log"))])).unwrap();
    let copy = db.dir.path().join("copy.db");
    damaged(&db.path, &copy, |bytes| {
        let leaves = pages(&db, "idx_transcript_session", "leaf");
        fill(bytes, leaves[1], 0);
    });
    fs::copy(format!("{}-wal", db.path.display()), format!("{}-wal", copy.display())).unwrap();
    let out = db.dir.path().join("out.db");
    let report = recover(&copy, &out).unwrap();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(
        query(&plain(&out), "SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%only in the log%'"),
        ["1"]
    );
}

#[test]
fn a_recovery_never_writes_over_a_file_and_keeps_counters() {
    let db = full();
    let out = db.dir.path().join("out.db");
    fs::write(&out, "mine").unwrap();
    assert!(matches!(recover(&db.path, &out), Err(StoreError::Exists(_))));
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    fs::remove_file(&out).unwrap();
    plain(&db.path)
        .execute_batch("CREATE TABLE theirs(x); INSERT INTO sqlite_sequence VALUES ('events', 9000); PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let report = recover(&db.path, &out).unwrap();
    assert_eq!((report.is_complete(), report.left_behind), (true, vec!["theirs".to_owned()]));
    assert_eq!(query(&plain(&out), "SELECT seq FROM sqlite_sequence WHERE name = 'events'"), ["9000"]);
    let same = "SELECT group_concat(id || session_id || sequence || payload_json) FROM transcript_entries";
    assert_eq!(query(&plain(&out), same), db.sql(same));
    let other = Db::new();
    plain(&other.path).execute_batch("CREATE TABLE t(x)").unwrap();
    let nowhere = db.dir.path().join("nowhere.db");
    assert!(matches!(recover(&other.path, &nowhere), Err(StoreError::NotOurs)));
    assert!(!nowhere.exists());
}

/// Rows whose conversation and session are gone are shown under new ones.
#[test]
fn lost_parents_are_made_again() {
    let db = full();
    let copy = db.dir.path().join("copy.db");
    let (sessions, conversations) = (root(&db, "sessions"), root(&db, "conversations"));
    damaged(&db.path, &copy, |bytes| {
        fill(bytes, sessions, 0);
        fill(bytes, conversations, 0);
    });
    let out = db.dir.path().join("out.db");
    let report = recover(&copy, &out).unwrap();
    assert_eq!((report.made_again, report.is_complete()), (2, false));
    assert_eq!(query(&plain(&out), "SELECT session_id, conversation_id FROM sessions"), ["s|k"]);
    assert_eq!(query(&plain(&out), "PRAGMA foreign_key_check"), [""; 0]);
    let audit = verify_record(&out, None, &[]).unwrap().unwrap();
    assert!(audit.is_clean());
}

/// Whatever page it is: a check finds it, a start refuses or works, and all other tables come through.
#[test]
fn any_page_may_be_lost() {
    let db = full();
    let copy = db.dir.path().join("copy.db");
    let count: usize = db.sql("PRAGMA page_count")[0].parse().unwrap();
    for page in (2..=count).step_by(31) {
        for value in [0, 0x0d, 0x5a] {
            damaged(&db.path, &copy, |bytes| fill(bytes, page, value));
            let outcome = try_on(&copy);
            let (report, audit) = outcome.recovered.unwrap_or_else(|error| panic!("page {page}: {error}"));
            assert!(outcome.findings > 0, "page {page}: a check finds nothing");
            let incomplete: Vec<_> =
                report.tables.iter().filter(|one| !one.unread.is_empty() || one.lost.is_some()).collect();
            assert!(incomplete.len() <= 1, "page {page} belongs to one table: {incomplete:?}");
            let lost_rows = incomplete.iter().any(|one| ["transcript_entries", "sdlc_chain"].contains(&one.table));
            assert!(lost_rows || audit.is_clean(), "page {page}: {:?} {report:?}", audit.differences);
        }
    }
}
