//! Prompts that servers offer: commands for a person, `/mcp__server__prompt arguments`. Pure.

use crate::reply::{joined, pictures};
use crate::slug::{Slug, tool_name};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    /// The server's own name for it.
    pub prompt: String,
    /// Ours: `mcp__<server>__<prompt>`.
    pub name: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub is_required: bool,
}

impl ServerPrompt {
    /// `None` without a name.
    pub(crate) fn read(server: &Slug, value: &Value) -> Option<Self> {
        let own = value["name"].as_str().filter(|name| !name.is_empty())?;
        let argument = |one: &Value| {
            let name = one["name"].as_str()?.to_owned();
            Some(PromptArgument { name, is_required: one["required"] == true })
        };
        let words = value["description"].as_str().or(value["title"].as_str()).unwrap_or_default();
        Some(Self {
            prompt: own.to_owned(),
            name: tool_name(server, own),
            description: ona_api::text::head(words, 500).0.to_owned(),
            arguments: value["arguments"].as_array().into_iter().flatten().filter_map(argument).collect(),
        })
    }

    /// Returns what is shown behind the name: `<topic> [style]`.
    pub fn hint(&self) -> String {
        let shown = |one: &PromptArgument| match one.is_required {
            true => format!("<{}>", one.name),
            false => format!("[{}]", one.name),
        };
        self.arguments.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// Returns the arguments of a command line: words in the order of the server's list, in quotes
    /// where they hold spaces. The last argument takes the rest of the line.
    pub fn arguments_of(&self, line: &str) -> Result<Map<String, Value>, String> {
        let mut words = split(line).ok_or_else(|| format!("/{}: a quote is not closed", self.name))?;
        if words.len() > self.arguments.len() {
            let Some(last) = self.arguments.len().checked_sub(1) else {
                return Err(format!("/{} takes no arguments", self.name));
            };
            let rest = words.split_off(last).join(" ");
            words.push(rest);
        }
        let missing = self.arguments.iter().skip(words.len()).find(|one| one.is_required);
        if let Some(missing) = missing {
            return Err(format!(
                "/{}: {} is missing; use it as /{} {}",
                self.name,
                missing.name,
                self.name,
                self.hint()
            ));
        }
        Ok(self.arguments.iter().zip(words).map(|(one, word)| (one.name.clone(), word.into())).collect())
    }
}

/// Returns the words of a line; `None` if a quote is not closed.
fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// What a prompt says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptText {
    pub text: String,
    /// The bytes of pictures, as the server sent them.
    pub pictures: Vec<Vec<u8>>,
}

impl PromptText {
    /// The messages of `prompts/get`, one after another. What the server puts into the model's mouth is marked.
    pub(crate) fn of(result: &Value) -> Self {
        let mut said = Self::default();
        let mut texts = Vec::new();
        for message in result["messages"].as_array().into_iter().flatten() {
            let content = &message["content"];
            let blocks = content.as_array().map_or_else(|| std::slice::from_ref(content), Vec::as_slice);
            said.pictures.extend(pictures(blocks));
            let text = joined(blocks);
            texts.push(if message["role"] == "assistant" { format!("Assistant: {text}") } else { text });
        }
        said.text = texts.join("\n\n");
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn prompt() -> ServerPrompt {
        let arguments = json!([{"name": "topic", "required": true}, {"name": "style"}]);
        ServerPrompt::read(&Slug::of("S"), &json!({"name": "Do it", "arguments": arguments})).unwrap()
    }

    #[test]
    fn words_become_arguments_in_their_order() {
        let prompt = prompt();
        assert_eq!((prompt.name.as_str(), prompt.hint().as_str()), ("mcp__s__Do_it", "<topic> [style]"));
        for (line, expected) in [
            ("a", Ok(json!({"topic": "a"}))),
            ("a b", Ok(json!({"topic": "a", "style": "b"}))),
            ("a b c", Ok(json!({"topic": "a", "style": "b c"}))),
            ("\"a b\" 'c \"d'", Ok(json!({"topic": "a b", "style": "c \"d"}))),
            ("a\\ b", Ok(json!({"topic": "a b"}))),
            ("''", Ok(json!({"topic": ""}))),
            ("", Err("/mcp__s__Do_it: topic is missing; use it as /mcp__s__Do_it <topic> [style]")),
            ("'a", Err("/mcp__s__Do_it: a quote is not closed")),
        ] {
            let got = prompt.arguments_of(line).map(Value::Object);
            assert_eq!(got, expected.map_err(str::to_owned), "{line}");
        }
        let plain = ServerPrompt::read(&Slug::of("s"), &json!({"name": "p"})).unwrap();
        assert_eq!(plain.arguments_of("x"), Err("/mcp__s__p takes no arguments".to_owned()));
        assert_eq!(plain.arguments_of(" "), Ok(Map::new()));
    }

    #[test]
    fn messages_are_one_text() {
        let said = PromptText::of(&json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "one"}},
            {"role": "assistant", "content": [{"type": "text", "text": "two"}]},
            {"role": "user", "content": {"type": "resource", "resource": {"uri": "f:///a", "text": "three"}}},
        ]}));
        assert_eq!(said.text, "one\n\nAssistant: two\n\n[resource f:///a]\nthree");
    }
}
