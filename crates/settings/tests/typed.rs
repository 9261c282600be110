//! Settings are read by fields, not by the names of their keys.

use std::path::{Path, PathBuf};

#[test]
fn no_crate_looks_up_a_setting_by_a_string() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // `trust` merges raw layers before they are settings; it names keys by constants.
    let mut folders: Vec<PathBuf> = crates.read_dir().unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    folders.retain(|folder| folder.is_dir() && !folder.ends_with("settings/src"));
    assert!(folders.len() > 10, "the crates were not found");
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for lookup in ["settings[\"", "settings.get(\"", "layer.value[\""] {
                assert!(!code.contains(lookup), "{}: {lookup}", path.display());
            }
        }
    }
}
