//! What commands ask of a front with a person in it, and have done there.
//!
//! A command is straight code: it asks, waits and goes on. A front without a person has no
//! [`CommandScreen`], and the same commands answer in words. How a question looks is not decided here.

use ona_api::permission_update::Destination;
use serde_json::Value;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use tokio_util::sync::CancellationToken;

/// The answer, or `None` for a question that was closed.
pub type CommandAnswer<'a> = Pin<Box<dyn Future<Output = Option<CommandReply>> + Send + 'a>>;

/// Shows questions of commands to a person. A question waits without a time limit.
pub trait CommandScreen: Send + Sync {
    fn ask<'a>(&'a self, question: CommandQuestion, cancel: &'a CancellationToken) -> CommandAnswer<'a>;

    /// Has something done that only a screen can do; it says itself what does not work.
    fn act(&self, action: ScreenAction);
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandQuestion {
    /// One of a few answers.
    Choose { title: String, body: String, options: Vec<ScreenOption>, escape: usize },
    /// One of many entries, narrowed by typing.
    Pick { title: String, empty: String, entries: Vec<ScreenEntry>, at: usize },
    /// A line of text. A secret one is not shown while it is typed.
    Input { title: String, placeholder: String, text: String, secret: bool },
    /// Entries with a page behind each, and letters that do something with the entry.
    Browse { title: String, empty: String, entries: Vec<ScreenEntry>, open: Option<usize> },
    /// The settings, with the one that is chosen and what went wrong with the last change.
    Settings { entries: Vec<SettingEntry>, scope: SettingScope, at: Option<String>, problem: Option<String> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenOption {
    pub label: String,
    pub detail: String,
    pub letter: Option<char>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenEntry {
    pub label: String,
    /// Beside the label.
    pub detail: String,
    /// More about it, as Markdown.
    pub page: String,
    /// Letters that act on it, with their words.
    pub actions: Vec<(char, String)>,
}

/// A setting as an editor shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingEntry {
    pub key: String,
    pub help: String,
    pub value: SettingValue,
    /// Where the value comes from.
    pub origin: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Switch(bool),
    Choice {
        choices: Vec<String>,
        chosen: usize,
    },
    Text(String),
    /// It cannot be changed here; the text says why.
    Fixed {
        value: String,
        why: String,
    },
}

/// The files that an editor writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    User,
    Project,
    Local,
}

impl SettingScope {
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    pub fn as_str(self) -> &'static str {
        match self {
            SettingScope::User => "user",
            SettingScope::Project => "project",
            SettingScope::Local => "local",
        }
    }

    /// The one after it.
    pub fn next(self) -> Self {
        match self {
            SettingScope::User => SettingScope::Project,
            SettingScope::Project => SettingScope::Local,
            SettingScope::Local => SettingScope::User,
        }
    }

    pub(crate) fn of_files(self) -> ona_trust::SettingsScope {
        match self {
            SettingScope::User => ona_trust::SettingsScope::User,
            SettingScope::Project => ona_trust::SettingsScope::Project,
            SettingScope::Local => ona_trust::SettingsScope::Local,
        }
    }

    pub(crate) fn of_rules(self) -> Destination {
        match self {
            SettingScope::User => Destination::UserSettings,
            SettingScope::Project => Destination::ProjectSettings,
            SettingScope::Local => Destination::LocalSettings,
        }
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandReply {
    /// Position of an option or an entry.
    Chosen(usize),
    Text(String),
    /// A letter was pressed on an entry's page.
    Act {
        entry: usize,
        letter: char,
    },
    /// A setting should have this value in this scope; `None` removes it.
    Set {
        key: String,
        value: Option<Value>,
        scope: SettingScope,
    },
}

/// What only a screen can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenAction {
    /// Put a text into the clipboard.
    Copy(String),
    /// Open a file in the person's editor.
    Edit(PathBuf),
    /// A theme by its name.
    Theme(String),
    /// A colour around the composer by its name; `None` for the usual one.
    Colour(Option<String>),
    /// Show prompts and replies only.
    Focus,
    Vim(bool),
    /// Run this as the status line from now on; `None` for none.
    StatusLine(Option<String>),
    /// The name of the session for the title of the window.
    Name(String),
}
