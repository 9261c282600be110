//! Reads JSON in which half of a surrogate pair stands alone.
//!
//! A server that cuts text by UTF-16 units sends `"\ud83d"` in one piece and `"\ude00"` in the
//! next. JSON allows that, Rust strings do not, and a reply is not lost for one character: each
//! half becomes U+FFFD. Text that reads as it is costs nothing extra.

use serde_json::Value;

const REPLACEMENT: &str = "\\ufffd";

/// Parses JSON; halves of surrogate pairs are replaced.
pub(crate) fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match replaced(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// Returns the JSON text with each lone half as U+FFFD; `None` if every half has its other.
fn replaced(text: &str) -> Option<String> {
    let mut kept = String::new();
    // All of `text` before this is in `kept`.
    let (mut done, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match unit(text, at) {
            Some(0xd800..=0xdbff) if matches!(unit(text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                kept.push_str(&text[done..at]);
                kept.push_str(REPLACEMENT);
                at += 6;
                done = at;
            }
            Some(_) => at += 6,
            // The escaped character may itself be a backslash.
            None => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    (done > 0).then(|| kept + &text[done..])
}

/// Returns the UTF-16 unit of the `\uXXXX` at this position.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_half_is_replaced_and_a_pair_is_not() {
        for (text, expected) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00""#, "\u{fffd}"),
            (r#""\uD83D\uDE00""#, "😀"),
            (r#""a\ud83d b\ude00c""#, "a\u{fffd} b\u{fffd}c"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\n\u00e9""#, "\u{fffd}\né"),
            (r#""\ud83dü""#, "\u{fffd}ü"),
            // An escaped backslash before the letters is text.
            (r#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
        ] {
            assert_eq!(parse(text).unwrap(), json!(expected), "{text}");
        }
        for text in [r#""\ud83"#, r#""\ud83d"#, r#""\ud8ü"#, "\"\\", "{", r#""\x \ud83d""#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_not_changed(text in "\\PC*") {
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(replaced(&written), None);
        }

        #[test]
        fn any_text_of_escapes_is_read_without_panic(
            pieces in prop::collection::vec(prop::sample::select(vec!["\\ud83d", "\\ude00", "\\\\", "\\\"", "\\u00e9", "x", "ü"]), 0..20),
        ) {
            let text = format!("\"{}\"", pieces.concat());
            prop_assert!(parse(&text).is_ok());
        }
    }
}
