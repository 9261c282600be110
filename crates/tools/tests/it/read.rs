use crate::fixture::Fixture;
use ona_api::digest::{base64, sha256_hex};
use ona_api::tool::FileState;
use ona_api::{Attachment, ResultClass};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn a_text_file_is_its_path_line_count_and_numbered_lines() {
    let fixture = Fixture::new();
    let path = fixture.file("a.txt", "line1\nline2\nline3\n");
    let result = fixture.call("Read", json!({"file_path": "a.txt"})).await;
    assert_eq!(fixture.short(&result.content), "/p/a.txt (3 lines)\n1\tline1\n2\tline2\n3\tline3");
    assert_eq!(result.seen, [FileState { path: path.clone(), sha256: sha256_hex(b"line1\nline2\nline3\n") }]);
    assert_eq!(
        result.response(),
        json!({
            "type": "text",
            "file": {
                "filePath": path, "content": "line1\nline2\nline3",
                "numLines": 3, "startLine": 1, "totalLines": 3,
            },
            "content": result.content,
            "is_error": false,
        })
    );
}

#[tokio::test]
async fn the_count_is_of_the_whole_file_and_an_unterminated_line_counts() {
    let fixture = Fixture::new();
    fixture.file("one", "x");
    fixture.file("two", "a\n\nb");
    fixture.file("none", "");
    fixture.file("blank", "\n");
    assert_eq!(fixture.ok("Read", json!({"file_path": "one"})).await, "/p/one (1 line)\n1\tx");
    assert_eq!(fixture.ok("Read", json!({"file_path": "two"})).await, "/p/two (3 lines)\n1\ta\n2\t\n3\tb");
    assert_eq!(fixture.ok("Read", json!({"file_path": "none"})).await, "/p/none (0 lines)\n[The file is empty.]");
    assert_eq!(fixture.ok("Read", json!({"file_path": "blank"})).await, "/p/blank (1 line)\n1\t");
}

#[tokio::test]
async fn offset_and_limit_choose_lines() {
    let fixture = Fixture::new();
    fixture.file("a", "1\n2\n3\n4\n5\n");
    let read = |offset: u64, limit: u64| json!({"file_path": "a", "offset": offset, "limit": limit});
    assert_eq!(fixture.ok("Read", read(2, 2)).await, "/p/a (5 lines)\n2\t2\n3\t3");
    assert_eq!(fixture.ok("Read", read(0, 1)).await, "/p/a (5 lines)\n1\t1");
    assert_eq!(fixture.ok("Read", read(5, 9)).await, "/p/a (5 lines)\n5\t5");
    assert_eq!(fixture.ok("Read", read(6, 1)).await, "/p/a (5 lines)\n[Offset 6 is past the end of the file.]");
}

#[tokio::test]
async fn a_long_file_is_cut_after_2000_lines_and_says_how_to_go_on() {
    let fixture = Fixture::new();
    fixture.file("long", (1..=2500).map(|n| format!("l{n}\n")).collect::<String>());
    let content = fixture.ok("Read", json!({"file_path": "long"})).await;
    assert!(content.starts_with("/p/long (2500 lines)\n1\tl1\n"));
    assert!(content.ends_with("\n2000\tl2000\n[Lines 1 to 2000 of 2500. Continue with offset 2001.]"));
    let rest = fixture.ok("Read", json!({"file_path": "long", "offset": 2001})).await;
    assert!(rest.ends_with("\n2500\tl2500"));
}

#[tokio::test]
async fn a_long_line_is_cut_after_2000_characters() {
    let fixture = Fixture::new();
    fixture.file("wide", format!("{}\nb\n", "é".repeat(2001)));
    fixture.file("fits", "é".repeat(2000));
    let cut = format!("/p/wide (2 lines)\n1\t{} [line cut at 2000 characters]\n2\tb", "é".repeat(2000));
    assert_eq!(fixture.ok("Read", json!({"file_path": "wide"})).await, cut);
    assert_eq!(
        fixture.ok("Read", json!({"file_path": "fits"})).await,
        format!("/p/fits (1 line)\n1\t{}", "é".repeat(2000))
    );
}

