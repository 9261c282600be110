//! What a typed line means, for every front: a slash command, skills, a command of a module, or a
//! prompt for the model.
//!
//! [`COMMANDS`] is the one table of built-in commands: help, menus, `init`'s `slash_commands` and
//! `docs/COMMANDS.md` are read off it. [`SessionRunner`] answers lines one after another in one
//! session at a time, and moves to another session where a command says so.
//!
//! Nothing here prints or draws: an answer is a value, its text is Markdown. How it looks, and which
//! dialogs lead to a command, is left to the fronts.

mod first_run;
mod parse;
mod runner;
mod screen;
mod table;
mod texts;

pub use first_run::{FirstRun, first_run};
pub use parse::slash_command;
pub use runner::{
    AfterAnswer, Answer, AnsweredBy, FrontParts, OWN_SHELL, SessionObserver, SessionParts, SessionRunner,
};
pub use screen::{
    CommandAnswer, CommandQuestion, CommandReply, CommandScreen, ScreenAction, ScreenEntry, ScreenOption, SettingEntry,
    SettingScope, SettingValue,
};
pub use table::{COMMANDS, Class, Function, SlashCommand, find, reference};
