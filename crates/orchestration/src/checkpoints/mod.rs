//! Keeps files as they are before a session changes them, so that a rewind can restore them.
//!
//! What a tool of files changes is known before it runs: `Write`, `Edit` and `NotebookEdit` name
//! their file. Its content is read and committed in the group that announces the call, before the
//! tool's body runs, once for each prompt and file. A kill at any moment therefore leaves the old content
//! in the database.
//!
//! What a command changes is known only afterwards, and then the old content is gone. So everything that
//! runs text of unknown effect (Bash, tools of MCP servers and of modules) stands between two looks at
//! the metadata of the working directories (`ona_files::look_at_tree`), and before the first of them the
//! files that could be lost are read into memory: the newest first, up to [`KeepLimits::memory_bytes`], each
//! at most [`KeepLimits::file_bytes`] long, again only when their metadata has changed. Nothing of it
//! reaches the disk unless the command changed the file; then the old content is committed with the
//! command's result. The other ways were worse. To store every file before a command would write the
//! whole tree into the database for an `ls`. Git has only what is committed, and a repository's configuration
//! may make git run programs. Copies on the side would hold secrets. What this does not cover is recorded
//! as such and named at a rewind: files that were not read in time, are too large, hold credentials, or have
//! more than one name. Not seen at all are files that `.gitignore` excludes, what a command in the background
//! changes after its call has returned, and what a command changed that was running when the program was killed.
//!
//! A look at a large tree takes long. If it takes longer than [`SLOW`], the look behind one command also serves
//! as the look before the next one of the same prompt, and the change time tells what the
//! command itself did from what happened in between.
//!
//! Every change is entered with how the call left the file, hooks included. A rewind compares that
//! with what is there, so that nobody else's change is overwritten unseen.
//!
//! What is restored, and how, is in `rewind`.

mod commands;
mod contents;

use crate::session::Session;
use commands::BeforeCommand;
use contents::KnownContents;
use ona_api::{
    Access, BeforeChange, ChangeOrigin, ChangedFile, FileNow, Group, KeptFile, Row, SessionId, WhyUnkept, digest,
};
use ona_files::{FileInfo, FileLocation, FileTree, FileType, OpenError, PathForms, is_credential_name};
use ona_store::{Store, StoreError};
use ona_tools::PlannedCall;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time of a look after which it is not repeated before the next command of the same prompt.
const SLOW: Duration = Duration::from_millis(50);

/// Longest file whose state after a change is looked at by content.
const MAX_COMPARED: u64 = 64 * 1024 * 1024;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepLimits {
    pub file_bytes: u64,
    /// Of what one session has in the database, deflated.
    pub session_bytes: u64,
    /// Of what all sessions have there.
    pub database_bytes: u64,
    /// What is read before commands and held in memory.
    pub memory_bytes: u64,
}

/// What a run has kept, shared by a session and the agents it starts.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    limits: KeepLimits,
    /// Files that are never looked at: the database and what lies beside it.
    skip: Vec<PathBuf>,
    state: Mutex<KeptState>,
}

#[derive(Debug, Default)]
struct KeptState {
    /// The prompt whose files are in `kept`.
    prompt: Option<(SessionId, i64)>,
    /// Files whose state before this prompt is in the database.
    kept: HashSet<PathBuf>,
    contents: KnownContents,
    /// The newest look, if it took too long to be made again.
    tree: Option<Arc<FileTree>>,
}

/// The checkpoints of one session, or those of the session it works for.
#[derive(Clone, Debug)]
pub struct SessionCheckpoints {
    shared: Arc<Checkpoints>,
    /// The session that prompts belong to, where it is not this one.
    of: Option<SessionId>,
}

/// A call that is about to run.
pub(crate) struct RunningChange {
    session: SessionId,
    origin: ChangeOrigin,
    shared: Arc<Checkpoints>,
    what: Change,
}

enum Change {
    Files(Vec<PathBuf>),
    Command(BeforeCommand),
}

