use crate::fixture::{Fixture, block_on, set_modified};
use crate::glob::all_files;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

fn grep(pattern: &str, fields: Value) -> Value {
    let mut input = json!({"pattern": pattern});
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input
}

fn lines(pattern: &str, fields: Value) -> Value {
    let mut input = grep(pattern, fields);
    input["output_mode"] = "content".into();
    input
}

/// A file with hits in several places, one beside it, one without.
fn sample() -> Fixture {
    let fixture = Fixture::new();
    set_modified(&fixture.file("a.rs", "one\ntwo foo\nthree\nfour\nfive\nfoo foo\nseven\n"), 10);
    set_modified(&fixture.file("src/b.ts", "foo\n"), 20);
    set_modified(&fixture.file("src/c.txt", "bar\n"), 30);
    fixture
}

#[tokio::test]
async fn matching_files_are_listed_newest_first() {
    let fixture = sample();
    let result = fixture.call("Grep", grep("foo", json!({}))).await;
    assert_eq!(fixture.short(&result.content), "/p/src/b.ts\n/p/a.rs");
    assert_eq!(
        Value::Object(result.data),
        json!({
            "mode": "files_with_matches", "totalFiles": 2, "appliedOffset": 0, "numFiles": 2,
            "filenames": [fixture.path("src/b.ts"), fixture.path("a.rs")],
        })
    );
    assert_eq!(fixture.ok("Grep", grep("nothing", json!({}))).await, "");
}

#[tokio::test]
async fn matching_lines_come_in_the_order_of_paths() {
    let fixture = sample();
    assert_eq!(
        fixture.ok("Grep", lines("foo", json!({}))).await,
        "/p/a.rs:2:two foo\n/p/a.rs:6:foo foo\n/p/src/b.ts:1:foo"
    );
    assert_eq!(
        fixture.ok("Grep", lines("FOO", json!({"-i": true, "-n": false}))).await,
        "/p/a.rs:two foo\n/p/a.rs:foo foo\n/p/src/b.ts:foo"
    );
    assert_eq!(
        fixture.ok("Grep", lines("fo{2}", json!({"-o": true, "-C": 3}))).await,
        "/p/a.rs:2:foo\n/p/a.rs:6:foo\n/p/a.rs:6:foo\n/p/src/b.ts:1:foo"
    );
}

#[tokio::test]
async fn context_is_marked_and_groups_are_separated() {
    let fixture = sample();
    let around = "/p/a.rs-1-one\n/p/a.rs:2:two foo\n/p/a.rs-3-three\n--\n/p/a.rs-5-five\n/p/a.rs:6:foo foo\n/p/a.rs-7-seven\n\
                  --\n/p/src/b.ts:1:foo";
    assert_eq!(fixture.ok("Grep", lines("foo", json!({"-C": 1}))).await, around);
    assert_eq!(fixture.ok("Grep", lines("foo", json!({"context": 1}))).await, around);
    assert_eq!(
        fixture.ok("Grep", lines("foo", json!({"-A": 1, "-B": 0, "path": "a.rs"}))).await,
        "/p/a.rs:2:two foo\n/p/a.rs-3-three\n--\n/p/a.rs:6:foo foo\n/p/a.rs-7-seven"
    );
}

#[tokio::test]
async fn counts_are_of_matching_lines() {
    let fixture = sample();
    let result = fixture.call("Grep", grep("foo", json!({"output_mode": "count", "head_limit": 1}))).await;
    assert_eq!(fixture.short(&result.content), "/p/a.rs:2\n[Files 1 to 1 of 2. Continue with offset 1.]");
    assert_eq!(result.data["numMatches"], 3);
}

