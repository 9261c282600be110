//! Every path that a document names exists.

use crate::{files, read, root};
use regex::Regex;

#[test]
fn documents_name_only_paths_that_exist() {
    let path = Regex::new(r"\b(?:crates|scripts|docs)/[A-Za-z0-9_./-]*[A-Za-z0-9_]").expect("the pattern compiles");
    let mut missing = Vec::new();
    let documents = files(&root().join("docs"), "md")
        .into_iter()
        .chain(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    let mut seen = 0;
    for document in documents {
        for named in path.find_iter(&read(&document)) {
            seen += 1;
            if !root().join(named.as_str()).exists() {
                missing.push(format!("{}: {}", document.display(), named.as_str()));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(seen > 100, "the documents name {seen} paths; the pattern no longer finds them");
    assert!(missing.is_empty(), "paths that do not exist:\n{}", missing.join("\n"));
}
