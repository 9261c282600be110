//! Whether this program was started by an agent on the agent's own database (DEC-071).
//!
//! Children of tools carry ONA_AGENT_DB. A child can drop a variable from its own
//! environment but not from that of the shell it was started by, so on Linux the
//! environments of all ancestors count as well; and one that has outlived its ancestors
//! still carries the mark of `ona_process::mark`.

use ona_api::{Env, Variable, environment};
use ona_process::mark;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const MARK: Variable = environment::ONA_AGENT_DB;

pub(crate) fn started_by_an_agent(env: &Env, database: &Path) -> bool {
    let own = env.non_empty(MARK).map(PathBuf::from);
    let is_marked = match mark::current() {
        mark::ProcessMark::Unmarked => false,
        mark::ProcessMark::Mark(mark) => mark::of_file(database) == Some(mark),
        mark::ProcessMark::Tampered => true,
    };
    is_marked || own.into_iter().chain(marks_of_ancestors()).any(|live| same_file(&live, database))
}

/// Whether any agent started this program, whatever database it names.
pub(crate) fn is_below_an_agent(env: &Env) -> bool {
    mark::current() != mark::ProcessMark::Unmarked || env.non_empty(MARK).is_some() || !marks_of_ancestors().is_empty()
}

/// The mark in the environment each ancestor was started with.
fn marks_of_ancestors() -> Vec<PathBuf> {
    let mut marks = Vec::new();
    let mut id = parent_of("self");
    // A process table that changes under our feet must not keep us here.
    for _ in 0..64 {
        let Some(ancestor) = id.filter(|ancestor| ancestor != "0") else { break };
        if let Ok(environ) = std::fs::read(format!("/proc/{ancestor}/environ")) {
            let marked = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"ONA_AGENT_DB="));
            marks.extend(marked.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))));
        }
        id = parent_of(&ancestor);
    }
    marks
}

fn parent_of(process: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")).map(|id| id.trim().to_owned())
}

/// A symbolic or hard link to the live database is the live database.
fn same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