#[tokio::test]
async fn long_results_come_in_pages() {
    let fixture = Fixture::new();
    fixture.file("a", "x\n".repeat(300));
    fixture.file("b", "x\n".repeat(300));
    let first = fixture.ok("Grep", lines("x", json!({}))).await;
    assert!(first.ends_with("\n/p/a:250:x\n[Lines 1 to 250 of 600. Continue with offset 250.]"), "{first}");
    assert_eq!(
        fixture.ok("Grep", lines("x", json!({"offset": 299, "head_limit": 2}))).await,
        "/p/a:300:x\n/p/b:1:x\n[Lines 300 to 301 of 600. Continue with offset 301.]"
    );
    assert_eq!(
        fixture.ok("Grep", lines("x", json!({"offset": 700}))).await,
        "[Nothing at offset 700: there are 600 lines.]"
    );
    let all = fixture.ok("Grep", lines("x", json!({"head_limit": 0}))).await;
    assert_eq!(all.lines().count(), 600);
    assert!(all.ends_with("\n/p/b:300:x"));
}

#[tokio::test]
async fn an_answer_has_at_most_a_mebibyte() {
    let fixture = Fixture::new();
    fixture.file("a", format!("{}\n", "x".repeat(490)).repeat(5000));
    let content = fixture.ok("Grep", lines("x", json!({"head_limit": 0}))).await;
    assert!(content.len() <= 1024 * 1024 + 100);
    let last = content.lines().last().unwrap();
    assert!(last.starts_with("[Lines 1 to ") && last.contains(" of 5000. Continue with offset "), "{last}");
}

#[tokio::test]
async fn globs_and_types_narrow_the_search() {
    let fixture = sample();
    fixture.file("src/d.min.js", "foo\n");
    set_modified(&fixture.path("src/d.min.js"), 5);
    let cases = [
        (json!({"glob": "*.rs"}), "/p/a.rs"),
        (json!({"glob": "*.{ts,js}"}), "/p/src/b.ts\n/p/src/d.min.js"),
        (json!({"glob": "*.ts, *.rs"}), "/p/src/b.ts\n/p/a.rs"),
        (json!({"glob": "!*.min.js"}), "/p/src/b.ts\n/p/a.rs"),
        (json!({"glob": "src/*.ts"}), "/p/src/b.ts"),
        (json!({"glob": "*.ts", "path": "src"}), "/p/src/b.ts"),
        (json!({"type": "rust"}), "/p/a.rs"),
        (json!({"type": "rust", "glob": "", "path": ""}), "/p/a.rs"),
        (json!({"type": "", "glob": "*.rs"}), "/p/a.rs"),
        (json!({"type": "js"}), "/p/src/d.min.js"),
    ];
    for (fields, listed) in cases {
        assert_eq!(fixture.ok("Grep", grep("foo", fields.clone())).await, listed, "{fields}");
    }
}

#[tokio::test]
async fn ignored_and_binary_files_are_left_out_and_hidden_ones_searched() {
    let fixture = Fixture::new();
    for (name, content) in [
        (".gitignore", "target\n*.log\n"),
        (".git/config", "foo"),
        (".hidden/a", "foo"),
        ("target/b", "foo"),
        ("x.log", "foo"),
        ("bin", "foo\0foo"),
        ("c", "foo"),
    ] {
        set_modified(&fixture.file(name, content), 1);
    }
    assert_eq!(fixture.ok("Grep", grep("foo", json!({}))).await, "/p/.hidden/a\n/p/c");
    assert_eq!(fixture.ok("Grep", grep("foo", json!({"path": "x.log"}))).await, "/p/x.log");
    assert_eq!(fixture.ok("Grep", grep("foo", json!({"path": "target"}))).await, "/p/target/b");
    assert_eq!(
        fixture.ok("Grep", lines("foo", json!({"path": "bin"}))).await,
        "/p/bin: binary file matches (NUL byte at offset 3)"
    );
}

#[tokio::test]
async fn without_a_repository_gitignore_means_nothing() {
    let fixture = Fixture::new();
    fixture.file(".gitignore", "*.log\n");
    fixture.file("x.log", "foo");
    assert_eq!(fixture.ok("Grep", grep("foo", json!({}))).await, "/p/x.log");
}

#[tokio::test]
async fn a_multiline_search_spans_lines() {
    let fixture = Fixture::new();
    fixture.file("a", "fn x(\n  a\n)\nfn y()\n");
    let multi = |mut fields: Value| {
        fields["multiline"] = true.into();
        grep(r"x\(.*?\)", fields)
    };
    assert_eq!(
        fixture.ok("Grep", multi(json!({"output_mode": "content"}))).await,
        "/p/a:1:fn x(\n/p/a:2:  a\n/p/a:3:)"
    );
    assert_eq!(
        fixture.ok("Grep", multi(json!({"output_mode": "content", "-o": true}))).await,
        "/p/a:1:x(\n/p/a:2:  a\n/p/a:3:)"
    );
    assert_eq!(fixture.ok("Grep", multi(json!({"output_mode": "count"}))).await, "/p/a:1");
}

