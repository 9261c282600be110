//! Numbers, repetitions and hooks that come and go.

use crate::support::*;
use ona_api::{Env, EventName};
use ona_hookplane::{Hook, HookList, SessionRegistration, Timeouts};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn ordinals(list: &HookList) -> Vec<(u32, String)> {
    list.iter().map(|hook| (hook.ordinal.0, hook.command().to_owned())).collect()
}

fn of_session(command: &str, session: &str) -> Hook {
    let registered = SessionRegistration {
        by: "skill:careful".into(),
        session: session.into(),
        dir: "/skills/careful".into(),
        once: None,
    };
    Hook { registered: Some(registered), ..pre(command) }
}

#[test]
fn adjacent_repetitions_collapse_and_the_rest_is_numbered_densely() {
    let list = HookList::new([pre("a"), pre("a"), hook(EventName::Stop, "a"), pre("b"), pre("a")]);
    assert_eq!(ordinals(&list), [(0, "a".into()), (1, "a".into()), (2, "b".into()), (3, "a".into())]);
    assert_eq!((list.len(), list.is_empty(), HookList::default().is_empty()), (4, false, true));
}

#[test]
fn whatever_tells_two_entries_apart_keeps_both() {
    let other_matcher = Hook { matcher: "Read".into(), ..pre("a") };
    let other_condition = Hook { condition: "Bash(ls)".into(), ..pre("a") };
    let other_dialect = hook_of(Plain { name: "other", ..Plain::default() }, EventName::PreToolUse, "a");
    for other in [other_matcher, other_condition, other_dialect, of_session("a", "s1")] {
        assert_eq!(HookList::new([pre("a"), other]).len(), 2);
    }
}

#[test]
fn some_of_the_hooks_keep_the_numbers_they_have() {
    let mut list = HookList::new([pre("a"), pre("b"), pre("c")]).only(|hook| hook.command() != "b");
    list.push(pre("d"));
    assert_eq!(ordinals(&list), [(0, "a".into()), (2, "c".into()), (3, "d".into())]);
    assert_eq!(list.of(EventName::PreToolUse).count(), 3);
}

#[tokio::test]
async fn registered_hooks_come_last_and_go_with_their_session() {
    let table = Arc::new(Table::default());
    let engine = engine([pre("a")], &table);
    engine.register([of_session("b", "s1"), of_session("c", "s2")]);
    engine.fire(bash("ls")).await;
    engine.unregister(|registered| registered.session.as_str() == "s1");
    engine.register([of_session("d", "s2")]);
    let outcome = engine.fire(bash("ls")).await;
    assert_eq!(table.commands(), ["a", "b", "c", "a", "c", "d"]);
    assert_eq!(rows(&outcome).iter().map(|row| row.0).collect::<Vec<_>>(), [0, 2, 3], "a number is given once");
    engine.unregister(|_| true);
    assert_eq!(ordinals(&engine.list()), [(0, "a".into())], "configured hooks stay");
}

#[tokio::test]
async fn a_part_of_an_engine_shares_what_has_run_and_been_told() {
    let once = Hook { once: Some("k".into()), ..pre("once") };
    let table = Arc::new(Table::default());
    let whole = engine([once, pre("other")], &table);
    let part = whole.only(|hook| hook.command() == "once");
    assert_eq!(part.fire(bash("ls")).await.spent.len(), 1);
    whole.fire(bash("ls")).await;
    assert_eq!(table.commands(), ["once", "other"]);
    part.set_list(HookList::default());
    assert_eq!(whole.list().len(), 2, "lists are their own");
}

#[test]
fn the_key_of_a_registered_hook_is_its_own() {
    let mut hook = of_session("a", "s1");
    assert_eq!(hook.once_key(&"s1".into()), None);
    hook.once = Some("short".into());
    assert_eq!(hook.once_key(&"s1".into()).as_deref(), Some("hook_spent:s1:short"));
    hook.registered.as_mut().unwrap().once = Some("hook_spent:own".into());
    assert_eq!(hook.once_key(&"s1".into()).as_deref(), Some("hook_spent:own"));
}

#[test]
fn a_hook_waits_as_long_as_it_the_environment_or_its_event_says() {
    let env = Env::default().with("SDLC_HOOK_TIMEOUT_MS", "3000").with("SDLC_SESSIONEND_HOOK_TIMEOUT_MS", "40");
    let (set, _) = Timeouts::from_env(&env);
    let unset = Timeouts::default();
    let millis = |hook: &Hook, timeouts| hook.effective_timeout(timeouts).as_millis();
    let own = Hook { timeout: Some(Duration::from_millis(7)), ..pre("a") };
    assert_eq!((millis(&own, &set), millis(&own, &unset)), (7, 7));
    assert_eq!((millis(&pre("a"), &set), millis(&pre("a"), &unset)), (3000, 600_000));
    let end = hook(EventName::SessionEnd, "a");
    assert_eq!((millis(&end, &set), millis(&end, &unset)), (40, 1500));
    let detached = Hook { detached: true, ..pre("a") };
    assert_eq!((millis(&detached, &set), millis(&detached, &unset)), (3000, 10_000));
}

#[test]
fn the_value_a_matcher_is_tried_on_belongs_to_the_event() {
    let query = |event, fields| firing(event, fields).query();
    assert_eq!(query(EventName::PreToolUse, json!({"tool_name": "Bash"})).as_deref(), Some("Bash"));
    assert_eq!(query(EventName::SessionStart, json!({"source": "resume"})).as_deref(), Some("resume"));
    assert_eq!(query(EventName::UserPromptSubmit, json!({"prompt": "p"})), None);
}
