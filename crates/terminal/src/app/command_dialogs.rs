//! Dialogs of commands: from what a command asks to a dialog, and from its answer to a reply.

use crate::dialogs::{
    ChoiceDialog, ChoiceOption, ChoiceQuestion, ConfigEditor, ConfigEntry, ConfigReply, ConfigValue, Dialog,
    DialogReply, InputDialog, Picker, PickerItem, PickerReply, Viewer, ViewerEntry, ViewerReply,
};
use crate::front::Reply;
use crate::markdown::markdown;
use crate::palette::Palette;
use crate::theme;
use ona_commands::{CommandQuestion, CommandReply, ScreenEntry, SettingEntry, SettingScope, SettingValue};
use ratatui_core::text::{Line, Span};
use serde_json::Value;

pub(super) fn dialog(question: &CommandQuestion, width: u16) -> Dialog {
    match question {
        CommandQuestion::Choose { title, body, options, escape } => {
            let options = options.iter().map(|option| ChoiceOption {
                label: option.label.clone(),
                detail: option.detail.clone(),
                letter: option.letter,
                comment: None,
            });
            let body = if body.is_empty() { Vec::new() } else { markdown(body, width.saturating_sub(2).max(20)) };
            let question = ChoiceQuestion {
                title: title.clone(),
                body,
                options: options.collect(),
                escape: *escape,
                ..ChoiceQuestion::default()
            };
            ChoiceDialog::new(question).into()
        }
        CommandQuestion::Pick { title, empty, entries, at } => {
            let item = |entry: &ScreenEntry| PickerItem {
                label: entry.label.clone(),
                detail: entry.detail.clone(),
                keywords: String::new(),
            };
            let picker = Picker::new(title, entries.iter().map(item).collect()).when_empty(empty).starting_at(*at);
            match entries.iter().any(|entry| !entry.page.is_empty()) {
                true => picker.with_previews().into(),
                false => picker.into(),
            }
        }
        CommandQuestion::Input { title, placeholder, text, secret } => {
            InputDialog::new(title, placeholder, text).secret(*secret).into()
        }
        CommandQuestion::Browse { title, empty, entries, open } => {
            let entry = |entry: &ScreenEntry| ViewerEntry {
                label: entry.label.clone(),
                detail: entry.detail.clone(),
                page: markdown(&entry.page, width),
                actions: entry.actions.clone(),
            };
            Viewer::new(title, empty, entries.iter().map(entry).collect()).opened_at(*open).into()
        }
        CommandQuestion::Settings { entries, scope, at, problem } => {
            let scopes = SettingScope::ALL.map(scope_in_words).to_vec();
            let current = SettingScope::ALL.iter().position(|one| one == scope).unwrap_or_default();
            let mut editor = ConfigEditor::new(entries.iter().map(setting).collect()).with_scopes(scopes, current);
            if let Some(key) = at {
                editor = editor.starting_at(key);
            }
            if let Some(problem) = problem {
                editor.set_error(problem);
            }
            editor.into()
        }
    }
}

/// What an answer means for the command. `None`: the dialog stays.
pub(super) fn reply(question: &CommandQuestion, answer: DialogReply) -> Option<Reply> {
    let reply = match (question, answer) {
        (_, DialogReply::Choice(choice)) => CommandReply::Chosen(choice.option),
        (_, DialogReply::Picker(PickerReply::Chosen { item, .. })) => CommandReply::Chosen(item),
        (_, DialogReply::Picker(PickerReply::Switched { .. })) => return None,
        (_, DialogReply::Input(Some(text))) => CommandReply::Text(text),
        (_, DialogReply::Viewer(ViewerReply::Act { entry, letter })) => CommandReply::Act { entry, letter },
        (CommandQuestion::Settings { entries, .. }, DialogReply::Config(ConfigReply::Set { key, value, scope })) => {
            let number = entries.iter().any(|entry| entry.key == key && is_number(entry));
            CommandReply::Set {
                key,
                value: setting_value(value, number),
                scope: SettingScope::ALL.get(scope).copied().unwrap_or(SettingScope::User),
            }
        }
        _ => return Some(Reply::Value(Value::Null)),
    };
    Some(Reply::Command(reply))
}

