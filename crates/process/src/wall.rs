//! Children behind a wall of the kernel, as `ona_sandbox` builds it, and how the keeper is told.

use crate::scratch::{self, Purpose};
use ona_api::Env;
use ona_sandbox::{Mechanism, Network, State, WallPolicy};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub(crate) use ona_sandbox::Wall as ReadyWall;

/// What a child is kept from, and by which of the means there are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallOrder {
    pub policy: WallPolicy,
    pub mechanisms: Vec<Mechanism>,
}

impl WallOrder {
    #[cfg(target_os = "linux")]
    pub(crate) fn prepare(&self, cwd: &Path) -> io::Result<ReadyWall> {
        ReadyWall::prepare(&self.policy, cwd, &self.mechanisms).map_err(io::Error::other)
    }

    /// Hands each part to `add`; the first is not empty. Paths are any bytes.
    pub(crate) fn write(&self, add: &mut dyn FnMut(&[u8])) {
        let WallPolicy { read_only, writable_inside, hidden, workspace, network, protected_processes } = &self.policy;
        let mut words = vec![match network {
            Network::Open => "open",
            Network::Off => "off",
        }];
        words.extend(self.mechanisms.iter().map(|mechanism| mechanism.name()));
        add(words.join(" ").as_bytes());
        let processes: Vec<String> = protected_processes.iter().map(i32::to_string).collect();
        add(processes.join(" ").as_bytes());
        add(if workspace.is_some() { b"workspace" } else { b"" });
        for paths in [read_only, writable_inside, hidden, workspace.as_ref().unwrap_or(&Vec::new())] {
            add(paths.len().to_string().as_bytes());
            paths.iter().for_each(|path| add(path.as_os_str().as_bytes()));
        }
    }

    /// Reads what `write` wrote. A child whose wall cannot be read is not started.
    pub(crate) fn read(first: &OsStr, next: &mut dyn FnMut() -> Option<OsString>) -> Option<Self> {
        let mut words = first.to_str()?.split(' ');
        let network = match words.next()? {
            "open" => Network::Open,
            "off" => Network::Off,
            _ => return None,
        };
        let by_name = |word| Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == word);
        let mechanisms = words.map(by_name).collect::<Option<_>>()?;
        let processes = next()?;
        let protected_processes =
            processes.to_str()?.split_whitespace().map(|id| id.parse().ok()).collect::<Option<_>>()?;
        let has_workspace = !next()?.is_empty();
        let mut paths = || -> Option<Vec<PathBuf>> {
            let count: usize = next()?.to_str()?.parse().ok()?;
            (0..count).map(|_| Some(next()?.into())).collect()
        };
        let (read_only, writable_inside, hidden, workspace) = (paths()?, paths()?, paths()?, paths()?);
        let workspace = has_workspace.then_some(workspace);
        let policy = WallPolicy { read_only, writable_inside, hidden, workspace, network, protected_processes };
        Some(Self { policy, mechanisms })
    }
}

/// Argument zero of the process that tries what a wall must prevent.
#[cfg(target_os = "linux")]
const CHECK: &str = "agent-wall-check";

/// Returns whether this process was started to try the wall; `name` is its argument zero.
#[cfg(target_os = "linux")]
pub fn is_check(name: Option<&OsStr>) -> bool {
    name.is_some_and(|name| name == CHECK)
}

/// Tries the wall in the folder that is the first argument, and prints what holds.
#[cfg(target_os = "linux")]
pub fn serve_check(args: impl IntoIterator<Item = OsString>) -> std::process::ExitCode {
    use std::io::Write;
    let Some(folder) = args.into_iter().nth(1) else { return std::process::ExitCode::FAILURE };
    let state = ona_sandbox::attempts::try_all(folder.as_ref(), &Mechanism::ALL);
    let printed = state.and_then(|state| serde_json::to_writer(io::stdout().lock(), &state).map_err(io::Error::other));
    if printed.and_then(|()| io::stdout().flush()).is_ok() {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}

/// Finds out what holds on this machine, by a process that goes behind the wall and tries to get out.
#[cfg(target_os = "linux")]
pub fn try_here(tmp: &Path) -> io::Result<State> {
    use std::os::unix::process::CommandExt;
    let folder = scratch::folder(Purpose::Probe, tmp)?;
    // The link leads to this very build, also while an update replaces the file.
    #[expect(clippy::disallowed_methods, reason = "children are started in this crate")]
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg0(CHECK).arg(folder.path()).env_clear().stdin(std::process::Stdio::null());
    let ran = command.stderr(std::process::Stdio::null()).output()?;
    if !ran.status.success() {
        return Err(io::Error::other(format!("the check ended with {}", ran.status)));
    }
    serde_json::from_slice(&ran.stdout).map_err(io::Error::other)
}

/// Only Linux has such a wall.
#[cfg(not(target_os = "linux"))]
pub fn try_here(_tmp: &Path) -> io::Result<State> {
    let off = |mechanism| (mechanism, ona_sandbox::Enforcement::Off("only Linux has it".to_owned()));
    Ok(State { mechanisms: Mechanism::ALL.map(off).into(), gaps: Vec::new() })
}

/// Runs a program behind a wall with the streams and the terminal of this one, and waits for it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the child is prepared between fork and exec")]
pub fn run_in_foreground(
    program: &OsStr,
    args: &[OsString],
    cwd: &Path,
    env: &Env,
    order: &WallOrder,
) -> io::Result<std::process::ExitStatus> {
    use std::os::unix::process::CommandExt;
    let mut wall = order.prepare(cwd)?;
    #[expect(clippy::disallowed_methods, reason = "children are started in this crate")]
    let mut command = std::process::Command::new(program);
    command.args(args).current_dir(cwd).env_clear().envs(env.iter());
    // SAFETY: everything that is allocated was allocated before; what is left are system calls.
    unsafe {
        command.pre_exec(move || wall.enter());
    }
    command.status()
}
