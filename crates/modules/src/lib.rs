//! JavaScript and TypeScript hook modules, run inside the program or in a worker.
//!
//! A module is read with everything it imports (`graph`), stripped of its types
//! (`source`), and handed to an engine that speaks in messages (`engine`): QuickJS in a
//! thread (`embedded`) or an installed runtime in a process (`worker`). What the module
//! asks of the program goes through one trait (`host`).
//!
//! What handlers' results mean is decided once, in `rules`. Nothing here knows of rows,
//! providers or the terminal.

mod discover;
#[cfg(feature = "embedded")]
pub mod embedded;
mod engine;
mod frame;
mod glance;
mod graph;
mod host;
mod loader;
mod module;
pub mod rules;
mod runtime;
pub mod source;
mod system;
pub mod worker;

pub use discover::{Candidate, Places, Refused, Source, candidates, resolve};
pub use engine::{Engine, Limits, Link, Program, Sink};
pub use frame::{Command, Flag, Frame, Overrun, Registry, Shortcut, Tool};
pub use graph::{Graph, GraphError, Target};
pub use host::{BoxFuture, Call, CallError, Host};
pub use loader::{Listed, LoadError, Loaded, Loader};
pub use module::{Answer, Emission, Module, Moment, Request};
pub use runtime::{Brand, Runtime, Wanted, find as find_runtime};
pub use system::System;

/// Type declarations for authors of modules (003, "export surface").
pub const DECLARATIONS: &str = include_str!("../js/hooks.d.ts");
