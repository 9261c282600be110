//! Finds the position of a key in a JSON text.
//!
//! Parsed values have no positions, and notices want a line, rewriting wants the
//! bytes to replace. The text must be one that `serde_json` has accepted; on any
//! other the answer is `None`. When a key stands twice, the last one is found,
//! because that is the one the parser keeps.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonMember {
    /// Where the quoted key starts.
    pub key: usize,
    pub value: Range<usize>,
}

/// Returns the member at a path of object keys.
pub(crate) fn find(text: &str, path: &[&str]) -> Option<JsonMember> {
    let (last, parents) = path.split_last()?;
    let object = parents.iter().try_fold(0, |start, key| Some(member(text, start, key)?.value.start))?;
    member(text, object, last)
}

/// Line of the member, counting from 1.
pub(crate) fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let member = find(text, path)?;
    Some(1 + text[..member.key].bytes().filter(|byte| *byte == b'\n').count())
}

fn member(text: &str, object: usize, wanted: &str) -> Option<JsonMember> {
    let named = |member: &JsonMember| {
        let key = text.get(member.key..)?;
        let end = string_end(key.as_bytes(), 0)?;
        serde_json::from_str::<String>(&key[..end]).ok()
    };
    members(text, object)?.into_iter().rev().find(|member| named(member).as_deref() == Some(wanted))
}

/// Returns the members of the object that starts at or after `start`, in document order.
pub(crate) fn members(text: &str, start: usize) -> Option<Vec<JsonMember>> {
    let bytes = text.as_bytes();
    let mut at = blank_end(bytes, start);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let mut members = Vec::new();
    at = blank_end(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let colon = blank_end(bytes, string_end(bytes, at)?);
        let value = blank_end(bytes, colon + 1);
        let end = value_end(bytes, value)?;
        members.push(JsonMember { key: at, value: value..end });
        at = blank_end(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = blank_end(bytes, at + 1);
        }
    }
    Some(members)
}

fn blank_end(bytes: &[u8], from: usize) -> usize {
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    from + bytes.get(from..).unwrap_or_default().iter().take_while(|byte| blank(byte)).count()
}

/// Behind the closing quote of the string that starts at `from`.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn value_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = from;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' => (depth, at) = (depth.checked_sub(1)?, at + 1),
            // A number or a word: up to whatever can follow a value.
            _ if depth == 0 => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",}]".contains(byte);
                return Some(at + bytes[at..].iter().take_while(|byte| !ends(byte)).count());
            }
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "{\n  \"a\": [1, \"}\\\"\", {}],\n  \"p\": { \"allow\": [],\n \"re\\u0061d\": -1.5e3 }\n,\"p2\":null}\n";

    #[test]
    fn members_are_found_by_path_with_their_line_and_bytes() {
        let at = |path: &[&str]| find(TEXT, path).map(|member| &TEXT[member.value]);
        assert_eq!(at(&["a"]), Some("[1, \"}\\\"\", {}]"));
        assert_eq!(at(&["p", "allow"]), Some("[]"));
        assert_eq!(at(&["p", "read"]), Some("-1.5e3"));
        assert_eq!(at(&["p2"]), Some("null"));
        assert_eq!(at(&["p2", "x"]), None);
        assert_eq!(at(&["p", "x"]), None);
        assert_eq!((line_of(TEXT, &["p", "read"]), line_of(TEXT, &["a"])), (Some(4), Some(2)));
    }

    #[test]
    fn of_two_equal_keys_the_last_counts_as_it_does_for_the_parser() {
        let text = "{\"a\": 1, \"a\": 2}";
        assert_eq!(&text[find(text, &["a"]).unwrap().value], "2");
        assert_eq!(serde_json::from_str::<serde_json::Value>(text).unwrap()["a"], 2);
    }

    #[test]
    fn what_is_not_json_has_no_members() {
        for text in ["", "[", "{\"a", "{\"a\": [", "{\"a\": \"x", "}"] {
            assert_eq!(find(text, &["a"]), None, "{text}");
        }
    }
}
