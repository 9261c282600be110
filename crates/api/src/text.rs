//! Bytes from outside become text here, once.

/// The WHATWG "UTF-8 decode" algorithm (DEC-056): a leading BOM is removed and
/// each maximal ill-formed part becomes one U+FFFD. No other encoding is sniffed.
pub fn decode(bytes: &[u8]) -> String {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8_lossy(body).into_owned()
}

/// The first `limit` characters, and whether anything was left off.
pub fn head(text: &str, limit: usize) -> (&str, bool) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_follows_the_whatwg_algorithm() {
        assert_eq!(decode(b"\xef\xbb\xbfa"), "a");
        assert_eq!(decode(b"\xff\xfeA"), "\u{fffd}\u{fffd}A");
        assert_eq!(decode(b"\xf0\x9f\x92"), "\u{fffd}");
        assert_eq!(decode(b"a\xef\xbb\xbf"), "a\u{feff}");
    }
}
