//! A file of a call, opened where it was judged to be (DEC-184).
//!
//! Rules, hooks and people judge where links lead at that moment. Here that very place
//! is opened through its directory; a link that has been put in the way since then is
//! refused, and so is another name of a guarded file. A pipe is never waited for and a
//! device never woken.

use crate::ToolContext;
use crate::files::{ToolRefusal, io_refusal};
use ona_files::{FileInfo, FileLocation, FileType, OpenError, PathForms};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names of one directory that are looked at for a near one.
const MAX_NAMES: usize = 10_000;

/// Returns where a path led when the call was judged.
pub(crate) fn real(path: &Path, cx: &ToolContext) -> Result<PathBuf, ToolRefusal> {
    let forms = match &cx.judged {
        Some(judged) => judged.iter().find(|forms| forms.given == path).cloned(),
        None => Some(PathForms::of(path)),
    };
    let forms = forms.ok_or_else(|| format!("{} was not judged before it was opened.", path.display()))?;
    forms.real.ok_or_else(|| match std::fs::metadata(path) {
        Err(error) => io_refusal(path, &error),
        Ok(_) => changed(path),
    })
}

/// A file as the model names it, in a directory that is open.
pub(crate) struct ResolvedFile<'p> {
    pub path: &'p Path,
    pub real: PathBuf,
    target: FileLocation,
}

impl<'p> ResolvedFile<'p> {
    pub(crate) fn new(path: &'p Path, cx: &ToolContext) -> Result<Self, ToolRefusal> {
        let real = real(path, cx)?;
        let target = FileLocation::at(&real).map_err(|error| refusal(path, error))?;
        Ok(Self { path, real, target })
    }

    /// Opens a regular file for reading. Anything else is refused before it is
    /// opened, and again afterwards in case it was swapped in between.
    pub(crate) fn open(&self) -> Result<(File, FileInfo), ToolRefusal> {
        let refusal = |error| refusal(self.path, error);
        let missing = || OpenError::Io(std::io::ErrorKind::NotFound.into());
        regular(self.path, self.target.info().map_err(refusal)?.ok_or_else(missing).map_err(refusal)?.kind)?;
        let file = self.target.open().map_err(refusal)?;
        let info = FileInfo::of_open(&file).map_err(|error| io_refusal(self.path, &error))?;
        regular(self.path, info.kind)?;
        Ok((file, info))
    }

    pub(crate) fn is_dir(&self) -> Result<bool, ToolRefusal> {
        let info = self.target.info().map_err(|error| refusal(self.path, error))?;
        let info = info.ok_or_else(|| io_refusal(self.path, &std::io::ErrorKind::NotFound.into()))?;
        Ok(info.kind == FileType::Directory)
    }

    /// Names beside it, a bounded number.
    pub(crate) fn names(&self) -> Vec<OsString> {
        self.target.names(MAX_NAMES)
    }

    /// Returns the whole file, unless it is larger than `limit`.
    pub(crate) fn read_whole(&self, limit: u64) -> Result<Vec<u8>, ToolRefusal> {
        let (file, _) = self.open()?;
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| io_refusal(self.path, &error))?;
        if bytes.len() as u64 > limit {
            return Err(format!("{} is larger than {limit} bytes.", self.path.display()).into());
        }
        Ok(bytes)
    }

    /// Whether, and as what, the file exists. Refuses what is not a regular file and
    /// what may not be written.
    pub(crate) fn writable(&self, cx: &ToolContext) -> Result<Option<FileInfo>, ToolRefusal> {
        let Some(info) = self.target.info().map_err(|error| refusal(self.path, error))? else { return Ok(None) };
        let name = self.path.display();
        regular(self.path, info.kind)?;
        if info.links > 1
            && let Some(guarded) = (cx.guarded)(&info)
        {
            return Err(format!(
                "{name} is another name of {guarded}, part of ona's own record and guards, which nothing may change."
            )
            .into());
        }
        // The first test also holds for root, whom the system would let through.
        if info.mode & 0o222 == 0 || !self.target.is_writable() {
            return Err(format!("{name} is read-only.").into());
        }
        Ok(Some(info))
    }

    /// Puts `bytes` in the place of `old`, which `writable` found. Parent directories are created.
    pub(crate) fn replace(&mut self, old: Option<&FileInfo>, bytes: &[u8]) -> Result<(), ToolRefusal> {
        ona_files::replace(&mut self.target, old, bytes).map_err(|error| refusal(self.path, error))
    }
}

/// Returns why a path was not opened.
pub(crate) fn refusal(path: &Path, error: OpenError) -> ToolRefusal {
    match error {
        OpenError::Link => changed(path),
        OpenError::Io(error) => io_refusal(path, &error),
    }
}

fn changed(path: &Path) -> ToolRefusal {
    ToolRefusal(format!(
        "{} changed while this call was being judged: a link on its way leads somewhere else now. Nothing was opened.",
        path.display()
    ))
}

/// Refuses what is not a regular file, in words that say what it is.
fn regular(path: &Path, kind: FileType) -> Result<(), ToolRefusal> {
    let path = path.display();
    let what = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => {
            return Err(format!("{path} is a directory, not a file. List it with Glob, or with `ls` in Bash.").into());
        }
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(format!("{path} is {what}, not a regular file.").into())
}
