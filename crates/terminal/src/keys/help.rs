//! The help that `?` shows, made from the keys as they are bound.

use super::action::{ACTIONS, Context};
use super::keymap::{Bound, Keymap};

/// The keys of one context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpSection {
    pub title: &'static str,
    /// Keys and what they do.
    pub rows: Vec<(String, String)>,
}

/// What is typed, not bound.
const PREFIXES: [(&str, &str); 5] = [
    ("/", "Commands and skills"),
    ("@", "Files, resources of servers, agents"),
    ("!", "Run a shell command yourself"),
    ("#", "Add a line to the memory"),
    ("?", "This help"),
];

/// Lists what can be typed and all keys that do something.
pub fn key_help(keymap: &Keymap) -> Vec<HelpSection> {
    let typed = PREFIXES.iter().map(|(prefix, help)| (format!("{prefix} at the start"), (*help).to_owned())).collect();
    let mut sections = vec![HelpSection { title: "Type", rows: typed }];
    for context in Context::ALL {
        let mut rows = Vec::new();
        for entry in ACTIONS.iter().filter(|entry| entry.context == context) {
            let keys: Vec<_> = keymap.keys_of(entry.action).iter().map(ToString::to_string).collect();
            if !keys.is_empty() {
                rows.push((keys.join(", "), entry.help.to_owned()));
            }
        }
        for (keys, bound) in keymap.others(context) {
            let help = match bound {
                Bound::Action(action) => action.help().to_owned(),
                Bound::Command(name) => format!("/{name}"),
                Bound::Shortcut(name) => name.clone(),
                Bound::Nothing => continue,
            };
            rows.push((keys.to_string(), help));
        }
        sections.push(HelpSection { title: context.title(), rows });
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::key_help;
    use crate::keys::{Context, Keymap, parse_keybindings};

    #[test]
    fn the_help_shows_the_keys_as_they_are_bound() {
        let row = |keymap: &Keymap, help: &str| -> Option<String> {
            key_help(keymap).into_iter().flat_map(|section| section.rows).find(|row| row.1 == help).map(|row| row.0)
        };
        let own = Keymap::default();
        assert_eq!(row(&own, "Write in your editor").as_deref(), Some("Ctrl+G, Ctrl+X Ctrl+E"));
        assert_eq!(row(&own, "Clear the text"), None, "an action without a key is not help");
        let text = r#"{"bindings": [{"context": "Chat", "bindings": {"ctrl+g": null, "f9": "command:cost"}}]}"#;
        let changed = parse_keybindings(text).unwrap().keymap;
        assert_eq!(row(&changed, "Write in your editor").as_deref(), Some("Ctrl+X Ctrl+E"));
        assert_eq!(row(&changed, "/cost").as_deref(), Some("F9"));
    }

    #[test]
    fn every_context_has_a_section() {
        let sections = key_help(&Keymap::default());
        assert_eq!(sections.len(), 1 + Context::ALL.len());
        assert!(sections.iter().all(|section| !section.rows.is_empty()));
    }
}
