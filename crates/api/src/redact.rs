//! Replaces credentials in text (DEC-016).
//!
//! One redactor is built at start from every secret the process knows. It sits on
//! every TEXT the store writes and on hook stdin, so that a key a tool prints can
//! not reach a table. The tool itself still ran with the real value.

use crate::digest;
use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Shorter values would redact ordinary words.
const MIN_SECRET_BYTES: usize = 8;

/// Environment variables whose value is a credential.
pub const SECRET_VARIABLES: [&str; 5] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "LM_STUDIO_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/// Clones share what they know, so that a secret learnt later is kept out everywhere.
#[derive(Clone, Debug, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Debug, Default)]
struct Known {
    finder: Option<AhoCorasick>,
    patterns: Vec<String>,
    /// What each pattern is replaced by.
    labels: Vec<String>,
}

impl Redactor {
    /// `secrets` are pairs of a name for the label and the value.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut known = Known::default();
        for (name, value) in secrets {
            known.add(name, value);
        }
        known.build();
        Self(Arc::new(RwLock::new(known)))
    }

    /// One more secret, from now on and in every clone.
    pub fn learn(&self, name: &str, value: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.add(name, value) {
            known.build();
        }
    }

    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(finder) = &known.finder
            && finder.is_match(text.as_ref())
        {
            text = Cow::Owned(finder.replace_all(&text, &known.labels));
        }
        for (pattern, label) in PATTERNS.iter() {
            if let Cow::Owned(clean) = pattern.replace_all(&text, *label) {
                text = Cow::Owned(clean);
            }
        }
        text
    }
}

impl Known {
    /// Whether anything new was learnt.
    fn add(&mut self, name: &str, value: &str) -> bool {
        // The documented default of LM Studio is not a secret.
        if value.len() < MIN_SECRET_BYTES || value == "lm-studio" || self.patterns.iter().any(|known| known == value) {
            return false;
        }
        for form in forms(value) {
            self.patterns.push(form);
            self.labels.push(format!("[REDACTED:{name}]"));
        }
        true
    }

    fn build(&mut self) {
        self.finder = (!self.patterns.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&self.patterns)
                .expect("a handful of short literals always builds")
        });
    }
}

/// Credentials recognisable by their form alone.
static PATTERNS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    let compile = |pattern| Regex::new(pattern).expect("constant pattern");
    [
        (compile(r"sk-ant-[A-Za-z0-9_-]{16,}"), "[REDACTED:anthropic_key]"),
        (compile(r"(?-u:\b)sk-[A-Za-z0-9_-]{32,}"), "[REDACTED:api_key]"),
        (
            compile(r#"(?i-u:authorization):[ \t\r\n]*(?i-u:bearer|basic)[ \t\r\n]+[^ \t\r\n"\\]+"#),
            "[REDACTED:authorization]",
        ),
    ]
});

/// The spellings under which a value may turn up: plain, inside JSON, base64, URL-encoded.
fn forms(value: &str) -> Vec<String> {
    let quoted = serde_json::Value::from(value).to_string();
    let mut forms = vec![
        value.to_owned(),
        quoted[1..quoted.len() - 1].to_owned(),
        digest::base64(value.as_bytes()),
        digest::base64(value.as_bytes()).trim_end_matches('=').to_owned(),
        percent_encoded(value),
    ];
    forms.sort();
    forms.dedup();
    forms
}

fn percent_encoded(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(byte as char);
        } else {
            write!(text, "%{byte:02X}").expect("writing to a String can not fail");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_replaced_in_every_spelling() {
        let redactor = Redactor::new([("OPENAI_API_KEY", "se\"cret/value")]);
        let text = "a se\"cret/value b {\"k\":\"se\\\"cret/value\"} c2UiY3JldC92YWx1ZQ== se%22cret%2Fvalue";
        assert_eq!(
            redactor.apply(text),
            "a [REDACTED:OPENAI_API_KEY] b {\"k\":\"[REDACTED:OPENAI_API_KEY]\"} [REDACTED:OPENAI_API_KEY] [REDACTED:OPENAI_API_KEY]"
        );
    }

    #[test]
    fn what_one_clone_learns_all_know() {
        let redactor = Redactor::default();
        let clone = redactor.clone();
        redactor.learn("apiKeyHelper", "printed-by-a-helper");
        assert_eq!(clone.apply("a printed-by-a-helper b"), "a [REDACTED:apiKeyHelper] b");
    }

    #[test]
    fn keys_are_recognised_by_form() {
        let redactor = Redactor::default();
        assert_eq!(redactor.apply(&format!("x sk-ant-{} y", "q".repeat(16))), "x [REDACTED:anthropic_key] y");
        assert_eq!(redactor.apply(&format!("sk-{}", "a".repeat(32))), "[REDACTED:api_key]");
        assert_eq!(redactor.apply("AUTHORIZATION: bearer abc"), "[REDACTED:authorization]");
        assert_eq!(
            redactor.apply("sk-learn and task-0f8fad5b-d9cb-469f-a165-70867728950e"),
            "sk-learn and task-0f8fad5b-d9cb-469f-a165-70867728950e"
        );
    }

    /// Redacted JSON must stay JSON: a token may not swallow the escape before a quote.
    #[test]
    fn a_header_inside_json_keeps_its_quotes() {
        let json = serde_json::json!({"command": "curl -H \"Authorization: Bearer abc\" x"}).to_string();
        let clean = Redactor::default().apply(&json).into_owned();
        let value: serde_json::Value = serde_json::from_str(&clean).unwrap();
        assert_eq!(value["command"], "curl -H \"[REDACTED:authorization]\" x");
    }

    #[test]
    fn short_values_and_the_local_default_are_left_alone() {
        let redactor = Redactor::new([("LM_STUDIO_API_KEY", "lm-studio"), ("OPENAI_API_KEY", "x")]);
        assert_eq!(redactor.apply("lm-studio x"), "lm-studio x");
    }
}
