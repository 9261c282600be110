//! How much of changed files is kept for a rewind: `checkpoints` and `fileCheckpointingEnabled`.

use crate::keys;
use crate::problem::SettingsProblem;
use serde_json::Value;

const MIB: u64 = 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointSettings {
    pub enabled: bool,
    /// Longest file that is kept.
    pub file_bytes: u64,
    /// Of one session, as it is stored.
    pub session_bytes: u64,
    /// Of the whole database.
    pub database_bytes: u64,
    /// What is read before a command, in memory.
    pub memory_bytes: u64,
    /// What cannot be used as it is written; the default counts instead.
    pub problems: Vec<SettingsProblem>,
}

impl CheckpointSettings {
    pub(crate) fn read(written: &Value) -> Self {
        let mut problems = Vec::new();
        let mut problem = |key, message: String| problems.push(SettingsProblem::new(key, message));
        let checkpoints = &written[keys::CHECKPOINTS];
        if !checkpoints.is_null() && !checkpoints.is_object() {
            problem(keys::CHECKPOINTS, format!("checkpoints must be an object, not {checkpoints}"));
        }
        let known = ["enabled", "maxFileBytes", "maxSessionBytes", "maxDatabaseBytes", "maxMemoryBytes"];
        for key in checkpoints.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if !known.contains(&key.as_str()) {
                let meant =
                    ona_api::nearest(key, known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
                problem(keys::CHECKPOINTS, format!("checkpoints.{key} is not a setting and has no effect{meant}"));
            }
        }
        let mut switch = |key, name: &str, value: &Value| match value {
            Value::Null | Value::Bool(true) => true,
            Value::Bool(false) => false,
            other => {
                problem(key, format!("{name} must be true or false, not {other}; taken as true"));
                true
            }
        };
        let compatible = keys::FILE_CHECKPOINTING_ENABLED;
        let enabled = switch(compatible, compatible, &written[compatible])
            & switch(keys::CHECKPOINTS, "checkpoints.enabled", &checkpoints["enabled"]);
        let mut bytes = |name: &str, default: u64| match &checkpoints[name] {
            Value::Null => default,
            value => value.as_u64().unwrap_or_else(|| {
                let message = format!("checkpoints.{name} must be a number of bytes, not {value}; {default} is used");
                problem(keys::CHECKPOINTS, message);
                default
            }),
        };
        Self {
            enabled,
            file_bytes: bytes("maxFileBytes", 2 * MIB),
            session_bytes: bytes("maxSessionBytes", 64 * MIB),
            database_bytes: bytes("maxDatabaseBytes", 512 * MIB),
            memory_bytes: bytes("maxMemoryBytes", 32 * MIB),
            problems,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_read_and_wrong_ones_named() {
        let read = |written: Value| CheckpointSettings::read(&written);
        let default = read(Value::Null);
        assert!(default.enabled && default.problems.is_empty());
        assert_eq!(read(json!({"checkpoints": {"maxFileBytes": 10, "maxMemoryBytes": 0}})).file_bytes, 10);
        for off in [json!({"fileCheckpointingEnabled": false}), json!({"checkpoints": {"enabled": false}})] {
            assert!(!read(off).enabled);
        }
        for (wrong, expected) in [
            (json!({"checkpoints": 1}), "checkpoints must be an object, not 1"),
            (
                json!({"checkpoints": {"maxFileByte": 1}}),
                "checkpoints.maxFileByte is not a setting and has no effect; did you mean maxFileBytes?",
            ),
            (
                json!({"checkpoints": {"maxFileBytes": "1k"}}),
                "checkpoints.maxFileBytes must be a number of bytes, not \"1k\"; 2097152 is used",
            ),
            (
                json!({"fileCheckpointingEnabled": 0}),
                "fileCheckpointingEnabled must be true or false, not 0; taken as true",
            ),
        ] {
            let found = read(wrong);
            assert_eq!(found.problems[0].message, expected);
            assert_eq!(CheckpointSettings { problems: Vec::new(), ..found }, default);
        }
    }
}
