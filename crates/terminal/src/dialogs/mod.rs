//! Questions to the user, in place of the composer or above it.
//!
//! Each dialog is a component with its own answer; [`Overlay`] holds whichever is open and keeps keys that
//! were typed before it appeared from answering it. What an answer means, and where what is shown
//! comes from, is not decided here. Time in a dialog counts against nothing: nothing here has a clock.

mod choice;
mod config;
mod custom;
mod elicitation;
mod frame;
mod guard;
mod overlay;
mod permission;
mod picker;
mod plan;
mod question;
mod rewind;
mod text_field;
mod text_input;
mod trust;
mod viewer;

pub use choice::{ChoiceDialog, ChoiceOption, ChoiceQuestion, ChoiceReply};
pub use config::{ConfigEditor, ConfigEntry, ConfigReply, ConfigValue};
pub use custom::CustomDialog;
pub use elicitation::{ElicitationForm, ElicitationPrompt, ElicitationReply};
pub use overlay::{Dialog, DialogReply, Overlay};
pub use permission::{PermissionDialog, PermissionPrompt, PermissionReply};
pub use picker::{Picker, PickerItem, PickerReply, PickerSwitch};
pub use plan::{PlanDialog, PlanPrompt, PlanReply};
pub use question::{AskedOption, AskedQuestion, QuestionDialog, QuestionReply};
pub use rewind::{RewindDialog, RewindPoint, RewindReply, RewindWhat};
pub use text_input::InputDialog;
pub use trust::{TrustDialog, TrustItem, TrustPrompt, TrustReply};
pub use viewer::{Viewer, ViewerEntry, ViewerReply};

#[cfg(test)]
mod tests;
