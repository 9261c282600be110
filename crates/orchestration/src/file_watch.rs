//! Files hooks want to hear of: FileChanged.
//!
//! Two lists: names in the matchers of FileChanged hooks, meant in the session's
//! directory, and paths that hooks returned as `watchPaths`, the newest answer
//! replacing the one before. Nothing runs in the background: files are looked at between
//! steps of a turn (DEC-063) and while a driven session waits for a prompt, and not at all while no hook listens.

use crate::config_watch;
use crate::events::Events;
use crate::lifecycle::lifecycle;
use crate::session::Session;
use ona_api::EventName;
use ona_hookplane::{HookEngine, HookList, HookOutcome};
use ona_store::{Store, StoreError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct FileWatch {
    /// What hooks asked for at run time.
    asked_for: Vec<PathBuf>,
    /// How each watched file was when last looked at; `None`: not there.
    seen: BTreeMap<PathBuf, Option<Stamp>>,
}

/// What tells two states of a file apart without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    bytes: u64,
    inode: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: PathBuf,
    event: &'static str,
}

impl FileWatch {
    /// Takes over the paths a hook wants watched from now on, and sets down how they and
    /// the named files are, so that only what happens later is news.
    pub(crate) fn follow(&mut self, outcome: &HookOutcome, hooks: &HookEngine, cwd: &Path) {
        let lists = outcome.specific.iter().filter_map(|(_, fields)| fields.get("watchPaths")?.as_array());
        let lists: Vec<_> = lists.collect();
        if !lists.is_empty() {
            let paths = lists.into_iter().flatten().filter_map(Value::as_str);
            self.asked_for = paths.map(|path| cwd.join(path)).collect();
        }
        if hooks.listens_to(EventName::FileChanged) {
            self.adopt(&hooks.list(), cwd);
        }
    }

    /// What has changed since the last look, in the order of the paths.
    fn changes(&mut self, hooks: &HookList, cwd: &Path) -> Vec<Change> {
        self.adopt(hooks, cwd);
        let mut changes = Vec::new();
        for (path, before) in &mut self.seen {
            let now = stamp(path);
            if let Some(event) = news(*before, now) {
                changes.push(Change { path: path.clone(), event });
            }
            *before = now;
        }
        changes
    }

    /// New paths start as they are now; what nobody watches any more is forgotten.
    fn adopt(&mut self, hooks: &HookList, cwd: &Path) {
        let active = hooks.of(EventName::FileChanged).filter(|hook| hook.disabled.is_none());
        let names = active.flat_map(|hook| hook.matcher.split('|')).map(str::trim).filter(|name| !name.is_empty());
        let wanted = names.map(|name| cwd.join(name)).chain(self.asked_for.iter().cloned());
        let mut before = std::mem::take(&mut self.seen);
        self.seen = wanted
            .map(|path| {
                let known = before.remove(&path).unwrap_or_else(|| stamp(&path));
                (path, known)
            })
            .collect();
    }
}

pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp {
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
        bytes: found.len(),
        inode: found.ino(),
    })
}

fn news(before: Option<Stamp>, now: Option<Stamp>) -> Option<&'static str> {
    match (before, now) {
        (None, Some(_)) => Some("add"),
        (Some(_), None) => Some("unlink"),
        (Some(before), Some(now)) if before != now => Some("change"),
        _ => None,
    }
}

/// Tells hooks of files that have changed since the last look: those they watch, then settings and skills.
pub async fn look_at_files(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
) -> Result<(), StoreError> {
    look(store, hooks, session, events).await?;
    config_watch::look(store, hooks, session, events).await
}

/// One firing for each watched file.
async fn look(store: &Store, hooks: &HookEngine, session: &mut Session, events: &Events) -> Result<(), StoreError> {
    let watch = session.watch.as_mut().filter(|_| hooks.listens_to(EventName::FileChanged));
    let changes = watch.map(|watch| watch.changes(&hooks.list(), &session.cx.cwd));
    for change in changes.into_iter().flatten() {
        let fields = json!({"file_path": change.path.to_string_lossy(), "event": change.event});
        lifecycle(store, hooks, session, events, EventName::FileChanged, fields).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_can_come_change_and_go() {
        let one = Stamp { modified: (1, 0), changed: (1, 0), bytes: 1, inode: 1 };
        let other = Stamp { changed: (1, 1), ..one };
        let cases = [
            (None, None, None),
            (None, Some(one), Some("add")),
            (Some(one), None, Some("unlink")),
            (Some(one), Some(one), None),
            (Some(one), Some(other), Some("change")),
        ];
        for (before, now, expected) in cases {
            assert_eq!(news(before, now), expected, "{before:?} {now:?}");
        }
    }
}
