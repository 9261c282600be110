//! The first files of a project: instructions and settings (`ona init`).

use crate::failure::Failure;
use crate::launch::Launch;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const INSTRUCTIONS: &str = "\
# Instructions for agents

What this project is, in one sentence.

## Commands

- build:
- test:

## Rules

- Say what you changed and how you checked it.
";

const SETTINGS: &str = r#"{
  "permissions": {
    "allow": [],
    "ask": [],
    "deny": ["Read(./.env)"]
  },
  "hooks": []
}
"#;

/// A file, and whether it was written now.
pub struct StarterFile {
    pub path: PathBuf,
    pub is_new: bool,
}

/// Writes the files that are not there. Nothing is overwritten, and no link is followed.
pub fn write(launch: &Launch) -> Result<Vec<StarterFile>, Failure> {
    launch.never_from_an_agent("the settings of a project")?;
    let settings = launch.project.join(".ona");
    if !settings.is_symlink() {
        let made = DirBuilder::new().recursive(true).mode(0o755).create(&settings);
        made.map_err(|error| Failure::refused(format_args!("{}: {error}", settings.display())))?;
    }
    // Instructions under another usual name are instructions.
    let named = ["AGENTS.md", "CLAUDE.md"].map(|name| launch.project.join(name));
    let instructions = named.iter().find(|file| file.symlink_metadata().is_ok()).unwrap_or(&named[0]).clone();
    [(instructions, INSTRUCTIONS), (settings.join("settings.json"), SETTINGS)]
        .into_iter()
        .map(|(path, text)| Ok(StarterFile { is_new: create(&path, text)?, path }))
        .collect()
}

fn create(path: &Path, text: &str) -> Result<bool, Failure> {
    let failed = |error: std::io::Error| Failure::refused(format_args!("{}: {error}", path.display()));
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(failed),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
