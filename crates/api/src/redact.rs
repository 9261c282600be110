//! Replaces credentials in text (DEC-016).
//!
//! One redactor is built at start from every secret the process knows. It sits on
//! every TEXT the store writes, on hook stdin and on everything that is printed, so that
//! a key a tool prints cannot reach a table. The tool itself still ran with the real value.
//!
//! A small automaton finds the first bytes of every spelling of a known secret (`spellings`), and
//! only there the whole spelling is compared. Credentials that are not known are recognised by their form
//! (`patterns`). Texts that arrive in pieces go through `stream`.

mod patterns;
mod spellings;
mod stream;

pub use stream::RedactedStream;

use crate::Env;
use crate::environment::{self, Variable};
use aho_corasick::{AhoCorasick, Input, MatchKind};
use serde_json::Value;
use spellings::{Compared, Spelling, spellings};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Shorter values would redact ordinary words.
const MIN_SECRET_BYTES: usize = 8;

/// Environment variables whose value is a credential.
pub const SECRET_VARIABLES: [Variable; 5] = [
    environment::ANTHROPIC_API_KEY,
    environment::ANTHROPIC_AUTH_TOKEN,
    environment::OPENAI_API_KEY,
    environment::LM_STUDIO_API_KEY,
    environment::CLAUDE_CODE_OAUTH_TOKEN,
];

/// Returns the names and values of the credentials in this environment.
pub fn secrets_of(env: &Env) -> Vec<(&'static str, &str)> {
    SECRET_VARIABLES.iter().filter_map(|variable| Some((variable.name(), env.non_empty(*variable)?))).collect()
}

/// Variables that carry a credential in a part of their value, or say where one is.
pub const CREDENTIAL_CARRIERS: [Variable; 2] =
    [environment::CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR, environment::ANTHROPIC_CUSTOM_HEADERS];

/// Returns whether a variable holds a credential of this program's own, which nothing that a project
/// configured may read (DEC-182).
pub fn is_own_credential(name: &str) -> bool {
    SECRET_VARIABLES.iter().chain(&CREDENTIAL_CARRIERS).any(|variable| variable.name() == name)
}

