//! What crosses between ona and an engine: one JSON text per message, the same for both.

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
    /// The engine is no more.
    Gone {
        why: String,
    },
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
    pub commands: Vec<Command>,
    pub renderers: Vec<String>,
    #[serde(default)]
    pub flags: Vec<Value>,
    #[serde(default)]
    pub tools: Vec<Value>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub description: Option<String>,
}
