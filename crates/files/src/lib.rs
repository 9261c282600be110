//! Opens files that other processes may be changing at the same time.
//!
//! `resolve` says where links lead; a decision about a path is made on that answer.
//! `location` opens exactly that place later and follows no link on the way, so a link
//! that was put in place after the decision is an error and never a way around it.
//! [`replace()`] changes a file there in one step. `bounded` reads files that came with a
//! folder: regular, bounded, without ever waiting for a writer. [`snapshot()`] lists the files
//! of a project with their digests, [`look_at_tree`] shows which of them have changed by metadata alone.
//!
//! Nothing here decides what may be opened.

mod bounded;
mod credential_names;
mod location;
mod replace;
mod resolve;
mod snapshot;
mod tree;

pub use bounded::{
    DirEntries, Follow, MAX_FILE_BYTES, ReadError, TOO_MANY_ENTRIES, check_ignore_files, list_below, list_dir,
    open_regular, read_bytes, read_named, read_text,
};
pub use credential_names::is_credential_name;
pub use location::{FileInfo, FileLocation, OpenError, names, open_dir, open_file};
pub use replace::{remove, remove_left_over, replace, restore};
pub use resolve::{LinkCache, PathForms};
pub use rustix::fs::FileType;
pub use snapshot::{ProjectSnapshot, SnapshotError, snapshot};
pub use tree::{FileStamp, FileTree, TreeLimits, TreeTooLarge, differing, look_at_tree};
