//! The user's keybindings file: `{"bindings": [{"context": "Chat", "bindings": {"ctrl+e": "chat:externalEditor"}}]}`.
//!
//! A value is the name of an action, `command:NAME` for a slash command, or null to take the key away. What
//! cannot be understood is left out and named, and the rest of the file counts: a typing mistake
//! must not cost the user the other keys.

use super::action::{Action, Context};
use super::key::{Key, KeySequence};
use super::keymap::{Bound, Keymap};
use serde_json::Value;

/// The keys after reading a file, and what in it was left out.
#[derive(Clone, Debug)]
pub struct Keybindings {
    pub keymap: Keymap,
    /// One sentence for each entry that does not count.
    pub problems: Vec<String>,
}

/// The file as a whole cannot be read; the keys stay what they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeybindingsError {
    #[error("not JSON: {0}")]
    Json(String),
    #[error("the top level must be an object with a list \"bindings\"")]
    Shape,
}

/// Keys that cannot be given away: the way out must always work, and Ctrl+M and Ctrl+I and Ctrl+[ are what
/// terminals send for Enter, Tab and Escape.
const RESERVED: [(Key, &str); 5] = [
    (Key::ctrl('c'), "it stops the work and leaves ona"),
    (Key::ctrl('d'), "it leaves ona"),
    (Key::ctrl('m'), "terminals send it for Enter"),
    (Key::ctrl('i'), "terminals send it for Tab"),
    (Key::ctrl('['), "terminals send it for Escape"),
];

/// Applies a keybindings file to the keys ona comes with.
pub fn parse_keybindings(text: &str) -> Result<Keybindings, KeybindingsError> {
    let value: Value = serde_json::from_str(text).map_err(|error| KeybindingsError::Json(error.to_string()))?;
    let groups = value.get("bindings").and_then(Value::as_array).ok_or(KeybindingsError::Shape)?;
    let mut found = Keybindings { keymap: Keymap::default(), problems: Vec::new() };
    for (index, group) in groups.iter().enumerate() {
        let (Some(context), Some(bindings)) =
            (group.get("context").and_then(Value::as_str), group.get("bindings").and_then(Value::as_object))
        else {
            found.problems.push(format!("entry {}: needs a text \"context\" and an object \"bindings\"", index + 1));
            continue;
        };
        match context.parse() {
            Ok(context) => bindings.iter().for_each(|(keys, value)| found.bind(context, keys, value)),
            Err(()) => found.problems.push(unknown_context(context)),
        }
    }
    Ok(found)
}

impl Keybindings {
    fn bind(&mut self, context: Context, keys: &str, value: &Value) {
        match binding(keys, value) {
            Ok((keys, bound)) => self.keymap.bind(context, keys, bound),
            Err(problem) => self.problems.push(format!("{}: {problem}", context.name())),
        }
    }
}

fn binding(keys: &str, value: &Value) -> Result<(KeySequence, Bound), String> {
    let keys: KeySequence = keys.parse().map_err(|unknown: super::UnknownKey| unknown.to_string())?;
    if let Some((key, why)) = RESERVED.iter().find(|(key, _)| keys.0.contains(key)) {
        return Err(format!("{key} cannot be bound: {why}"));
    }
    let bound = match value {
        Value::Null => Bound::Nothing,
        Value::String(name) => match (name.strip_prefix("command:"), name.parse::<Action>()) {
            (Some(command), _) if !command.is_empty() => Bound::Command(command.trim_start_matches('/').to_owned()),
            (_, Ok(action)) => Bound::Action(action),
            _ => return Err(format!("{keys}: {name:?} is not an action; ? shows the keys and /keybindings the names")),
        },
        other => return Err(format!("{keys}: must be the name of an action or null, not {other}")),
    };
    Ok((keys, bound))
}

fn unknown_context(name: &str) -> String {
    match Context::ELSEWHERE.iter().find(|(known, _)| *known == name) {
        Some((_, here)) => format!("context {name}: ona has these keys in {here}; nothing of this entry is used"),
        None => {
            let known: Vec<_> = Context::ALL.iter().map(|context| context.name()).collect();
            format!("context {name:?} does not exist; there are {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KeybindingsError, parse_keybindings};
    use crate::keys::{Action, Bound, Context};

    #[test]
    fn a_file_changes_the_keys() {
        let text = r#"{"$schema": "x", "bindings": [
            {"context": "Chat", "bindings": {"ctrl+e": "chat:externalEditor", "ctrl+u": null, "ctrl+x c": "command:/compact"}},
            {"context": "Global", "bindings": {"f5": "app:redraw"}}]}"#;
        let found = parse_keybindings(text).unwrap();
        assert_eq!(found.problems, Vec::<String>::new());
        for (context, keys, bound) in [
            (Context::Chat, "ctrl+e", Bound::Action(Action::ExternalEditor)),
            (Context::Chat, "ctrl+u", Bound::Nothing),
            (Context::Chat, "ctrl+x c", Bound::Command("compact".into())),
            (Context::Chat, "ctrl+k", Bound::Action(Action::KillLineEnd)),
            (Context::Global, "f5", Bound::Action(Action::Redraw)),
        ] {
            assert_eq!(found.keymap.get(context, &keys.parse().unwrap()), Some(&bound), "{keys}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_and_the_rest_counts() {
        let text = r#"{"bindings": [
            {"context": "Chat", "bindings": {"ctrl+c": "chat:submit", "ctrl+q": "chat:fly", "hyper+x": null, "f2": 7, "f3": "chat:stash"}},
            {"context": "Footer", "bindings": {}},
            {"context": "Chatt", "bindings": {}},
            {"bindings": {}}]}"#;
        let found = parse_keybindings(text).unwrap();
        assert_eq!(
            found.problems,
            [
                "Chat: Ctrl+C cannot be bound: it stops the work and leaves ona",
                "Chat: Ctrl+Q: \"chat:fly\" is not an action; ? shows the keys and /keybindings the names",
                "Chat: \"hyper+x\" is not a key; write for example ctrl+k, alt+enter, shift+tab, f2, or ctrl+x ctrl+e",
                "Chat: F2: must be the name of an action or null, not 7",
                "context Footer: ona has these keys in Select; nothing of this entry is used",
                "context \"Chatt\" does not exist; there are Chat, Autocomplete, HistorySearch, Confirmation, Select, \
                 Tabs, Scroll, Transcript, Global",
                "entry 4: needs a text \"context\" and an object \"bindings\"",
            ]
        );
        assert_eq!(found.keymap.get(Context::Chat, &"f3".parse().unwrap()), Some(&Bound::Action(Action::Stash)));
    }

    #[test]
    fn a_file_that_is_not_of_this_form_is_refused() {
        assert!(matches!(parse_keybindings("{"), Err(KeybindingsError::Json(_))));
        assert_eq!(parse_keybindings("[]").unwrap_err(), KeybindingsError::Shape);
        assert_eq!(parse_keybindings("{}").unwrap_err(), KeybindingsError::Shape);
    }
}