/// Clones share their secrets, so that one added later is redacted everywhere.
#[derive(Clone, Debug, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Finds where a form may begin: all forms are at least `MIN_SECRET_BYTES` long.
    finder: Option<AhoCorasick>,
    /// Sorted by their text, so that those with the same beginning stand together.
    forms: Vec<(Spelling, Arc<str>)>,
    values: BTreeSet<String>,
    /// Bytes of a text's end that may be a part of a form.
    longest: usize,
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

    /// Adds a secret, from now on and in every clone.
    pub fn learn(&self, name: &str, value: &str) {
        if self.known().values.contains(value) {
            return;
        }
        self.learn_all([(name, value)]);
    }

    /// Adds several secrets, as pairs of a name and a value.
    pub fn learn_all<'a>(&self, secrets: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let added = secrets.into_iter().fold(false, |any, (name, value)| known.add(name, value) || any);
        if added {
            known.build();
        }
    }

    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = match self.known().replace(text) {
            Some(clean) => Cow::Owned(clean),
            None => Cow::Borrowed(text),
        };
        for form in patterns::FORMS.iter() {
            if let Cow::Owned(clean) = form.whole.replace_all(&text, form.label) {
                text = Cow::Owned(clean);
            }
        }
        text
    }

    /// Redacts every string, key and number of a value. In JSON text a credential before
    /// an escaped quote would swallow the backslash, and one behind an escaped line break
    /// would be missed.
    pub fn apply_to_json(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::String(text) => {
                if let Cow::Owned(clean) = self.apply(text) {
                    *text = clean;
                }
            }
            // A credential of digits only would otherwise slip through as a number.
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.apply(&number.to_string()) {
                    *value = Value::String(clean);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_to_json(item)),
            Value::Object(fields) => {
                if fields.keys().any(|key| matches!(self.apply(key), Cow::Owned(_))) {
                    let renamed = |(key, field): (String, Value)| (self.apply(&key).into_owned(), field);
                    *fields = std::mem::take(fields).into_iter().map(renamed).collect();
                }
                fields.values_mut().for_each(|field| self.apply_to_json(field));
            }
        }
    }

    /// Returns a redactor for a text that arrives in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream::new(self.clone())
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Returns whether the secret is new.
    fn add(&mut self, name: &str, value: &str) -> bool {
        // The documented default of LM Studio is not a secret.
        if value.len() < MIN_SECRET_BYTES || value == "lm-studio" || !self.values.insert(value.to_owned()) {
            return false;
        }
        let label: Arc<str> = format!("[REDACTED:{name}]").into();
        self.forms.extend(spellings(value).into_iter().map(|form| (form, Arc::clone(&label))));
        true
    }

    fn build(&mut self) {
        // Stable: of two secrets with one spelling the first gives the label.
        self.forms.sort_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        self.forms.dedup_by(|(later, _), (first, _)| later == first);
        self.longest = self.forms.iter().map(|(form, _)| form.longest()).max().unwrap_or(0);
        let mut beginnings: Vec<_> =
            self.forms.iter().map(|(form, _)| &form.as_str().as_bytes()[..MIN_SECRET_BYTES]).collect();
        beginnings.dedup();
        self.finder = (!beginnings.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(&beginnings)
                .expect("a handful of short literals always builds")
        });
    }

    /// Returns the text with labels in place of secrets; `None` if it contains no secret.
    fn replace(&self, text: &str) -> Option<String> {
        let mut clean = String::new();
        let mut copied = 0;
        for found in self.matches(text) {
            clean.push_str(&text[copied..found.start]);
            clean.push_str(found.label);
            copied = found.end;
        }
        (copied > 0).then(|| clean + &text[copied..])
    }

    /// Where secrets stand: the leftmost first, of several at one place the longest.
    fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Match<'a>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let finder = self.finder.as_ref()?;
            loop {
                let start = finder.find(Input::new(text).range(at..))?.start();
                if let Some((length, label)) = self.longest_at(&text.as_bytes()[start..]) {
                    at = start + length;
                    return Some(Match { start, end: at, label });
                }
                at = start + 1;
            }
        })
    }

    fn longest_at<'a>(&'a self, text: &[u8]) -> Option<(usize, &'a str)> {
        let complete = |(form, label): &'a (Spelling, Arc<str>)| match form.compare(text) {
            Compared::Complete(length) => Some((length, &**label)),
            Compared::Begun | Compared::Different => None,
        };
        self.beginning_with(text[0]).iter().filter_map(complete).max_by_key(|(length, _)| *length)
    }

    /// Returns the forms whose first byte is this one.
    fn beginning_with(&self, first: u8) -> &[(Spelling, Arc<str>)] {
        let from = self.forms.partition_point(|(form, _)| form.as_str().as_bytes()[0] < first);
        let rest = &self.forms[from..];
        &rest[..rest.partition_point(|(form, _)| form.as_str().as_bytes()[0] == first)]
    }

    /// Length of the part of `text`, at most `limit`, that ends before everything that may
    /// become a secret with what comes later, and cuts no secret in two.
    fn settled(&self, text: &str, limit: usize) -> usize {
        let bytes = text.as_bytes();
        let tail = bytes.len().saturating_sub(self.longest);
        let found: Vec<_> = self.matches(text).filter(|found| found.end > tail.min(limit)).collect();
        let inside = |at: usize| found.iter().find(|found| found.start < at && at < found.end);
        let begun = |at: &usize| {
            let begins = |(form, _): &(Spelling, _)| form.compare(&bytes[*at..]) == Compared::Begun;
            self.beginning_with(bytes[*at]).iter().any(begins) && inside(*at).is_none()
        };
        let cut = (tail..bytes.len()).find(begun).unwrap_or(bytes.len()).min(limit);
        inside(cut).map_or(cut, |found| found.start)
    }
}

/// A secret in a text.
struct Match<'a> {
    start: usize,
    end: usize,
    label: &'a str,
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
