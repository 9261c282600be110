//! Finds what a command changed: a look at the working directories before it and one after it.

use super::{Checkpoints, SLOW, look, unfit_as};
use ona_api::{BeforeChange, ChangeOrigin, ChangedFile, FileNow, Group, KeptFile, Row, SessionId, WhyUnkept, digest};
use ona_files::{FileStamp, FileTree, TreeLimits, TreeTooLarge, differing, look_at_tree};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const LIMITS: TreeLimits = TreeLimits { files: 200_000, time: Duration::from_secs(2) };

/// Files of one command that are entered; with more, none is.
const MAX_CHANGED: usize = 5_000;

/// By how much a change time may lie before the moment of the change: file systems use a clock that ticks.
const TICK: Duration = Duration::from_millis(20);

/// What is known before a command runs.
pub(super) struct BeforeCommand {
    dirs: Vec<PathBuf>,
    tree: Result<Arc<FileTree>, TreeTooLarge>,
    /// The look is older than the command, so that other changes may lie between.
    is_older: bool,
    start: (i64, i64),
}

pub(super) async fn begin(shared: Arc<Checkpoints>, dirs: Vec<PathBuf>, prompt: (SessionId, i64)) -> BeforeCommand {
    // Paths are opened later without following links.
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.clone())).collect();
    let fallback = dirs.clone();
    let work = move || {
        let known = {
            let state = shared.state();
            state.tree.clone().filter(|_| state.prompt.as_ref() == Some(&prompt))
        };
        let is_older = known.is_some();
        let tree = match known {
            Some(tree) => Ok(tree),
            None => look_at(&shared, &dirs).map(|(tree, _)| tree),
        };
        if let Ok(tree) = &tree {
            shared.state().contents.read(tree, &shared.limits);
        }
        BeforeCommand { dirs, tree, is_older, start: now() }
    };
    let failed = |_| BeforeCommand {
        dirs: fallback,
        tree: Err(TreeTooLarge::Time(LIMITS.time)),
        is_older: false,
        start: (0, 0),
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(failed)
}

/// Returns the rows about what the command has changed.
pub(super) async fn end(
    shared: Arc<Checkpoints>,
    before: BeforeCommand,
    session: SessionId,
    origin: ChangeOrigin,
) -> Group {
    let work = move || changes(&shared, &before, &session, origin);
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

fn look_at(shared: &Checkpoints, dirs: &[PathBuf]) -> Result<(Arc<FileTree>, Duration), TreeTooLarge> {
    let since = Instant::now();
    let tree = look_at_tree(dirs, &shared.skip, LIMITS)?;
    Ok((Arc::new(tree), since.elapsed()))
}

fn changes(shared: &Checkpoints, before: &BeforeCommand, session: &SessionId, origin: ChangeOrigin) -> Group {
    let after = look_at(shared, &before.dirs);
    let (was, is, took) = match (&before.tree, &after) {
        (Ok(was), Ok((is, took))) => (was, is, *took),
        (Err(why), _) | (_, Err(why)) => {
            tracing::debug!(%why, "the changes of a command are not looked for");
            return not_compared(before, session, origin);
        }
    };
    let paths = differing(was, is);
    if paths.len() > MAX_CHANGED {
        return not_compared(before, session, origin);
    }
    let changed: HashSet<&Path> = paths.iter().copied().collect();
    let mut rows = Group::default();
    let mut keeps = false;
    for path in &paths {
        let look = ChangedLook { before, was, is, changed: &changed };
        let Some((kept, now)) = change(shared, &look, path) else { continue };
        keeps |= matches!(kept, BeforeChange::File { .. });
        let path = path.to_path_buf();
        if let ChangeOrigin::Prompt(prompt) = origin {
            // Later calls of this prompt need not keep it again.
            shared.is_first(session, prompt, &path);
        }
        let kept = KeptFile { session: session.clone(), origin, path: path.clone(), before: kept, planned: None };
        rows.push(Row::KeptFile(kept));
        rows.push(Row::ChangedFile(ChangedFile { session: session.clone(), origin, path, now }));
    }
    if keeps {
        rows.push(shared.limit(session));
    }
    let mut state = shared.state();
    if let ChangeOrigin::Prompt(prompt) = origin {
        let key = Some((session.clone(), prompt));
        if state.prompt != key {
            state.prompt = key;
            state.kept.clear();
        }
    }
    state.tree = (took > SLOW).then(|| Arc::clone(is));
    rows
}

struct ChangedLook<'a> {
    before: &'a BeforeCommand,
    was: &'a FileTree,
    is: &'a FileTree,
    changed: &'a HashSet<&'a Path>,
}