/// Lines that show what a picker's entry is about.
pub(super) fn preview(entry: &ScreenEntry, width: u16) -> Vec<Line<'static>> {
    let Some(palette) = entry.page.strip_prefix("theme:").and_then(Palette::named) else {
        return markdown(&entry.page, width);
    };
    let mut lines = vec![
        Line::from(vec![
            Span::styled("● ", theme::ADDED),
            Span::styled("Edit", theme::HEADING),
            Span::raw("  src/main.rs"),
        ]),
        Line::from(vec![Span::styled("  12 - ", theme::FAILED), Span::styled("let tries = 3;", theme::FAILED)]),
        Line::from(vec![Span::styled("  12 + ", theme::ADDED), Span::styled("let tries = 5;", theme::ADDED)]),
        Line::from(vec![Span::styled("  PreToolUse ×2 12 ms", theme::DIM)]),
        Line::from(vec![Span::raw("A reply with "), Span::styled("code", theme::CODE), Span::raw(" in it.")]),
        Line::from(vec![Span::styled("What ona says by itself.", theme::VOICE)]),
    ];
    palette.apply(&mut lines);
    lines
}

fn scope_in_words(scope: SettingScope) -> String {
    match scope {
        SettingScope::User => "all your projects (~/.ona/settings.json)",
        SettingScope::Project => "this project, for everybody (.ona/settings.json)",
        SettingScope::Local => "this project, for you (.ona/settings.local.json)",
    }
    .to_owned()
}

fn setting(entry: &SettingEntry) -> ConfigEntry {
    let value = match &entry.value {
        SettingValue::Switch(on) => ConfigValue::Switch(*on),
        SettingValue::Choice { choices, chosen } => ConfigValue::Choice { choices: choices.clone(), chosen: *chosen },
        SettingValue::Text(text) => ConfigValue::Text(text.clone()),
        SettingValue::Fixed { value, why } => ConfigValue::Fixed { value: value.clone(), why: why.clone() },
    };
    ConfigEntry { key: entry.key.clone(), help: entry.help.clone(), value, origin: entry.origin.clone() }
}

fn is_number(entry: &SettingEntry) -> bool {
    ona_settings::known_setting(&entry.key).is_some_and(|known| known.kind == ona_settings::SettingKind::Number)
}

