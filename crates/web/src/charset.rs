//! Bytes of a page to text.
//!
//! The order is that of the WHATWG: a byte order mark, the header of the response, what the document says of
//! itself in its first kilobyte. Without any of them it is UTF-8 if it can be, and windows-1252 if not.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How much of a document is looked at for its own words about its encoding.
const PRESCAN: usize = 1024;

/// `declared` is the charset of the Content-Type header; a body that was `cut` may end inside a character.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>, cut: bool) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0.into_owned();
    }
    let named = declared.and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named.or_else(|| of_document(bytes)).unwrap_or_else(|| {
        let is_utf8 = match std::str::from_utf8(bytes) {
            Ok(_) => true,
            Err(error) => cut && error.error_len().is_none(),
        };
        if is_utf8 { UTF_8 } else { WINDOWS_1252 }
    });
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// `<meta charset=...>`, `<meta http-equiv=... content="...charset=...">`, `<?xml encoding="...">`.
fn of_document(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    let tags = head.split('<').filter(|tag| tag.starts_with("meta") || tag.starts_with("?xml"));
    let label = tags.filter_map(|tag| {
        let tag = tag.split('>').next().unwrap_or(tag);
        let key = if tag.starts_with("?xml") { "encoding" } else { "charset" };
        let value = tag.split_once(key)?.1.trim_start().strip_prefix('=')?;
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| c.is_whitespace() || "\"';/?".contains(c)).unwrap_or(value.len());
        Some(value[..end].to_owned())
    });
    let encoding = label.into_iter().find_map(|label| Encoding::for_label(label.as_bytes()))?;
    // A document that was read so far cannot be in UTF-16, whatever it says.
    Some(if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE { UTF_8 } else { encoding })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_wins_then_the_header_then_the_document() {
        for (bytes, declared, expected) in [
            (b"caf\xe9".as_slice(), Some("iso-8859-1"), "café"),
            (b"caf\xe9", None, "café"),
            ("café".as_bytes(), None, "café"),
            ("café".as_bytes(), Some("unknown-charset"), "café"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", Some("iso-8859-1"), "café"),
            (b"\xff\xfea\0b\0", Some("utf-8"), "ab"),
            (b"<meta charset=\"windows-1251\">\xcf\xf0", None, "<meta charset=\"windows-1251\">Пр"),
            (b"<META content='text/html; CHARSET=koi8-r'>\xf0", None, "<META content='text/html; CHARSET=koi8-r'>П"),
            (b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1", None, "<?xml version='1.0' encoding='iso-8859-2'?>ą"),
            (b"<meta charset=windows-1251>\xc3\xa9", Some("utf-8"), "<meta charset=windows-1251>é"),
            (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>é"),
            (b"\x83\x65\x83\x58\x83\x67", Some("Shift_JIS"), "テスト"),
        ] {
            assert_eq!(decode(bytes, declared, false), expected);
        }
        assert_eq!(decode(b"caf\xc3", None, true), "caf\u{fffd}");
    }
}
