//! `ona hooks import`: reads a file, has its hooks translated (`ona_dialects::translate_hooks`)
//! and prints them or writes them into the project's settings.

use super::command::Foreign;
use crate::output;
use ona_dialects::{ForeignProgram, add_hooks, translate_hooks};
use ona_runtime::{Failure, Launch};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

const RENAMED: &str = "ona: hooks see the tool names of ona (Bash for run_shell_command, Write for write_file, ...); \
                       a script that reads tool_name must know them";

pub(super) fn run(launch: &Launch, from: Foreign, file: Option<&Path>, write: bool) -> Result<u8, Failure> {
    if write {
        launch.operator_only("hooks")?;
    }
    let named = file.is_some();
    let file = file.map_or_else(|| usual(launch, from), |file| Ok(launch.cwd.join(file)))?;
    let wrong = |what: String| Failure::usage(format_args!("{}: {what}", file.display()));
    let text = if named { ona_files::read_named(&file) } else { ona_files::read_text(&file) };
    let text = text.map_err(|why| wrong(why.to_string()))?;
    let settings: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("not valid JSON: {error}")))?;
    let translated = translate_hooks(from.program(), &settings);
    for what in &translated.skipped {
        output::note(format_args!("ona: not imported: {what}"));
    }
    if translated.renames_tools {
        output::note(RENAMED);
    }
    if translated.hooks.is_empty() {
        return Err(Failure::refused(format_args!("{} has no hooks that ona could run", file.display())));
    }
    if write {
        return add(&launch.project.join(".ona/settings.json"), translated.hooks);
    }
    output::pretty(&json!({"hooks": translated.hooks}));
    Ok(0)
}

/// Where the program keeps its hooks, the project's before the user's.
fn usual(launch: &Launch, from: Foreign) -> Result<PathBuf, Failure> {
    let name = from.program().settings_file();
    let places = [launch.project.join(name), launch.env.home().join(name)];
    let [project, _] = &places;
    let missing = || {
        Failure::usage(format_args!("{} does not exist, and neither does one in your home folder", project.display()))
    };
    places.iter().find(|place| place.is_file()).cloned().ok_or_else(missing)
}

/// Adds the groups to a settings file and keeps everything else in it.
fn add(file: &Path, hooks: Map<String, Value>) -> Result<u8, Failure> {
    let wrong = |what: String| Failure::refused(format_args!("{} was not changed: {what}", file.display()));
    let mut settings: Value = match ona_files::read_text(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| wrong(format!("it is not valid JSON: {error}")))?,
        Err(why) if why.is_absent() => json!({}),
        Err(why) => return Err(wrong(format!("it {why}"))),
    };
    add_hooks(&mut settings, hooks).map_err(wrong)?;
    let write = || {
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
        ona_trust::replace_file(file, &format!("{settings:#}\n"))
    };
    write().map_err(|error: std::io::Error| wrong(error.to_string()))?;
    output::note(format_args!("The hooks were added to {}", file.display()));
    Ok(0)
}

impl Foreign {
    fn program(self) -> ForeignProgram {
        match self {
            Foreign::Claude => ForeignProgram::Claude,
            Foreign::Codex => ForeignProgram::Codex,
            Foreign::Gemini => ForeignProgram::Gemini,
        }
    }
}
