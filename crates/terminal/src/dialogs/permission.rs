//! May this call run? What it is, why it is asked, and exactly what "always" would save.

use super::choice::{ChoiceDialog, ChoiceOption, ChoiceQuestion, ChoiceReply};
use super::frame::wrapped;
use crate::keys::{Input, Keymap};
use crate::theme;
use crate::{Outcome, View};
use ratatui_core::text::Line;

/// What a permission dialog shows.
#[derive(Clone, Debug, Default)]
pub struct PermissionPrompt {
    /// What the call does, in a few words: `Run a command`, `Edit src/main.rs`.
    pub title: String,
    /// The tool, and the agent that is not the session's own.
    pub source: String,
    /// The command, or the change as a diff.
    pub preview: Vec<Line<'static>>,
    /// The model's own words for it.
    pub purpose: String,
    /// Why it is asked: the rule or the hook, and where that comes from.
    pub reason: String,
    /// Programs, files, what no rule covers.
    pub details: Vec<Line<'static>>,
    /// The rules that "always" saves, exactly; none are offered if this is empty.
    pub remember: Vec<String>,
    /// Where they are saved: `.claude/settings.local.json`, `this session`.
    pub remember_in: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionReply {
    Once {
        comment: Option<String>,
    },
    /// Run it, and save the rules that were shown.
    Always {
        comment: Option<String>,
    },
    /// Without a comment the turn ends; with one the agent continues and reads it.
    No {
        comment: Option<String>,
    },
}

#[derive(Clone, Debug)]
pub struct PermissionDialog {
    choice: ChoiceDialog,
    always: bool,
}

impl PermissionDialog {
    pub fn new(prompt: PermissionPrompt) -> PermissionDialog {
        let always = !prompt.remember.is_empty();
        let mut options = vec![ChoiceOption {
            label: "Yes".into(),
            letter: Some('y'),
            comment: Some("Then also"),
            ..ChoiceOption::default()
        }];
        if always {
            options.push(ChoiceOption {
                label: format!("Yes, and from now on without asking: {}", prompt.remember.join(", ")),
                detail: format!("saved in {}", prompt.remember_in),
                letter: Some('a'),
                comment: Some("Then also"),
            });
        }
        options.push(ChoiceOption {
            label: "No, and say what to do instead".into(),
            letter: Some('n'),
            comment: Some("Instead"),
            ..ChoiceOption::default()
        });
        let mut body = prompt.preview;
        if !prompt.purpose.is_empty() {
            body.extend(wrapped(&prompt.purpose, 200, 0, theme::DIM));
        }
        let question = ChoiceQuestion {
            title: prompt.title,
            source: prompt.source,
            body,
            reason: prompt.reason,
            details: prompt.details,
            escape: options.len() - 1,
            default: 0,
            options,
        };
        PermissionDialog { choice: ChoiceDialog::new(question), always }
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<PermissionReply> {
        let always = self.always;
        self.choice.input(input, keys).map(|ChoiceReply { option, comment }| match option {
            0 => PermissionReply::Once { comment },
            1 if always => PermissionReply::Always { comment },
            _ => PermissionReply::No { comment },
        })
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        self.choice.view(width, height)
    }
}
