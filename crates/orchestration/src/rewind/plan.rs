//! Decides what happens to each file; touches none.

use super::{RewindScope, RewindTarget, Rewinder};
use crate::checkpoints;
use ona_api::{FileNow, WhyUnkept, digest};
use ona_files::PathForms;
use ona_store::{FileChange, StoreError, StoredBefore};
use ona_tools::changed_lines;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A rewind that has not been done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPlan {
    pub target: RewindTarget,
    pub scope: RewindScope,
    /// One per file that is not as it was, sorted by path.
    pub steps: Vec<FileStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStep {
    /// `None` for a path that could not be stored.
    pub path: Option<PathBuf>,
    /// For people; may hold anything a file name can.
    pub shown: String,
    pub action: FileAction,
    /// How the file was when this was decided.
    pub found: FileNow,
    /// It is not as the session left it: something else changed it, or a call was cut short.
    pub changed_since: bool,
    /// Lines that the step adds and removes.
    pub insertions: u64,
    pub deletions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// The file gets this content back; it is made anew if it is gone.
    Write { content: Arc<[u8]>, mode: u32 },
    /// The file was not there.
    Remove,
    /// It stays as it is.
    Skip(WhyUnkept),
}

impl FileAction {
    /// How the file is to be.
    pub(super) fn wanted(&self) -> Option<FileNow> {
        match self {
            Self::Write { content, mode } => Some(FileNow::File { sha256: digest::sha256_hex(content), mode: *mode }),
            Self::Remove => Some(FileNow::Absent),
            Self::Skip(_) => None,
        }
    }
}

impl RewindPlan {
    /// Files that are written or removed.
    pub fn changed(&self) -> impl Iterator<Item = &FileStep> {
        self.steps.iter().filter(|step| !matches!(step.action, FileAction::Skip(_)))
    }

    /// Files that cannot be restored, with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&FileStep, WhyUnkept)> {
        self.steps.iter().filter_map(|step| match step.action {
            FileAction::Skip(why) => Some((step, why)),
            FileAction::Write { .. } | FileAction::Remove => None,
        })
    }

    /// Links and files with several names, which are never replaced.
    pub fn skipped_links(&self) -> impl Iterator<Item = &FileStep> {
        self.skipped().filter(|(_, why)| matches!(why, WhyUnkept::Link | WhyUnkept::HardLink)).map(|(step, _)| step)
    }

    /// Files whose change by something else would be lost.
    pub fn conflicts(&self) -> impl Iterator<Item = &FileStep> {
        self.changed().filter(|step| step.changed_since)
    }

    /// Lines added and removed in all files.
    pub fn lines(&self) -> (u64, u64) {
        self.changed().fold((0, 0), |(added, removed), step| (added + step.insertions, removed + step.deletions))
    }
}

pub(super) fn steps(changes: &[FileChange], rewinder: &Rewinder<'_>) -> Result<Vec<FileStep>, StoreError> {
    let mut files: BTreeMap<&str, (&FileChange, &FileChange)> = BTreeMap::new();
    for change in changes {
        files.entry(&change.shown).and_modify(|(_, last)| *last = change).or_insert((change, change));
    }
    let mut steps = Vec::new();
    for (shown, (first, last)) in files {
        let shown = shown.to_owned();
        let skip = |path, why| FileStep {
            path,
            shown: shown.clone(),
            action: FileAction::Skip(why),
            found: FileNow::Other,
            changed_since: false,
            insertions: 0,
            deletions: 0,
        };
        let Some(path) = &first.path else {
            steps.push(skip(None, WhyUnkept::Secret));
            continue;
        };
        let found = checkpoints::look(path);
        if is_as_before(&first.before, &found) {
            continue;
        }
        let why = match &first.before {
            StoredBefore::Unkept(why) => Some(*why),
            StoredBefore::Absent | StoredBefore::File { .. } => barred(path, &found, rewinder),
        };
        if let Some(why) = why {
            steps.push(FileStep { found, ..skip(Some(path.clone()), why) });
            continue;
        }
        let action = match &first.before {
            StoredBefore::File { sha256, mode } => match rewinder.store.reader()?.kept_content(sha256)? {
                Some(content) => FileAction::Write { content: content.into(), mode: *mode },
                None => FileAction::Skip(WhyUnkept::Dropped),
            },
            StoredBefore::Absent => FileAction::Remove,
            StoredBefore::Unkept(why) => FileAction::Skip(*why),
        };
        let changed_since = !is_as_left(last, &found);
        let (insertions, deletions) = lines(path, &found, &action);
        let path = Some(path.clone());
        steps.push(FileStep { path, shown, action, found, changed_since, insertions, deletions });
    }
    Ok(steps)
}

fn is_as_before(before: &StoredBefore, found: &FileNow) -> bool {
    match (before, found) {
        (StoredBefore::Absent, FileNow::Absent) => true,
        (StoredBefore::File { sha256, mode }, FileNow::File { sha256: now, mode: mode_now }) => {
            sha256 == now && mode == mode_now
        }
        _ => false,
    }
}

/// Whether a file is as the session left it. A change that was cut short may have been made or not.
fn is_as_left(last: &FileChange, found: &FileNow) -> bool {
    last.after.as_ref() == Some(found) || !last.settled && is_as_before(&last.before, found)
}

/// Why nothing may be put in the place of a file.
fn barred(path: &Path, found: &FileNow, rewinder: &Rewinder<'_>) -> Option<WhyUnkept> {
    let forms = PathForms::of(path);
    if forms.real.as_deref() != Some(path) {
        return Some(WhyUnkept::Link);
    }
    if !rewinder.rules.is_in_working_dirs(&forms) {
        return Some(WhyUnkept::Outside);
    }
    if rewinder.rules.guards(&forms).is_some() {
        return Some(WhyUnkept::Guarded);
    }
    let meta = path.symlink_metadata().ok()?;
    if meta.is_symlink() {
        return Some(WhyUnkept::Link);
    }
    if !meta.is_file() {
        return Some(WhyUnkept::NotAFile);
    }
    if std::os::unix::fs::MetadataExt::nlink(&meta) > 1 {
        return Some(WhyUnkept::HardLink);
    }
    (*found == FileNow::Other).then_some(WhyUnkept::Unreadable)
}

/// Lines of text that a step adds and removes; other content has none.
fn lines(path: &Path, found: &FileNow, action: &FileAction) -> (u64, u64) {
    const MOST: u64 = 16 * 1024 * 1024;
    let now = match found {
        FileNow::File { .. } => match checkpoints::read_any(path, MOST) {
            Some(content) => content,
            None => return (0, 0),
        },
        FileNow::Absent | FileNow::Other => Vec::new(),
    };
    let then: &[u8] = match action {
        FileAction::Write { content, .. } => content,
        FileAction::Remove | FileAction::Skip(_) => &[],
    };
    match (std::str::from_utf8(&now), std::str::from_utf8(then)) {
        (Ok(now), Ok(then)) => changed_lines(now, then),
        _ => (0, 0),
    }
}
