//! JavaScript and TypeScript hook modules, run inside the program or in a worker.
//!
//! A module is read with everything it imports (`graph`), stripped of its types
//! (`source`), and passed to an engine that exchanges messages with it (`engine`): QuickJS in a
//! thread (`embedded`) or an installed runtime in a process (`worker`). Requests of the
//! module to the program go through one trait (`host`).
//!
//! What the results of handlers mean is decided once, in `rules`. Nothing here knows rows,
//! providers or the terminal.

mod discover;
#[cfg(feature = "embedded")]
pub mod embedded;
mod engine;
mod frame;
mod graph;
mod host;
mod js_runtime;
mod loader;
mod module;
pub mod rules;
pub mod source;
mod spin_wait;
mod system;
pub mod worker;

pub use discover::{BadModulePath, ModuleCandidate, ModuleSource, SearchPaths, candidates, resolve};
pub use engine::{Engine, EngineHandle, EngineLimits, ModuleProgram, Sink};
pub use frame::{Frame, Overrun, RegisteredCommand, RegisteredFlag, RegisteredShortcut, RegisteredTool, Registry};
pub use graph::{Graph, GraphError, ImportTarget};
pub use host::{HostCall, HostCallError, HostFuture, ModuleHost};
pub use js_runtime::{JsRuntime, RuntimeChoice, RuntimeKind, find as find_runtime};
pub use loader::{ListedModule, LoadError, LoadOutcome, Loader};
pub use module::{CallOutcome, Emission, Module, ModuleContext, ModuleRequest};
pub use system::SystemCalls;

/// Type declarations for authors of modules (003, "export surface").
pub const DECLARATIONS: &str = include_str!("../js/hooks.d.ts");