impl Checkpoints {
    fn new(limits: KeepLimits, skip: Vec<PathBuf>) -> Self {
        Self { limits, skip, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, KeptState> {
        // A panic elsewhere leaves at most something to be read again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limit(&self, session: &SessionId) -> Row {
        let KeepLimits { session_bytes, database_bytes, .. } = self.limits;
        Row::LimitKeptContent { session: session.clone(), session_bytes, database_bytes }
    }

    /// Whether this file is changed for the first time since the prompt.
    fn is_first(&self, session: &SessionId, prompt: i64, path: &Path) -> bool {
        let mut state = self.state();
        let key = Some((session.clone(), prompt));
        if state.prompt != key {
            state.prompt = key;
            state.kept.clear();
            state.tree = None;
        }
        state.kept.insert(path.to_owned())
    }
}

impl SessionCheckpoints {
    pub fn new(limits: KeepLimits, skip: Vec<PathBuf>) -> Self {
        Self { shared: Arc::new(Checkpoints::new(limits, skip)), of: None }
    }

    /// For an agent of this session.
    pub(crate) fn of_agent(&self, parent: &SessionId) -> Self {
        Self { shared: Arc::clone(&self.shared), of: Some(self.of.clone().unwrap_or_else(|| parent.clone())) }
    }

    /// Keeps what a call is about to change; the rows belong into the commit that announces it.
    /// `None` for a call that changes no files, or has no prompt.
    pub(crate) async fn before(
        &self,
        store: &Store,
        session: &Session,
        edited: Vec<PathBuf>,
        runs_anything: bool,
    ) -> Result<Option<(Group, RunningChange)>, StoreError> {
        if edited.is_empty() && !runs_anything {
            return Ok(None);
        }
        let id = self.of.clone().unwrap_or_else(|| session.place.session.clone());
        let Some(prompt) = store.reader()?.newest_prompt(&id)? else { return Ok(None) };
        let shared = Arc::clone(&self.shared);
        let origin = ChangeOrigin::Prompt(prompt);
        if runs_anything {
            let dirs = session.with_rules(|rules| rules.session_dirs().working_dirs().map(Path::to_owned).collect());
            let begun = commands::begin(Arc::clone(&shared), dirs, (id.clone(), prompt)).await;
            let what = Change::Command(begun);
            return Ok(Some((Group::default(), RunningChange { session: id, origin, shared, what })));
        }
        let mut rows = Group::default();
        for path in &edited {
            if !shared.is_first(&id, prompt, path) {
                continue;
            }
            let inside = session.with_rules(|rules| rules.is_in_working_dirs(&PathForms::of(path)));
            let before = if inside { read(path, shared.limits.file_bytes) } else { unkept_outside(path) };
            let path = path.clone();
            rows.push(Row::KeptFile(KeptFile { session: id.clone(), origin, path, before, planned: None }));
        }
        if !rows.is_empty() {
            rows.push(shared.limit(&id));
        }
        Ok(Some((rows, RunningChange { session: id, origin, shared, what: Change::Files(edited) })))
    }
}

impl RunningChange {
    /// Returns the rows about what the call has changed, to be committed with its result.
    pub(crate) async fn after(self) -> Group {
        match self.what {
            Change::Files(paths) => {
                let changed = paths.into_iter().map(|path| {
                    let now = look(&path);
                    Row::ChangedFile(ChangedFile { session: self.session.clone(), origin: self.origin, path, now })
                });
                Group(changed.collect())
            }
            Change::Command(before) => commands::end(self.shared, before, self.session, self.origin).await,
        }
    }
}

/// The files a call edits, where they really are.
pub(crate) fn edited_files(plan: &PlannedCall) -> Vec<PathBuf> {
    let judged = plan.judged.as_deref().unwrap_or_default();
    let edited = plan.access.iter().filter_map(|access| match access {
        Access::Edit(path) => Some(path),
        Access::Read(_) | Access::Search(_) | Access::Shell { .. } | Access::Fetch { .. } | Access::Plain => None,
    });
    // A path that leads nowhere is refused by the tool.
    edited.filter_map(|path| judged.iter().find(|forms| forms.given == *path)?.real.clone()).collect()
}

fn unkept_outside(path: &Path) -> BeforeChange {
    match FileLocation::at(path).and_then(|place| place.info()) {
        Ok(None) => BeforeChange::Absent,
        _ => BeforeChange::Unkept(WhyUnkept::Outside),
    }
}

/// Reads a file as it is to be kept.
pub(crate) fn read(path: &Path, most: u64) -> BeforeChange {
    match try_read(path, most) {
        Ok(before) => before,
        Err(OpenError::Link) => BeforeChange::Unkept(WhyUnkept::Link),
        Err(OpenError::Io(error)) => {
            tracing::debug!(path = %path.display(), %error, "a file cannot be kept");
            BeforeChange::Unkept(WhyUnkept::Unreadable)
        }
    }
}

fn try_read(path: &Path, most: u64) -> Result<BeforeChange, OpenError> {
    let place = FileLocation::at(path)?;
    let Some(info) = place.info()? else { return Ok(BeforeChange::Absent) };
    if let Some(why) = unfit(path, &info, most) {
        return Ok(BeforeChange::Unkept(why));
    }
    let file = place.open()?;
    let info = FileInfo::of_open(&file).map_err(OpenError::Io)?;
    if let Some(why) = unfit(path, &info, most) {
        return Ok(BeforeChange::Unkept(why));
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Ok(BeforeChange::Unkept(WhyUnkept::TooLarge));
    }
    Ok(BeforeChange::File { content: content.into(), mode: info.mode })
}

fn unfit(path: &Path, info: &FileInfo, most: u64) -> Option<WhyUnkept> {
    unfit_as(path, info.kind, info.links, info.len, most)
}

/// Why a file is not kept, by what is known without reading it.
fn unfit_as(path: &Path, kind: FileType, links: u64, len: u64, most: u64) -> Option<WhyUnkept> {
    match kind {
        FileType::RegularFile if links > 1 => Some(WhyUnkept::HardLink),
        FileType::RegularFile if is_credential_name(path) => Some(WhyUnkept::CredentialFile),
        FileType::RegularFile if len > most => Some(WhyUnkept::TooLarge),
        FileType::RegularFile => None,
        FileType::Symlink => Some(WhyUnkept::Link),
        _ => Some(WhyUnkept::NotAFile),
    }
}

/// Returns the content of a regular file of a bounded size.
pub(crate) fn read_any(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    ona_files::open_file(path).ok()?.take(most + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= most).then_some(content)
}

/// How a file is now.
pub(crate) fn look(path: &Path) -> FileNow {
    let digest = || -> Result<FileNow, OpenError> {
        let place = FileLocation::at(path)?;
        let Some(info) = place.info()? else { return Ok(FileNow::Absent) };
        if info.kind != FileType::RegularFile || info.len > MAX_COMPARED {
            return Ok(FileNow::Other);
        }
        let file = place.open()?;
        let info = FileInfo::of_open(&file)?;
        if info.kind != FileType::RegularFile {
            return Ok(FileNow::Other);
        }
        Ok(FileNow::File { sha256: digest::sha256_of(file)?, mode: info.mode })
    };
    match digest() {
        Ok(now) => now,
        Err(OpenError::Io(error)) if error.kind() == std::io::ErrorKind::NotADirectory => FileNow::Absent,
        Err(error) => {
            tracing::debug!(path = %path.display(), %error, "a file cannot be looked at");
            FileNow::Other
        }
    }
}
