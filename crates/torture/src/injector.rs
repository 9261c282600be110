//! Builds `faults.c` and says how a run is to be faulted.
//!
//! A library that is loaded before the C library is outside of the program: nothing of the program
//! knows that it is tested, and SQLite, the standard library and our own code are faulted alike.

use crate::scene::Scene;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const SOURCE: &str = include_str!("faults.c");

/// What happens at the n-th call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails with EIO.
    Error,
    /// It and every later writing call fail with ENOSPC.
    DiskFull,
    /// Half of the bytes are written, then EIO.
    Torn,
    /// Half of the bytes are written, then SIGKILL.
    Die,
}

/// What is done to one run, and where its counts are.
pub(crate) struct Injection {
    counts: PathBuf,
    pub env: Vec<(&'static str, String)>,
}

/// The library, or why it could not be built. Built once.
static LIBRARY: LazyLock<Result<(tempfile::TempDir, PathBuf), String>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, library) = (folder.path().join("faults.c"), folder.path().join("faults.so"));
    fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
    #[expect(clippy::disallowed_methods, reason = "a tool of the harness")]
    let built = std::process::Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output()
        .map_err(|error| format!("cc: {error}"))?;
    match built.status.success() {
        true => Ok((folder, library)),
        false => Err(String::from_utf8_lossy(&built.stderr).into_owned()),
    }
});

/// The library for LD_PRELOAD.
pub(crate) fn library() -> Result<&'static Path, String> {
    LIBRARY.as_ref().map(|(_, library)| library.as_path()).map_err(Clone::clone)
}

impl Injection {
    fn new(scene: &Scene, program: &Path, name: &str) -> Self {
        let counts = scene.ona.root().join(name);
        fs::write(&counts, [0; 32]).expect("a file of the scene");
        let library = library().expect("cc builds a library");
        let env = vec![
            ("LD_PRELOAD", library.display().to_string()),
            ("TORTURE_PROGRAM", program.display().to_string()),
            ("TORTURE_COUNTS", counts.display().to_string()),
            ("TORTURE_FOLDER", format!("{}/", scene.ona.root().display())),
        ];
        Self { counts, env }
    }

    /// Lets the n-th file operation fail; 0 only counts.
    pub(crate) fn fault(scene: &Scene, program: &Path, fault: Fault, at: u64) -> Self {
        let mut injection = Self::new(scene, program, "faults");
        let (mode, error) = match fault {
            Fault::Error => ("once", rustix::io::Errno::IO),
            Fault::DiskFull => ("from", rustix::io::Errno::NOSPC),
            Fault::Torn => ("torn", rustix::io::Errno::IO),
            Fault::Die => ("die", rustix::io::Errno::IO),
        };
        let error = error.raw_os_error().to_string();
        injection.env.extend([
            ("TORTURE_AT", at.to_string()),
            ("TORTURE_MODE", mode.to_owned()),
            ("TORTURE_ERRNO", error),
        ]);
        injection
    }

    /// Lets the clock jump by so many seconds at its n-th reading.
    pub(crate) fn jump(scene: &Scene, program: &Path, at: u64, seconds: i64) -> Self {
        let mut injection = Self::new(scene, program, "jumps");
        injection.env.extend([("TORTURE_JUMP_AT", at.to_string()), ("TORTURE_JUMP", seconds.to_string())]);
        injection
    }

    /// File operations so far.
    pub(crate) fn calls(&self) -> u64 {
        self.count(0)
    }

    pub(crate) fn faults(&self) -> u64 {
        self.count(1)
    }

    pub(crate) fn clock_readings(&self) -> u64 {
        self.count(2)
    }

    pub(crate) fn jumped(&self) -> bool {
        self.count(3) > 0
    }

    fn count(&self, index: usize) -> u64 {
        let mut bytes = [0; 32];
        let file = OpenOptions::new().read(true).open(&self.counts).expect("a file of the scene");
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 0).expect("four counts");
        u64::from_ne_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("eight bytes"))
    }
}
