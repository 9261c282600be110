//! The full-text table mirrors memories after every group, and search ranks.

use crate::support::{Db, place};
use ona_api::row::Memory;
use ona_api::{Group, Row};
use ona_store::Store;

fn memory(id: &str, title: &str, content: &str) -> Memory {
    Memory {
        id: id.into(),
        kind: "note".into(),
        title: title.into(),
        content: Some(content.into()),
        keywords: None,
        anticipated_queries: None,
        concept_tags: None,
        project_scope: None,
    }
}

fn commit(store: &Store, rows: Vec<Row>) {
    store.commit_now(&place("s"), Group(rows)).unwrap();
}

/// Nothing, if the mirror equals the table.
fn difference(db: &Db) -> Vec<String> {
    let of = |table| format!("SELECT title, content, keywords, anticipated_queries FROM {table}");
    let (table, mirror) = (of("memories"), of("memories_fts"));
    let mut lines = db.sql(&format!("{table} EXCEPT {mirror}"));
    lines.extend(db.sql(&format!("{mirror} EXCEPT {table}")));
    lines.extend(db.sql("SELECT 1 WHERE (SELECT count(*) FROM memories) <> (SELECT count(*) FROM memories_fts)"));
    lines
}

fn found(store: &Store, text: &str) -> Vec<String> {
    let found = store.reader().unwrap().search_memories(text, "/p").unwrap();
    found.into_iter().map(|stored| stored.memory.id).collect()
}

#[test]
fn the_mirror_follows_every_write() {
    let db = Db::new();
    let store = db.open();
    commit(&store, vec![Row::Memory(memory("a", "alpha", "one")), Row::Memory(memory("b", "beta", "two"))]);
    assert_eq!(difference(&db), [""; 0]);
    assert_eq!(found(&store, "alpha"), ["a"]);
    commit(&store, vec![Row::Memory(memory("a", "gamma", "one")), Row::ForgetMemory("b".into())]);
    assert_eq!(difference(&db), [""; 0]);
    assert_eq!(found(&store, "alpha two"), [""; 0]);
    assert_eq!(found(&store, "gamma"), ["a"]);
    // A row an operator added is picked up by the next write.
    db.sql("INSERT INTO memories(id, type, title, created_at, updated_at) VALUES ('c', 'note', 'delta', 0, 0)");
    assert_eq!(found(&store, "delta"), [""; 0]);
    commit(&store, vec![Row::ForgetMemory("none".into())]);
    assert_eq!(difference(&db), [""; 0]);
    assert_eq!(found(&store, "delta"), ["c"]);
}

#[test]
fn replacing_keeps_the_creation_and_counts_the_correction() {
    let db = Db::new();
    let store = db.open();
    commit(&store, vec![Row::Memory(memory("a", "alpha", "one"))]);
    let fresh = &store.reader().unwrap().memories().unwrap()[0];
    assert_eq!(fresh.memory, memory("a", "alpha", "one"));
    assert_eq!((fresh.correction_count, fresh.access_count, fresh.attention_score), (1, 0, 0.5));
    assert!(fresh.created_at > 1_700_000_000 && fresh.created_at == fresh.updated_at);

    db.sql("UPDATE memories SET created_at = 5, updated_at = 6, access_count = 7");
    commit(&store, vec![Row::Memory(memory("a", "beta", "two"))]);
    let replaced = &store.reader().unwrap().memories().unwrap()[0];
    assert_eq!(replaced.memory, memory("a", "beta", "two"));
    assert_eq!((replaced.created_at, replaced.correction_count, replaced.access_count), (5, 2, 7));
    assert!(replaced.updated_at > 1_700_000_000);
}

#[test]
fn titles_weigh_most_and_ties_go_by_attention_corrections_and_age() {
    let db = Db::new();
    let store = db.open();
    let same = |id| Row::Memory(memory(id, "other", "rust"));
    commit(&store, vec![same("e"), same("d"), same("c"), same("b"), Row::Memory(memory("a", "rust", "other"))]);
    db.sql("UPDATE memories SET updated_at = 10");
    db.sql("UPDATE memories SET attention_score = 0.9 WHERE id = 'e'");
    db.sql("UPDATE memories SET correction_count = 5 WHERE id = 'd'");
    db.sql("UPDATE memories SET updated_at = 20 WHERE id = 'c'");
    assert_eq!(found(&store, "rust"), ["a", "e", "d", "c", "b"]);
}

#[test]
fn search_sees_the_project_and_what_belongs_to_none() {
    let db = Db::new();
    let store = db.open();
    let scoped = |id, scope: Option<&str>| {
        Row::Memory(Memory { project_scope: scope.map(Into::into), ..memory(id, "rust", id) })
    };
    commit(&store, vec![scoped("a", None), scoped("b", Some("")), scoped("c", Some("/p")), scoped("d", Some("/q"))]);
    let mut ids = found(&store, "rust");
    ids.sort();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[test]
fn ten_are_found_even_among_memories_with_the_same_text() {
    let db = Db::new();
    let store = db.open();
    commit(&store, (0..15).map(|i| Row::Memory(memory(&format!("{i:02}"), "rust", "same"))).collect());
    assert_eq!(found(&store, "rust"), ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"]);
}

#[test]
fn nothing_a_person_types_is_an_operator() {
    let db = Db::new();
    let store = db.open();
    commit(&store, vec![Row::Memory(memory("a", "rust builds", "x"))]);
    for text in ["", "   ", "\"", "AND", "title:zzz", "NEAR(", "*", "^", "-", "\0", "'; DROP TABLE memories; --", "("] {
        assert_eq!(found(&store, text), [""; 0], "{text:?}");
    }
    assert_eq!(found(&store, "NOT building"), ["a"], "words are stemmed");
    let long: String = (0..5000).map(|i| format!("word{i} ")).collect();
    assert_eq!(found(&store, &(long + "rust")), ["a"]);
}
