//! Keeps children of the agent away from files and processes, by means of the kernel.
//!
//! A [`WallPolicy`] says what a child may not do. [`Wall::prepare`] turns it into system calls
//! while there is time and memory, and [`Wall::enter`] makes them in the child, between fork
//! and exec. Three mechanisms work together, each of which can be missing:
//!
//! - a mount namespace, in which guarded files are read-only and hidden ones are not there
//!   (`namespace`),
//! - Landlock: where files may be written, and which processes can be reached (`ruleset`),
//! - seccomp: system calls that would lead around the two (`filter`).
//!
//! Which mechanisms there are is found out by trying what must fail ([`attempts`]), never by
//! asking for versions. What is guarded and who is put behind the wall is for callers to say.

#[cfg(target_os = "linux")]
pub mod attempts;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod namespace;
mod plan;
mod policy;
mod rights;
#[cfg(target_os = "linux")]
mod ruleset;
mod state;
#[cfg(target_os = "linux")]
mod wall;

pub use policy::{Network, WallPolicy};
pub use rights::FolderRights;
pub use state::{Enforcement, Mechanism, State};
#[cfg(target_os = "linux")]
pub use wall::{Wall, WallError};
