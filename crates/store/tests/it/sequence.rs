//! Whatever is written in whatever order: numbers have no gaps, parents exist,
//! and a refused group leaves no trace.

use crate::support::{Db, begin, call, calls, plain, query, result, says, user};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{Entry, Group, Phase, Row};
use ona_store::check;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Step {
    session: u8,
    start: SequenceStart,
    entries: Vec<Entry>,
    refused: bool,
}

fn entry() -> impl Strategy<Value = Entry> {
    let id = || prop::sample::select(vec!["c1", "c2", "c3"]);
    prop_oneof![
        ".{0,20}".prop_map(|text| user(&text)),
        ".{0,20}".prop_map(|text| says(&text)),
        (id(), id()).prop_map(|(one, two)| calls(&[one, two])),
        id().prop_map(call),
        id().prop_map(result),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let start = prop_oneof![Just(SequenceStart::Zero), Just(SequenceStart::AboveAll)];
    (0..4u8, start, prop::collection::vec(entry(), 0..5), prop::bool::weighted(0.2))
        .prop_map(|(session, start, entries, refused)| Step { session, start, entries, refused })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_groups_leave_gapless_sequences(steps in prop::collection::vec(step(), 1..15)) {
        let db = Db::new();
        let store = db.open();
        let mut expected = 0;
        for step in &steps {
            let at = SessionKey {
                conversation: "k".into(),
                session: format!("s{}", step.session).into(),
                start: step.start,
            };
            let mut group = begin();
            group.append(Group(step.entries.iter().cloned().map(Row::Transcript).collect()));
            if step.refused {
                group.push(Row::Phase { from: Phase::Done, to: Phase::Planning });
            }
            match store.commit_now(&at, group) {
                Ok(committed) => {
                    prop_assert!(!step.refused);
                    prop_assert_eq!(committed.entries.len(), step.entries.len());
                    expected += step.entries.len();
                }
                Err(error) => prop_assert!(step.refused, "{}", error),
            }
        }
        let eyes = plain(&db.path);
        prop_assert_eq!(query(&eyes, "SELECT count(*) FROM transcript_entries"), [expected.to_string()]);
        let report = check(&db.path);
        prop_assert!(report.is_clean(), "{:?}", report);
        let strangers = "SELECT e.id FROM transcript_entries e JOIN transcript_entries p ON p.id = e.parent_entry_id \
                         WHERE p.session_id <> e.session_id OR p.sequence >= e.sequence";
        prop_assert_eq!(query(&eyes, strangers), Vec::<String>::new());
    }
}
