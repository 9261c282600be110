//! Sessions as the runtime writes them, at random.

use crate::support::*;
use ona_api::Entry;
use ona_transcript::{Trigger, collapse_entry, usage_entry};
use proptest::prelude::*;

/// What happens between two calls to the model, or two prompts. After each the
/// session is whole: every call has its result.
pub(crate) type Episode = Vec<Entry>;

fn word() -> impl Strategy<Value = String> {
    "[a-zé ]{1,12}"
}

fn maybe(event: &'static str) -> impl Strategy<Value = Vec<Entry>> {
    prop::option::weighted(0.3, word()).prop_map(move |text| text.iter().map(|text| context(event, text)).collect())
}

fn prompt() -> impl Strategy<Value = Episode> {
    (maybe("UserPromptSubmit"), word(), any::<bool>(), word()).prop_map(|(hooks, text, shows, reply)| {
        let mut rows = vec![user(&text)];
        rows.extend(shows.then(|| picture("P", None)));
        rows.extend(hooks);
        rows.push(says(&reply));
        rows.push(usage_entry("m", "gpt_4o", &Default::default()));
        rows
    })
}

/// One call: hooks, result, and what belongs to it, in the order of the pipeline.
fn one_call() -> impl Strategy<Value = (Vec<Entry>, String, Vec<Entry>, u8, bool)> {
    (maybe("PreToolUse"), word(), maybe("PostToolUse"), any::<u8>(), prop::bool::weighted(0.1))
}

fn iteration() -> impl Strategy<Value = Episode> {
    (word(), prop::collection::vec(one_call(), 1..4), any::<u32>()).prop_map(|(text, answers, salt)| {
        let ids: Vec<_> = (0..answers.len()).map(|n| format!("c{salt:x}_{n}")).collect();
        let mut rows = calls(&text, &ids.iter().map(String::as_str).collect::<Vec<_>>());
        for (id, (pre, content, post, kind, injects)) in ids.iter().zip(answers) {
            rows.extend(pre);
            rows.extend(post);
            rows.push(if kind % 4 == 0 { failure(id, &content) } else { result(id, &content) });
            rows.extend((kind % 4 == 0).then(|| exit_code(id, 2)));
            rows.extend((kind % 3 == 0).then(|| picture("A", Some(id))));
            rows.extend((kind % 5 == 0).then(|| snapshot(id)));
            rows.extend(injects.then(|| user("injected")));
        }
        rows
    })
}

fn eval() -> impl Strategy<Value = Episode> {
    (any::<u32>(), maybe("PreToolUse"), word()).prop_map(|(salt, hooks, content)| {
        let id = format!("e{salt:x}");
        let mut rows = vec![call(&id)];
        rows.extend(hooks);
        rows.push(result(&id, &content));
        rows
    })
}

fn episode() -> impl Strategy<Value = Episode> {
    prop_oneof![
        3 => prompt(),
        5 => iteration(),
        1 => eval(),
        1 => maybe("SessionStart"),
        1 => maybe("Stop"),
        1 => Just(vec![note()]),
    ]
}

pub(crate) fn episodes() -> impl Strategy<Value = Vec<Episode>> {
    prop::collection::vec(episode(), 0..10)
}

/// A session with summaries in it: after some episodes, of everything up to an
/// earlier end of an episode.
pub(crate) fn session() -> impl Strategy<Value = Vec<Entry>> {
    (episodes(), prop::collection::vec(prop::option::weighted(0.15, any::<prop::sample::Index>()), 10)).prop_map(
        |(episodes, summaries)| {
            let mut rows = Vec::new();
            let mut ends = Vec::new();
            for (episode, summary) in episodes.into_iter().zip(summaries) {
                rows.extend(episode);
                ends.push(i64::try_from(rows.len()).expect("few rows") - 1);
                if let Some(index) = summary {
                    rows.push(collapse_entry(Trigger::Auto, "S", *index.get(&ends)));
                }
            }
            rows
        },
    )
}

/// Rows in any order with few ids, as only SQL could have left them.
pub(crate) fn nonsense() -> impl Strategy<Value = Vec<Entry>> {
    let id = || prop::sample::select(vec!["a", "b", "c"]);
    let entry = prop_oneof![
        word().prop_map(|text| user(&text)),
        word().prop_map(|text| says(&text)),
        (id(), id()).prop_map(|(one, two)| calls("", &[one, two]).remove(0)),
        id().prop_map(call),
        id().prop_map(|id| result(id, "r")),
        id().prop_map(|id| picture("A", Some(id))),
        id().prop_map(|id| exit_code(id, 1)),
        Just(picture("P", None)),
        word().prop_map(|text| context("PreToolUse", &text)),
        word().prop_map(|text| context("SessionStart", &text)),
        (0..40i64).prop_map(|covers| collapse_entry(Trigger::Auto, "S", covers)),
    ];
    prop::collection::vec(entry, 0..40)
}
