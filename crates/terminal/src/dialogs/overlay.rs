//! The dialog that is open, whichever it is.

use super::guard::Guard;
use super::{
    ChoiceDialog, ChoiceReply, ConfigEditor, ConfigReply, CustomDialog, ElicitationForm, ElicitationReply, InputDialog,
    PermissionDialog, PermissionReply, Picker, PickerReply, PlanDialog, PlanReply, QuestionDialog, QuestionReply,
    RewindDialog, RewindReply, TrustDialog, TrustReply, Viewer, ViewerReply,
};
use crate::keys::{Input, Key, Keymap};
use crate::{Outcome, View};
use std::time::Duration;

macro_rules! dialogs {
    ($($variant:ident($dialog:ty => $reply:ty),)*) => {
        #[derive(Clone, Debug)]
        pub enum Dialog { $($variant(Box<$dialog>),)* }

        /// What a dialog was answered. Replies that leave the dialog open say so where they are defined.
        #[derive(Clone, Debug, PartialEq)]
        pub enum DialogReply { $($variant($reply),)* }

        impl Dialog {
            fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<DialogReply> {
                match self {
                    $(Dialog::$variant(dialog) => dialog.input(input, keys).map(DialogReply::$variant),)*
                }
            }

            pub fn view(&self, width: u16, height: u16) -> View {
                match self {
                    $(Dialog::$variant(dialog) => dialog.view(width, height),)*
                }
            }
        }

        $(impl From<$dialog> for Dialog {
            fn from(dialog: $dialog) -> Dialog {
                Dialog::$variant(Box::new(dialog))
            }
        })*
    };
}

dialogs! {
    Permission(PermissionDialog => PermissionReply),
    Plan(PlanDialog => PlanReply),
    Question(QuestionDialog => QuestionReply),
    Trust(TrustDialog => TrustReply),
    Elicitation(ElicitationForm => ElicitationReply),
    Choice(ChoiceDialog => ChoiceReply),
    Picker(Picker => PickerReply),
    Rewind(RewindDialog => RewindReply),
    Viewer(Viewer => ViewerReply),
    Config(ConfigEditor => ConfigReply),
    Input(InputDialog => Option<String>),
    Custom(CustomDialog => Option<String>),
}

/// An open dialog and since when it is there.
#[derive(Clone, Debug)]
pub struct Overlay {
    pub dialog: Dialog,
    guard: Guard,
}

impl Overlay {
    /// A dialog that the user has just asked for: it takes keys at once.
    pub fn asked_for(dialog: impl Into<Dialog>) -> Overlay {
        Overlay { dialog: dialog.into(), guard: Guard::default() }
    }

    /// A dialog that opens by itself. `appeared` is when it is first drawn.
    pub fn unasked(dialog: impl Into<Dialog>, appeared: Duration) -> Overlay {
        Overlay { dialog: dialog.into(), guard: Guard::from(appeared) }
    }

    /// Takes an input. What was typed before the dialog could be read is not claimed: letters belong
    /// to the composer, and Enter to nobody.
    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<DialogReply> {
        let at = match input {
            Input::Key(press) if press.key == Key::ESC => None,
            Input::Key(press) => Some(press.at),
            Input::Text { at, .. } | Input::Paste { at, .. } => Some(*at),
            Input::Resize { .. } | Input::Focus(_) => None,
        };
        if at.is_some_and(|at| !self.guard.admits(at)) {
            return Outcome::Unclaimed;
        }
        self.dialog.input(input, keys)
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        self.dialog.view(width, height)
    }
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