#[tokio::test]
async fn encodings_and_long_lines() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> = "\u{feff}größe\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.file("a", utf16);
    fixture.file("b", b"gr\xf6\xdfe\r\n");
    fixture.file("c", format!("größe{}", "x".repeat(600)));
    assert_eq!(
        fixture.ok("Grep", lines("gr", json!({}))).await,
        format!(
            "/p/a:1:größe\n/p/b:1:gr\u{fffd}\u{fffd}e\n/p/c:1:größe{} [line cut at 500 characters]",
            "x".repeat(495)
        )
    );
}

#[tokio::test]
async fn files_that_may_not_be_shown_are_neither_listed_nor_counted() {
    let mut fixture = sample();
    fixture.cx.may_show = Arc::new(|path: &Path| !path.ends_with("a.rs"));
    assert_eq!(fixture.ok("Grep", lines("foo", json!({}))).await, "/p/src/b.ts:1:foo");
    let result = fixture.call("Grep", grep("foo", json!({"output_mode": "count"}))).await;
    assert_eq!((result.data["numMatches"].clone(), result.data["totalFiles"].clone()), (json!(1), json!(1)));
}

#[tokio::test]
async fn what_the_engine_does_not_accept_is_refused_in_its_words() {
    let fixture = sample();
    let no = async |pattern: &str, fields| fixture.no("Grep", grep(pattern, fields)).await;
    assert!(no("a(", json!({})).await.contains("unclosed group"));
    assert!(no("a\\nb", json!({})).await.contains("not allowed in a regex"));
    assert!(no("a", json!({"glob": "[a"})).await.starts_with("glob: error parsing glob '[a'"));
    assert_eq!(no("a", json!({"type": "nope"})).await, "type: unrecognized file type: nope.");
    assert_eq!(no("a", json!({"path": "none"})).await, "/p/none does not exist.");
    assert_eq!(no("a", json!({"path": "/dev/null"})).await, "/dev/null is a device, not a regular file.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_lines_are_those_of_a_naive_search(
        files in prop::collection::btree_map("[ab]{1,2}", "[xy\n]{0,12}", 0..8),
        pattern in "[xy]{1,2}",
        context in 0usize..3,
        offset in 0usize..4,
        limit in 1usize..12,
    ) {
        let fixture = Fixture::new();
        for (name, content) in &files {
            fixture.file(name, content);
        }
        let mut names = Vec::new();
        all_files(&fixture.cx.project, "", &mut names);
        names.sort();
        let mut expected: Vec<String> = Vec::new();
        for name in names {
            let text = fixture.text(&name);
            let lines: Vec<_> = text.lines().collect();
            let hit = |i: usize| lines[i].contains(&pattern);
            let shown = |i: usize| (i.saturating_sub(context)..lines.len().min(i + context + 1)).any(hit);
            let mut last = None;
            for i in (0..lines.len()).filter(|i| shown(*i)) {
                let gap = last.map_or(!expected.is_empty(), |last| last + 1 != i);
                if context > 0 && gap {
                    expected.push("--".into());
                }
                let mark = if hit(i) { ':' } else { '-' };
                expected.push(format!("/p/{name}{mark}{}{mark}{}", i + 1, lines[i]));
                last = Some(i);
            }
        }
        let total = expected.len();
        let page: Vec<_> = expected.iter().skip(offset).take(limit).cloned().collect();
        let content = block_on(fixture.ok("Grep", lines(&pattern, json!({"-C": context, "offset": offset, "head_limit": limit}))));
        let got: Vec<_> = content.lines().filter(|line| !line.starts_with('[')).collect();
        prop_assert_eq!(got, page.clone());
        prop_assert_eq!(content.contains("Continue with offset"), !page.is_empty() && offset + page.len() < total);
    }
}
