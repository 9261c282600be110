//! Git worktrees of a project: made for a run (`--worktree`) or an agent (`isolation: worktree`),
//! removed when nothing was changed in them, kept and named otherwise.
//!
//! They lie in `.claude/worktrees` of the project, on a branch `worktree-NAME`. A WorktreeCreate
//! hook that names a path replaces git. Nothing is ever removed by force: what cannot be shown to
//! be unchanged stays. Keeping a session inside its worktree is a matter of rules
//! (`PermissionEngine::enter_worktree`), firing hooks one of the callers.

mod git;
mod include;
mod leftovers;

pub use git::Git;
pub use leftovers::{Holds, Leftover};

use ona_api::Env;
use ona_hookplane::HookOutcome;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Component, Path, PathBuf};

const FOLDER: [&str; 2] = [".claude", "worktrees"];
/// The names of worktrees that agents work in begin with this.
pub const AGENT_PREFIX: &str = "agent-";
const LONGEST_NAME: usize = 64;

/// What a new worktree starts from (`worktree.baseRef`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorktreeBase {
    /// What the checkout is at.
    #[default]
    Head,
    /// The default branch of `origin` as it is known here; nothing is fetched.
    Fresh,
}

/// A worktree in which a session works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub name: String,
    pub path: PathBuf,
    /// The branch git made for it; `None` if a hook made the worktree.
    pub branch: Option<String>,
    /// The commit it was at when it was entered, if it is one of git's.
    pub base: Option<String>,
    /// Whether it was there before, so that it is not ours to remove.
    pub reopened: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("a worktree checks files out, which may run filters that {} configures; it is only made in a trusted folder", .0.display())]
    Untrusted(PathBuf),
    #[error(
        "the name of a worktree has letters, digits, dots, hyphens and underscores, begins with a letter or digit and has at most {LONGEST_NAME} characters, not {0:?}"
    )]
    Name(String),
    #[error("{} is not a git repository with a commit, and no WorktreeCreate hook made the worktree", .0.display())]
    NoRepository(PathBuf),
    #[error("{} is a link; worktrees are not made behind links", .0.display())]
    Link(PathBuf),
    #[error("{} exists and is not a worktree of this repository", .0.display())]
    Taken(PathBuf),
    #[error("a WorktreeCreate hook refused the worktree: {0}")]
    Hook(String),
    #[error("a WorktreeCreate hook named the worktree {path}, which {why}")]
    HookPath { path: String, why: &'static str },
    #[error("the worktree could not be made: {0}")]
    Git(String),
}

/// What became of a worktree that nobody works in any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeFate {
    /// Nothing had been changed in it.
    Removable,
    Kept {
        why: &'static str,
    },
}

/// Makes and removes the worktrees of one project.
#[derive(Clone)]
pub struct Worktrees {
    git: Option<Git>,
    project: PathBuf,
    trusted: bool,
    base: WorktreeBase,
}

