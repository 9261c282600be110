//! Worktrees that lie in the folder of a project: what would be lost with each, and removing them later
//! than their session.
//!
//! A program that was killed leaves its worktree behind, and one with changes is kept on purpose. Whether a
//! worktree may go is asked of git each time; what cannot be told counts as something to lose.

use super::{FOLDER, Git, Worktrees, is_name};
use std::path::{Path, PathBuf};

/// A worktree of the folder, as git knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub name: String,
    pub path: PathBuf,
    /// The branch that is checked out in it.
    pub branch: Option<String>,
    pub holds: Holds,
}

/// What would be lost with a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    /// Files that are changed or not in git.
    Changes,
    /// Commits that are on no other branch, here or at a remote.
    Commits(usize),
    Unknown,
}

impl Holds {
    /// The words for a list.
    pub fn words(&self) -> String {
        match self {
            Self::Nothing => "nothing to lose".to_owned(),
            Self::Changes => "uncommitted changes".to_owned(),
            Self::Commits(1) => "1 commit that is on no other branch".to_owned(),
            Self::Commits(count) => format!("{count} commits that are on no other branch"),
            Self::Unknown => "it cannot be told what is in it".to_owned(),
        }
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Changes => "changes",
            Self::Commits(_) => "commits",
            Self::Unknown => "unknown",
        }
    }
}

impl Worktrees {
    /// Lists the worktrees of the folder, by name. Empty without git or a repository.
    pub async fn leftovers(&self) -> Vec<Leftover> {
        let Some(git) = &self.git else { return Vec::new() };
        let folder = FOLDER.iter().fold(self.project.clone(), |path, part| path.join(part));
        // Most projects have none, and git need not be asked.
        if !folder.is_dir() || folder.is_symlink() {
            return Vec::new();
        }
        let Ok(listed) = git.run(&self.project, &["worktree", "list", "--porcelain", "-z"]).await else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (path, branch) in entries(&listed) {
            let name = path.strip_prefix(&folder).ok().and_then(Path::to_str).filter(|name| is_name(name));
            if let Some(name) = name.map(str::to_owned) {
                let holds = holds(git, &path, branch.as_deref()).await;
                found.push(Leftover { name, path, branch, holds });
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }

    /// Removes a worktree. Without `force` git refuses one with changes, and its branch goes only if nothing is
    /// lost with it; the caller has looked at `holds` before.
    pub async fn remove_leftover(&self, leftover: &Leftover, force: bool) -> Result<(), String> {
        let Some(git) = &self.git else { return Err("git was not found".to_owned()) };
        if self.path_of(&leftover.name).map_err(|link| link.to_string())? != leftover.path {
            return Err("it is not where it was made".to_owned());
        }
        let path = leftover.path.to_string_lossy().into_owned();
        let mut remove = vec!["worktree", "remove"];
        if force {
            remove.push("--force");
        }
        remove.push(&path);
        git.run(&self.project, &remove).await?;
        let own = format!("worktree-{}", leftover.name);
        match &leftover.branch {
            // A branch of another name is the operator's.
            Some(branch) if *branch == own && (force || leftover.holds == Holds::Nothing) => {
                git.run(&self.project, &["branch", "--quiet", "-D", branch]).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Path and branch of each worktree that git lists.
fn entries(listed: &str) -> Vec<(PathBuf, Option<String>)> {
    let mut found: Vec<(PathBuf, Option<String>)> = Vec::new();
    for line in listed.split('\0') {
        if let Some(path) = line.strip_prefix("worktree ") {
            found.push((path.into(), None));
        } else if let (Some(branch), Some(last)) = (line.strip_prefix("branch refs/heads/"), found.last_mut()) {
            last.1 = Some(branch.to_owned());
        }
    }
    found
}

async fn holds(git: &Git, path: &Path, branch: Option<&str>) -> Holds {
    match git.run(path, &["status", "--porcelain", "-z", "--untracked-files=normal"]).await {
        Ok(changes) if changes.is_empty() => {}
        Ok(_) => return Holds::Changes,
        Err(_) => return Holds::Unknown,
    }
    // A pattern of --exclude counts for the --branches that follows it.
    let exclude = branch.map(|branch| format!("--exclude={branch}"));
    let mut count = vec!["rev-list", "--count", "HEAD", "--not"];
    count.extend(exclude.as_deref());
    count.extend(["--branches", "--remotes"]);
    match git.run(path, &count).await.map(|text| text.trim().parse()) {
        Ok(Ok(0)) => Holds::Nothing,
        Ok(Ok(count)) => Holds::Commits(count),
        Ok(Err(_)) | Err(_) => Holds::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_lists_a_path_and_its_branch_per_worktree() {
        let listed = "worktree /p\0HEAD aa\0branch refs/heads/main\0\0worktree /p/.claude/worktrees/a b\0HEAD bb\0detached\0\0\
             worktree /p/.claude/worktrees/c\0HEAD cc\0branch refs/heads/worktree-c\0locked\0\0";
        let branch = |name: &str| Some(name.to_owned());
        assert_eq!(
            entries(listed),
            [
                ("/p".into(), branch("main")),
                ("/p/.claude/worktrees/a b".into(), None),
                ("/p/.claude/worktrees/c".into(), branch("worktree-c")),
            ]
        );
    }
}
