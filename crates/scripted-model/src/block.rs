//! What a reply is made of, in no wire's words.

use serde_json::Value;

/// Part of a reply, in the order it is said.
#[derive(Clone, Debug)]
pub enum ReplyBlock {
    Text(String),
    /// Of a type no request asked for. On Chat it is `reasoning_content`.
    Thinking(String),
    Call(ScriptedCall),
    /// A whole block in the JSON of the Messages wire, for example of an unknown type.
    /// Chat has no such thing and leaves it out.
    Unknown(Value),
}

/// A tool call.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    pub(super) name: String,
    /// JSON as text, because a model may write it wrong.
    pub(super) arguments: String,
    pub(super) id: Id,
    pub(super) split: Split,
    pub(super) at_once: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Id {
    /// `c1`, `c2`, ... over all calls of the server.
    Counted,
    Given(String),
    Missing,
}

/// Where a text is cut when it is streamed.
#[derive(Clone, Debug)]
pub enum Split {
    Never,
    /// Before these bytes; inside a character, before the character.
    At(Vec<usize>),
    EveryByte,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
    /// In the wire's own word.
    Other(String),
}

/// `input_tokens` are those that no cache had. Chat counts cached ones as
/// prompt tokens too, and knows no writing to a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptedUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

impl Default for ScriptedUsage {
    fn default() -> Self {
        Self { input_tokens: 100, output_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0 }
    }
}

impl ScriptedCall {
    pub fn new(name: &str, input: Value) -> Self {
        Self::with_arguments(name, input.to_string())
    }

    /// Arguments as the model wrote them, valid or not.
    pub fn with_arguments(name: &str, arguments: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            arguments: arguments.into(),
            id: Id::Counted,
            split: Split::Never,
            at_once: false,
        }
    }

    pub fn id(mut self, id: &str) -> Self {
        self.id = Id::Given(id.to_owned());
        self
    }

    /// As some servers do: no id at all.
    pub fn without_id(mut self) -> Self {
        self.id = Id::Missing;
        self
    }

    /// Streams the arguments in pieces.
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// As some servers do: name and all arguments in the opening event, no pieces.
    pub fn at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Returns the id on the wire of the call that is number `count` on its server.
    pub(super) fn wire_id(&self, count: usize) -> Option<String> {
        match &self.id {
            Id::Counted => Some(format!("c{count}")),
            Id::Given(id) => Some(id.clone()),
            Id::Missing => None,
        }
    }

    /// Returns the arguments as the JSON they should be, else as a string.
    pub(super) fn input(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::String(self.arguments.clone()))
    }
}

impl From<(&str, Value)> for ScriptedCall {
    fn from((name, input): (&str, Value)) -> Self {
        Self::new(name, input)
    }
}

impl Split {
    pub(super) fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut cuts: Vec<usize> = match self {
            Split::Never => Vec::new(),
            Split::At(bytes) => bytes.iter().map(|&byte| text.floor_char_boundary(byte)).collect(),
            Split::EveryByte => text.char_indices().map(|(byte, _)| byte).collect(),
        };
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Split;

    #[test]
    fn pieces_make_up_the_text_and_never_cut_a_character() {
        for (split, pieces) in [
            (Split::Never, vec!["aé€"]),
            (Split::EveryByte, vec!["a", "é", "€"]),
            (Split::At(vec![2, 99, 1, 1]), vec!["a", "é€"]),
            (Split::At(vec![0, 3]), vec!["aé", "€"]),
        ] {
            assert_eq!(split.pieces("aé€"), pieces, "{split:?}");
        }
        assert_eq!(Split::EveryByte.pieces(""), Vec::<&str>::new());
    }
}
