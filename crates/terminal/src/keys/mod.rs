//! From what the terminal sends to what the user means.
//!
//! `decode` turns a batch of terminal events into [`Input`]s, and tells typed keys from pasted text.
//! [`Keymap`] turns keys into [`Action`]s: one table holds the keys ona comes with, a user's file changes
//! them, and the help is printed from the result. What an action does is not decided here.

mod action;
mod decode;
mod file;
mod help;
mod key;
mod keymap;
mod sent;

pub use action::{Action, Context};
pub use decode::{Decoder, Input, Press};
pub use file::{Keybindings, KeybindingsError, parse_keybindings};
pub use help::{HelpSection, key_help};
pub use key::{Key, KeySequence, UnknownKey};
pub use keymap::{Bound, Chord, Keymap, Resolved};
pub use sent::sent_as;
