//! Does what a plan says: rows, files, rows.

use super::plan::{FileAction, FileStep, RewindPlan};
use super::prompts::REWIND;
use super::{RewindTarget, Rewinder};
use crate::checkpoints;
use crate::records::object;
use ona_api::{BeforeChange, ChangeOrigin, ChangedFile, Entry, FileNow, Group, KeptFile, Row, SystemEntry, WhyUnkept};
use ona_files::{FileLocation, OpenError, PathForms, remove, restore};
use ona_store::StoreError;
use serde_json::json;
use std::io;
use std::path::Path;

/// What a rewind did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindReport {
    /// The number of its row.
    pub sequence: i64,
    /// Files that were written or removed.
    pub done: Vec<String>,
    /// Files that were not, each with the reason.
    pub failed: Vec<(String, String)>,
    /// Files whose state before the rewind could not be kept: taking it back does not restore them.
    pub final_ones: Vec<(String, WhyUnkept)>,
}

pub(super) fn apply(rewinder: &Rewinder<'_>, plan: &RewindPlan) -> Result<RewindReport, StoreError> {
    let Rewinder { store, session, limits, .. } = rewinder;
    let mut report = RewindReport::default();
    let undoes = match &plan.target {
        RewindTarget::Undo(rewind) => Some(rewind.sequence),
        RewindTarget::Prompt(_) => None,
    };
    let fields = json!({
        "kind": REWIND, "scope": plan.scope.as_str(), "to_sequence": plan.target.first_row() - 1, "undoes": undoes,
    });
    let mut group = Group::default();
    group.push(Row::Transcript(Entry::FileHistorySnapshot { fields: object(fields), call: None }));
    let steps: Vec<(&FileStep, &Path)> =
        plan.changed().filter_map(|step| Some((step, step.path.as_deref()?))).collect();
    for (step, path) in &steps {
        let before = checkpoints::read(path, limits.file_bytes);
        if let BeforeChange::Unkept(why) = &before {
            report.final_ones.push((step.shown.clone(), *why));
        }
        let (session, path, planned) = (session.session.clone(), path.to_path_buf(), step.action.wanted());
        group.push(Row::KeptFile(KeptFile { session, origin: ChangeOrigin::NewestRow, path, before, planned }));
    }
    if !steps.is_empty() {
        let session = session.session.clone();
        let (session_bytes, database_bytes) = (limits.session_bytes, limits.database_bytes);
        group.push(Row::LimitKeptContent { session, session_bytes, database_bytes });
    }
    let back = plan.scope.has_conversation().then(|| {
        let to_sequence = plan.target.first_row() - 1;
        Row::Transcript(Entry::System(SystemEntry::Rewound { to_sequence }))
    });
    if steps.is_empty() {
        // Nothing can happen between the two commits.
        group.0.extend(back);
        store.commit_now(session, group)?;
        report.sequence = own_row(rewinder)?;
        return Ok(report);
    }
    store.commit_now(session, group)?;
    report.sequence = own_row(rewinder)?;
    let origin = ChangeOrigin::Prompt(report.sequence);
    let mut group = Group::default();
    for (step, path) in steps {
        match put(rewinder, step, path) {
            Ok(()) => report.done.push(step.shown.clone()),
            Err(why) => report.failed.push((step.shown.clone(), why)),
        }
        let now = checkpoints::look(path);
        let (session, path) = (session.session.clone(), path.to_path_buf());
        group.push(Row::ChangedFile(ChangedFile { session, origin, path, now }));
    }
    group.0.extend(back);
    store.commit_now(session, group)?;
    Ok(report)
}

/// The number of the row that was just written.
fn own_row(rewinder: &Rewinder<'_>) -> Result<i64, StoreError> {
    let id = &rewinder.session.session;
    Ok(super::prompts::newest_rewind(rewinder.store, id)?.unwrap_or_default())
}

/// Puts one file back, if it is still as the plan found it. Everything on its way is looked at once more:
/// a plan is shown to a person, and what was a folder then may be a link now.
fn put(rewinder: &Rewinder<'_>, step: &FileStep, path: &Path) -> Result<(), String> {
    let forms = PathForms::of(path);
    if forms.real.as_deref() != Some(path) {
        return Err("a part of its path has become a link".to_owned());
    }
    if !rewinder.rules.is_in_working_dirs(&forms) || rewinder.rules.guards(&forms).is_some() {
        return Err("it may not be changed".to_owned());
    }
    if checkpoints::look(path) != step.found {
        return Err("it was changed in the meantime".to_owned());
    }
    match at_place(step, path) {
        Ok(()) => Ok(()),
        Err(OpenError::Link) => Err("a part of its path has become a link".to_owned()),
        Err(OpenError::Io(error)) => Err(error.to_string()),
    }
}

fn at_place(step: &FileStep, path: &Path) -> Result<(), OpenError> {
    let mut place = FileLocation::at(path)?;
    let old = place.info()?;
    if old.is_some() != (step.found != FileNow::Absent) || old.is_some_and(|old| old.links > 1) {
        return Err(io::Error::other("it was changed in the meantime").into());
    }
    match (&step.action, &old) {
        (FileAction::Write { content, mode }, _) => restore(&mut place, old.as_ref(), content, *mode),
        (FileAction::Remove, Some(old)) => remove(&mut place, old),
        (FileAction::Remove, None) | (FileAction::Skip(_), _) => Ok(()),
    }
}
