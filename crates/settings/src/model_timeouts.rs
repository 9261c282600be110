//! How long a model may take to answer.
//!
//! Two limits, because neither is enough alone: a server that sends a byte now and then is never
//! idle, and a total limit short enough for a dead server would cut off a slow one.

use crate::keys;
use crate::problem::SettingsProblem;
use serde_json::Value;
use std::time::Duration;

const MAX_SECONDS: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelTimeouts {
    /// How long a server may send nothing, before or inside a reply.
    pub idle: Duration,
    /// How long a request may take until its reply is complete, with all its retries and the waits
    /// between them.
    pub total: Duration,
}

impl Default for ModelTimeouts {
    fn default() -> Self {
        // A local model may read a long prompt for minutes before its first byte.
        Self { idle: Duration::from_secs(300), total: Duration::from_secs(600) }
    }
}

impl ModelTimeouts {
    pub(crate) fn read(value: &Value) -> Result<Self, SettingsProblem> {
        let problem = |message: String| SettingsProblem::new(keys::MODEL_TIMEOUTS, message);
        let mut limits = Self::default();
        let fields = match value {
            Value::Null => return Ok(limits),
            Value::Object(fields) => fields,
            other => return Err(problem(format!("the setting modelTimeouts must be an object, not {other}"))),
        };
        for (name, value) in fields {
            let limit = match name.as_str() {
                "idleSeconds" => &mut limits.idle,
                "totalSeconds" => &mut limits.total,
                other => {
                    return Err(problem(format!(
                        "the setting modelTimeouts has idleSeconds and totalSeconds, but not \"{other}\""
                    )));
                }
            };
            let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
            *limit = seconds.map(Duration::from_secs_f64).ok_or_else(|| {
                problem(format!(
                    "the setting modelTimeouts.{name} must be a number above 0 and up to {MAX_SECONDS}, not {value}"
                ))
            })?;
        }
        Ok(limits)
    }
}