#[tokio::test]
async fn a_quarter_mebibyte_is_enough_unless_more_is_asked_for() {
    let fixture = Fixture::new();
    fixture.file("big", format!("{}\n", "x".repeat(1999)).repeat(200));
    let content = fixture.ok("Read", json!({"file_path": "big", "limit": 150})).await;
    assert!(
        content.ends_with("\n[Lines 1 to 131 of 200. Continue with offset 132.]"),
        "{}",
        &content[content.len() - 80..]
    );
    let content = fixture.ok("Read", json!({"file_path": "big", "allow_large": true})).await;
    assert!(content.ends_with(&format!("\n200\t{}", "x".repeat(1999))));
}

#[tokio::test]
async fn text_is_decoded_whatever_its_encoding() {
    let fixture = Fixture::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    fixture.file("crlf", "a\r\nb\r\n");
    fixture.file("bom", "\u{feff}né\n");
    fixture.file("utf16", utf16("\u{feff}né\r\nb"));
    fixture.file("unmarked", utf16("plain text\nb"));
    fixture.file("latin", b"n\xe9\n");
    for (name, content) in [
        ("crlf", "/p/crlf (2 lines)\n1\ta\n2\tb"),
        ("bom", "/p/bom (1 line)\n1\tné"),
        ("utf16", "/p/utf16 (2 lines)\n1\tné\n2\tb"),
        ("unmarked", "/p/unmarked (2 lines)\n1\tplain text\n2\tb"),
        ("latin", "/p/latin (1 line)\n[Not UTF-8; decoded as windows-1252.]\n1\tné"),
    ] {
        assert_eq!(fixture.ok("Read", json!({"file_path": name})).await, content);
    }
}

#[tokio::test]
async fn a_picture_is_described_and_attached() {
    let fixture = Fixture::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
    fixture.file("a.png", png);
    let result = fixture.call("Read", json!({"file_path": "a.png"})).await;
    assert_eq!(
        fixture.short(&result.content),
        "/p/a.png (PNG image, 29 bytes, 640x480 pixels)\n\
         00000000  89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52  |.PNG........IHDR|\n\
         00000010  00 00 02 80 00 00 01 e0 08 02 00 00 00           |.............|"
    );
    let attached = Attachment { kind: "image", media_type: "image/png".into(), data: base64(png) };
    assert_eq!(result.attachments, [attached]);
    assert_eq!(result.data["file"]["dimensions"], json!({"originalWidth": 640, "originalHeight": 480}));
}

#[tokio::test]
async fn a_picture_too_large_to_attach_says_so() {
    let fixture = Fixture::new();
    let mut gif = b"GIF89a\x07\0\x09\0".to_vec();
    gif.resize(4 * 1024 * 1024, 1);
    fixture.file("a.gif", &gif);
    let result = fixture.call("Read", json!({"file_path": "a.gif"})).await;
    let start = "/p/a.gif (GIF image, 4194304 bytes, 7x9 pixels)\n[Not attached: it is too large for a model and cannot be scaled down: unknown block type encountered.]\n0000";
    assert!(fixture.short(&result.content).starts_with(start), "{}", result.content);
    assert_eq!((result.attachments, result.seen[0].sha256.clone()), (vec![], sha256_hex(&gif)));
}

#[tokio::test]
async fn a_binary_file_is_described_by_type_size_and_first_bytes() {
    let fixture = Fixture::new();
    let elf: Vec<u8> = b"\x7fELF\0".iter().copied().chain((0..=255).cycle().take(300)).collect();
    fixture.file("a.out", &elf);
    let content = fixture.ok("Read", json!({"file_path": "a.out"})).await;
    let mut lines = content.lines();
    assert_eq!(lines.next(), Some("/p/a.out (ELF executable, 305 bytes)"));
    assert_eq!(lines.next(), Some("00000000  7f 45 4c 46 00 00 01 02 03 04 05 06 07 08 09 0a  |.ELF............|"));
    assert_eq!(lines.count(), 15);
    // A NUL late in a text makes it binary all the same.
    fixture.file("late", [b"text\n".repeat(10_000), b"\0".to_vec()].concat());
    assert!(fixture.ok("Read", json!({"file_path": "late"})).await.starts_with("/p/late (binary data, 50001 bytes)\n"));
}

