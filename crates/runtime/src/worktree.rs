//! What is changed in a git working tree, for the permission engine (DEC-192).
//!
//! Only plumbing commands that neither write the index nor read the content of files, so that no
//! filter of a hostile repository's configuration runs (attack case A-4); `Git` keeps the rest
//! from running.

use ona_api::Env;
use ona_orchestration::Git;
use ona_permissions::WorktreeChanges;
use std::path::{Path, PathBuf};

/// Looks at the tree a directory lies in; `None` if it cannot be told what is changed there.
pub(crate) fn look(env: &Env, dir: &Path) -> Option<WorktreeChanges> {
    if !dir.ancestors().any(|dir| dir.join(".git").symlink_metadata().is_ok()) {
        return Some(WorktreeChanges::default());
    }
    let git = Git::find(env)?;
    let top = git.lines(dir, &["rev-parse", "--show-toplevel"], '\n')?;
    let top = PathBuf::from(top.first()?);
    let files = |args: &[&str]| -> Option<Vec<PathBuf>> {
        Some(git.lines(&top, args, '\0')?.iter().map(|path| top.join(path.trim_end_matches('/'))).collect())
    };
    let mut changed = files(&["diff-files", "--name-only", "-z", "--no-ext-diff"])?;
    // Before the first commit there is nothing to compare with; all that is added is a change.
    let staged = match git.lines(&top, &["rev-parse", "--verify", "--quiet", "HEAD"], '\n') {
        Some(_) => files(&["diff-index", "--cached", "--name-only", "-z", "--no-ext-diff", "HEAD"])?,
        None => files(&["ls-files", "-z", "--cached"])?,
    };
    changed.extend(staged);
    let others = ["ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory"];
    let untracked = files(&others)?;
    let ignored = files(&[&others[..], &["--ignored"]].concat())?;
    Some(WorktreeChanges { changed, untracked, ignored })
}
