//! Opening files that somebody else may be changing at the same moment.
//!
//! [`resolve`] says where links lead; a decision about a path is made on that answer.
//! [`target`] opens exactly that place later and follows no link on the way, so a link
//! that was put in place after the decision is an error and never a way around it.
//! [`replace`] changes a file there in one step. [`found`] reads files that came with a
//! folder: regular, bounded, without ever waiting for a writer. [`snapshot()`] lists the files
//! of a project with their digests.
//!
//! Nothing here decides what may be opened.

mod found;
mod replace;
mod resolve;
mod snapshot;
mod target;

pub use found::{
    CUT, Entries, Follow, MAX_FOUND, NotRead, below, check_ignore_files, entries, open_found, read_bytes, read_named,
    read_text,
};
pub use replace::replace;
pub use resolve::{Links, PathForms};
pub use rustix::fs::FileType;
pub use snapshot::{ProjectSnapshot, SnapshotError, snapshot};
pub use target::{FileInfo, OpenError, Target, names, open_dir, open_file};
