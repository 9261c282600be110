//! Credentials that are recognised by their form alone.
//!
//! Each has two expressions in one row: the form itself, and what an unfinished one looks like
//! at the end of a text, which `stream` holds back until more of it arrives. A form without
//! the second would be printed in two harmless pieces.
//!
//! The log of the pi dialect has a stricter table of its own (`dialects/pi/redact.rs`).

use regex::Regex;
use std::sync::LazyLock;

pub(super) struct CredentialForm {
    pub whole: Regex,
    pub label: &'static str,
    /// Without an anchor at the end.
    begun: String,
}

impl CredentialForm {
    fn new(whole: &str, label: &'static str, begun: String) -> Self {
        Self { whole: Regex::new(whole).expect("constant pattern"), label, begun }
    }
}

/// In the order they are replaced.
pub(super) static FORMS: LazyLock<[CredentialForm; 3]> = LazyLock::new(|| {
    [
        CredentialForm::new(r"sk-ant-[A-Za-z0-9_-]{16,}", "[REDACTED:anthropic_key]", key()),
        CredentialForm::new(r"(?-u:\b)sk-[A-Za-z0-9_-]{32,}", "[REDACTED:api_key]", key()),
        CredentialForm::new(
            r#"(?i-u:authorization):[ \t\r\n]*(?i-u:bearer|basic)[ \t\r\n]+[^ \t\r\n"\\]+"#,
            "[REDACTED:authorization]",
            header(),
        ),
    ]
});

/// The end of a text that may be the beginning of one of the forms.
pub(super) static UNFINISHED: LazyLock<Regex> = LazyLock::new(|| {
    let mut begun: Vec<_> = FORMS.iter().map(|form| form.begun.as_str()).collect();
    begun.dedup();
    Regex::new(&format!("(?:{})$", begun.join("|"))).expect("constant pattern")
});

/// The start of what may be a form in `text` and goes beyond this place.
pub(super) fn around(text: &str, place: usize) -> Option<usize> {
    let forms = FORMS.iter().flat_map(|form| form.whole.find_iter(text));
    let form = forms.filter(|found| found.start() < place && place < found.end()).map(|found| found.start()).min();
    // Whether `sk-` begins a word may change with what is replaced before it: the whole word counts.
    let is_key = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let word = text[..place].trim_end_matches(is_key).len();
    let goes_on = text[place..].starts_with(is_key) && text[word..place].contains("sk-");
    form.into_iter().chain(goes_on.then_some(word)).min()
}

/// The word before `sk-` belongs to it, because only the whole word tells whether a key begins there.
fn key() -> String {
    "[A-Za-z0-9_]*(?:s|sk|sk-[A-Za-z0-9_-]*)".to_owned()
}

fn header() -> String {
    let (name, bearer, basic) = (beginnings("authorization"), beginnings("bearer"), beginnings("basic"));
    let space = r"[ \t\r\n]";
    let scheme = format!(r#"(?:{bearer}|{basic}|(?i-u:bearer|basic){space}+[^ \t\r\n"\\]*)"#);
    format!("(?:{name}|(?i-u:authorization):{space}*{scheme}?)")
}

fn beginnings(word: &str) -> String {
    let parts: Vec<_> = (1..=word.len()).map(|end| &word[..end]).collect();
    format!("(?i-u:{})", parts.join("|"))
}

#[cfg(test)]
mod tests {
    use super::FORMS;
    use crate::Redactor;

    /// One example of each form, in their order.
    fn examples() -> Vec<String> {
        vec![
            format!("sk-ant-{}", "q".repeat(16)),
            format!("sk-{}", "a".repeat(32)),
            "Authorization: Basic YWJj".to_owned(),
        ]
    }

    #[test]
    fn each_form_is_found_in_one_piece_and_in_two() {
        let redactor = Redactor::default();
        assert_eq!(examples().len(), FORMS.len(), "each form needs an example here");
        for (example, form) in examples().iter().zip(FORMS.iter()) {
            let whole = redactor.apply(example).into_owned();
            assert_eq!(whole, form.label, "{example}");
            for (cut, _) in example.char_indices() {
                let mut stream = redactor.stream();
                let shown = [stream.push(&example[..cut]), stream.push(&example[cut..]), stream.finish()].concat();
                assert_eq!(shown, whole, "{example} cut at {cut}");
            }
        }
    }
}
