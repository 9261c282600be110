//! Phases and plans move only from where the caller saw them.

use crate::support::{Db, place};
use ona_api::{Group, Phase, PlanStatus, Row, digest};
use ona_store::{Store, StoreError, StoredPlan};

const PLANS: &str = "SELECT id, status, approved_at IS NOT NULL, completed_at IS NOT NULL FROM plans ORDER BY id";

fn commit(store: &Store, row: Row) -> Result<Vec<i64>, StoreError> {
    store.commit_now(&place("s"), Group(vec![row])).map(|committed| committed.plans)
}

fn draft(text: &str) -> Row {
    Row::PlanDraft { content: text.into(), file_path: None }
}

#[test]
fn a_phase_moves_from_the_phase_that_was_seen() {
    let db = Db::new();
    let store = db.started();
    db.sql("UPDATE conversations SET last_active = '2001-01-01 00:00:00'");
    commit(&store, Row::Phase { from: Phase::Idle, to: Phase::Planning }).unwrap();
    assert_eq!(store.reader().unwrap().phase(&"k".into()).unwrap(), Some(Phase::Planning));
    assert_eq!(db.sql("SELECT last_active > datetime('now', '-1 minute') FROM conversations"), ["1"]);

    let error = commit(&store, Row::Phase { from: Phase::Idle, to: Phase::Planning }).unwrap_err();
    assert_eq!(error.to_string(), "the phase is planning, not idle any more");
}

#[test]
fn a_conversation_that_does_not_exist_has_no_phase_to_move() {
    let db = Db::new();
    let store = db.open();
    let error = commit(&store, Row::Phase { from: Phase::Idle, to: Phase::Planning }).unwrap_err();
    assert!(matches!(error, StoreError::NoConversation(_)), "{error:?}");
    assert_eq!(store.reader().unwrap().phase(&"k".into()).unwrap(), None);
}

#[test]
fn a_new_draft_supersedes_older_drafts_of_its_conversation() {
    let db = Db::new();
    let store = db.started();
    db.sql("INSERT INTO plans(conversation_id, content, hash) VALUES ('other', 'x', 'x')");
    assert_eq!(commit(&store, draft("one")).unwrap(), [2]);
    assert_eq!(commit(&store, draft("two")).unwrap(), [3]);
    assert_eq!(db.sql(PLANS), ["1|draft|0|0", "2|superseded|0|0", "3|draft|0|0"]);

    let plan = store.reader().unwrap().plan(3).unwrap().unwrap();
    let expected = StoredPlan {
        id: 3,
        conversation: "k".into(),
        file_path: None,
        content: "two".into(),
        hash: digest::sha256_hex(b"two"),
        status: PlanStatus::Draft,
        created_at: plan.created_at.clone(),
        approved_at: None,
        completed_at: None,
    };
    assert_eq!(plan, expected);
}

#[test]
fn approval_and_completion_leave_their_times() {
    let db = Db::new();
    let store = db.started();
    commit(&store, draft("one")).unwrap();
    let reader = store.reader().unwrap();
    assert!(!reader.has_approved_plan(&"k".into()).unwrap());
    commit(&store, Row::PlanStatus { id: 1, from: PlanStatus::Draft, to: PlanStatus::Approved }).unwrap();
    assert!(reader.has_approved_plan(&"k".into()).unwrap());
    assert!(!reader.has_approved_plan(&"other".into()).unwrap());
    assert_eq!(db.sql(PLANS), ["1|approved|1|0"]);
    commit(&store, Row::PlanStatus { id: 1, from: PlanStatus::Approved, to: PlanStatus::Completed }).unwrap();
    assert_eq!(db.sql(PLANS), ["1|completed|1|1"]);
}

#[test]
fn a_plan_moves_from_the_status_that_was_seen() {
    let db = Db::new();
    let store = db.started();
    commit(&store, draft("one")).unwrap();
    let error = commit(&store, Row::PlanStatus { id: 1, from: PlanStatus::Approved, to: PlanStatus::Completed });
    assert_eq!(error.unwrap_err().to_string(), "plan 1 is draft, not approved any more");
    let error = commit(&store, Row::PlanStatus { id: 9, from: PlanStatus::Draft, to: PlanStatus::Approved });
    assert_eq!(error.unwrap_err().to_string(), "plan 9 does not exist");
    assert_eq!(db.sql(PLANS), ["1|draft|0|0"]);
}

#[test]
fn retiring_takes_the_approved_plans_of_one_conversation() {
    let db = Db::new();
    let store = db.started();
    db.sql(
        "INSERT INTO plans(conversation_id, content, hash, status) VALUES \
         ('k', '', '', 'approved'), ('k', '', '', 'draft'), ('k', '', '', 'approved'), ('other', '', '', 'approved')",
    );
    commit(&store, Row::RetireApprovedPlans(PlanStatus::Superseded)).unwrap();
    assert_eq!(db.sql(PLANS), ["1|superseded|0|0", "2|draft|0|0", "3|superseded|0|0", "4|approved|0|0"]);
    db.sql("UPDATE plans SET status = 'approved' WHERE id = 1");
    commit(&store, Row::RetireApprovedPlans(PlanStatus::Completed)).unwrap();
    assert_eq!(db.sql(PLANS)[0], "1|completed|0|1");
}
