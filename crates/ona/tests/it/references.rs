//! Every decision, section, attack case and deviation that a file of this repository
//! names has an entry in the repository itself.

use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DECISIONS: &str = include_str!("../../../../docs/DECISIONS.md");
const SPECIFICATION: &str = include_str!("../../../../docs/SPECIFICATION.md");
const DEVIATIONS: &str = include_str!("../../../../docs/DEVIATIONS.md");

/// How a kind of reference is written, and whether one has an entry.
type Kind = (Regex, fn(&str) -> bool);

/// Whether a scenario of a dialect, or of one of its groups, has an entry.
fn has_scenario(id: &str) -> bool {
    SPECIFICATION.contains(&format!("| {id} |")) || SPECIFICATION.contains(&format!("| {id}."))
}

fn kinds() -> Vec<Kind> {
    let pattern = |text: &str| Regex::new(text).expect("a valid pattern");
    vec![
        (pattern(r"\b(DEC-\d{3})\b"), |id| DECISIONS.contains(&format!("### {id} "))),
        (pattern(r"\bsections? (\d+(?:\.\d+)*)"), |id| {
            let mentioned = Regex::new(&format!(r"(?m)(^\| |[ (]){}[ :,|]", regex::escape(id))).expect("escaped");
            mentioned.is_match(SPECIFICATION)
        }),
        (pattern(r"\b(Appendix [A-Z])\b"), |id| SPECIFICATION.contains(&format!("| {id} |"))),
        (pattern(r"(?:^|[^\w-])([A-O]-\d{1,2})(?:$|[^\w-])"), |id| SPECIFICATION.contains(&format!("| {id} |"))),
        (pattern(r"\b(P-\d{2,3})\b"), |id| DEVIATIONS.contains(&format!("| {id} |"))),
        (pattern(r"\b((?:OM|MG)-X?\d+(?:\.\d+b?)?)\b"), has_scenario),
    ]
}

fn text_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a readable folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "target" || name == ".git" {
            continue;
        }
        let is_text = ["rs", "md", "sh", "mjs", "sql", "toml"].iter().any(|end| name.ends_with(&format!(".{end}")));
        match entry.is_dir() {
            true => text_files(&entry, found),
            false if is_text || entry.parent().is_some_and(|parent| parent.ends_with("scripts")) => found.push(entry),
            false => {}
        }
    }
}

#[test]
fn every_reference_has_an_entry_in_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    text_files(&root, &mut files);
    assert!(files.len() > 500, "only {} files were found", files.len());

    let mut counts = BTreeMap::new();
    let mut missing = Vec::new();
    for (pattern, has_entry) in kinds() {
        for file in &files {
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            for id in pattern.captures_iter(&text).filter_map(|found| found.get(1)) {
                *counts.entry(pattern.as_str().to_owned()).or_insert(0) += 1;
                if !has_entry(id.as_str()) {
                    missing.push(format!("{}: {}", file.display(), id.as_str()));
                }
            }
        }
    }
    // A pattern that finds nothing would pass for ever.
    assert!(counts.len() == 6 && counts.values().all(|count| *count > 20), "{counts:?}");
    assert_eq!(missing, Vec::<String>::new(), "add an entry to docs/DECISIONS.md, SPECIFICATION.md or DEVIATIONS.md");
}

/// Scenarios are also named at the beginning of a test's name, and by a letter and a number
/// where the folder tells the dialect.
#[test]
fn every_scenario_that_a_test_names_has_an_entry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    text_files(&root, &mut files);
    let in_names = Regex::new(r"fn (mg_x?\d+(?:_\d+b?)?|[cgp]\d+)_").expect("a valid pattern");
    let letters = [("it/claude/", 'C'), ("it/pi.rs", 'P'), ("dialects/src/pi/", 'P'), ("it/gastown.rs", 'G')];
    let (mut named, mut missing) = (0, Vec::new());
    for file in &files {
        let path = file.to_string_lossy();
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let mut ids: Vec<String> = Vec::new();
        if path.contains("/ona/tests/it/") || path.contains("/dialects/") {
            let id = |name: &str| match name.strip_prefix("mg_") {
                Some(number) => format!("MG-{}", number.replace('_', ".").replace('x', "X")),
                None => name.to_uppercase(),
            };
            ids.extend(in_names.captures_iter(&text).map(|found| id(&found[1])));
        }
        for (_, letter) in letters.iter().filter(|(folder, _)| path.contains(folder)) {
            let in_text = Regex::new(&format!(r"//.*\b({letter}\d{{1,2}})\b")).expect("a valid pattern");
            ids.extend(in_text.captures_iter(&text).map(|found| found[1].to_owned()));
        }
        named += ids.len();
        missing.extend(ids.into_iter().filter(|id| !has_scenario(id)).map(|id| format!("{path}: {id}")));
    }
    assert!(named > 50, "only {named} scenarios were found");
    assert_eq!(missing, Vec::<String>::new(), "add a scenario to docs/SPECIFICATION.md, or drop the id");
}

/// `crate/module` in the architecture means a file or folder below `crates/crate/src`.
#[test]
fn every_file_that_the_architecture_names_exists() {
    const ARCHITECTURE: &str = include_str!("../../../../docs/ARCHITECTURE.md");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = Regex::new(r"`([a-z][a-z-]*)/([a-z_/.-]+)`").expect("a valid pattern");
    let (mut found, mut missing) = (0, Vec::new());
    for name in named.captures_iter(ARCHITECTURE) {
        let (folder, path) = (crates.join(&name[1]), name[2].trim_end_matches('/'));
        if folder.is_dir() {
            found += 1;
            let places =
                [folder.join("src").join(path), folder.join("src").join(format!("{path}.rs")), folder.join(path)];
            missing.extend((!places.iter().any(|place| place.exists())).then(|| name[0].to_owned()));
        }
    }
    assert!(found > 50, "only {found} files were found");
    assert_eq!(missing, Vec::<String>::new());
}
