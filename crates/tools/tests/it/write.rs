use crate::fixture::Fixture;
use ona_api::digest::sha256_hex;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[tokio::test]
async fn a_new_file_is_created_with_its_directories() {
    let fixture = Fixture::new();
    let result = fixture.call("Write", write("a/b/c.txt", "1\n2")).await;
    let path = fixture.path("a/b/c.txt");
    assert_eq!(fixture.short(&result.content), "Wrote /p/a/b/c.txt (2 lines)");
    assert_eq!(fixture.text("a/b/c.txt"), "1\n2");
    assert_eq!(
        Value::Object(result.data),
        json!({"type": "create", "filePath": path, "content": "1\n2", "structuredPatch": [], "originalFile": null})
    );
    assert_eq!(fixture.cx.seen.get(&path), Some(sha256_hex(b"1\n2")));
    assert_eq!(fixture.ok("Write", write("one", "x\n")).await, "Wrote /p/one (1 line)");
    assert_eq!(fixture.ok("Write", write("none", "")).await, "Wrote /p/none (0 lines)");
}

#[tokio::test]
async fn new_files_get_the_mode_the_umask_leaves() {
    let fixture = Fixture::new();
    fixture.ok("Write", write("a", "x")).await;
    fixture.ok("Bash", json!({"command": "touch b"})).await;
    let mode = |name: &str| fs::metadata(fixture.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("a"), mode("b"));
}

#[tokio::test]
async fn overwriting_tells_the_difference_and_keeps_the_mode() {
    let fixture = Fixture::new();
    let path = fixture.file("a.sh", "one\ntwo\n");
    fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
    let result = fixture.call("Write", write("a.sh", "one\n2\n")).await;
    assert_eq!(
        Value::Object(result.data),
        json!({
            "type": "update", "filePath": path, "content": "one\n2\n", "originalFile": "one\ntwo\n",
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" one", "-two", "+2"],
            }],
        })
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    let left: Vec<_> = fs::read_dir(&fixture.cx.project).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.sh"]);
}

#[tokio::test]
async fn a_link_is_written_through() {
    let fixture = Fixture::new();
    fixture.file("real/a", "old");
    symlink("real/a", fixture.path("link")).unwrap();
    symlink("link", fixture.path("chain")).unwrap();
    symlink("real/new", fixture.path("dangling")).unwrap();
    fixture.ok("Write", write("chain", "new")).await;
    fixture.ok("Write", write("dangling", "born")).await;
    assert_eq!((fixture.text("real/a"), fixture.text("real/new")), ("new".into(), "born".into()));
    assert!(["link", "chain", "dangling"].iter().all(|name| fixture.path(name).is_symlink()));
    symlink("loop", fixture.path("loop")).unwrap();
    fixture.no("Write", write("loop", "x")).await;
}

#[tokio::test]
async fn encoding_and_crlf_of_the_old_file_are_kept() {
    let fixture = Fixture::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let cases: [(&str, Vec<u8>, &str, Vec<u8>); 7] = [
        ("crlf", b"a\r\nb\r\n".to_vec(), "x\ny\n", b"x\r\ny\r\n".to_vec()),
        ("crlf-given", b"a\r\n".to_vec(), "x\r\ny\n", b"x\r\ny\n".to_vec()),
        ("mixed", b"a\r\nb\n".to_vec(), "x\ny\n", b"x\ny\n".to_vec()),
        ("bom", b"\xef\xbb\xbfa".to_vec(), "é", "\u{feff}é".into()),
        ("bom-given", b"\xef\xbb\xbfa".to_vec(), "\u{feff}é", "\u{feff}é".into()),
        ("utf16", utf16("\u{feff}a\r\n"), "é\n", utf16("\u{feff}é\r\n")),
        ("latin", b"n\xe9\n".to_vec(), "é\n", "é\n".into()),
    ];
    for (name, old, content, new) in cases {
        fixture.file(name, old);
        fixture.ok("Write", write(name, content)).await;
        assert_eq!(fixture.bytes(name), new, "{name}");
    }
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let fixture = Fixture::new();
    fixture.file("a", "one");
    fixture.ok("Read", json!({"file_path": "a"})).await;
    fixture.ok("Write", write("a", "two")).await;
    fixture.file("a", "somebody else");
    assert_eq!(
        fixture.no("Write", write("a", "three")).await,
        "/p/a has changed on disk since this session last read or wrote it. Read it again first."
    );
    assert_eq!(fixture.text("a"), "somebody else");
    fixture.ok("Read", json!({"file_path": "a"})).await;
    fixture.ok("Write", write("a", "three")).await;
    fs::remove_file(fixture.path("a")).unwrap();
    fixture.ok("Write", write("a", "born again")).await;
}

#[tokio::test]
async fn what_cannot_be_written_is_refused() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("dir")).unwrap();
    let locked = fixture.file("locked", "x");
    fs::set_permissions(&locked, Permissions::from_mode(0o444)).unwrap();
    fixture.file("file", "x");
    let no = async |path: &str| fixture.no("Write", write(path, "y")).await;
    assert_eq!(no("dir").await, "/p/dir is a directory, not a file. List it with Glob, or with `ls` in Bash.");
    assert_eq!(no("locked").await, "/p/locked is read-only.");
    assert_eq!(no("file/x").await, "/p/file/x: a part of the path is not a directory.");
    assert_eq!(no("/dev/null").await, "/dev/null is a device, not a regular file.");
    assert_eq!(fixture.text("locked"), "x");
}

#[tokio::test]
async fn a_file_in_a_directory_one_may_not_change_is_written_in_place() {
    let fixture = Fixture::new();
    fixture.file("dir/a", "old");
    fs::set_permissions(fixture.path("dir"), Permissions::from_mode(0o555)).unwrap();
    fixture.ok("Write", write("dir/a", "new")).await;
    assert_eq!(fixture.text("dir/a"), "new");
    let root = fs::File::create(fixture.path("dir/probe")).is_ok();
    if !root {
        assert_eq!(fixture.no("Write", write("dir/b", "x")).await, "/p/dir/b: permission denied.");
    }
    fs::set_permissions(fixture.path("dir"), Permissions::from_mode(0o755)).unwrap();
}
