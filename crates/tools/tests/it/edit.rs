use crate::fixture::{Fixture, block_on};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

#[tokio::test]
async fn one_exact_occurrence_is_replaced() {
    let fixture = Fixture::new();
    let path = fixture.file("a", "one\ntwo\nthree\n");
    std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    let result = fixture.call("Edit", edit("a", "two", "2")).await;
    assert_eq!(fixture.short(&result.content), "Edited /p/a (1 replacement)");
    assert_eq!(fixture.text("a"), "one\n2\nthree\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        Value::Object(result.data),
        json!({
            "filePath": path, "oldString": "two", "newString": "2", "originalFile": "one\ntwo\nthree\n",
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3,
                "lines": [" one", "-two", "+2", " three"],
            }],
            "userModified": false, "replaceAll": false,
        })
    );
}

#[tokio::test]
async fn several_occurrences_need_replace_all() {
    let fixture = Fixture::new();
    fixture.file("a", "x\ny\nx\n");
    assert_eq!(
        fixture.no("Edit", edit("a", "x", "z")).await,
        "old_string occurs 2 times in /p/a (lines 1, 3). Add surrounding lines to make it unique, or set replace_all."
    );
    let mut all = edit("a", "x", "z");
    all["replace_all"] = true.into();
    assert_eq!(fixture.ok("Edit", all).await, "Edited /p/a (2 replacements)");
    assert_eq!(fixture.text("a"), "z\ny\nz\n");
    fixture.file("b", "aaa");
    assert!(
        fixture.no("Edit", edit("b", "aa", "b")).await.starts_with("old_string occurs 2 times in /p/b (lines 1, 1).")
    );
}

#[tokio::test]
async fn text_that_is_not_there_is_refused_with_a_hint() {
    let fixture = Fixture::new();
    fixture.file("a", "if x {\n\tgo();\n}\n");
    let no = async |old: &str| fixture.no("Edit", edit("a", old, "new")).await;
    assert_eq!(no("stop").await, "old_string does not occur in /p/a.");
    assert_eq!(
        no("if x {\n    go();").await,
        "old_string does not occur in /p/a. Similar text differs in spaces, tabs or line breaks: copy it exactly as Read \
         shows it."
    );
    assert_eq!(
        no("1\tif x {\n2\t\tgo();").await,
        "old_string does not occur in /p/a. It does without the line numbers that Read puts before each line."
    );
    assert_eq!(
        no("{\r\n\tgo").await,
        "old_string does not occur in /p/a. It does with LF instead of CRLF line endings."
    );
    assert_eq!(no("new").await, "old_string and new_string are the same.");
    assert_eq!(fixture.no("Edit", edit("b", "x", "y")).await, "/p/b does not exist.");
}

#[tokio::test]
async fn an_empty_old_string_only_creates() {
    let fixture = Fixture::new();
    fixture.file("full", "x");
    fixture.file("empty", "");
    assert_eq!(fixture.ok("Edit", edit("new/a", "", "1\n2\n")).await, "Wrote /p/new/a (2 lines)");
    assert_eq!(fixture.ok("Edit", edit("empty", "", "x")).await, "Wrote /p/empty (1 line)");
    assert_eq!(
        fixture.no("Edit", edit("full", "", "y")).await,
        "/p/full exists. An empty old_string only creates a file; use Write to replace it."
    );
    assert_eq!(
        (fixture.text("new/a"), fixture.text("empty"), fixture.text("full")),
        ("1\n2\n".into(), "x".into(), "x".into())
    );
}

