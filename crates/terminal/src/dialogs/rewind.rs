//! Back to an earlier prompt: which one, and what of it.

use super::choice::{ChoiceDialog, ChoiceOption, ChoiceQuestion, ChoiceReply};
use super::frame::wrapped;
use super::picker::{Picker, PickerItem, PickerReply};
use crate::keys::{Input, Keymap};
use crate::theme;
use crate::{Outcome, View};

/// A prompt that can be gone back to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindPoint {
    pub prompt: String,
    /// When, and what changed since: `2 h ago · 3 files +10 -2`.
    pub detail: String,
    /// Files can be put back; without, code options are not offered.
    pub has_edits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewindWhat {
    CodeAndConversation,
    Conversation,
    Code,
    SummariseFrom,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewindReply {
    /// The point's position in the list, and words for the summary.
    Rewind {
        point: usize,
        what: RewindWhat,
        guidance: Option<String>,
    },
    Closed,
}

#[derive(Clone, Debug)]
pub struct RewindDialog {
    points: Vec<RewindPoint>,
    picker: Picker,
    what: Option<(usize, Vec<RewindWhat>, ChoiceDialog)>,
}

impl RewindDialog {
    /// Points are given oldest first; the newest is chosen.
    pub fn new(points: Vec<RewindPoint>) -> RewindDialog {
        let item = |point: &RewindPoint| PickerItem {
            label: point.prompt.lines().next().unwrap_or_default().to_owned(),
            detail: point.detail.clone(),
            keywords: point.prompt.clone(),
        };
        let picker = Picker::new("Rewind to before this prompt", points.iter().map(item).collect())
            .when_empty("No prompts to go back to yet")
            .starting_at(points.len().saturating_sub(1));
        RewindDialog { points, picker, what: None }
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<RewindReply> {
        if let Some((point, options, choice)) = &mut self.what {
            let point = *point;
            return match choice.input(input, keys) {
                Outcome::Done(ChoiceReply { option, comment }) => match options.get(option).copied() {
                    Some(what) => Outcome::Done(RewindReply::Rewind { point, what, guidance: comment }),
                    None => {
                        self.what = None;
                        Outcome::Changed
                    }
                },
                Outcome::Changed => Outcome::Changed,
                Outcome::Unclaimed => Outcome::Unclaimed,
            };
        }
        match self.picker.input(input, keys) {
            Outcome::Done(PickerReply::Chosen { item, .. }) => {
                self.choose(item);
                Outcome::Changed
            }
            other => other.map(|_| RewindReply::Closed),
        }
    }

    fn choose(&mut self, item: usize) {
        let Some(point) = self.points.get(item) else { return };
        let code = [RewindWhat::CodeAndConversation, RewindWhat::Conversation, RewindWhat::Code];
        let mut all: Vec<RewindWhat> =
            code.into_iter().filter(|what| point.has_edits || *what == RewindWhat::Conversation).collect();
        all.push(RewindWhat::SummariseFrom);
        let mut options: Vec<ChoiceOption> = all.iter().map(|what| option(*what)).collect();
        options.push(ChoiceOption { label: "Never mind".into(), letter: Some('n'), ..ChoiceOption::default() });
        let body = wrapped(&point.prompt, 1_000, 0, theme::TEXT);
        let question = ChoiceQuestion {
            title: "Rewind what?".into(),
            source: point.detail.clone(),
            body,
            escape: options.len() - 1,
            options,
            ..ChoiceQuestion::default()
        };
        self.what = Some((item, all, ChoiceDialog::new(question)));
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        match &self.what {
            Some((_, _, choice)) => choice.view(width, height),
            None => self.picker.view(width, height),
        }
    }
}

fn option(what: RewindWhat) -> ChoiceOption {
    let (label, comment) = match what {
        RewindWhat::CodeAndConversation => ("Restore code and conversation", None),
        RewindWhat::Conversation => ("Restore conversation; files stay as they are", None),
        RewindWhat::Code => ("Restore code; the conversation stays", None),
        RewindWhat::SummariseFrom => ("Summarise from here on; files stay as they are", Some("What matters in it")),
    };
    ChoiceOption { label: label.into(), comment, ..ChoiceOption::default() }
}
