//! Tests that start the program are the slowest there are. What one crate decides is tested in that
//! crate, and what an acceptance row shows is not shown here again; so their number has a limit.

use std::path::Path;

/// They read files of the repository and start nothing.
const START_NOTHING: [&str; 2] = ["limit.rs", "references.rs"];

/// Test functions of this folder and the folders below it.
fn tests_below(folder: &Path) -> usize {
    let entries = folder.read_dir().expect("a readable folder").map(|entry| entry.expect("an entry").path());
    entries
        .filter(|path| !START_NOTHING.iter().any(|name| path.ends_with(name)))
        .map(|path| match path.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => {
                let text = std::fs::read_to_string(&path).expect("a readable file");
                text.lines().filter(|line| line.trim() == "#[test]").count()
            }
            _ if path.is_dir() => tests_below(&path),
            _ => 0,
        })
        .sum()
}

#[test]
fn fewer_than_400_tests_start_the_program() {
    let found = tests_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"));
    assert!(found > 100, "only {found} tests were found");
    assert!(found < 400, "{found} tests start the program; test what a crate decides in that crate");
}
