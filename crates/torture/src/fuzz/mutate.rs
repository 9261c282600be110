//! Makes texts and JSON values that are almost right: pieces of a dictionary, examples with bytes
//! and nodes changed.

use crate::random::Random;
use serde_json::{Map, Number, Value, json};

/// What breaks parsers, whatever they parse.
const ODD: [&str; 24] = [
    "\0",
    "\u{feff}",
    "\r\n",
    "\r",
    "\t",
    "\\",
    "\"",
    "'",
    "`",
    "\u{2028}",
    "\u{202e}",
    "é",
    "\u{10ffff}",
    "😀",
    "\u{301}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "-1",
    "1e999",
    "\\ud800",
];

/// A text of up to `most` pieces of the dictionary, with odd characters among them.
pub(crate) fn text(random: &mut Random, dictionary: &[&str], most: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.below(most + 1) {
        let piece = if random.one_in(12) { random.pick(&ODD) } else { random.pick(dictionary) };
        text.push_str(piece);
    }
    text
}

/// One of the examples with a few changes, cut and joined with others.
pub(crate) fn bytes(random: &mut Random, examples: &[&str], dictionary: &[&str]) -> Vec<u8> {
    let mut bytes = random.pick(examples).as_bytes().to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                insert(&mut bytes, at, &again);
            }
            3 => bytes.truncate(at),
            4 => insert(&mut bytes, at, random.pick(&ODD).as_bytes()),
            5 => {
                let other = random.pick(examples).as_bytes();
                let from = random.below(other.len() + 1);
                insert(&mut bytes, at, &other[from..]);
            }
            _ => insert(&mut bytes, at, random.pick(dictionary).as_bytes()),
        }
        bytes.truncate(16 * 1024);
    }
    bytes
}

/// The same as text.
pub(crate) fn words(random: &mut Random, examples: &[&str], dictionary: &[&str]) -> String {
    String::from_utf8_lossy(&bytes(random, examples, dictionary)).into_owned()
}

fn insert(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    drop(bytes.splice(at..at, more.iter().copied()));
}

/// An example with a few nodes changed.
pub(crate) fn json(random: &mut Random, examples: &[Value], dictionary: &[&str]) -> Value {
    let mut value = random.pick(examples).clone();
    for _ in 0..random.below(5) {
        let other = random.pick(examples).clone();
        change(random, &mut value, &other, dictionary);
    }
    value
}

/// Changes one node, found by a random walk from the root.
fn change(random: &mut Random, value: &mut Value, other: &Value, dictionary: &[&str]) {
    let deeper = !random.one_in(4);
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let key = fields.keys().nth(random.below(fields.len())).cloned().unwrap_or_default();
            match random.below(8) {
                0 => drop(fields.shift_remove(&key)),
                1 => {
                    let field = fields.shift_remove(&key).unwrap_or_default();
                    fields.insert((*random.pick(dictionary)).to_owned(), field);
                }
                2 => drop(fields.insert((*random.pick(dictionary)).to_owned(), leaf(random, dictionary))),
                _ => {
                    if let Some(field) = fields.get_mut(&key) {
                        change(random, field, other, dictionary);
                    }
                }
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(6) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => change(random, &mut items[at], other, dictionary),
            }
        }
        Value::String(text) if deeper => {
            *text = words(random, &[text.as_str()], dictionary);
        }
        other_value => *other_value = if random.one_in(6) { other.clone() } else { leaf(random, dictionary) },
    }
}

pub(crate) fn leaf(random: &mut Random, dictionary: &[&str]) -> Value {
    match random.below(14) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::Bool(false),
        3 => json!(0),
        4 => json!(-1),
        5 => json!(u64::MAX),
        6 => Number::from_f64(f64::from_bits(random.next())).map_or(Value::Null, Value::Number),
        7 => json!([]),
        8 => Value::Object(Map::new()),
        9 => json!([text(random, dictionary, 3)]),
        10 => (0..1 + random.below(200)).fold(Value::Null, |inner, _| json!([inner])),
        _ => Value::String(text(random, dictionary, 4)),
    }
}
