//! What is changed in a git working tree, for the permission engine (DEC-192).
//!
//! The repository may be hostile (attack case A-4): only plumbing commands that
//! neither write the index nor read the content of files, so that no filter, hook
//! or monitor of its configuration runs, and no object is fetched.

use ona_api::{Env, environment};
use ona_permissions::WorktreeChanges;
use ona_process::{ChildCommand, ChildExit, OnDeath, find_in_path, run_blocking};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a list of files; with more, it cannot be told what is changed.
const CAP: usize = 1 << 20;
const DEADLINE: Duration = Duration::from_secs(3);

/// Settings by which a repository makes git run something.
const PINNED: [&str; 9] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=false",
    "core.untrackedCache=false",
    "diff.external=",
    "protocol.allow=never",
];

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

struct Git {
    program: PathBuf,
    env: Env,
}

impl Git {
    /// git and an environment that names no repository and traces nothing.
    fn find(env: &Env) -> Option<Self> {
        let path = env.non_empty(environment::PATH)?;
        let own = Env::new([])
            .with(environment::PATH, path)
            .with(environment::HOME, env.home().into_os_string())
            .with(environment::LC_ALL, "C")
            .with("GIT_OPTIONAL_LOCKS", "0")
            .with("GIT_NO_LAZY_FETCH", "1")
            .with("GIT_TERMINAL_PROMPT", "0")
            .with("GIT_ALLOW_PROTOCOL", "none");
        Some(Self { program: find_in_path(path, "git")?, env: own })
    }

    fn lines(&self, cwd: &Path, args: &[&str], separator: char) -> Option<Vec<String>> {
        let pinned = PINNED.iter().flat_map(|setting| ["-c", setting]);
        let ran = run_blocking(ChildCommand {
            program: self.program.clone().into(),
            args: pinned.chain(["--no-pager"]).chain(args.iter().copied()).map(Into::into).collect(),
            cwd: cwd.to_path_buf(),
            env: self.env.clone(),
            stdin: Vec::new(),
            cap: CAP,
            deadline: Some(DEADLINE),
            grace: Duration::ZERO,
            on_death: OnDeath::Leave,
        });
        let ran = ran.inspect_err(|error| tracing::debug!(?args, %error, "git did not run")).ok();
        let ran = ran.filter(|ran| ran.end == ChildExit::Exited(0) && !ran.stdout.truncated)?;
        let text = String::from_utf8(ran.stdout.bytes).ok()?;
        Some(text.split(separator).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }
}
