//! Laws of the mapping, for whatever rows there are.

use crate::sessions::{episodes, nonsense, session};
use crate::support::{Session, says, show, user};
use ona_api::Entry;
use ona_api::model::{Message, Part, Role};
use ona_transcript::{Body, Mapper, Record, Step, Trigger, TurnState, collapse_entry, repair};
use proptest::prelude::*;

fn map(records: &[Record]) -> Vec<Message> {
    records.iter().collect::<Mapper>().messages().to_vec()
}

fn state(records: &[Record]) -> TurnState {
    let mut state = TurnState::default();
    records.iter().for_each(|record| state.push(record));
    state
}

/// The records of these rows and of what a repair appends to them.
fn repaired(rows: &[Entry]) -> Vec<Record> {
    let mut session = Session::of(rows.iter().cloned());
    for entry in repair(&state(&session.records())) {
        session.add(&entry);
    }
    session.records()
}

/// What every provider asks of a history.
fn unsound(messages: &[Message]) -> Option<String> {
    let calls = |message: &Message| -> Vec<_> {
        let parts = message.parts.iter();
        parts.filter_map(|part| if let Part::ToolUse { id, .. } = part { Some(id.clone()) } else { None }).collect()
    };
    let answers = |message: &Message| -> Vec<_> {
        let parts = message.parts.iter();
        parts.filter_map(|part| if let Part::ToolResult { id, .. } = part { Some(id.clone()) } else { None }).collect()
    };
    for (index, message) in messages.iter().enumerate() {
        let (made, mut given) = (calls(message), answers(message));
        let before = index.checked_sub(1).map(|before| &messages[before]);
        let mut wanted = before.map(calls).unwrap_or_default();
        wanted.sort();
        given.sort();
        let last = index + 1 == messages.len();
        let first_other =
            message.parts.iter().position(|part| !matches!(part, Part::ToolResult { .. } | Part::Picture { .. }));
        let last_result = message.parts.iter().rposition(|part| matches!(part, Part::ToolResult { .. }));
        let contexts = message.parts.iter().filter(|part| matches!(part, Part::HookContext(_))).count();
        let faults = [
            (message.parts.is_empty(), "empty"),
            (given != wanted, "results that do not fit the calls before"),
            (message.role == Role::User && !made.is_empty(), "a call of the user"),
            (message.role == Role::Assistant && !given.is_empty(), "a result of the assistant"),
            (last && !made.is_empty(), "open calls at the end"),
            (before.is_some_and(|before| before.role == Role::User) && message.role == Role::User, "two of the user"),
            (first_other.zip(last_result).is_some_and(|(other, result)| other < result), "text before a result"),
            (contexts > 1, "two contexts"),
            (contexts == 1 && !matches!(message.parts.last(), Some(Part::HookContext(_))), "context not last"),
        ];
        if let Some((_, fault)) = faults.into_iter().find(|(found, _)| *found) {
            return Some(format!("message {index}: {fault}\n{}", show(messages)));
        }
    }
    None
}

fn weight(messages: &[Message]) -> usize {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .map(|part| match part {
            Part::Text(text) | Part::HookContext(text) => text.len(),
            Part::ToolResult { content, .. } => content.len(),
            Part::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
            Part::Picture { .. } => 6_400,
        })
        .sum()
}

