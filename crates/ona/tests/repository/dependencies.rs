//! The crates of the workspace: what each depends on, as `cargo metadata` tells it.

use crate::{files, read, root};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

struct Package {
    dir: PathBuf,
    description: String,
    /// Crates of the workspace that the program needs, by folder name.
    ours: BTreeSet<String>,
    /// All declared dependencies: name, and whether only tests need it.
    declared: Vec<(String, bool)>,
}

/// Returns the workspace's packages by folder name.
fn packages() -> BTreeMap<String, Package> {
    #[expect(clippy::disallowed_methods, reason = "cargo knows the workspace, and no child of ours runs here")]
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    packages.iter().map(package).collect()
}

fn package(package: &Value) -> (String, Package) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let folder = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dir = Path::new(&text(&package["manifest_path"])).parent().expect("a manifest lies in a folder").to_owned();
    let mut ours = BTreeSet::new();
    let mut declared = Vec::new();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let only_tests = dependency["kind"] == "dev";
        declared.push((text(&dependency["name"]), only_tests));
        if let (Some(path), false) = (dependency["path"].as_str(), only_tests) {
            ours.insert(folder(Path::new(path)));
        }
    }
    (folder(&dir), Package { dir, description: text(&package["description"]), ours, declared })
}

/// Returns what can be reached from `crates`, without themselves.
fn reachable(packages: &BTreeMap<String, Package>, crates: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut open: Vec<_> = crates.into_iter().flat_map(|name| packages[&name].ours.clone()).collect();
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            open.extend(packages[&name].ours.clone());
        }
    }
    found
}

/// Returns the diagram: crates in layers, each with the crates it builds on directly. What is
/// reached through one of those is left out, so that a new arrow stands out.
fn diagram(packages: &BTreeMap<String, Package>) -> String {
    let mut layers: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for name in packages.keys() {
        layers.entry(height(packages, name)).or_default().push(name);
    }
    let width = packages.keys().map(String::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for names in layers.values().rev() {
        for name in names {
            let direct = &packages[*name].ours;
            let through = reachable(packages, direct.iter().cloned());
            let shown: Vec<_> = direct.difference(&through).map(String::as_str).collect();
            lines.push(format!("{name:width$} → {}", shown.join(", ")).trim_end_matches(" → ").trim_end().to_owned());
        }
        lines.push(String::new());
    }
    lines.join("\n").trim_end().to_owned()
}

fn height(packages: &BTreeMap<String, Package>, name: &str) -> usize {
    packages[name].ours.iter().map(|below| height(packages, below) + 1).max().unwrap_or(0)
}

#[test]
fn the_diagram_in_the_architecture_is_the_one_cargo_sees() {
    let drawn = diagram(&packages());
    let document = read("docs/ARCHITECTURE.md");
    assert!(
        document.contains(&format!("```text\n{drawn}\n```")),
        "docs/ARCHITECTURE.md does not show the crates as they depend on each other; the block must read:\n\n{drawn}\n"
    );
}

#[test]
fn every_crate_says_what_it_is_for() {
    for (name, package) in packages() {
        assert!(package.description.len() > 15, "crates/{name}/Cargo.toml has no description");
        assert!(!package.description.ends_with('.'), "crates/{name}: a description is a phrase, not a sentence");
    }
}

#[test]
fn every_declared_dependency_is_used() {
    let mut unused = Vec::new();
    for (name, package) in packages() {
        let of = |dir: &str| files(&package.dir.join(dir), "rs").into_iter().map(read).collect::<String>();
        let (source, tests) = (of("src"), of("tests") + &of("examples") + &of("benches"));
        for (dependency, only_tests) in &package.declared {
            let word = Regex::new(&format!(r"\b{}\b", dependency.replace('-', "_"))).expect("a crate name is a word");
            let used = word.is_match(&source) || (*only_tests && word.is_match(&tests));
            if !used {
                unused.push(format!("crates/{name}: {dependency}"));
            }
        }
    }
    assert!(unused.is_empty(), "declared and never named:\n{}", unused.join("\n"));
}

/// `ona` is the thin front: what it decides belongs below it, where a terminal can use it too.
#[test]
fn the_front_has_fewer_than_6000_lines() {
    let lines: usize = files(&root().join("crates/ona/src"), "rs").iter().map(|file| read(file).lines().count()).sum();
    assert!(lines > 1000, "only {lines} lines were found");
    assert!(lines < 6000, "crates/ona/src has {lines} lines; move what decides into a library");
}
