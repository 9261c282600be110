//! Whether the path of an open database still names the file that is open.
//!
//! SQLite writes to a file that was deleted, moved or replaced as if nothing had happened, and
//! the next program to open the path sees nothing of it. So the writer compares device and inode of
//! the file, its log and the log's index before and after each group. All of it is `stat` by
//! name: opening the file here would, on closing, drop SQLite's locks.
//!
//! What becomes of the rows is decided in `writer` and done in `rescue`.

use crate::error::StoreError;
use crate::ownership::{self, Identity};
use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files of an open database as they were when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct WatchedFile {
    /// As it was named; a link on the way may be changed later.
    path: PathBuf,
    /// Without links: the log and rescued rows are beside this name.
    real: PathBuf,
    main: Identity,
    /// `-wal` and `-shm`. Both exist, and stay the same, as long as a connection is open.
    logs: [(PathBuf, Option<Identity>); 2],
    /// Its size never shrinks, unless another process runs VACUUM.
    size: u64,
}

/// Why rows can no longer be written where the path says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileLoss {
    Deleted,
    /// The file is open and has another name now, if that can be found out.
    Moved(Option<PathBuf>),
    /// The path names another file.
    Replaced,
    /// The write-ahead log or its index was deleted or replaced.
    Log(PathBuf),
    /// The file is shorter than it was, and pages are missing.
    Truncated,
    Damaged(String),
    InputOutput(String),
}

impl FileLoss {
    /// Returns the loss that an error of a commit means; `None` if the file is as good as before.
    pub(crate) fn of(error: &StoreError) -> Option<FileLoss> {
        match error {
            StoreError::Corrupt(words) => Some(FileLoss::Damaged(words.clone())),
            StoreError::NotADatabase => Some(FileLoss::Damaged("its header was overwritten".to_owned())),
            StoreError::InputOutput(words) => Some(FileLoss::InputOutput(words.clone())),
            _ => None,
        }
    }

    /// Whether the connection still reads every row that was ever committed.
    pub(crate) fn is_readable(&self) -> bool {
        match self {
            FileLoss::Deleted | FileLoss::Moved(_) | FileLoss::Replaced | FileLoss::Log(_) => true,
            FileLoss::Truncated | FileLoss::Damaged(_) | FileLoss::InputOutput(_) => false,
        }
    }
}

impl fmt::Display for FileLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileLoss::Deleted => f.write_str("was deleted while it was in use"),
            FileLoss::Moved(Some(to)) => write!(f, "was moved to {} while it was in use", to.display()),
            FileLoss::Moved(None) => f.write_str("was moved or deleted while it was in use"),
            FileLoss::Replaced => f.write_str("was replaced by another file while it was in use"),
            FileLoss::Log(log) => {
                write!(f, "lost its log while it was in use: {} was deleted or replaced", log.display())
            }
            FileLoss::Truncated => f.write_str("was cut short while it was in use"),
            FileLoss::Damaged(words) => write!(f, "is damaged: {words}"),
            FileLoss::InputOutput(words) => write!(f, "cannot be written: {words}"),
        }
    }
}

/// What a look at the files found.
pub(crate) enum Found {
    Same,
    /// The file is shorter than before, which VACUUM does as well; but that leaves something.
    Shorter {
        empty: bool,
    },
    Lost(FileLoss),
}

impl WatchedFile {
    /// Notes the files of the database at `path`, which a connection has open. `None` if the
    /// path names nothing.
    pub(crate) fn new(path: &Path) -> Option<WatchedFile> {
        let found = fs::metadata(path).ok()?;
        let real = fs::canonicalize(path).ok()?;
        let [wal, shm, _] = ownership::companions(&real);
        let main = ownership::identity_of(&found);
        let noted = |file: PathBuf| {
            let found = ownership::identity(&file);
            (file, found)
        };
        Some(WatchedFile { path: path.to_owned(), real, main, logs: [noted(wal), noted(shm)], size: found.len() })
    }

    pub(crate) fn real_path(&self) -> &Path {
        &self.real
    }

    pub(crate) fn main(&self) -> Identity {
        self.main
    }

    pub(crate) fn look(&mut self) -> Found {
        let found = match fs::metadata(&self.path) {
            Ok(found) if ownership::identity_of(&found) == self.main && found.nlink() > 0 => found,
            other => return Found::Lost(self.loss(other.is_ok())),
        };
        for (file, noted) in &mut self.logs {
            match (&*noted, ownership::identity(file)) {
                (None, now) => *noted = now,
                (Some(before), Some(now)) if *before == now => {}
                (Some(_), _) => return Found::Lost(FileLoss::Log(file.clone())),
            }
        }
        let shorter = found.len() < self.size;
        self.size = found.len();
        if shorter { Found::Shorter { empty: found.len() == 0 } } else { Found::Same }
    }

    fn loss(&self, something_is_there: bool) -> FileLoss {
        match open_file(self.main) {
            _ if something_is_there => FileLoss::Replaced,
            Some((_, 0)) => FileLoss::Deleted,
            Some((name, _)) => FileLoss::Moved(Some(name)),
            None => FileLoss::Moved(None),
        }
    }
}

/// Returns the present name of a file this process has open and how many names it has. The
/// entries are looked at and not opened.
fn open_file(wanted: Identity) -> Option<(PathBuf, u64)> {
    let entries = fs::read_dir("/proc/self/fd").ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).find_map(|entry| {
        let found: Metadata = fs::metadata(&entry).ok().filter(|found| ownership::identity_of(found) == wanted)?;
        Some((fs::read_link(&entry).ok()?, found.nlink()))
    })
}
