//! `${VAR}` and `${VAR:-otherwise}` in a server's definition.

use ona_api::Env;

/// Returns the text with variables filled in. Names that are not set and have no other value
/// are added to `missing`; their text stays as it is.
pub(crate) fn expand(text: &str, env: &Env, missing: &mut Vec<String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        expanded.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let Some(end) = inner.find('}') else {
            expanded.push_str(&rest[at..]);
            return expanded;
        };
        let (name, otherwise) = match inner[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&inner[..end], None),
        };
        let whole = &rest[at..at + 2 + end + 1];
        if !is_name(name) {
            expanded.push_str(whole);
        } else if let Some(value) =
            env.lookup(name).filter(|value| !value.is_empty()).or(otherwise).or(env.lookup(name))
        {
            expanded.push_str(value);
        } else {
            missing.push(name.to_owned());
            expanded.push_str(whole);
        }
        rest = &inner[end + 1..];
    }
    expanded.push_str(rest);
    expanded
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_once_and_what_is_missing_is_named() {
        let env = Env::default().with("A", "a").with("NESTED", "${A}").with("EMPTY", "");
        let cases = [
            ("x${A}y${A}", "xaya", ""),
            ("${NESTED}", "${A}", ""),
            ("${NOPE}/x", "${NOPE}/x", "NOPE"),
            ("${NOPE:-b c}", "b c", ""),
            ("${NOPE:-}", "", ""),
            ("${EMPTY:-e}|${EMPTY}", "e|", ""),
            ("$A ${} ${1} ${a b} ${A", "$A ${} ${1} ${a b} ${A", ""),
            ("ü${A}é", "üaé", ""),
        ];
        for (text, expected, unset) in cases {
            let mut missing = Vec::new();
            assert_eq!(expand(text, &env, &mut missing), expected, "{text}");
            assert_eq!(missing.join(","), unset, "{text}");
        }
    }
}
