//! What a child may not do, in words that know nothing of a mechanism.

use std::path::PathBuf;

/// All paths are absolute and lead through no link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WallPolicy {
    /// Cannot be changed, removed or replaced. Those that do not exist are left out: nothing holds
    /// on to a name alone.
    pub read_only: Vec<PathBuf>,
    /// Writable although they lie below one that is read-only.
    pub writable_inside: Vec<PathBuf>,
    /// Cannot even be read; sockets among them cannot be connected to.
    pub hidden: Vec<PathBuf>,
    /// Where files may be written. `None`: wherever the user may.
    pub workspace: Option<Vec<PathBuf>>,
    pub network: Network,
    /// Processes that must not be signalled, traced or limited: this program and its helpers.
    pub protected_processes: Vec<i32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    Open,
    /// Only sockets of this machine that are files.
    Off,
}
