//! Notices for the operator about settings files.
//! A notice names keys and files, never values: a value may be a credential.

use ona_api::EventKind;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub about: NoticeKind,
    /// `None`: the text given with `--settings`, or the environment.
    pub file: Option<PathBuf>,
    pub line: Option<usize>,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The whole file was left out.
    Unreadable,
    /// The file is not a JSON object; the files must not be imported without it.
    NotSettings,
    /// A key that is not used: under `permissions` (DEC-075), or at the top of one of our own files.
    UnknownKey,
    /// Something that this build does not do, so that it guards nothing.
    NoEffect,
    /// A value that does not fit its key was left out.
    BadValue,
    /// An unknown `defaultMode` became `default` (DEC-074).
    Mode,
    /// Something files of this scope may not say.
    Scope,
    /// A hook that cannot be read as one.
    Hook,
    /// The folder is not trusted; of this file only the hook entries were taken, disabled.
    Untrusted,
    /// The managed policy switched something off.
    Policy,
}

impl NoticeKind {
    /// Returns the `events` row that belongs to it, if any.
    pub fn event(self) -> Option<EventKind> {
        match self {
            NoticeKind::UnknownKey => Some(EventKind::SettingsUnknownKey),
            NoticeKind::Hook => Some(EventKind::HookConfigRejected),
            NoticeKind::Unreadable
            | NoticeKind::NotSettings
            | NoticeKind::NoEffect
            | NoticeKind::BadValue
            | NoticeKind::Mode
            | NoticeKind::Scope
            | NoticeKind::Untrusted
            | NoticeKind::Policy => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: {}", file.display(), self.message),
            (Some(file), None) => write!(f, "{}: {}", file.display(), self.message),
            (None, _) => f.write_str(&self.message),
        }
    }
}
