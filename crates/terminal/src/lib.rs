//! The interactive terminal: what `ona` without `-p` shows and how it is answered.
//!
//! State is one value, changed by one function of (state, input); drawing is a function of the
//! state. Text is made of ratatui's `Line`, `Span` and `Style`. A frame has two parts: finished
//! lines, which go once into the terminal's own scrollback and are never touched again, and the
//! bottom (tail of the reply, status, dialog, composer), which is repainted.
//!
//! `screen` brings frames to a terminal, `markdown` and `blocks` make lines of replies and of
//! what happened, `theme` has the styles. Nothing here decides what an agent may do: that is
//! `ona-runtime` and below.

mod app;
pub mod blocks;
mod component;
pub mod composer;
pub mod dialogs;
mod front;
mod input;
pub mod keys;
pub mod markdown;
pub mod menus;
mod outside;
pub mod palette;
pub mod screen;
mod status_command;
mod surroundings;
pub mod text;
pub mod theme;

pub use app::{TerminalEnd, TerminalOptions, WakeChannel, run};
pub use component::{Cursor, Outcome, View};
