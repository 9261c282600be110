//! git, started so that a repository's configuration makes it run nothing.
//!
//! The repository may be hostile (attack case A-4): no hook, monitor, pager, password prompt or
//! network of its configuration is used. What is left are the filters of files that are checked
//! out, which is why a worktree is only made in a trusted folder.

use ona_api::{Env, environment};
use ona_process::{ChildCommand, ChildExit, ChildOutput, OnDeath, find_in_path, run, run_blocking};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Bytes of a list of files; with more, it cannot be told what is changed.
const CAP: usize = 1 << 20;
/// For commands that only look.
const LOOK: Duration = Duration::from_secs(3);
/// For commands that write files.
const WORK: Duration = Duration::from_secs(120);

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

#[derive(Clone)]
pub struct Git {
    program: PathBuf,
    env: Env,
}

impl Git {
    /// git and an environment that names no repository and traces nothing.
    pub fn find(env: &Env) -> Option<Self> {
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

    /// Runs a command that only looks, where nothing can be awaited. `None` if it fails.
    pub fn lines(&self, cwd: &Path, args: &[&str], separator: char) -> Option<Vec<String>> {
        let ran = run_blocking(self.command(cwd, args, LOOK));
        let ran = ran.inspect_err(|error| tracing::debug!(?args, %error, "git did not run")).ok();
        let text = output(ran?).ok()?;
        Some(text.split(separator).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    /// Runs a command; what it printed, or why it failed.
    pub(super) async fn run(&self, cwd: &Path, args: &[&str]) -> Result<String, String> {
        let ran = run(self.command(cwd, args, WORK), &CancellationToken::new()).await;
        output(ran.map_err(|error| error.to_string())?)
    }

    /// Copies a repository of this machine, without its history, into a new folder.
    pub fn clone_local(&self, source: &str, target: &Path) -> Result<(), String> {
        let target = target.to_string_lossy().into_owned();
        let args = [
            "-c",
            "protocol.file.allow=always",
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--no-local",
            "--no-tags",
            "--single-branch",
            "--",
            source,
            &target,
        ];
        let mut command = self.command(Path::new("/"), &args, WORK);
        command.env.set("GIT_ALLOW_PROTOCOL", "file");
        output(run_blocking(command).map_err(|error| error.to_string())?).map(drop)
    }

    fn command(&self, cwd: &Path, args: &[&str], deadline: Duration) -> ChildCommand {
        let pinned = PINNED.iter().flat_map(|setting| ["-c", setting]);
        ChildCommand {
            program: self.program.clone().into(),
            args: pinned.chain(["--no-pager"]).chain(args.iter().copied()).map(Into::into).collect(),
            cwd: cwd.to_path_buf(),
            env: self.env.clone(),
            stdin: Vec::new(),
            cap: CAP,
            deadline: Some(deadline),
            grace: Duration::ZERO,
            on_death: OnDeath::Leave,
            wall: None,
        }
    }
}

fn output(ran: ChildOutput) -> Result<String, String> {
    if ran.end != ChildExit::Exited(0) {
        let said = String::from_utf8_lossy(&ran.stderr.bytes);
        return Err(match said.trim() {
            "" => "git failed without a message".to_owned(),
            said => said.lines().last().unwrap_or(said).to_owned(),
        });
    }
    if ran.stdout.truncated {
        return Err("git printed too much".to_owned());
    }
    String::from_utf8(ran.stdout.bytes).map_err(|_| "git printed text that is not UTF-8".to_owned())
}
