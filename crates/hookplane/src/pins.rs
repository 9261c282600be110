//! The files hooks run, as they were when the session began (DEC-189).
//!
//! A hook whose file is not what it was is not run until a person says so. A file is looked at
//! before each run: its identity first, its content only where that differs, so that saving the
//! same text changes nothing. What a program reads besides its own file is not watched, and
//! nothing holds a file still between the look and the run.

use crate::handler::HandlerFuture;
use crate::hook::Hook;
use ona_api::{EventName, Ordinal, digest};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files a hook runs, as far as that can be told from how it is written.
pub type FilesOf = Arc<dyn Fn(&Hook) -> Vec<PathBuf> + Send + Sync>;

/// Bytes above which a file is known by its identity alone: programs, not scripts.
const HASHED: u64 = 4_194_304;

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptChange {
    pub event: EventName,
    /// The `command` column of the hook.
    pub command: String,
    pub path: PathBuf,
    /// Digests; `None`: not there, or too large for one.
    pub before: Option<String>,
    pub now: Option<String>,
}

/// Puts the question whether a changed script may run to a person.
pub trait ConfirmScriptChange: Send + Sync {
    /// Who allowed it, as rows name them; `None`: it may not run.
    fn may_run<'a>(&'a self, change: &'a ScriptChange) -> HandlerFuture<'a, Option<&'static str>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pin {
    stat: Option<Stat>,
    digest: Option<String>,
}

/// Device, inode, size, and when content and inode changed, in nanoseconds.
type Stat = (u64, u64, u64, i128, i128);

impl Pin {
    fn of(path: &Path) -> Self {
        let Ok(meta) = std::fs::metadata(path) else { return Self { stat: None, digest: None } };
        Self { stat: Some(stat(&meta)), digest: digest_of(path, &meta) }
    }

    /// Whether both are the same content. Without digests the identity decides.
    fn is_like(&self, other: &Pin) -> bool {
        match (&self.digest, &other.digest) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.stat == other.stat,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

fn stat(meta: &Metadata) -> Stat {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let (changed, inode_changed) = (nanos(meta.mtime(), meta.mtime_nsec()), nanos(meta.ctime(), meta.ctime_nsec()));
    (meta.dev(), meta.ino(), meta.len(), changed, inode_changed)
}

/// A device or a pipe has no content to compare.
fn digest_of(path: &Path, meta: &Metadata) -> Option<String> {
    let hashed = meta.is_file() && meta.len() <= HASHED;
    hashed.then(|| File::open(path).and_then(digest::sha256_of).ok()).flatten()
}

pub(crate) struct Pins {
    files_of: FilesOf,
    known: Mutex<Known>,
    /// One question at a time.
    pub asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    of_hooks: HashMap<Ordinal, Arc<[PathBuf]>>,
    pins: HashMap<PathBuf, Pin>,
    /// Changes that were refused; each is asked about once.
    refused: HashMap<PathBuf, Pin>,
}

impl Pins {
    pub(crate) fn new(files_of: FilesOf) -> Self {
        Self { files_of, known: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// Takes note of a hook's files as they are now; those that are known keep the pin they have.
    pub(crate) fn add(&self, hook: &Hook) {
        let mut known = self.known();
        if hook.disabled.is_some() || known.of_hooks.contains_key(&hook.ordinal) {
            return;
        }
        let files: Arc<[PathBuf]> = (self.files_of)(hook).into();
        for file in files.iter() {
            if !known.pins.contains_key(file) {
                known.pins.insert(file.clone(), Pin::of(file));
            }
        }
        known.of_hooks.insert(hook.ordinal, files);
    }

    /// The first file of a hook that is not what it was.
    pub(crate) fn changed(&self, hook: &Hook) -> Option<ScriptChange> {
        self.add(hook);
        let mut known = self.known();
        let files = Arc::clone(known.of_hooks.get(&hook.ordinal)?);
        for path in files.iter() {
            let pin = known.pins.get_mut(path)?;
            if std::fs::metadata(path).ok().as_ref().map(stat) == pin.stat {
                continue;
            }
            let now = Pin::of(path);
            if pin.is_like(&now) {
                *pin = now;
                continue;
            }
            return Some(ScriptChange {
                event: hook.event,
                command: hook.dialect.recorded(hook.command()).into_owned(),
                path: path.clone(),
                before: pin.digest.clone(),
                now: now.digest,
            });
        }
        None
    }

    /// Whether this very change was refused already; if not, the next time it is.
    pub(crate) fn refuse(&self, change: &ScriptChange) -> bool {
        let now = Pin::of(&change.path);
        let mut known = self.known();
        let again = known.refused.get(&change.path).is_some_and(|refused| refused.is_like(&now));
        known.refused.insert(change.path.clone(), now);
        again
    }

    /// From now on this is what the file should be. `false`: it has changed once more since the
    /// question, and what was allowed is not what is there.
    pub(crate) fn accept(&self, change: &ScriptChange) -> bool {
        let now = Pin::of(&change.path);
        let same = now.digest == change.now;
        if same {
            self.known().pins.insert(change.path.clone(), now);
        }
        same
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change is one insertion.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptChange {
    pub fn message(&self) -> String {
        let path = self.path.display();
        match (&self.before, &self.now) {
            (_, None) => format!("[SDLC] hook script {path} is gone or unreadable since the session began"),
            (None, _) => format!("[SDLC] hook script {path} was not there when the session began"),
            (Some(_), Some(_)) => format!("[SDLC] hook script {path} changed since the session began"),
        }
    }
}
