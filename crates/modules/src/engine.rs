//! The interface of an engine, which runs a module and exchanges messages with it.

use crate::frame::Frame;
use crate::graph::Graph;
use crate::host::HostFuture;
use ona_api::Env;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything an engine needs to run a module.
#[derive(Clone, Debug)]
pub struct ModuleProgram {
    pub graph: Graph,
    pub cwd: PathBuf,
    pub env: Env,
    pub limits: EngineLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineLimits {
    pub heap: usize,
    /// JavaScript without pause; waiting for ona does not count.
    pub cpu: Duration,
    pub stack: usize,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self { heap: 64 << 20, cpu: Duration::from_secs(5), stack: 1 << 20 }
    }
}

/// Where an engine's messages go. Called from the engine's own thread or task.
#[derive(Clone)]
pub struct Sink {
    pub frame: Arc<dyn Fn(Frame) + Send + Sync>,
    /// A request the module waits for: its name, its arguments, and the reply as JSON text
    /// with `ok` or `error`. Blocks; only for threads that may.
    pub ask: Arc<dyn Fn(String, Vec<Value>) -> String + Send + Sync>,
}

/// A running engine. Dropping it ends it, also in the middle of an endless loop.
pub trait EngineHandle: Send + Sync {
    fn send(&self, message: String);

    /// Returns whether answers come from another thread, so that one can arrive while this
    /// thread spins.
    fn is_beside_us(&self) -> bool {
        false
    }
}

/// Starts one world per module. The module is loaded at once; `Frame::Loaded` or
/// `Frame::Failed` tells how that went.
pub trait Engine: Send + Sync {
    fn name(&self) -> &str;

    fn start<'a>(
        &'a self,
        program: &'a ModuleProgram,
        sink: Sink,
    ) -> HostFuture<'a, Result<Box<dyn EngineHandle>, String>>;
}
