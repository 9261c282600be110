//! The redactor. Laws: a known secret is not in what comes out, also not in JSON; a text in pieces
//! comes out like the whole; what is clean stays clean.

use super::{mutate, same};
use crate::random::Random;
use ona_api::Redactor;
use serde_json::{Value, json};

const PIECES: [&str; 36] = [
    "sk-ant-",
    "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
    "sk-",
    "sk-proj-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Authorization: Bearer ",
    "authorization:basic ",
    "Bearer",
    "AKIA",
    "ghp_",
    "xoxb-",
    "-----BEGIN PRIVATE KEY-----",
    "\n",
    " ",
    "\"",
    "\\\"",
    "\\n",
    "=",
    ":",
    "/",
    "+",
    "%2F",
    "%20",
    "\\u0020",
    "a",
    "Z9",
    "é",
    "token",
    "password=",
    "=====",
    "&",
    "<",
    ">",
    "{",
    "}",
    "aGVsbG8",
    "[REDACTED:A]",
];
const SECRETS: [&str; 3] = ["hunter2-hunter2", "sw0rdf1sh/with+odd=chars", "9876543210123456"];

pub(super) fn redact(random: &mut Random, input: &mut String) -> Result<(), String> {
    let mut text = String::new();
    for _ in 0..random.below(10) {
        text.push_str(&mutate::text(random, &PIECES, 3));
        match random.below(8) {
            0 | 1 => text.push_str(random.pick::<&str>(&SECRETS)),
            2 => {
                let secret = random.pick(&SECRETS);
                text.push_str(&secret[..random.below(secret.len())]);
            }
            _ => {}
        }
    }
    *input = text.clone();
    let redactor = Redactor::new(SECRETS.map(|secret| ("A", secret)));
    let clean = redactor.apply(&text).into_owned();
    if let Some(left) = SECRETS.iter().find(|secret| clean.contains(*secret)) {
        return Err(format!("{left} is in {clean:?}"));
    }
    let mut stream = redactor.stream();
    let mut pieces = String::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let cut = rest.floor_char_boundary(1 + random.below(12));
        let (piece, more) = rest.split_at(if cut == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { cut });
        pieces.push_str(&stream.push(piece));
        rest = more;
    }
    pieces.push_str(&stream.finish());
    same("in pieces", &clean, &pieces)?;
    let mut value = json!({"a": [text.clone()], text.clone(): 9_876_543_210_123_456_u64});
    redactor.apply_to_json(&mut value);
    let mut strings = Vec::new();
    leaves(&value, &mut strings);
    match strings.iter().find(|text| SECRETS.iter().any(|secret| text.contains(secret))) {
        Some(left) => Err(format!("a secret is in the JSON: {left:?}")),
        None => Ok(()),
    }
}

fn leaves(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, strings)),
        Value::Object(fields) => fields.iter().for_each(|(key, field)| {
            strings.push(key.clone());
            leaves(field, strings);
        }),
        other => strings.push(other.to_string()),
    }
}
