//! `.worktreeinclude`: ignored files that a worktree gets a copy of, such as `.env`.
//!
//! The file has patterns like a `.gitignore`. Only files that git ignores are copied, never links,
//! and never into or over anything that is there.

use super::git::Git;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILE: &str = ".worktreeinclude";
const MOST: usize = 10_000;
const BYTES: u64 = 64 << 20;

pub(super) async fn copy_included(git: &Git, project: &Path, worktree: &Path) -> Result<(), String> {
    if !project.join(FILE).is_file() {
        return Ok(());
    }
    let listed =
        |out: String| out.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect::<BTreeSet<_>>();
    let others = ["ls-files", "-z", "--others", "--ignored"];
    let named = git.run(project, &[&others[..], &["--exclude-from", FILE]].concat()).await.map(listed)?;
    let ignored = git.run(project, &[&others[..], &["--exclude-standard"]].concat()).await.map(listed)?;
    let mut bytes = 0;
    for path in named.intersection(&ignored).take(MOST) {
        let (from, to) = (project.join(path), worktree.join(path));
        let Ok(found) = fs::symlink_metadata(&from) else { continue };
        bytes += found.len();
        if bytes > BYTES {
            return Err(format!("the files of {FILE} are larger than {BYTES} bytes"));
        }
        // What git lists lies in the project; a folder that is a link would lead elsewhere.
        let inside = from.canonicalize().is_ok_and(|real| real.starts_with(project));
        if !found.is_file() || !inside || to.symlink_metadata().is_ok() || path.starts_with(".claude/worktrees/") {
            continue;
        }
        let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&from, &to));
        copied.map_err(|error| format!("{path} of {FILE} cannot be copied: {error}"))?;
    }
    Ok(())
}
