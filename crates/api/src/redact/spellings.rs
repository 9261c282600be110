//! The spellings of one secret: plain, inside JSON, percent-encoded, base64, hexadecimal.
//!
//! Base64 and hexadecimal are also recognised when a program broke them into lines
//! (`base64` after 76 characters, `xxd -p` after 60). Not covered: compression,
//! encryption, a secret printed in pieces, or two encodings on top of each other, other
//! than JSON in JSON.

use crate::digest;
use std::fmt::Write;

/// One spelling of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    text: String,
    /// Line ends inside it do not count.
    folded: bool,
}

/// How a spelling compares with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// The spelling is there and takes this many bytes of the text.
    Complete(usize),
    /// The text ends before the spelling does, without a difference.
    Begun,
    Different,
}

impl Spelling {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the maximum number of bytes of a text that can be an incomplete spelling.
    pub(super) fn longest(&self) -> usize {
        // One line end per character would be the extreme; real folding is far from that.
        if self.folded { self.text.len() + self.text.len() / 8 + 2 } else { self.text.len() }
    }

    /// Compares the spelling with the beginning of `text`.
    pub(super) fn compare(&self, text: &[u8]) -> Compared {
        let form = self.text.as_bytes();
        if !self.folded {
            let shared = form.len().min(text.len());
            return match form[..shared] == text[..shared] {
                true if shared == form.len() => Compared::Complete(shared),
                true => Compared::Begun,
                false => Compared::Different,
            };
        }
        let mut at = 0;
        for (index, wanted) in form.iter().enumerate() {
            // Before the first character a line end is not inside.
            while index > 0 && text.get(at).is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                at += 1;
            }
            match text.get(at) {
                Some(byte) if byte == wanted => at += 1,
                Some(_) => return Compared::Different,
                None => return Compared::Begun,
            }
        }
        Compared::Complete(at)
    }
}

/// Returns all spellings of a value, each once.
pub(super) fn spellings(value: &str) -> Vec<Spelling> {
    let mut texts = vec![value.to_owned()];
    let [escaped, others @ ..] = json(value);
    // JSON in a string of JSON is common: a file that is shown, a message that quotes a setting.
    texts.extend(json(&escaped));
    texts.extend([escaped]);
    texts.extend(others);
    texts.extend(percent(value));
    let mut folded = base64(value.as_bytes());
    folded.extend(hexadecimal(value.as_bytes()));
    let plain = texts.into_iter().map(|text| Spelling { text, folded: false });
    let mut forms: Vec<_> = plain.chain(folded.into_iter().map(|text| Spelling { text, folded: true })).collect();
    forms.sort_by(|a, b| (&a.text, b.folded).cmp(&(&b.text, a.folded)));
    forms.dedup_by(|a, b| a.text == b.text);
    forms
}

/// Returns the value as different serialisers write it into a JSON string.
fn json(value: &str) -> [String; 4] {
    let quoted = serde_json::Value::from(value).to_string();
    let usual = &quoted[1..quoted.len() - 1];
    let escaped = |wanted: fn(char) -> bool| {
        usual.chars().fold(String::new(), |mut text, character| {
            if wanted(character) {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    write!(text, "\\u{unit:04x}").expect("writing to a String cannot fail");
                }
            } else {
                text.push(character);
            }
            text
        })
    };
    // Plainly; with `\/`; without characters that mean something in HTML; in ASCII only.
    [usual.to_owned(), usual.replace('/', "\\/"), escaped(|c| matches!(c, '<' | '>' | '&')), escaped(|c| !c.is_ascii())]
}

/// Characters that encoders leave as they are, beside letters and digits: RFC 3986;
/// the same with `/`; encodeURIComponent; encodeURI; forms; none.
const KEPT: [&str; 6] = ["-_.~", "-_.~/", "-_.~!*'()", "-_.~!*'();,/?:@&=+$#", "-_.*", ""];

fn percent(value: &str) -> Vec<String> {
    let encode = |kept: &str, space: &str, hex: fn(u8) -> String| {
        value.bytes().fold(String::new(), |mut text, byte| {
            match byte {
                b' ' if !space.is_empty() => text.push_str(space),
                _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => text.push(char::from(byte)),
                _ => text.push_str(&hex(byte)),
            }
            text
        })
    };
    let mut forms = Vec::new();
    for hex in [|byte: u8| format!("%{byte:02X}"), |byte: u8| format!("%{byte:02x}")] {
        forms.extend(KEPT.iter().map(|kept| encode(kept, "", hex)));
        forms.extend(["-_.~", "-_.*", "-_.~/"].iter().map(|kept| encode(kept, "+", hex)));
        forms.push(value.bytes().map(hex).collect());
    }
    forms
}

/// In both alphabets, alone or anywhere inside a longer text. Of the latter only the
/// characters that do not depend on what stands around the secret.
fn base64(value: &[u8]) -> Vec<String> {
    let alone = digest::base64(value);
    let mut forms = vec![alone.trim_end_matches('=').to_owned(), alone];
    for (before, first) in [(0, 0), (1, 2), (2, 3)] {
        let shifted = [&[0; 2][..before], value].concat();
        let end = shifted.len() * 8 / 6;
        forms.push(digest::base64(&shifted)[first..end].to_owned());
    }
    let url_safe: Vec<_> = forms.iter().map(|form| form.replace('+', "-").replace('/', "_")).collect();
    forms.extend(url_safe);
    forms
}

fn hexadecimal(value: &[u8]) -> [String; 2] {
    let lower: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    [lower.to_uppercase(), lower]
}
