//! Is this plan approved? The whole plan, and what happens after a yes.

use super::choice::{ChoiceDialog, ChoiceOption, ChoiceQuestion, ChoiceReply};
use crate::keys::{Action, Context, Input, Keymap};
use crate::{Outcome, View};
use ratatui_core::text::Line;

#[derive(Clone, Debug, Default)]
pub struct PlanPrompt {
    /// The plan as it is shown.
    pub plan: Vec<Line<'static>>,
    /// What the user should know before, for instance that it has no success criteria.
    pub warning: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanReply {
    /// Begin, with edits accepted without a question.
    AcceptEdits {
        comment: Option<String>,
    },
    /// Begin, with a question for each edit.
    AskForEdits {
        comment: Option<String>,
    },
    KeepPlanning {
        comment: Option<String>,
    },
    /// Open the plan in the user's editor; the dialog stays.
    Edit,
}

#[derive(Clone, Debug)]
pub struct PlanDialog {
    choice: ChoiceDialog,
}

impl PlanDialog {
    pub fn new(prompt: PlanPrompt) -> PlanDialog {
        let option = |label: &str, letter, comment| ChoiceOption {
            label: label.into(),
            letter: Some(letter),
            comment: Some(comment),
            ..ChoiceOption::default()
        };
        let question = ChoiceQuestion {
            title: "Approve this plan?".into(),
            body: prompt.plan,
            reason: prompt.warning,
            options: vec![
                option("Yes, and accept edits without asking", 'a', "Then also"),
                option("Yes, and ask before each edit", 'y', "Then also"),
                option("No, keep planning", 'n', "What to change"),
            ],
            default: 1,
            escape: 2,
            ..ChoiceQuestion::default()
        };
        PlanDialog { choice: ChoiceDialog::new(question) }
    }

    /// Replaces the plan, drawn for another width or edited.
    pub fn set_plan(&mut self, plan: Vec<Line<'static>>) {
        self.choice.set_body(plan);
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<PlanReply> {
        if let Input::Key(press) = input
            && keys.action(Context::Chat, press.key) == Some(Action::ExternalEditor)
        {
            return Outcome::Done(PlanReply::Edit);
        }
        self.choice.input(input, keys).map(|ChoiceReply { option, comment }| match option {
            0 => PlanReply::AcceptEdits { comment },
            1 => PlanReply::AskForEdits { comment },
            _ => PlanReply::KeepPlanning { comment },
        })
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        self.choice.view(width, height)
    }
}
