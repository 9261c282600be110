//! What is wrong with one setting.

use serde_json::Value;
use std::fmt;

/// A setting whose value cannot be used as it is, with a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingsProblem {
    pub key: &'static str,
    pub message: String,
}

impl SettingsProblem {
    pub(crate) fn new(key: &'static str, message: impl fmt::Display) -> Self {
        Self { key, message: message.to_string() }
    }
}

/// The value in force, and what is wrong with the written one if it is not that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked<T> {
    pub value: T,
    pub problem: Option<SettingsProblem>,
}

impl<T> Checked<T> {
    pub(crate) fn ok(value: T) -> Self {
        Self { value, problem: None }
    }

    pub(crate) fn wrong(value: T, key: &'static str, message: impl fmt::Display) -> Self {
        Self { value, problem: Some(SettingsProblem::new(key, message)) }
    }
}

impl Checked<bool> {
    /// True or false; anything else counts as false. `consequence` ends the sentence about it.
    pub(crate) fn flag(key: &'static str, value: &Value, consequence: &str) -> Self {
        match value {
            Value::Null => Self::ok(false),
            Value::Bool(on) => Self::ok(*on),
            other => Self::wrong(false, key, format_args!("{key} must be true or false, not {other}{consequence}")),
        }
    }
}
