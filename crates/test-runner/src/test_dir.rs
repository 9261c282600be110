//! The room of one case: a script file, an empty home, a fresh database. Gone with
//! the value.

use ona_api::Redactor;
use ona_process::scratch::{self, Purpose, ScratchFolder};
use ona_store::{Store, StoreError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct TestDir {
    dir: ScratchFolder,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TestDirError {
    #[error("cannot create a directory for the test's files: {0}")]
    Io(#[from] io::Error),
    #[error("the test's own database could not be made: {0}")]
    Database(#[from] StoreError),
}

impl TestDir {
    /// Below `tmp`, with the script in it and the schema applied.
    pub(crate) fn new(tmp: &Path, script: &str) -> Result<Self, TestDirError> {
        let dir = scratch::folder(Purpose::Test, tmp)?;
        let test_dir = Self { dir };
        fs::create_dir(test_dir.home())?;
        fs::write(test_dir.script(), script)?;
        drop(Store::open(&test_dir.database(), Redactor::default())?);
        Ok(test_dir)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn script(&self) -> PathBuf {
        self.path().join("test.sh")
    }

    /// HOME, TMPDIR and SDLC_TEST_TMP.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join("state").join("ona.db")
    }
}