/// How one file was and is; `None` if the command did not change it.
fn change(shared: &Checkpoints, tree: &ChangedLook<'_>, path: &Path) -> Option<(BeforeChange, FileNow)> {
    let (old, new) = (tree.was.get(path), tree.is.get(path));
    let since = minus(tree.before.start, TICK);
    if tree.before.is_older && new.is_some_and(|new| new.changed < since) {
        return None;
    }
    let now = look(path);
    let Some(old) = old else {
        let existed = new.is_some_and(|new| appeared_by_a_rule(tree, path, new, since));
        let before = if existed { BeforeChange::Unkept(WhyUnkept::NotRead) } else { BeforeChange::Absent };
        return (now != FileNow::Absent || existed).then_some((before, now));
    };
    let before = match unfit_as(path, old.kind, old.links, old.len, shared.limits.file_bytes) {
        Some(why) => BeforeChange::Unkept(why),
        None => match shared.state().contents.get(path, old) {
            Some(content) => BeforeChange::File { content, mode: old.mode },
            None => BeforeChange::Unkept(WhyUnkept::NotRead),
        },
    };
    let same = match (&before, &now) {
        (BeforeChange::File { content, mode }, FileNow::File { sha256, mode: is }) => {
            mode == is && digest::sha256_hex(content) == *sha256
        }
        // A name that the rules of `.gitignore` hide from now on is still what it was.
        _ => new.is_none() && path.symlink_metadata().is_ok_and(|meta| FileStamp::of(&meta) == *old),
    };
    (!same).then_some((before, now))
}

/// Whether a file that was not seen before may have been there: rules of `.gitignore` have changed, and
/// it is older than the command, under another name too.
fn appeared_by_a_rule(tree: &ChangedLook<'_>, path: &Path, new: &FileStamp, since: (i64, i64)) -> bool {
    let rules_changed = tree.changed.iter().any(|path| path.file_name().is_some_and(|name| name == ".gitignore"));
    if !rules_changed {
        return false;
    }
    let created = path.symlink_metadata().and_then(|meta| meta.created()).ok().map(seconds);
    let renamed =
        tree.was.iter().any(|(old, stamp)| (stamp.dev, stamp.ino) == (new.dev, new.ino) && !tree.is.contains_key(old));
    !renamed && created.is_none_or(|created| created < since)
}

/// The directories stand for files whose changes are unknown.
fn not_compared(before: &BeforeCommand, session: &SessionId, origin: ChangeOrigin) -> Group {
    let unknown = |path: &PathBuf| {
        let (session, path) = (session.clone(), path.clone());
        let before = BeforeChange::Unkept(WhyUnkept::NotCompared);
        Row::KeptFile(KeptFile { session, origin, path, before, planned: None })
    };
    Group(before.dirs.iter().take(1).map(unknown).collect())
}

fn now() -> (i64, i64) {
    seconds(ona_api::clock::now())
}

fn seconds(time: SystemTime) -> (i64, i64) {
    // A clock before 1970 counts as 1970: everything is newer then.
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()))
}

fn minus((seconds, nanos): (i64, i64), less: Duration) -> (i64, i64) {
    let nanos = nanos - i64::from(less.subsec_nanos());
    if nanos < 0 { (seconds - 1, nanos + 1_000_000_000) } else { (seconds, nanos) }
}
