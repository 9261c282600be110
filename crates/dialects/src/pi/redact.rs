//! What a log may show: secrets replaced, long text cut (000, section 5).
//!
//! This is stricter than the redactor every row passes: that one knows the
//! credentials of this process and a few forms, this one also hides whatever is
//! assigned to a name that sounds like a secret. Secrets go first and length second, so
//! that no half of a key survives at the cut.

use ona_api::text;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

const REDACTED: &str = "[REDACTED]";
/// Characters of a stream or a reason that a log keeps.
pub(super) const KEPT: usize = 2000;
pub(super) const TRUNCATED: &str = "\n...[truncated]";

/// In this order. `keep` stays in front of the replacement.
static TABLE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?-u:\b)sk-[A-Za-z0-9_-]{16,}",
        r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{20,}",
        r"(?-u:\b)AIza[A-Za-z0-9_-]{20,}",
        r"(?-u:\b)xox[baprs]-[A-Za-z0-9-]{10,}",
        r"(?P<keep>(?i-u:\bbearer)[ \t\r\n]+)[A-Za-z0-9._~-]{10,}[A-Za-z0-9._~+/=-]*",
        ASSIGNED,
    ]
    .iter()
    .map(|pattern| Regex::new(pattern).expect("constant pattern"))
    .collect()
});

/// A name, what stands between it and its value, and the value: quoted, quoted inside a
/// quoted text, or bare. Quotes stay.
const ASSIGNED: &str = concat!(
    r#"(?P<keep>[A-Za-z0-9_]*(?i-u:token|api_key|secret|password)[A-Za-z0-9_]*(?:\\*["'])?[ \t]*[=:][ \t]*)"#,
    r#"(?:(?P<double>")(?:[^"\\]|\\.)*(?P<double_end>"?)"#,
    r#"|(?P<single>')[^']*(?P<single_end>'?)"#,
    r#"|(?P<inner>\\+["'])(?:[^"'\\]|\\+[^"'\\])*"#,
    r#"|[^ \t\r\n"']+)"#,
);

/// Returns the text without secrets; borrowed if there were none.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for pattern in TABLE.iter() {
        if let Cow::Owned(clean) = pattern.replace_all(&text, replacement) {
            text = Cow::Owned(clean);
        }
    }
    text
}

fn replacement(found: &Captures<'_>) -> String {
    let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
    let opening = [part("double"), part("single"), part("inner")].concat();
    let closing = [part("double_end"), part("single_end")].concat();
    format!("{}{opening}{REDACTED}{closing}", part("keep"))
}

/// A text as a log shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub text: String,
    pub redacted: bool,
    pub truncated: bool,
}

pub(super) fn shown(text: &str) -> Shown {
    let clean = redact(text);
    let (head, truncated) = text::head(&clean, KEPT);
    let shown = if truncated { format!("{head}{TRUNCATED}") } else { head.to_owned() };
    Shown { text: shown, redacted: matches!(clean, Cow::Owned(_)), truncated }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P61, P64 and more examples.
    #[test]
    fn each_row_of_the_table_hides_its_own_form_and_nothing_else() {
        let word = |prefix: &str, length: usize| format!("{prefix}{}", "a1".repeat(length / 2));
        let cases = [
            (format!("x {} y", word("sk-", 16)), "x [REDACTED] y".to_owned()),
            (format!("x {} y", word("sk-", 14)), format!("x {} y", word("sk-", 14))),
            (word("task-", 20), word("task-", 20)),
            (word("ghp_", 20), REDACTED.into()),
            (word("gho_", 20), REDACTED.into()),
            (word("ghu_", 20), REDACTED.into()),
            (word("ghs_", 20), REDACTED.into()),
            (word("ghr_", 20), REDACTED.into()),
            (word("ghx_", 20), word("ghx_", 20)),
            (word("AIza", 20), REDACTED.into()),
            (word("xoxb-", 10), REDACTED.into()),
            (word("xoxa-", 10), REDACTED.into()),
            (word("xoxp-", 10), REDACTED.into()),
            (word("xoxr-", 10), REDACTED.into()),
            (word("xoxs-", 10), REDACTED.into()),
            ("Authorization: bEaReR  abcdef.ghi-jk==".into(), "Authorization: bEaReR  [REDACTED]".into()),
            ("Bearer short".into(), "Bearer short".into()),
            (format!("OPENAI_API_KEY={}", word("sk-testsecret", 10)), "OPENAI_API_KEY=[REDACTED]".into()),
            ("password: hunter2 x".into(), "password: [REDACTED] x".into()),
            ("my_token_id=5".into(), "my_token_id=[REDACTED]".into()),
            ("SECRET='a b'; x".into(), "SECRET='[REDACTED]'; x".into()),
            (r#"{"api_key": "a\"b", "n": 1}"#.into(), r#"{"api_key": "[REDACTED]", "n": 1}"#.into()),
            (r#""{\"token\": \"abc def\", \"n\": 1}""#.into(), r#""{\"token\": \"[REDACTED]\", \"n\": 1}""#.into()),
            ("TOKEN=\nnext".into(), "TOKEN=\nnext".into()),
            ("tool completed successfully".into(), "tool completed successfully".into()),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(&text), expected, "{text}");
        }
    }

    /// P62: first the secrets, then the length, in characters.
    #[test]
    fn what_is_long_is_cut_after_secrets_are_gone() {
        let whole = "é".repeat(KEPT);
        assert_eq!(shown(&whole), Shown { text: whole.clone(), redacted: false, truncated: false });
        let long = format!("{}SECRET=hidden{}", "é".repeat(KEPT - 8), "x".repeat(3000));
        let Shown { text, redacted, truncated } = shown(&long);
        assert_eq!(text, format!("{}SECRET=[{TRUNCATED}", "é".repeat(KEPT - 8)));
        assert!(redacted && truncated);
    }
}
