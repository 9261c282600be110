//! PDF documents: page count by a scan of the bytes, the document as attachment.
//!
//! Pages are not cut out: that would need the compressed object streams, and
//! the provider looks at the document anyway. The pages asked for are checked
//! and named beside it.

use super::binary::{bytes, hex};
use super::{Loaded, load};
use crate::ToolContext;
use crate::files::{FileResult, ToolRefusal, counted};
use ona_api::ToolResult;
use serde_json::json;
use std::fs::File;
use std::path::Path;

/// With base64 this stays below what providers accept for a whole request.
const MAX_ATTACHED: u64 = 20 * 1024 * 1024;
/// A longer document must be asked for by pages.
const WHOLE_PAGES: u64 = 10;
const MAX_PAGES: u64 = 20;

pub(super) fn is_pdf(head: &[u8]) -> bool {
    head.starts_with(b"%PDF-")
}

/// Pages from 1, both ends included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pages {
    first: u64,
    last: u64,
}

impl Pages {
    pub(crate) fn parse(text: &str) -> Result<Pages, ToolRefusal> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if 0 < first && first <= last && last - first < MAX_PAGES => {
                Ok(Pages { first, last })
            }
            (Ok(first), Ok(last)) if 0 < first && first <= last => {
                Err(format!("pages \"{text}\": at most {MAX_PAGES} pages at a time.").into())
            }
            _ => Err(format!("pages \"{text}\": write a page such as \"3\" or a range such as \"1-5\".").into()),
        }
    }
}

pub(super) fn read(path: &Path, file: File, head: &[u8], pages: Option<Pages>, cx: &ToolContext) -> FileResult {
    let loaded = load(path, file, MAX_ATTACHED, cx)?;
    let count = match &loaded {
        Loaded::Whole(document) => page_count(document),
        Loaded::TooLarge { .. } => None,
    };
    let name = path.display();
    let told = count.map_or("unknown number of pages".into(), |count| counted(count, "page"));
    match (&pages, count) {
        (None, Some(count)) if count > WHOLE_PAGES => {
            return Err(format!(
                "{name} has {count} pages. Say which ones with `pages`, at most {MAX_PAGES} at a time."
            )
            .into());
        }
        (Some(pages), Some(count)) if pages.first > count => {
            return Err(format!("{name} has {}; page {} does not exist.", counted(count, "page"), pages.first).into());
        }
        _ => {}
    }
    let mut content = format!("{name} (PDF document, {}, {told})", bytes(loaded.size()));
    if let Some(Pages { first, last }) = pages {
        let last = count.map_or(last, |count| last.min(count));
        content.push_str(&format!("\n[Asked for pages {first} to {last}. The whole document is attached.]"));
    }
    if let Loaded::TooLarge { .. } = loaded {
        content.push_str(&format!("\n[Too large to attach: the limit is {}.]", bytes(MAX_ATTACHED)));
    }
    content.push_str(&format!("\n{}", hex(head)));
    let mut result = ToolResult::success(content).data(json!({
        "type": "pdf",
        "file": {"filePath": path, "originalSize": loaded.size(), "pages": count},
    }));
    result.seen = loaded.seen(path);
    result.attachments = loaded.attachment("document", "application/pdf").into_iter().collect();
    Ok(result)
}

/// Returns what the document says of itself, as far as it is not compressed: the count
/// in the linearisation dictionary, else the largest of the page tree, else the
/// number of page objects.
fn page_count(document: &[u8]) -> Option<u64> {
    let head = &document[..document.len().min(1024)];
    if find(head, b"/Linearized").is_some()
        && let Some(count) = find(head, b"/N ").and_then(|at| number(&head[at + 3..]))
    {
        return Some(count);
    }
    let (mut objects, mut largest) = (0, None);
    let mut rest = document;
    while let Some(at) = find(rest, b"/Type") {
        let name = rest[at + 5..].trim_ascii_start();
        if name.starts_with(b"/Pages") {
            largest = largest.max(tree_count(&rest[..at], &name[6..]));
        } else if name.starts_with(b"/Page") && !name.get(5).is_some_and(u8::is_ascii_alphanumeric) {
            objects += 1;
        }
        rest = name;
    }
    largest.or((objects > 0).then_some(objects))
}

/// `/Count` of the object around a `/Type /Pages`.
fn tree_count(before: &[u8], after: &[u8]) -> Option<u64> {
    const NEAR: usize = 64 * 1024;
    let begin = rfind(before, b" obj").unwrap_or(before.len().saturating_sub(NEAR));
    let end = find(&after[..after.len().min(NEAR)], b"endobj").unwrap_or(after.len().min(NEAR));
    let counts = |part: &[u8]| find(part, b"/Count").and_then(|at| number(&part[at + 6..]));
    counts(&before[begin..]).or_else(|| counts(&after[..end]))
}

fn number(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let near = bytes.len().saturating_sub(64 * 1024);
    bytes[near..].windows(wanted.len()).rposition(|window| window == wanted).map(|at| at + near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_counts() {
        let cases: [(&[u8], Option<u64>); 5] = [
            (
                b"%PDF-1.4\n1 0 obj <</Type /Pages /Kids [2 0 R] /Count 12>> endobj 2 0 obj <</Type /Page>> endobj",
                Some(12),
            ),
            (b"%PDF-1.4\n1 0 obj <</Count 3/Kids [] /Type/Pages>> endobj", Some(3)),
            (b"%PDF-1.4\n<</Type/Page/Parent 1 0 R>> <</Type /Page\n>> <</Type /PageLabel>>", Some(2)),
            (b"%PDF-1.5\n1 0 obj <</Linearized 1/L 5/N 7/T 3>>", Some(7)),
            (b"%PDF-1.5\n<</Type /ObjStm>>", None),
        ];
        for (document, count) in cases {
            assert_eq!(page_count(document), count, "{}", String::from_utf8_lossy(document));
        }
    }

    #[test]
    fn ranges_have_at_most_twenty_pages() {
        assert_eq!(Pages::parse("3"), Ok(Pages { first: 3, last: 3 }));
        assert_eq!(Pages::parse(" 1 - 20 "), Ok(Pages { first: 1, last: 20 }));
        for wrong in ["", "0", "5-3", "1-", "a", "1,2", "1-21"] {
            assert!(Pages::parse(wrong).is_err(), "{wrong}");
        }
    }
}