/// `next` as it would be written with the whole history at hand.
fn plain_next(records: &[Record]) -> Step {
    let reply = records.iter().rposition(|record| matches!(record.body, Body::Assistant { .. }));
    let (reply, since) = reply.map_or((&[][..], records), |at| (&records[at..=at], &records[at + 1..]));
    let calls = map(reply).into_iter().flat_map(|message| message.parts);
    let calls: Vec<_> = calls
        .filter_map(|part| match part {
            Part::ToolUse { id, name, input } => Some(ona_api::ToolCall { id, name, input }),
            _ => None,
        })
        .collect();
    let answered = |call: &ona_api::ToolCall| {
        let answers = |record: &Record| matches!(&record.body, Body::ToolResult { id, .. } if *id == call.id);
        since.iter().any(answers)
    };
    let open: Vec<_> = calls.iter().filter(|call| !answered(call)).cloned().collect();
    let asked = since.iter().any(|record| match &record.body {
        Body::User { .. } => true,
        Body::InternalHook(note) => note.event == "Stop" && note.context.is_some(),
        _ => false,
    });
    match open {
        open if !open.is_empty() => Step::RunTools(open),
        _ if !calls.is_empty() || asked => Step::AskModel,
        _ => Step::End,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// What an encoder does: keep what it has, ask from where to go on.
    #[test]
    fn keeping_what_did_not_change_is_the_same_as_mapping_at_once(
        rows in prop_oneof![session(), nonsense()],
        stops in prop::collection::vec(any::<bool>(), 60),
    ) {
        let records = Session::of(rows).records();
        let mut mapper = Mapper::default();
        let mut kept: Vec<Message> = Vec::new();
        for (index, record) in records.iter().enumerate() {
            mapper.push(record);
            if stops[index % stops.len()] || index + 1 == records.len() {
                prop_assert!(mapper.changed_from() <= mapper.messages().len());
                prop_assert!(mapper.changed_from() <= kept.len());
                kept.truncate(mapper.changed_from());
                kept.extend_from_slice(&mapper.messages()[mapper.changed_from()..]);
                mapper.settle();
                prop_assert_eq!(&kept[..], mapper.messages());
                prop_assert_eq!(mapper.changed_from(), kept.len());
            }
        }
        prop_assert_eq!(show(&kept), show(&map(&records)));
        prop_assert_eq!(mapper.approximate_size(), weight(&kept));
    }

    #[test]
    fn any_prefix_of_a_session_is_sound_after_a_repair(rows in session(), cut in any::<prop::sample::Index>()) {
        let rows = &rows[..cut.index(rows.len() + 1)];
        let records = repaired(rows);
        prop_assert_eq!(unsound(&map(&records)), None);
        prop_assert!(!matches!(state(&records).next(), Step::RunTools(_)));
        prop_assert_eq!(repair(&state(&records)), vec![]);
    }

    #[test]
    fn nonsense_is_sound_after_a_repair(rows in nonsense()) {
        prop_assert_eq!(unsound(&map(&repaired(&rows))), None);
    }

    /// A repair answers what is open and changes nothing else.
    #[test]
    fn a_whole_session_needs_no_repair(episodes in episodes()) {
        let rows: Vec<_> = episodes.concat();
        let records = Session::of(rows.clone()).records();
        prop_assert_eq!(repaired(&rows), records.clone());
        prop_assert_eq!(unsound(&map(&records)), None);
    }

    /// DEC-035: what is covered might as well not be there.
    #[test]
    fn a_summary_is_a_new_beginning(before in episodes(), kept in episodes(), after in episodes()) {
        let covers_to = i64::try_from(before.concat().len()).unwrap() - 1;
        let collapse = collapse_entry(Trigger::Auto, "S", covers_to);
        let whole = Session::of([before.concat(), kept.concat(), vec![collapse.clone()], after.concat()].concat());
        let whole = whole.records();
        let is_collapse = |record: &&Record| matches!(record.body, Body::CollapseCommit { .. });
        let summary = whole.iter().find(is_collapse).unwrap().clone();
        let rest = whole.iter().filter(|record| record.sequence > covers_to && !is_collapse(record));
        let fresh: Vec<_> = std::iter::once(summary).chain(rest.cloned()).collect();
        prop_assert_eq!(show(&map(&whole)), show(&map(&fresh)));
    }

    #[test]
    fn the_step_needs_no_look_at_the_whole_history(episodes in episodes(), cut in any::<prop::sample::Index>()) {
        let rows = episodes.concat();
        let records = Session::of(rows[..cut.index(rows.len() + 1)].iter().cloned()).records();
        prop_assert_eq!(state(&records).next(), plain_next(&records));
    }

    #[test]
    fn no_payload_makes_reading_fail(
        entry_type in prop::sample::select(vec!["user", "assistant", "tool_use", "tool_result", "progress", "attachment",
            "internal_hook", "collapse_commit", "ai_title", "system", "x"]),
        payload in prop_oneof![".{0,40}", value().prop_map(|value| value.to_string())],
    ) {
        let session = Session::of([user("a")]).sql(entry_type, &payload);
        let mut records = session.records();
        records.extend(Session::of([says("b")]).records());
        map(&records);
        state(&records).next();
    }
}

/// JSON with the keys our readers look for and values they do not expect.
fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["", "text", "tool_use", "tool_result", "image", "usage", "exit_code", "a"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "_t",
        "content",
        "type",
        "text",
        "id",
        "name",
        "input",
        "tool_use_id",
        "is_error",
        "data",
        "kind",
        "attachment",
        "media_type",
        "summary",
        "covers_to_sequence",
        "additional_context",
        "hook_event",
        "title",
        "exit_code",
    ]);
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}
