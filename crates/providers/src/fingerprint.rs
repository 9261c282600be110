//! Recognises the part of a request before its messages, without keeping a second copy.
//!
//! It is computed before each request, so this runs at the speed of memory: one
//! multiplication per 16 bytes, in the manner of wyhash. A seed per dialogue keeps a
//! made-up pair of texts from colliding on purpose.

use ona_api::ToolSpec;
use ona_api::model::RequestParams;
use serde_json::Value;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) fn random() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    /// Returns everything of a request that is not a message.
    pub(crate) fn params(self, params: &RequestParams) -> u64 {
        let mut print = self.start();
        print.text(&params.model);
        print.text(&params.system);
        print.tag(params.max_tokens.into());
        for ToolSpec { name, description, input_schema } in &params.tools {
            print.text(name);
            print.text(description);
            print.value(input_schema);
        }
        print.finish()
    }

    fn start(self) -> Fingerprint {
        Fingerprint(self.0)
    }
}

struct Fingerprint(u64);

impl Fingerprint {
    /// Not `Value`'s own `Hash`, which ignores the order of keys; the bytes sent do not.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(1),
            Value::Bool(flag) => self.tag(2 + u64::from(*flag)),
            Value::Number(number) => {
                self.tag(4);
                number.hash(self);
            }
            Value::String(text) => {
                self.tag(5);
                self.text(text);
            }
            Value::Array(items) => {
                self.tag(6);
                self.tag(items.len() as u64);
                items.iter().for_each(|item| self.value(item));
            }
            Value::Object(fields) => {
                self.tag(7);
                self.tag(fields.len() as u64);
                for (key, value) in fields {
                    self.text(key);
                    self.value(value);
                }
            }
        }
    }

    fn tag(&mut self, tag: u64) {
        self.mix(tag, 0);
    }

    fn text(&mut self, text: &str) {
        self.write(text.as_bytes());
    }

    fn mix(&mut self, low: u64, high: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(low ^ self.0) * u128::from(high ^ ODD);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ ODD.rotate_left(29);
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let (pairs, rest) = bytes.as_chunks::<16>();
        for pair in pairs {
            self.mix(word(&pair[..8]), word(&pair[8..]));
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(word(&last[..8]), word(&last[8..]));
        // The length tells a text from the same text with zeros after it, and from its neighbour.
        self.mix(bytes.len() as u64, 1);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(system: &str, schema: Value) -> RequestParams {
        let tool = ToolSpec { name: "T".into(), description: String::new(), input_schema: schema };
        RequestParams { model: "m".into(), system: system.into(), tools: vec![tool], max_tokens: 1 }
    }

    #[test]
    fn whatever_changes_the_bytes_changes_the_fingerprint() {
        let all = [
            params("", json!({})),
            params("a", json!({})),
            params("a\0", json!({})),
            RequestParams { model: "ma".into(), ..params("", json!({})) },
            RequestParams { max_tokens: 2, ..params("", json!({})) },
            RequestParams { tools: Vec::new(), ..params("", json!({})) },
            params("", json!({"a": 1, "b": 2})),
            params("", json!({"b": 2, "a": 1})),
            params("", json!({"a": "1", "b": 2})),
            params("", json!({"a": [1], "b": 2})),
            params("", json!({"a": [[1]], "b": 2})),
            params("", json!({"a": true, "b": 2})),
            params("", json!({"a": false, "b": 2})),
            params("", json!({"a": null, "b": 2})),
            params("", json!({"a": 1.5, "b": 2})),
        ];
        let seed = Seed::random();
        let mut prints: Vec<_> = all.iter().map(|params| seed.params(params)).collect();
        assert_eq!(prints[3], seed.params(&all[3].clone()));
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), all.len());
    }

    #[test]
    fn one_changed_byte_is_seen_wherever_it_is() {
        let seed = Seed::random();
        let print = |text: &str| seed.params(&params(text, json!({})));
        for length in [1, 7, 8, 15, 16, 17, 33, 100] {
            let text = "x".repeat(length);
            for at in 0..length {
                let changed = format!("{}y{}", &text[..at], &text[at + 1..]);
                assert_ne!(print(&text), print(&changed), "byte {at} of {length}");
            }
        }
    }
}
