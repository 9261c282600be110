//! What a session did to files: the values of `sdlc_file_changes` and `sdlc_kept_content`.
//!
//! One row says how one file was before a prompt's work first changed it and how that work left
//! it. A rewind of files is such work as well, so the rows of a session are one line in time and
//! going back to any point of it is the same operation, also going back to before a rewind.
//!
//! Only values. What is kept is decided in `orchestration/checkpoints`; that no content with a
//! secret is stored is seen to by the store.

use crate::SessionId;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which row of the session's transcript a change belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// The prompt with this sequence number.
    Prompt(i64),
    /// The newest row, which is that of a rewind in the same group.
    NewestRow,
}

/// How a file was before it was first changed.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFile {
    /// The session that a person or a program talks to; changes of its subagents are its changes.
    pub session: SessionId,
    pub origin: ChangeOrigin,
    pub path: PathBuf,
    pub before: BeforeChange,
    /// How the change leaves the file, where that is known beforehand.
    pub planned: Option<FileNow>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BeforeChange {
    Absent,
    File {
        content: Arc<[u8]>,
        /// Permission bits.
        mode: u32,
    },
    Unkept(WhyUnkept),
}

/// How the work of a prompt left a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub session: SessionId,
    pub origin: ChangeOrigin,
    pub path: PathBuf,
    pub now: FileNow,
}

/// A file at one moment, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileNow {
    Absent,
    File {
        sha256: String,
        mode: u32,
    },
    /// A link, a folder, a file that cannot be read or is too large to be compared.
    Other,
}

macro_rules! reasons {
    ($($variant:ident = $text:literal, $words:literal;)+) => {
        /// Why the content of a file was not kept. Such a file cannot be restored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum WhyUnkept { $($variant),+ }

        impl WhyUnkept {
            pub const ALL: &[WhyUnkept] = &[$(WhyUnkept::$variant),+];

            /// As the database holds it.
            pub fn as_str(self) -> &'static str {
                match self { $(WhyUnkept::$variant => $text),+ }
            }

            /// For people.
            pub fn words(self) -> &'static str {
                match self { $(WhyUnkept::$variant => $words),+ }
            }
        }
    };
}

reasons! {
    TooLarge = "too_large", "it is larger than files that are kept";
    Secret = "secret", "it holds a credential, which is never stored";
    CredentialFile = "credential_file", "its name is that of a file with credentials, which is never stored";
    NotRead = "not_read", "a command changed it, and it had not been read before";
    Link = "link", "it is a link";
    HardLink = "hard_link", "it has more than one name (a hard link)";
    NotAFile = "not_a_file", "it is not a regular file";
    Unreadable = "unreadable", "it could not be read";
    Outside = "outside", "it lies outside the working directories";
    Guarded = "guarded", "nothing may change it: it is part of ona's own record and guards";
    NotCompared = "not_compared", "changes of a command below it were not looked for: too many files, or it took too long";
    Dropped = "dropped", "its kept content was dropped to make room";
}

impl WhyUnkept {
    pub fn from_text(text: &str) -> Option<WhyUnkept> {
        Self::ALL.iter().copied().find(|why| why.as_str() == text)
    }
}

/// What the name of a file that is not UTF-8 begins with in the database; other paths begin with `/`.
const BYTES: &str = "bytes:";

/// Returns a path as the database holds it, without loss.
pub fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => path.as_os_str().as_bytes().iter().fold(BYTES.to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

/// Returns the path of a text of the database; `None` if it is not one.
pub fn path_of_text(text: &str) -> Option<PathBuf> {
    let Some(digits) = text.strip_prefix(BYTES) else { return text.starts_with('/').then(|| text.into()) };
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(pair).collect::<Option<_>>()?;
    bytes.starts_with(b"/").then(|| OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_stored_without_loss() {
        for bytes in [&b"/a/b"[..], b"/a/\xff\xfe b", "/ü".as_bytes(), b"/a\nb"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(path_of_text(&path_text(&path)), Some(path));
        }
        for text in ["", "a/b", "bytes:", "bytes:6", "bytes:zz", "bytes:61", "[REDACTED:KEY]/x"] {
            assert_eq!(path_of_text(text), None, "{text}");
        }
    }

    #[test]
    fn reasons_are_read_back() {
        for why in WhyUnkept::ALL {
            assert_eq!(WhyUnkept::from_text(why.as_str()), Some(*why));
        }
        assert_eq!(WhyUnkept::from_text("other"), None);
    }
}