/// An empty text removes the setting.
fn setting_value(value: ConfigValue, number: bool) -> Option<Value> {
    match value {
        ConfigValue::Switch(on) => Some(on.into()),
        ConfigValue::Choice { choices, chosen } => choices.get(chosen).map(|word| word.as_str().into()),
        ConfigValue::Text(text) if text.is_empty() => None,
        ConfigValue::Text(text) if number => Some(text.parse::<u64>().map_or_else(|_| text.into(), Value::from)),
        ConfigValue::Text(text) => Some(text.into()),
        ConfigValue::Fixed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{dialog, reply};
    use crate::Outcome;
    use crate::dialogs::Overlay;
    use crate::front::Reply;
    use crate::keys::{Input, Keymap, Press};
    use ona_commands::{
        CommandQuestion, CommandReply, ScreenEntry, ScreenOption, SettingEntry, SettingScope, SettingValue,
    };
    use serde_json::{Value, json};
    use std::time::Duration;

    /// Presses keys until the dialog answers; returns what the command gets.
    fn answer(question: &CommandQuestion, keys: &str) -> Option<Reply> {
        let mut overlay = Overlay::asked_for(dialog(question, 80));
        for key in keys.split_whitespace() {
            let press = Press { key: key.parse().unwrap(), at: Duration::ZERO };
            if let Outcome::Done(said) = overlay.input(&Input::Key(press), &Keymap::default()) {
                return reply(question, said);
            }
        }
        None
    }

    #[test]
    fn each_question_gets_its_kind_of_answer() {
        let option = |label: &str| ScreenOption { label: label.into(), ..ScreenOption::default() };
        let choose = CommandQuestion::Choose {
            title: "Which?".into(),
            body: "**One** of two".into(),
            options: vec![option("first"), option("second")],
            escape: 1,
        };
        let entry = |label: &str, page: &str| ScreenEntry {
            label: label.into(),
            page: page.into(),
            actions: vec![('r', "reconnect".into())],
            ..ScreenEntry::default()
        };
        let entries = vec![entry("apple", "a fruit"), entry("birch", "a tree")];
        let pick =
            CommandQuestion::Pick { title: "Pick".into(), empty: String::new(), entries: entries.clone(), at: 1 };
        let browse = CommandQuestion::Browse { title: "All".into(), empty: String::new(), entries, open: None };
        let input = CommandQuestion::Input {
            title: "Key".into(),
            placeholder: String::new(),
            text: String::new(),
            secret: true,
        };
        let chosen = |at| Some(Reply::Command(CommandReply::Chosen(at)));
        let closed = || Some(Reply::Value(Value::Null));
        for (question, keys, expected) in [
            (&choose, "2", chosen(1)),
            (&choose, "enter", chosen(0)),
            (&choose, "escape", chosen(1)),
            (&pick, "enter", chosen(1)),
            (&pick, "p p l enter", chosen(0)),
            (&pick, "escape", closed()),
            (&browse, "down enter r", Some(Reply::Command(CommandReply::Act { entry: 1, letter: 'r' }))),
            (&browse, "enter escape escape", closed()),
            (&input, "a b enter", Some(Reply::Command(CommandReply::Text("ab".into())))),
            (&input, "a escape", closed()),
        ] {
            assert_eq!(answer(question, keys), expected, "{keys}");
        }
        let mut overlay = Overlay::asked_for(dialog(&input, 80));
        for key in ["s", "e", "c"] {
            overlay.input(&Input::Key(Press { key: key.parse().unwrap(), at: Duration::ZERO }), &Keymap::default());
        }
        let shown: String = overlay.view(80, 10).lines.iter().map(ToString::to_string).collect();
        assert!(shown.contains("•••") && !shown.contains("sec"), "a secret is not shown: {shown}");
    }

    #[test]
    fn a_setting_is_changed_where_the_person_wants_it() {
        let entry = |key: &str, value: SettingValue| SettingEntry {
            key: key.into(),
            help: "help".into(),
            value,
            origin: "user".into(),
        };
        let question = CommandQuestion::Settings {
            entries: vec![
                entry("hooksFailClosed", SettingValue::Switch(false)),
                entry("autoCompactWindow", SettingValue::Text("9".into())),
                entry("guards", SettingValue::Fixed { value: "strict".into(), why: "fixed by the policy".into() }),
            ],
            scope: SettingScope::User,
            at: None,
            problem: None,
        };
        let set = |key: &str, value: Option<Value>, scope| {
            Some(Reply::Command(CommandReply::Set { key: key.into(), value, scope }))
        };
        for (keys, expected) in [
            ("enter", set("hooksFailClosed", Some(json!(true)), SettingScope::User)),
            ("tab enter", set("hooksFailClosed", Some(json!(true)), SettingScope::Project)),
            ("tab tab right", set("hooksFailClosed", Some(json!(true)), SettingScope::Local)),
            ("down enter 0 enter", set("autoCompactWindow", Some(json!(90)), SettingScope::User)),
            ("down enter backspace enter", set("autoCompactWindow", None, SettingScope::User)),
            ("down down enter", None),
            ("escape", Some(Reply::Value(Value::Null))),
        ] {
            assert_eq!(answer(&question, keys), expected, "{keys}");
        }
    }
}
