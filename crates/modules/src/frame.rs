//! Messages between ona and an engine: one JSON text each, the same for both engines.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// From the engine.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "t", rename_all = "lowercase")]
pub enum Frame {
    Loaded(Registry),
    Failed {
        message: String,
    },
    /// The module registered more while it ran.
    Registered(Registry),
    Done {
        id: u64,
        #[serde(default, deserialize_with = "present")]
        value: Option<Value>,
    },
    Threw {
        id: u64,
        error: bool,
        message: String,
        #[serde(default)]
        stack: String,
    },
    Call {
        id: u64,
        name: String,
        args: Vec<Value>,
    },
    Cancel {
        id: u64,
    },
    Tell {
        name: String,
        args: Vec<Value>,
    },
    /// A blocking request of a worker; the embedded engine asks directly.
    Ask {
        id: u64,
        name: String,
        args: Vec<Value>,
    },
    /// A worker's answer to a ping.
    Pong,
    Overrun {
        what: Overrun,
    },
    /// The engine has ended.
    Gone {
        why: String,
    },
}

impl Frame {
    /// Parses a line of an engine. Other output is ignored; a message that cannot be parsed
    /// ends the module, because it would never be answered.
    pub fn read(line: &str) -> Option<Self> {
        match ona_api::text::json(line) {
            Ok(frame) => Some(frame),
            Err(_) if line.starts_with("{\"t\":") => {
                Some(Frame::Gone { why: "it sent a message that cannot be parsed".into() })
            }
            Err(_) => None,
        }
    }
}

/// `null` is a value too.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Overrun {
    /// JavaScript ran without pause for longer than its budget.
    Cpu,
    Memory,
}

impl Overrun {
    pub fn as_str(self) -> &'static str {
        match self {
            Overrun::Cpu => "it used up its CPU time",
            Overrun::Memory => "it used up its memory",
        }
    }
}

/// What a module has registered.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Registry {
    /// Handlers per event.
    pub handlers: BTreeMap<String, usize>,
    pub commands: Vec<RegisteredCommand>,
    pub renderers: Vec<String>,
    #[serde(default)]
    pub flags: Vec<RegisteredFlag>,
    #[serde(default)]
    pub shortcuts: Vec<RegisteredShortcut>,
    #[serde(default)]
    pub tools: Vec<RegisteredTool>,
}

/// A tool a module offers to the model.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct RegisteredTool {
    pub name: String,
    pub label: Option<String>,
    pub description: String,
    /// A JSON schema of an object.
    pub parameters: Value,
    /// The module reads inputs of other shapes too, and makes them fit itself.
    #[serde(default)]
    pub prepares: bool,
}

/// A command-line option that a module registered.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct RegisteredFlag {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub description: Option<String>,
}

/// A key that a module registered, for terminals.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct RegisteredShortcut {
    pub key: String,
    pub description: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct RegisteredCommand {
    pub name: String,
    pub description: Option<String>,
}
