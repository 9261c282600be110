//! What a typed line means, for every front: a slash command, skills, a command of a module, or a
//! prompt for the model.
//!
//! [`COMMANDS`] is the one table of built-in commands: help, menus, `init`'s `slash_commands` and
//! `docs/COMMANDS.md` are read off it. [`SessionRunner`] answers lines one after another in one
//! session at a time, and moves to another session where a command says so.
//!
//! Nothing here prints or draws: an answer is a value, its text is Markdown. How it looks, and which
//! dialogs lead to a command, is left to the fronts.

mod parse;
mod runner;
mod table;

pub use parse::slash_command;
pub use runner::{Answer, AnsweredBy, FrontParts, SessionObserver, SessionParts, SessionRunner};
pub use table::{COMMANDS, Class, Function, MISSING, SlashCommand, find, reference};
