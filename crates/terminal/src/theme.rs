//! The styles of everything that is shown, and no others.
//!
//! Default foreground for text, bold for headings, dim for what is secondary, cyan for what can be
//! acted on, green and red for added and failed, magenta for ona's own voice. No background is
//! set, so that all of it is legible on light and dark. Without colour (`NO_COLOR`) the painter
//! drops the colours and keeps bold, dim, underline and reverse; nothing may differ by colour alone.

use ratatui_core::style::{Color, Modifier, Style};

/// Ordinary text.
pub const TEXT: Style = Style::new();
/// Headings, names, what a line is about.
pub const HEADING: Style = Style::new().add_modifier(Modifier::BOLD);
/// What is secondary: hints, times, paths beside a title.
pub const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// What can be acted on: keys, choices, links, commands.
pub const ACTION: Style = Style::new().fg(Color::Cyan);
/// Added lines, success.
pub const ADDED: Style = Style::new().fg(Color::Green);
/// Failures, removed lines, refusals.
pub const FAILED: Style = Style::new().fg(Color::Red);
/// What ona itself says, as opposed to the model, tools and hooks.
pub const VOICE: Style = Style::new().fg(Color::Magenta);
/// The selected entry of a menu or dialog; a marker in front of it says so without colour.
pub const SELECTED: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Text that a search found, and selected text.
pub const MATCH: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Code inside of a sentence: names, paths and commands, which can be acted on.
pub const CODE: Style = ACTION;
pub const CODE_STRING: Style = Style::new().fg(Color::Green);
pub const CODE_KEYWORD: Style = Style::new().fg(Color::Magenta);
pub const CODE_CONSTANT: Style = Style::new().fg(Color::Cyan);
