//! Bytes from outside become text here, once, and text becomes JSON.

use serde::de::DeserializeOwned;

/// Decodes with the WHATWG "UTF-8 decode" algorithm (DEC-056): a leading BOM is removed and
/// each maximal ill-formed part becomes one U+FFFD. No other encoding is sniffed.
pub fn decode(bytes: &[u8]) -> String {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    String::from_utf8_lossy(body).into_owned()
}

/// Returns the first `limit` characters, and whether the text is longer.
pub fn head(text: &str, limit: usize) -> (&str, bool) {
    match text.char_indices().nth(limit) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// Parses JSON that another program wrote.
///
/// Half of a surrogate pair counts as U+FFFD, as in [`decode`]. The grammar allows such
/// escapes and JavaScript writes one whenever it cuts a text inside an emoji; a deny must
/// not get lost with the end of its reason.
pub fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|error| match with_whole_surrogates(text) {
        Some(mended) => serde_json::from_str(&mended).map_err(|_| error),
        None => Err(error),
    })
}

/// Returns the text with U+FFFD for every half surrogate, if there are any.
fn with_whole_surrogates(text: &str) -> Option<String> {
    let (mut mended, mut rest, mut found) = (String::new(), text, false);
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                found = true;
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // A backslash and what it escapes.
            (None, _) => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    found.then_some(mended)
}

enum Half {
    High,
    Low,
}

/// Which half the escape at the beginning of the text is.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_is_a_replacement_character_and_everything_else_stays() {
        let read = |text: &str| json::<String>(text).map_err(|error| error.to_string());
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(read(r#""cut \ud83d""#), ok("cut \u{fffd}"));
        assert_eq!(
            read(r#""\udc00 \ud83d\ude00 \uD83D\ud83d\ude00 \\ud83d \u00e9\"""#),
            ok("\u{fffd} 😀 \u{fffd}😀 \\ud83d é\"")
        );
        assert!(read(r#""\ud83d"#).is_err(), "still not JSON");
        assert!(read(r#""\"#).is_err());
        assert!(read(r#""\u+d8é \ud8"#).is_err());
    }

    #[test]
    fn decoding_follows_the_whatwg_algorithm() {
        assert_eq!(decode(b"\xef\xbb\xbfa"), "a");
        assert_eq!(decode(b"\xff\xfeA"), "\u{fffd}\u{fffd}A");
        assert_eq!(decode(b"\xf0\x9f\x92"), "\u{fffd}");
        assert_eq!(decode(b"a\xef\xbb\xbf"), "a\u{feff}");
    }
}
