//! Is this folder trusted? Everything of it that would run, by name.

use super::choice::{ChoiceDialog, ChoiceOption, ChoiceQuestion, ChoiceReply};
use super::frame::wrapped;
use crate::keys::{Input, Keymap};
use crate::theme;
use crate::{Outcome, View};
use ratatui_core::text::Line;

/// A kind of thing that would run, with each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustItem {
    /// `Hooks`, `MCP servers`, `Modules`.
    pub kind: String,
    /// The commands themselves, with the file they stand in.
    pub each: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustPrompt {
    pub folder: String,
    pub runs: Vec<TrustItem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustReply {
    Trust,
    /// Go on, and use nothing of it.
    Restricted,
    Leave,
}

#[derive(Clone, Debug)]
pub struct TrustDialog {
    choice: ChoiceDialog,
}

impl TrustDialog {
    pub fn new(prompt: &TrustPrompt) -> TrustDialog {
        let mut body = wrapped(&prompt.folder, 1_000, 0, theme::TEXT);
        let nothing = prompt.runs.iter().all(|item| item.each.is_empty());
        if nothing {
            body.push(Line::styled("Nothing in it runs by itself today; what is added later will.", theme::DIM));
        } else {
            body.push(Line::styled("If you trust it, these run with your rights:", theme::TEXT));
        }
        for item in prompt.runs.iter().filter(|item| !item.each.is_empty()) {
            body.extend(wrapped(&item.kind, 1_000, 0, theme::HEADING));
            body.extend(item.each.iter().flat_map(|each| wrapped(each, 1_000, 2, theme::TEXT)));
        }
        let option =
            |label: &str, letter| ChoiceOption { label: label.into(), letter: Some(letter), ..ChoiceOption::default() };
        let question = ChoiceQuestion {
            title: "Trust this folder?".into(),
            body,
            options: vec![
                option("Yes, trust it", 'y'),
                option("No, go on without its hooks, servers, modules and permissions", 'n'),
                option("Leave", 'q'),
            ],
            default: 0,
            escape: 1,
            ..ChoiceQuestion::default()
        };
        TrustDialog { choice: ChoiceDialog::new(question) }
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<TrustReply> {
        self.choice.input(input, keys).map(|ChoiceReply { option, .. }| match option {
            0 => TrustReply::Trust,
            1 => TrustReply::Restricted,
            _ => TrustReply::Leave,
        })
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        self.choice.view(width, height)
    }
}
