//! A binary file in a few lines: what it is, how large, and how it begins.

use super::lines::LineWindow;
use ona_api::ToolResult;
use ona_api::tool::FileState;
use serde_json::json;
use std::path::Path;

/// Bytes shown.
const SHOWN: usize = 256;

/// Beginnings of common formats. A name is only a help for the reader, so a
/// short list will do.
const FORMATS: [(&[u8], &str); 16] = [
    (b"\x7fELF", "ELF executable"),
    (b"MZ", "Windows executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"OggS", "Ogg media"),
    (b"RIFF", "RIFF media"),
    (b"\0\0\x01\0", "icon"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
];

pub(super) fn describe(path: &Path, head: &[u8], lines: &LineWindow) -> ToolResult {
    let what = FORMATS.iter().find(|(magic, _)| head.starts_with(magic)).map_or("binary data", |(_, name)| name);
    let content = format!("{} ({what}, {})\n{}", path.display(), bytes(lines.size), hex(head));
    let mut result = ToolResult::success(content).data(json!({
        "type": "binary",
        "file": {"filePath": path, "format": what, "originalSize": lines.size},
    }));
    result.seen = vec![FileState { path: path.into(), sha256: lines.fingerprint.clone() }];
    result
}

pub(super) fn bytes(size: u64) -> String {
    crate::files::counted(size, "byte")
}

/// Sixteen bytes a line: offset, bytes, printable ASCII.
pub(super) fn hex(head: &[u8]) -> String {
    let head = &head[..head.len().min(SHOWN)];
    let line = |(i, bytes): (usize, &[u8])| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        let letters: String =
            bytes.iter().map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' }).collect();
        format!("{:08x}  {digits:<48} |{letters}|", i * 16)
    };
    head.chunks(16).enumerate().map(line).collect::<Vec<_>>().join("\n")
}