#[tokio::test]
async fn the_form_of_the_file_is_kept() {
    let fixture = Fixture::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
    let cases = [
        ("crlf", b"a\r\nb\r\nc\r\n".to_vec(), "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n".to_vec()),
        ("crlf-given", b"a\r\nb\r\n".to_vec(), "a\r\nb", "x\r\ny", b"x\r\ny\r\n".to_vec()),
        ("mixed", b"a\r\nb\nc\n".to_vec(), "b\nc", "b\nd\nc", b"a\r\nb\nd\nc\n".to_vec()),
        ("line-end", b"a\r\nb\r\n".to_vec(), "\nb", "", b"a\r\n".to_vec()),
        ("bom", "\u{feff}a\n".into(), "a", "é", "\u{feff}é\n".into()),
        ("utf16", utf16("\u{feff}a\nb"), "b", "→", utf16("\u{feff}a\n→")),
        ("latin", b"n\xe9e\n".to_vec(), "née", "né€", b"n\xe9\x80\n".to_vec()),
        ("none", b"a".to_vec(), "a", "b\n", b"b\n".to_vec()),
    ];
    for (name, old, from, to, new) in cases {
        fixture.file(name, old);
        fixture.ok("Edit", edit(name, from, to)).await;
        assert_eq!(fixture.bytes(name), new, "{name}");
    }
    assert_eq!(
        fixture.no("Edit", edit("latin", "né", "→")).await,
        "new_string has a character that /p/latin, which is windows-1252, cannot represent."
    );
}

#[tokio::test]
async fn binary_files_and_files_changed_since_are_refused() {
    let fixture = Fixture::new();
    fixture.file("bin", b"a\0b");
    assert_eq!(fixture.no("Edit", edit("bin", "a", "b")).await, "/p/bin is a binary file; Edit changes text only.");
    fixture.file("a", "one");
    fixture.ok("Read", json!({"file_path": "a"})).await;
    fixture.file("a", "one more");
    assert_eq!(
        fixture.no("Edit", edit("a", "one", "two")).await,
        "/p/a has changed on disk since this session last read or wrote it. Read it again first."
    );
}

fn encoded(text: &str, form: usize) -> Vec<u8> {
    match form {
        0 => text.as_bytes().to_vec(),
        1 => format!("\u{feff}{text}").into_bytes(),
        2 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        3 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => text.replace('\n', "\r\n").into_bytes(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In every encoding, and with either line ending used throughout.
    #[test]
    fn editing_and_editing_back_is_the_identity(
        before in "[aé \n🙂]{0,8}", old in "[bc\n]{1,4}", after in "[aé \n🙂]{0,8}", new in "[de\n]{1,4}", form in 0usize..5,
    ) {
        let text = format!("{before}{old}{after}");
        let changed = format!("{before}{new}{after}");
        let unique = |text: &str, part: &str| text.find(part) == text.rfind(part);
        prop_assume!(old != new && unique(&text, &old) && unique(&changed, &new));
        // Whether a file uses CRLF must be visible before and after.
        prop_assume!(form != 4 || (text.contains('\n') && changed.contains('\n')));
        let fixture = Fixture::new();
        let bytes = encoded(&text, form);
        fixture.file("f", &bytes);
        block_on(async {
            assert_eq!(fixture.ok("Edit", edit("f", &old, &new)).await, "Edited /p/f (1 replacement)");
            assert_eq!(fixture.bytes("f"), encoded(&changed, form));
            assert_eq!(fixture.ok("Edit", edit("f", &new, &old)).await, "Edited /p/f (1 replacement)");
        });
        prop_assert_eq!(fixture.bytes("f"), bytes);
    }

    /// Bytes outside the replaced range never change, whatever line ends surround it.
    #[test]
    fn untouched_bytes_stay(before in "[a\r\n]{0,10}", after in "[a\r\n]{0,10}") {
        // A line end must not be formed or torn at the seam.
        prop_assume!(!after.starts_with('\n'));
        let fixture = Fixture::new();
        fixture.file("f", format!("{before}MARK{after}"));
        block_on(fixture.ok("Edit", edit("f", "MARK", "mark")));
        prop_assert_eq!(fixture.text("f"), format!("{before}mark{after}"));
    }
}