impl Worktrees {
    pub fn new(env: &Env, project: PathBuf, trusted: bool, base: WorktreeBase) -> Self {
        Self { git: Git::find(env), project, trusted, base }
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Refuses what cannot succeed, before any hook hears of it.
    pub fn check(&self, name: &str) -> Result<(), WorktreeError> {
        if !self.trusted {
            return Err(WorktreeError::Untrusted(self.project.clone()));
        }
        if !is_name(name) {
            return Err(WorktreeError::Name(name.to_owned()));
        }
        self.path_of(name).map(drop)
    }

    /// Where a worktree of this name lies; nothing on the way there may be a link (attack case F-11).
    fn path_of(&self, name: &str) -> Result<PathBuf, WorktreeError> {
        let mut path = self.project.clone();
        for part in FOLDER.into_iter().chain([name]) {
            path.push(part);
            if path.is_symlink() {
                return Err(WorktreeError::Link(path));
            }
        }
        Ok(path)
    }

    /// Makes the worktree, or opens it again. `said` is what the WorktreeCreate hooks said, which ran
    /// in `cwd`.
    pub async fn create(&self, name: &str, said: &HookOutcome, cwd: &Path) -> Result<Worktree, WorktreeError> {
        self.check(name)?;
        if said.failed || said.is_denied() {
            return Err(WorktreeError::Hook(why_refused(said)));
        }
        if let Some(named) = named_by_hooks(said) {
            return self.made_by_hook(name, &named, cwd).await;
        }
        let path = self.path_of(name)?;
        let no_repository = || WorktreeError::NoRepository(self.project.clone());
        let git = self.git.as_ref().ok_or_else(no_repository)?;
        let head = git.run(&self.project, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await;
        let head = head.map_err(|_| no_repository())?.trim().to_owned();
        let branch = format!("worktree-{name}");
        if path.exists() {
            return self.reopened(git, name, path, branch).await;
        }
        let base = match self.base {
            WorktreeBase::Head => head,
            WorktreeBase::Fresh => {
                let fresh = ["rev-parse", "--verify", "--quiet", "refs/remotes/origin/HEAD^{commit}"];
                git.run(&self.project, &fresh).await.map_or(head, |fresh| fresh.trim().to_owned())
            }
        };
        self.prepare_folder().map_err(|error| WorktreeError::Git(error.to_string()))?;
        let target = path.to_string_lossy().into_owned();
        // A branch of that name that is left over is used as it is: its commits are work.
        let known =
            git.run(&self.project, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).await;
        let (made, base) = match &known {
            Ok(commit) => {
                let made = git.run(&self.project, &["worktree", "add", "--quiet", &target, &branch]).await;
                (made, commit.trim().to_owned())
            }
            Err(_) => {
                let add = ["worktree", "add", "--quiet", "-b", &branch, &target, &base];
                (git.run(&self.project, &add).await, base)
            }
        };
        made.map_err(WorktreeError::Git)?;
        // A link may have been put there in the meantime.
        self.path_of(name)?;
        include::copy_included(git, &self.project, &path).await.map_err(WorktreeError::Git)?;
        Ok(Worktree { name: name.to_owned(), path, branch: Some(branch), base: Some(base), reopened: known.is_ok() })
    }

    async fn reopened(&self, git: &Git, name: &str, path: PathBuf, branch: String) -> Result<Worktree, WorktreeError> {
        let listed = git.run(&self.project, &["worktree", "list", "--porcelain", "-z"]).await;
        let line = format!("worktree {}", path.display());
        if !listed.is_ok_and(|listed| listed.split('\0').any(|one| one == line)) {
            return Err(WorktreeError::Taken(path));
        }
        let base = git.run(&path, &["rev-parse", "HEAD"]).await.ok().map(|commit| commit.trim().to_owned());
        Ok(Worktree { name: name.to_owned(), path, branch: Some(branch), base, reopened: true })
    }

    /// Makes the folder of worktrees, which git and searches ignore.
    fn prepare_folder(&self) -> std::io::Result<()> {
        let folder = FOLDER.iter().fold(self.project.clone(), |path, part| path.join(part));
        fs::create_dir_all(&folder)?;
        let ignore = folder.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n")?;
        }
        Ok(())
    }

    async fn made_by_hook(&self, name: &str, named: &str, cwd: &Path) -> Result<Worktree, WorktreeError> {
        let wrong = |why| WorktreeError::HookPath { path: named.to_owned(), why };
        let given = Path::new(named);
        let dotted = given.components().any(|part| matches!(part, Component::CurDir | Component::ParentDir));
        if given.is_absolute() && (dotted || named.split('/').any(|part| part == ".")) {
            return Err(wrong("has . or .. in it"));
        }
        let path = ona_api::path::lexical(&cwd.join(given));
        if !path.is_dir() {
            return Err(wrong("is not a folder"));
        }
        if let Ok(below) = path.strip_prefix(&self.project) {
            let mut step = self.project.clone();
            for part in below.components() {
                step.push(part);
                if step.is_symlink() {
                    return Err(wrong("leads through a link"));
                }
            }
        }
        if self.project.starts_with(&path) {
            return Err(wrong("is the checkout itself"));
        }
        let base = match &self.git {
            Some(git) => git.run(&path, &["rev-parse", "--verify", "--quiet", "HEAD"]).await.ok(),
            None => None,
        };
        let base = base.map(|commit| commit.trim().to_owned());
        Ok(Worktree { name: name.to_owned(), path, branch: None, base, reopened: false })
    }

    /// Whether nothing would be lost with the worktree.
    pub async fn fate(&self, worktree: &Worktree) -> WorktreeFate {
        let kept = |why| WorktreeFate::Kept { why };
        let (Some(git), Some(base)) = (&self.git, &worktree.base) else {
            return kept("it cannot be told whether anything in it was changed");
        };
        if worktree.reopened {
            return kept("it was there before");
        }
        let Ok(head) = git.run(&worktree.path, &["rev-parse", "--verify", "--quiet", "HEAD"]).await else {
            return kept("it cannot be told whether anything in it was changed");
        };
        if head.trim() != base {
            return kept("it has new commits");
        }
        // Stages nothing and compares contents only where the metadata differ.
        match git.run(&worktree.path, &["status", "--porcelain", "-z", "--untracked-files=normal"]).await {
            Ok(changes) if changes.is_empty() => WorktreeFate::Removable,
            Ok(_) => kept("it has changes"),
            Err(_) => kept("it cannot be told whether anything in it was changed"),
        }
    }

    /// Removes a worktree that git made, and its branch. git refuses if there is anything to lose.
    pub async fn remove(&self, worktree: &Worktree) -> Result<(), String> {
        let (Some(git), Some(branch)) = (&self.git, &worktree.branch) else {
            return Err("it was made by a hook, and no WorktreeRemove hook removed it".to_owned());
        };
        if self.path_of(&worktree.name).map_err(|link| link.to_string())? != worktree.path {
            return Err("it is not where it was made".to_owned());
        }
        let path = worktree.path.to_string_lossy().into_owned();
        git.run(&self.project, &["worktree", "remove", &path]).await?;
        let merged = ["branch", "--quiet", "-D", branch];
        git.run(&self.project, &merged).await.map(drop)
    }
}

/// What to say about a worktree that is kept.
pub fn kept_words(worktree: &Worktree, why: &str) -> String {
    let branch = worktree.branch.as_ref().map(|branch| format!(" (branch {branch})")).unwrap_or_default();
    format!("the worktree {}{branch} was kept, because {why}", worktree.path.display())
}

/// A name nobody gave.
pub fn random_name() -> String {
    let id = ona_api::CallId::random().0.replace('-', "");
    format!("ona-{}", &id[..8])
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.len() <= LONGEST_NAME
        && !name.contains("..")
        && !name.ends_with('.')
        && !name.ends_with(".lock")
}

fn why_refused(said: &HookOutcome) -> String {
    let message = said.message();
    if !message.is_empty() {
        return message;
    }
    let failed = said.runs.iter().rev().find(|run| run.skipped.is_none() && run.exit_code != Some(0));
    let line = failed.and_then(|run| run.stderr.as_deref()?.lines().find(|line| !line.trim().is_empty()));
    line.map_or_else(|| "it failed".to_owned(), str::to_owned)
}

/// The path a hook answered with: `worktreePath`, or the last line it printed.
fn named_by_hooks(said: &HookOutcome) -> Option<String> {
    let field = |(_, fields): &(_, serde_json::Map<String, serde_json::Value>)| {
        fields.get("worktreePath")?.as_str().filter(|path| !path.is_empty()).map(str::to_owned)
    };
    let printed = || {
        let ran = said.runs.iter().rev().filter(|run| run.exit_code == Some(0) && run.skipped.is_none());
        ran.filter_map(|run| run.stdout.as_deref()).find_map(last_line)
    };
    said.specific.iter().rev().find_map(field).or_else(printed)
}

/// The last line of plain output, without colours.
fn last_line(stdout: &str) -> Option<String> {
    if stdout.trim_start().starts_with('{') {
        return None;
    }
    let plain = without_colours(stdout);
    plain.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

/// Leaves escape sequences (`ESC [ … m`) out.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for name in ["a", "fix-1", "v1.2_x"] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(65);
        for name in ["", ".", "..", "a..b", "-a", "a b", "a/b", "../a", "#12", "a.lock", "a.", "é", &long] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn the_last_line_of_plain_output_is_a_path() {
        for (stdout, expected) in [
            ("made it\n/w/tree\n\n", Some("/w/tree")),
            ("\u{1b}[32m/w/tree\u{1b}[0m\n", Some("/w/tree")),
            ("{\"continue\": true}", None),
            ("\n", None),
        ] {
            assert_eq!(last_line(stdout).as_deref(), expected, "{stdout:?}");
        }
    }
}
