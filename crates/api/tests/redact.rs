//! Whatever a program does to a secret on the way to its output, the redactor finds it,
//! in one piece or in many.

use ona_api::digest;
use ona_api::redact::Redactor;
use proptest::prelude::*;
use std::fmt::Write;

/// Everything a header or a settings file may hold.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[!-~]{8,120}",
        "sk-[a-z]{3}-[A-Za-z0-9_-]{8,90}",
        "[A-Za-z0-9+/]{8,90}={0,2}",
        "[ -~äß€😀]{8,40}".prop_filter("long enough", |text| text.trim() == text),
    ]
    .prop_filter("not the documented default", |text| text != "lm-studio")
}

fn percent(value: &str, kept: &str, space: &str, upper: bool) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b' ' if !space.is_empty() => text.push_str(space),
            _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => text.push(byte as char),
            _ if upper => write!(text, "%{byte:02X}").unwrap(),
            _ => write!(text, "%{byte:02x}").unwrap(),
        }
        text
    })
}

fn fold(text: &str, width: usize, end: &str) -> String {
    let lines: Vec<_> = text.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join(end)
}

/// What programs make of a value; the second part is what must not be left of it.
fn encodings(value: &str) -> Vec<String> {
    let json = serde_json::Value::from(value).to_string();
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        json[1..json.len() - 1].replace('/', "\\/"),
        hex.to_uppercase(),
        fold(&hex, 60, "\n"),
        hex,
    ];
    for upper in [true, false] {
        for kept in ["-_.~", "-_.~/", "-_.~!*'()", "-_.~!*'();,/?:@&=+$#", ""] {
            all.push(percent(value, kept, "", upper));
        }
        all.push(percent(value, "-_.*", "+", upper));
        all.push(percent(value, "-_.~/", "+", upper));
    }
    let standard = digest::base64(value.as_bytes());
    for form in [fold(&standard, 76, "\n"), fold(&standard, 64, "\r\n"), standard] {
        all.push(form.trim_end_matches('=').to_owned());
        all.push(form.replace('+', "-").replace('/', "_"));
        all.push(form);
    }
    all
}

/// Whether a base64 text has the secret in it: decoded, as a reader would.
fn decodes_to(text: &str, value: &str) -> bool {
    let standard = text.replace('-', "+").replace('_', "/");
    digest::from_base64(&standard).is_some_and(|bytes| bytes.windows(value.len()).any(|part| part == value.as_bytes()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_encoding_is_redacted(value in secret(), before in "[ a-z\n]{0,9}", after in "[ a-z\n]{0,9}") {
        let redactor = Redactor::new([("KEY", value.as_str())]);
        for encoded in encodings(&value) {
            let text = format!("{before}<{encoded}>{after}");
            let clean = redactor.apply(&text);
            prop_assert!(clean.contains("[REDACTED:"), "{encoded} is still there: {clean}");
            prop_assert!(!clean.contains(&encoded), "{encoded} is still there: {clean}");
        }
    }

    #[test]
    fn base64_of_a_longer_text_does_not_give_the_secret(
        value in secret(), before in "[ -~]{0,7}", after in "[ -~]{0,7}", url_safe: bool
    ) {
        let redactor = Redactor::new([("KEY", value.as_str())]);
        let mut encoded = digest::base64(format!("{before}{value}{after}").as_bytes());
        if url_safe {
            encoded = encoded.replace('+', "-").replace('/', "_");
        }
        prop_assert!(decodes_to(&encoded, &value));
        let clean = redactor.apply(&encoded);
        prop_assert!(clean.contains("[REDACTED:"), "{encoded}");
        // What is left around the label is a few bits of the first and the last character.
        let left: usize = clean.replace("[REDACTED:KEY]", "").len();
        prop_assert!(left <= encoded.len() - value.len() * 8 / 6 + 3, "{encoded}: {clean}");
    }

    #[test]
    fn a_text_in_pieces_is_redacted_like_the_whole(
        value in secret(),
        words in prop::collection::vec("[a-z -]{0,12}|sk-|task-|Authorization: Bearer |basic|s|au", 1..6),
        which in 0usize..40,
        cuts in prop::collection::vec(1usize..9, 1..60),
    ) {
        let redactor = Redactor::new([("KEY", value.as_str()), ("OTHER", "other-secret-value")]);
        let all = encodings(&value);
        let mut text = words.join(&all[which % all.len()]);
        text.push_str(&words.concat());
        let mut stream = redactor.stream();
        let (mut shown, mut rest, mut cut) = (String::new(), text.as_str(), cuts.iter().cycle());
        while !rest.is_empty() {
            let mut end = (*cut.next().unwrap()).min(rest.len());
            while !rest.is_char_boundary(end) {
                end += 1;
            }
            shown.push_str(&stream.push(&rest[..end]));
            rest = &rest[end..];
        }
        shown.push_str(&stream.finish());
        prop_assert!(!shown.contains(&value), "{shown}");
        // A header may hold a secret with a quote in it, of which the whole text keeps less.
        if !text.contains("uthorization") {
            prop_assert_eq!(&shown, &redactor.apply(&text), "{}", text);
        }
    }

    #[test]
    fn ordinary_text_in_pieces_stays_as_it_is(text in "[ -~äß€\n]{0,200}", size in 1usize..20) {
        let redactor = Redactor::new([("KEY", "sk-ant-value-of-a-key"), ("OTHER", "\"quoted/secret\"")]);
        let mut stream = redactor.stream();
        let characters: Vec<_> = text.chars().collect();
        let mut shown: String = characters.chunks(size).map(|piece| stream.push(&piece.iter().collect::<String>())).collect();
        shown.push_str(&stream.finish());
        prop_assert_eq!(&shown, &redactor.apply(&text));
    }
}

#[test]
fn only_what_may_become_a_secret_is_held_back() {
    let redactor = Redactor::new([("KEY", "hunter2-hunter2")]);
    let mut stream = redactor.stream();
    for (piece, shown) in [
        ("Hello wor", "Hello wor"),
        ("ld, hun", "ld, "),
        ("gry", "hungry"),
        (" hunter2-h", " "),
        ("unter2", "[REDACTED:KEY]"),
        ("!", "!"),
        (" di", " di"),
        ("sk-0f8fad5b-d9cb-469f-a165-70867728950e", ""),
        (" sk-0f8fad5b-d9cb-469f-a165-70867728950e", "sk-0f8fad5b-d9cb-469f-a165-70867728950e "),
        (".", "[REDACTED:api_key]."),
        ("hunter", ""),
    ] {
        assert_eq!(stream.push(piece), shown, "{piece:?}");
    }
    assert_eq!(stream.finish(), "hunter");
    assert_eq!(stream.finish(), "");
}

/// A megabyte of what looks like a key until the last byte, in pieces of a few bytes.
#[test]
fn holding_back_a_long_text_costs_no_more_than_its_length() {
    let redactor = Redactor::new([("KEY", "hunter2-hunter2")]);
    let mut stream = redactor.stream();
    let began = std::time::Instant::now();
    let mut shown = stream.push("sk-");
    for _ in 0..200_000 {
        shown.push_str(&stream.push("abcde"));
    }
    shown.push_str(&stream.push(" end"));
    shown.push_str(&stream.finish());
    assert_eq!(shown, "[REDACTED:api_key] end");
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}
