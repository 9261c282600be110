//! The YAML block between two `---` lines at the top of a Markdown file.

use serde::de::DeserializeOwned;

/// Returns the block, parsed, and the text after it. A file without a block, or with one
/// that is not of this shape, has the default and its whole text.
pub(crate) fn split<T: DeserializeOwned + Default>(text: &str) -> (T, &str) {
    match block(text) {
        Some((block, body)) => {
            let parsed = serde_saphyr::from_str::<T>(block);
            (parsed.inspect_err(|error| tracing::debug!(%error, "ignoring front matter")).unwrap_or_default(), body)
        }
        None => (T::default(), text.strip_prefix('\u{feff}').unwrap_or(text)),
    }
}

/// The same, or why the block is not of this shape.
pub(crate) fn checked<T: DeserializeOwned + Default>(text: &str) -> Result<(T, &str), String> {
    match block(text) {
        Some((block, body)) => match serde_saphyr::from_str::<T>(block) {
            Ok(parsed) => Ok((parsed, body)),
            Err(error) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
        },
        None => Ok(split(text)),
    }
}

/// Returns the text of the block and the text after it.
pub(crate) fn block(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = body.strip_prefix("---\n").or_else(|| body.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// A list written as a list or as text with commas.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Either")]
pub(crate) struct StringList(pub Vec<String>);

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Either {
    One(String),
    Many(Vec<String>),
}

impl From<Either> for StringList {
    fn from(either: Either) -> Self {
        let words = match either {
            Either::One(text) => text.split(',').map(|word| word.trim().to_owned()).collect(),
            Either::Many(words) => words,
        };
        Self(words.into_iter().filter(|word: &String| !word.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    struct Meta {
        name: Option<String>,
        #[serde(default)]
        tools: StringList,
    }

    #[test]
    fn a_block_is_parsed_and_the_rest_is_the_body() {
        let (meta, body) = split::<Meta>("---\nname: x\ntools: Read, Grep\n---\nHello\n");
        assert_eq!(
            (meta.name.as_deref(), meta.tools.0, body),
            (Some("x"), vec!["Read".into(), "Grep".into()], "Hello\n")
        );
        let (meta, _) = split::<Meta>("---\ntools: [A, B]\n---\n");
        assert_eq!(meta.tools.0, ["A", "B"]);
    }

    #[test]
    fn broken_metadata_leaves_the_body() {
        let (meta, body) = split::<Meta>("---\nname: [\n---\nbody");
        assert_eq!((meta, body), (Meta::default(), "body"));
        assert_eq!(split::<Meta>("no block").1, "no block");
        assert_eq!(split::<Meta>("---\nnever closed").1, "---\nnever closed");
    }
}
