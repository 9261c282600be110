//! Requests of a module to the program it runs in.

use serde_json::{Map, Value, json};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One request of a module: `exec`, `ui.confirm`, `session.getEntries`, `fs.readFile`, …
#[derive(Clone, Debug)]
pub struct HostCall {
    pub name: String,
    pub args: Vec<Value>,
    /// Cancelled when the module aborts the request, or has ended.
    pub cancel: CancellationToken,
}

impl HostCall {
    pub fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Null)
    }

    pub fn text(&self, index: usize) -> &str {
        self.arg(index).as_str().unwrap_or_default()
    }

    /// Returns whether a person is asked, during which no clock runs (DEC-054).
    pub fn is_dialog(&self) -> bool {
        matches!(self.name.as_str(), "ui.select" | "ui.confirm" | "ui.input" | "ui.editor" | "ui.custom")
    }
}

/// Serves the requests of modules. An implementation may block its caller only, and never
/// calls back into the module that made the request.
pub trait ModuleHost: Send + Sync {
    fn call<'a>(&'a self, module: &'a Path, call: HostCall) -> HostFuture<'a, Result<Value, HostCallError>>;

    /// A request without an answer. Called in the order the module made them, before the
    /// handler that made them counts as finished.
    fn tell(&self, module: &Path, call: HostCall);
}

/// An error as the module will catch it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostCallError {
    pub message: String,
    /// `code`, `errno`, `syscall`, `path`, …
    pub fields: Map<String, Value>,
}

impl HostCallError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), fields: Map::new() }
    }

    pub fn unknown(name: &str) -> Self {
        Self::new(format!("{name} is not available in ona"))
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "message": self.message });
        if let Value::Object(object) = &mut error {
            object.extend(self.fields.clone());
        }
        error
    }
}
