//! Makes ona known to a Gastown town as an agent (`ona gastown install`).
//!
//! Two files of the town name agents: presets, and the agents of its configuration. The
//! second is what makes Gastown pass its hooks with `--settings`; the first is what other
//! parts of it look up. Only what is missing is added: whatever stands there already was
//! the operator's choice.

use crate::failure::Failure;
use crate::launch::Launch;
use ona_api::environment;
use ona_files::ReadError;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The line at which Gastown sees that ona waits for input.
const READY: &str = "❯ ";

/// A file of a town that names agents.
pub struct TownFile {
    pub path: PathBuf,
    /// Whether ona was added; it was there already otherwise.
    pub changed: bool,
}

/// Adds ona to the files of `town`, or of the town that GT_ROOT names.
pub fn install(launch: &Launch, town: Option<&Path>) -> Result<Vec<TownFile>, Failure> {
    launch.operator_only("the agents of a town")?;
    let town = town.map(Path::to_owned).or_else(|| launch.env.non_empty(environment::GT_ROOT).map(PathBuf::from));
    let town = town.ok_or_else(|| Failure::usage("which town? Neither --town nor GT_ROOT names its folder"))?;
    let town = launch.cwd.join(town);
    if !town.is_dir() {
        return Err(Failure::usage(format_args!("folder {} does not exist", town.display())));
    }
    let settings = town.join("settings");
    // Both are read before either is written: a broken one leaves the other as it was.
    let files = [(settings.join("agents.json"), preset()), (settings.join("config.json"), configured())];
    let mut edits = Vec::new();
    for (file, wanted) in files {
        let there = read(&file)?;
        let mut value = there.clone();
        add_missing(&mut value, wanted);
        let agents = value.get("agents").and_then(|agents| agents.get("ona"));
        if !agents.is_some_and(Value::is_object) {
            return Err(unusable(&file, "its agents are not an object"));
        }
        edits.push((file, value != there, format!("{:#}\n", Value::Object(value))));
    }
    let mut files = Vec::new();
    for (file, changed, text) in edits {
        if changed {
            let failed = |error| Failure::refused(format_args!("{}: {error}", file.display()));
            std::fs::create_dir_all(&settings).and_then(|()| ona_trust::replace_file(&file, &text)).map_err(failed)?;
        }
        files.push(TownFile { path: file, changed });
    }
    Ok(files)
}

fn unusable(file: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::usage(format_args!("{}: {why}; nothing was changed", file.display()))
}

/// Returns what the file says; empty if it does not exist.
fn read(file: &Path) -> Result<Map<String, Value>, Failure> {
    match ona_files::read_text(file) {
        Ok(text) => match serde_json::from_str(&text).map_err(|error| unusable(file, error))? {
            Value::Object(value) => Ok(value),
            _ => Err(unusable(file, "it does not hold a JSON object")),
        },
        Err(ReadError::Absent) => Ok(Map::new()),
        Err(why) => Err(unusable(file, format_args!("it {why}"))),
    }
}

/// Lays `wanted` under what is there.
fn add_missing(there: &mut Map<String, Value>, wanted: Value) {
    let Value::Object(wanted) = wanted else { return };
    for (key, value) in wanted {
        match there.get_mut(&key) {
            Some(Value::Object(below)) => add_missing(below, value),
            Some(_) => {}
            None => drop(there.insert(key, value)),
        }
    }
}

fn preset() -> Value {
    json!({"version": 1, "agents": {"ona": {
        "name": "ona",
        "command": "ona",
        "args": ["--dangerously-skip-permissions", "--gastown"],
        "process_names": ["ona"],
        "session_id_env": "ONA_SESSION_ID",
        "resume_flag": "--resume",
        "continue_flag": "--continue",
        "resume_style": "flag",
        "supports_hooks": true,
        "supports_fork_session": true,
        "prompt_mode": "arg",
        "config_dir": ".ona",
        "hooks_provider": "claude",
        "hooks_dir": ".claude",
        "hooks_settings_file": "settings.json",
        "ready_prompt_prefix": READY,
        "ready_delay_ms": 3000,
        "instructions_file": "AGENTS.md",
        "emits_permission_warning": false,
        "has_turn_boundary_drain": true,
        "escape_cancels_request": false,
        "non_interactive": {"prompt_flag": "-p", "output_flag": "--output-format json"},
        "acp": {"command": "acp"},
    }}})
}

fn configured() -> Value {
    json!({"agents": {"ona": {
        "provider": "claude",
        "command": "ona",
        "args": ["--dangerously-skip-permissions", "--gastown"],
        "tmux": {"process_names": ["ona"], "ready_prompt_prefix": READY},
        "session": {"session_id_env": "ONA_SESSION_ID"},
        "instructions": {"file": "AGENTS.md"},
    }}})
}
