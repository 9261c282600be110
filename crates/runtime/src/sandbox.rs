//! What the kernel keeps commands of the agent from, and what of that holds on this machine.
//!
//! The list of guarded files is the one that permission rules go by; here it becomes mounts.
//! How a wall is built, and what was tried against it, is `ona-sandbox`'s matter.

use crate::failure::Failure;
use crate::launch::{Launch, Purpose};
use crate::runtime::Runtime;
use ona_api::{Env, environment};
use ona_process::wall;
use ona_process::wall::WallOrder;
use ona_sandbox::{Enforcement, Mechanism, Network, State, WallPolicy};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Where package managers keep what they downloaded, below the home folder.
const CACHES: [&str; 12] = [
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle",
    ".ivy2",
    ".local/share/pnpm",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    ".rustup",
    ".yarn/berry/cache",
    "go/pkg",
];

/// What a command may do besides what is always kept from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// It writes in working directories, temporary folders and caches only.
    pub workspace: bool,
    pub no_network: bool,
}

/// Tries what must fail.
pub fn state(launch: &Launch) -> Result<State, Failure> {
    wall::try_here(Path::new(temporary(&launch.env)))
        .map_err(|error| Failure::refused(format_args!("the sandbox could not be tried: {error}")))
}

/// Returns the wall of commands started in this folder, made of what holds here.
pub fn order(launch: &Launch, state: &State, limits: Limits) -> Result<WallOrder, Failure> {
    let open = launch.open()?;
    let runtime = Runtime::new(launch, &open, &launch.cwd, Purpose::Call, &CancellationToken::new())?;
    let mut read_only = runtime.guarded().to_vec();
    read_only.extend(std::env::current_exe());
    let logins = launch.credential_store();
    let hidden = logins.files().into_iter().chain([logins.servers_folder()]).collect();
    let workspace = limits.workspace.then(|| workspace(launch, &runtime));
    let policy = WallPolicy {
        read_only,
        writable_inside: Vec::new(),
        hidden,
        workspace,
        network: if limits.no_network { Network::Off } else { Network::Open },
        protected_processes: vec![std::process::id().cast_signed()],
    };
    let holds = |(mechanism, condition): &(Mechanism, Enforcement)| {
        (!matches!(condition, Enforcement::Off(_))).then_some(*mechanism)
    };
    Ok(WallOrder { policy, mechanisms: state.mechanisms.iter().filter_map(holds).collect() })
}

fn workspace(launch: &Launch, runtime: &Runtime) -> Vec<PathBuf> {
    let home = launch.env.home();
    let temporary = match launch.env.non_empty(environment::TMPDIR) {
        Some(folder) => vec![folder.into()],
        None => vec![PathBuf::from("/tmp"), PathBuf::from("/var/tmp")],
    };
    let caches = CACHES.iter().map(|cache| home.join(cache));
    runtime.working_dirs().into_iter().chain(temporary).chain(caches).collect()
}

fn temporary(env: &Env) -> &str {
    env.non_empty(environment::TMPDIR).unwrap_or("/tmp")
}
