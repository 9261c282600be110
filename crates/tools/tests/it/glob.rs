use crate::fixture::{Fixture, block_on, set_modified};
use proptest::prelude::*;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn files_are_listed_newest_first_then_by_name() {
    let fixture = Fixture::new();
    for (name, at) in [("b.rs", 10), ("src/old.rs", 5), ("src/new.rs", 20), ("a.rs", 10), ("a.txt", 30)] {
        set_modified(&fixture.file(name, ""), at);
    }
    let result = fixture.call("Glob", json!({"pattern": "**/*.rs"})).await;
    assert_eq!(fixture.short(&result.content), "/p/src/new.rs\n/p/a.rs\n/p/b.rs\n/p/src/old.rs");
    assert_eq!((&result.data["numFiles"], &result.data["truncated"]), (&json!(4), &json!(false)));
}

#[tokio::test]
async fn patterns() {
    let fixture = Fixture::new();
    for name in ["a.rs", "src/a.rs", "src/deep/b.ts", "src/.hidden.ts", ".git/a.rs", "target/x.rs", "src/[x].rs"] {
        set_modified(&fixture.file(name, ""), 1);
    }
    fixture.file(".gitignore", "target");
    std::fs::create_dir(fixture.path("dir.rs")).unwrap();
    let cases = [
        ("*.rs", "/p/a.rs\n/p/src/[x].rs\n/p/src/a.rs\n/p/target/x.rs"),
        ("./*.rs", "/p/a.rs"),
        ("src/*.rs", "/p/src/[x].rs\n/p/src/a.rs"),
        ("src/**/*.{ts,tsx}", "/p/src/.hidden.ts\n/p/src/deep/b.ts"),
        ("**/a.rs", "/p/a.rs\n/p/src/a.rs"),
        ("src/a.rs", "/p/src/a.rs"),
        ("src/\\[x\\].rs", "/p/src/[x].rs"),
        ("nowhere/*.rs", ""),
        ("*.none", ""),
    ];
    for (pattern, listed) in cases {
        assert_eq!(fixture.ok("Glob", json!({"pattern": pattern})).await, listed, "{pattern}");
    }
    let absolute = fixture.path("src/deep/*.ts");
    assert_eq!(fixture.ok("Glob", json!({"pattern": absolute, "path": "target"})).await, "/p/src/deep/b.ts");
    assert_eq!(fixture.ok("Glob", json!({"pattern": "*.ts", "path": "src/deep"})).await, "/p/src/deep/b.ts");
}

#[tokio::test]
async fn at_most_100_files_are_shown_and_the_rest_is_counted() {
    let fixture = Fixture::new();
    for n in 0..130 {
        set_modified(&fixture.file(&format!("{n:03}"), ""), n + 1);
    }
    let result = fixture.call("Glob", json!({"pattern": "*"})).await;
    let content = fixture.short(&result.content);
    let lines: Vec<_> = content.lines().collect();
    assert_eq!((lines[0], lines[99]), ("/p/129", "/p/030"));
    assert_eq!(
        lines[100..],
        ["[100 of 130 files shown, the most recently changed. Narrow the pattern or the path to see others.]"]
    );
    assert_eq!(result.data["totalMatches"], 130);
}

#[tokio::test]
async fn files_that_may_not_be_shown_are_left_out() {
    let mut fixture = Fixture::new();
    fixture.file("a", "");
    fixture.file("secret", "");
    fixture.cx.may_show = Arc::new(|path: &Path| !path.ends_with("secret"));
    assert_eq!(fixture.ok("Glob", json!({"pattern": "*"})).await, "/p/a");
}

#[tokio::test]
async fn links_count_as_what_they_lead_to_and_are_not_descended() {
    let fixture = Fixture::new();
    set_modified(&fixture.file("dir/a.rs", ""), 1);
    symlink("dir", fixture.path("dirlink.rs")).unwrap();
    symlink("dir/a.rs", fixture.path("link.rs")).unwrap();
    symlink("nowhere", fixture.path("broken.rs")).unwrap();
    assert_eq!(fixture.ok("Glob", json!({"pattern": "**/*.rs"})).await, "/p/dir/a.rs\n/p/link.rs");
}

#[tokio::test]
async fn broken_patterns_and_missing_directories_are_refused() {
    let fixture = Fixture::new();
    fixture.file("file", "");
    assert!(fixture.no("Glob", json!({"pattern": "[a"})).await.starts_with("pattern: error parsing glob '[a': "));
    assert_eq!(fixture.no("Glob", json!({"pattern": "a\0"})).await, "pattern contains a NUL byte.");
    assert_eq!(fixture.no("Glob", json!({"pattern": "*", "path": "none"})).await, "/p/none does not exist.");
    assert_eq!(fixture.no("Glob", json!({"pattern": "*", "path": "file"})).await, "/p/file is not a directory.");
}

#[tokio::test]
async fn an_interrupted_search_says_so() {
    let fixture = Fixture::new();
    fixture.cx.cancel.cancel();
    let result = fixture.call("Glob", json!({"pattern": "*"})).await;
    assert_eq!((result.content.as_str(), &result.data["is_interrupt"]), ("Interrupted.", &json!(true)));
}

/// Every file below a directory, without `.git`, relative to it.
pub(crate) fn all_files(root: &Path, below: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(root.join(below)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            if name != ".git" {
                all_files(root, &path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// `*` within a name, `**/` for any directories, letters for themselves.
fn naive_match(pattern: &str, path: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**/") {
        return naive_match(rest, path) || path.split_once('/').is_some_and(|(_, path)| naive_match(pattern, path));
    }
    match (pattern.chars().next(), path.chars().next()) {
        (None, None) => true,
        (Some('*'), next) => {
            naive_match(&pattern[1..], path) || next.is_some_and(|c| c != '/' && naive_match(pattern, &path[1..]))
        }
        (Some(a), Some(b)) if a == b => naive_match(&pattern[1..], &path[1..]),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_listing_is_that_of_a_naive_walk(
        files in prop::collection::btree_set("([ab.]/){0,2}[ab]{1,2}", 0..12),
        pattern in "(\\*\\*/)?([ab*]/)?[ab*]{1,2}",
    ) {
        prop_assume!(!files.iter().any(|file| file.contains("./")) && !pattern.contains("**a") && !pattern.contains("**b"));
        prop_assume!(!pattern.ends_with("**") && !pattern.contains("a**") && !pattern.contains("b**"));
        let fixture = Fixture::new();
        for file in &files {
            // A name cannot be a file and a directory at once.
            if !fixture.path(file).exists() && files.iter().all(|other| !other.starts_with(&format!("{file}/"))) {
                set_modified(&fixture.file(file, ""), 1);
            }
        }
        let mut expected = Vec::new();
        all_files(&fixture.cx.project, "", &mut expected);
        let by_name = format!("**/{pattern}");
        let pattern_used = if pattern.contains('/') { &pattern } else { &by_name };
        expected.retain(|path| naive_match(pattern_used, path));
        let mut expected: Vec<_> = expected.iter().map(|path| fixture.path(path)).collect();
        expected.sort();
        let expected: Vec<_> = expected.iter().map(|path| fixture.short(path.to_str().unwrap())).collect();
        prop_assert_eq!(block_on(fixture.ok("Glob", json!({"pattern": pattern}))), expected.join("\n"));
    }
}
