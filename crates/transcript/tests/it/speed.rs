//! A long session must not be felt (issue 3). The limits are for a release build;
//! a debug build gets forty times as long, which still tells a line from a square.
//! The machine may be busy with other things, so one good run of several is enough.

use crate::support::*;
use ona_api::Entry;
use ona_transcript::{Mapper, Record, State};
use std::time::{Duration, Instant};

const ROWS: usize = 20_000;

#[track_caller]
fn takes_at_most(milliseconds: u64, mut work: impl FnMut()) {
    let limit = Duration::from_millis(milliseconds) * if cfg!(debug_assertions) { 40 } else { 1 };
    let mut run = || {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    let mut best = Duration::MAX;
    for _ in 0..10 {
        best = best.min(run());
        if best < limit {
            return;
        }
    }
    panic!("{best:?} at best, {limit:?} allowed");
}

fn long_session() -> Session {
    let content = "    1\tfn main() {\n    2\t    println!(\"hello\");\n".repeat(16);
    let mut rows: Vec<Entry> = vec![context("SessionStart", "be kind"), user("go through all of it")];
    for n in 0.. {
        if rows.len() >= ROWS {
            break;
        }
        let id = format!("toolu_{n:08}");
        rows.extend(calls("Now the next file.", &[&id]));
        rows.extend([context("PreToolUse", "mind the style"), result(&id, &content), snapshot(&id)]);
    }
    rows.truncate(ROWS);
    Session::of(rows)
}

#[test]
fn a_long_session_is_read_and_mapped_at_once() {
    let session = long_session();
    let raws = session.raws();
    takes_at_most(60, || {
        let (mut mapper, mut state) = (Mapper::default(), State::default());
        for raw in &raws {
            let record = Record::parse(*raw).unwrap();
            mapper.push(&record);
            state.push(&record);
        }
        assert_eq!(mapper.messages().len(), 8_001);
    });
}

#[test]
fn each_further_row_costs_the_same() {
    let records = long_session().records();
    takes_at_most(60, || {
        let (mut mapper, mut state) = (Mapper::default(), State::default());
        let mut encoded = 0;
        for record in &records {
            mapper.push(record);
            state.push(record);
            encoded += mapper.messages().len() - mapper.changed_from();
            mapper.settle();
            state.next();
        }
        assert!(encoded <= 2 * ROWS, "{encoded} messages encoded for {ROWS} rows");
    });
}

#[test]
fn one_enormous_reply_is_no_exception() {
    let ids: Vec<_> = (0..5_000).map(|n| format!("c{n}")).collect();
    let mut rows = calls("", &ids.iter().map(String::as_str).collect::<Vec<_>>());
    rows.extend(ids.iter().flat_map(|id| [context("PreToolUse", "x"), result(id, "r"), exit_code(id, 1)]));
    let records = Session::of(rows).records();
    takes_at_most(60, || {
        let mapper: Mapper = records.iter().collect();
        assert_eq!(mapper.messages().len(), 2);
    });
}
