//! The context of a tool call: directories, environment, background tasks.

use crate::Tasks;
use ona_api::tool::FileState;
use ona_api::{CallId, Env, Verdict};
use ona_files::{FileInfo, PathForms};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The guarded file of which a file is another name (a hard link), if it is one.
pub type GuardedName = Arc<dyn Fn(&FileInfo) -> Option<String> + Send + Sync>;

/// What the rules say of a web address besides the one a call was judged by: the target of a
/// redirect, or one whose host turned out not to be public.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressRuling {
    /// Of a call that fetches it.
    pub verdict: Verdict,
    /// Whether an allow rule names its host, not only the tool.
    pub named: bool,
}

pub type JudgeAddress = Arc<dyn Fn(&str) -> AddressRuling + Send + Sync>;

/// Who wrote the call that is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallAuthor {
    #[default]
    Model,
    /// The operator typed it (`--eval`).
    Operator,
}

#[derive(Clone)]
pub struct ToolContext {
    /// The session's directory: relative paths and shells start here.
    pub cwd: PathBuf,
    /// The project's root.
    pub project: PathBuf,
    pub home: PathBuf,
    /// Further directories the session works in.
    pub extra: Vec<PathBuf>,
    /// The environment of children, already complete.
    pub env: Arc<Env>,
    /// Variables left out of it, because they carry a provider's credential.
    pub withheld: Arc<[String]>,
    /// Shell text run before each Bash command.
    pub prelude: String,
    pub seen: Arc<SeenFiles>,
    pub tasks: Arc<Tasks>,
    /// Searches leave out the files for which this says no.
    pub may_show: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    pub guarded: GuardedName,
    pub judge_address: JudgeAddress,
    pub author: CallAuthor,
    /// The paths of the call that is running, as they were resolved when it was judged.
    /// `None`: the call was not judged, and resolves them itself.
    pub judged: Option<Arc<[PathForms]>>,
    pub cancel: CancellationToken,
    /// The call that is running.
    pub call: Option<CallId>,
}

/// The files this session has read or written, each with the fingerprint it had
/// then. Writing a file that has changed since is refused, so that no
/// change is overwritten unseen.
#[derive(Debug, Default)]
pub struct SeenFiles(Mutex<HashMap<PathBuf, String>>);

impl SeenFiles {
    pub fn get(&self, path: &Path) -> Option<String> {
        self.files().get(path).cloned()
    }

    pub fn note(&self, seen: &[FileState]) {
        self.files().extend(seen.iter().map(|seen| (seen.path.clone(), seen.sha256.clone())));
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, String>> {
        // Every update is one insertion, so a panic elsewhere leaves no half-written map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<FileState> for SeenFiles {
    fn from_iter<I: IntoIterator<Item = FileState>>(seen: I) -> Self {
        Self(Mutex::new(seen.into_iter().map(|seen| (seen.path, seen.sha256)).collect()))
    }
}
