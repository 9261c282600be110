//! The table of environment variables, the code and the documentation agree.

use ona_api::environment::{ALL, READ_BY_LIBRARIES, VariableGroup};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The source files of all crates but the test kit, with their texts.
fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = Vec::new();
    for member in repository().join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if !member.ends_with("testkit") && member.join("src").is_dir() {
            folders.push(member.join("src"));
        }
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(files.len() > 100, "the sources were not found");
    files
}

#[test]
fn every_variable_of_the_table_is_used() {
    let sources = sources();
    for variable in ALL {
        let use_of_it = format!("environment::{variable}");
        assert!(sources.iter().any(|(_, text)| text.contains(&use_of_it)), "nothing uses {variable}");
    }
}

#[test]
fn lookup_is_only_for_names_that_come_from_elsewhere() {
    for (file, text) in sources() {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(!code.contains(".lookup(\""), "{}: add the variable to api/environment.rs", file.display());
    }
}

#[test]
fn the_documentation_shows_the_table() {
    let mut text = String::from(
        "# Environment variables\n\nAll variables that ona reads, and those it sets for its children. `ona help environment` prints the same table, \
         with `--json` for programs.\n",
    );
    for group in VariableGroup::ALL {
        let _ = write!(text, "\n## {}\n\n| variable | type | default | meaning |\n|---|---|---|---|\n", group.title());
        for variable in ALL.iter().filter(|variable| variable.group() == group) {
            let kind = variable.kind().to_string().replace('|', "\\|");
            let (default, meaning) = (variable.default().unwrap_or_default(), variable.meaning());
            let _ = writeln!(text, "| `{variable}` | {kind} | {default} | {meaning} |");
        }
    }
    text.push_str("\n## Variables that libraries read\n\n| variable | meaning |\n|---|---|\n");
    for (name, meaning) in READ_BY_LIBRARIES {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    let written = std::fs::read_to_string(repository().join("docs/ENVIRONMENT.md")).unwrap_or_default();
    if written != text {
        let expected = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ENVIRONMENT.md");
        std::fs::write(&expected, text).unwrap();
        panic!("docs/ENVIRONMENT.md is not the table; copy {}", expected.display());
    }
}