#[tokio::test]
async fn a_pdf_is_attached_and_its_pages_are_checked() {
    let fixture = Fixture::new();
    let pdf = |pages: u32| format!("%PDF-1.4\n1 0 obj <</Type /Pages /Count {pages}>> endobj\n");
    fixture.file("short.pdf", pdf(3));
    fixture.file("long.pdf", pdf(30));
    let result = fixture.call("Read", json!({"file_path": "short.pdf"})).await;
    assert!(
        fixture.short(&result.content).starts_with("/p/short.pdf (PDF document, 50 bytes, 3 pages)\n00000000  25 50")
    );
    let attached =
        Attachment { kind: "document", media_type: "application/pdf".into(), data: base64(pdf(3).as_bytes()) };
    assert_eq!(result.attachments, [attached]);

    let pages = |name: &str, pages: &str| json!({"file_path": name, "pages": pages});
    let content = fixture.ok("Read", pages("long.pdf", "29-35")).await;
    assert!(content.contains("\n[Asked for pages 29 to 30. The whole document is attached.]\n"), "{content}");
    assert_eq!(
        fixture.no("Read", json!({"file_path": "long.pdf"})).await,
        "/p/long.pdf has 30 pages. Say which ones with `pages`, at most 20 at a time."
    );
    assert_eq!(fixture.no("Read", pages("short.pdf", "4")).await, "/p/short.pdf has 3 pages; page 4 does not exist.");
    assert_eq!(fixture.no("Read", pages("long.pdf", "1-21")).await, "pages \"1-21\": at most 20 pages at a time.");
    assert_eq!(
        fixture.no("Read", pages("short.pdf", "x")).await,
        "pages \"x\": write a page such as \"3\" or a range such as \"1-5\"."
    );
    fixture.file("a.txt", "x");
    assert_eq!(
        fixture.no("Read", pages("a.txt", "1")).await,
        "/p/a.txt is not a PDF document; `pages` is for those only."
    );
}

#[tokio::test]
async fn what_is_not_there_is_refused_with_the_name_that_was_meant() {
    let fixture = Fixture::new();
    fixture.file("src/main.rs", "");
    fixture.file("README.md", "");
    let no = async |path: &str| fixture.no("Read", json!({"file_path": path})).await;
    assert_eq!(no("src/mian.rs").await, "/p/src/mian.rs does not exist. Did you mean /p/src/main.rs?");
    assert_eq!(no("readme.md").await, "/p/readme.md does not exist. Did you mean /p/README.md?");
    assert_eq!(no("src/main.py").await, "/p/src/main.py does not exist. Did you mean /p/src/main.rs?");
    assert_eq!(no("src/other.txt").await, "/p/src/other.txt does not exist.");
    assert_eq!(no("README.md/x").await, "/p/README.md/x: a part of the path is not a directory.");
    assert_eq!(no("src").await, "/p/src is a directory, not a file. List it with Glob, or with `ls` in Bash.");
    assert_eq!(no("a\0b").await, "/p/a\0b: not a valid path.");
}

#[tokio::test]
async fn special_files_are_refused_without_waiting_for_them() {
    let fixture = Fixture::new();
    fixture.call("Bash", json!({"command": "mkfifo pipe; ln -s pipe link"})).await;
    assert_eq!(fixture.no("Read", json!({"file_path": "pipe"})).await, "/p/pipe is a named pipe, not a regular file.");
    assert_eq!(fixture.no("Read", json!({"file_path": "link"})).await, "/p/link is a named pipe, not a regular file.");
    assert_eq!(
        fixture.no("Read", json!({"file_path": "/dev/null"})).await,
        "/dev/null is a device, not a regular file."
    );
}

#[tokio::test]
async fn a_file_one_may_not_read_is_refused() {
    let fixture = Fixture::new();
    let path = fixture.file("secret", "x");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // running as root
    }
    assert_eq!(fixture.no("Read", json!({"file_path": "secret"})).await, "/p/secret: permission denied.");
}

#[tokio::test]
async fn an_endless_file_can_be_left() {
    let fixture = Fixture::new();
    let path = fixture.file("sparse", "");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 36).unwrap();
    fixture.cx.cancel.cancel();
    let result = fixture.call("Read", json!({"file_path": "sparse"})).await;
    assert_eq!((result.content.as_str(), &result.data["is_interrupt"]), ("Interrupted.", &json!(true)));
}

#[tokio::test]
async fn the_fingerprint_of_a_file_is_known_after_reading_it() {
    let fixture = Fixture::new();
    let path = fixture.file("a", "x\n");
    assert_eq!(fixture.cx.seen.get(&path), None);
    let result = fixture.call("Read", json!({"file_path": "a"})).await;
    assert_eq!(result.class, ResultClass::Success);
    assert_eq!(fixture.cx.seen.get(&path), Some(sha256_hex(b"x\n")));
}
