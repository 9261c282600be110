//! What is wrong with the effective settings, as `events` rows.
//!
//! Written once per row of settings, not once per start: a broken entry would
//! otherwise bury everything else that happened.

use ona_api::{EventKind, Group, LoggedEvent, Row, digest};
use ona_dialects::Rejected;
use ona_permissions::DroppedRule;
use ona_settings::PermissionsFinding;
use ona_store::{Store, StoreError};
use serde_json::{Value, json};

/// `schema_meta` key of the settings whose findings are already recorded.
const RECORDED: &str = "settings_checked_sha256";

pub(crate) fn group(store: &Store, settings: &Value, findings: Vec<LoggedEvent>) -> Result<Group, StoreError> {
    let mut group = Group::default();
    if findings.is_empty() {
        return Ok(group);
    }
    // Not every configuration is in the row, so what was found counts too.
    let found: Vec<_> = findings.iter().map(LoggedEvent::detail).collect();
    let sha256 = digest::sha256_hex(json!([settings, found]).to_string().as_bytes());
    if store.reader()?.meta(RECORDED)?.as_deref() == Some(sha256.as_str()) {
        return Ok(group);
    }
    findings.into_iter().for_each(|event| group.log(event));
    group.push(Row::Meta { key: RECORDED.into(), value: sha256 });
    Ok(group)
}

pub(crate) fn dropped_rule(dropped: &DroppedRule) -> LoggedEvent {
    LoggedEvent::PermissionRuleDropped {
        list: dropped.list.as_str(),
        rule: dropped.rule.clone(),
        why: dropped.why.to_string(),
    }
}

/// Whether a row says that one of these rules has no effect.
pub(crate) fn drops(row: &Row, rules: &[String]) -> bool {
    match row {
        Row::Event(LoggedEvent::PermissionRuleDropped { rule, .. }) => rules.contains(rule),
        _ => false,
    }
}

pub(crate) fn rejected_hook(rejected: &Rejected) -> LoggedEvent {
    LoggedEvent::HookRejected { entry: rejected.entry.clone(), why: rejected.why.clone() }
}

pub(crate) fn permission_setting(unknown: &PermissionsFinding) -> LoggedEvent {
    LoggedEvent::SettingsNotice { kind: EventKind::SettingsUnknownKey, why: unknown.to_string() }
}
