//! What is offered while the user types: commands, files, agents, resources, paths.
//!
//! `commands` and `files` find what fits, `fuzzy` says how well, `menu` is the list that opens below the composer,
//! `list` the cursor in any list. The index of files is made by a thread of its own; nothing else here does
//! I/O. When a menu opens and what choosing does to the text is the composer's.

mod commands;
mod file_index;
mod fuzzy;
mod indexer;
mod list;
mod menu;

pub use commands::{CommandItem, CommandMatches, match_choices, match_commands};
pub use file_index::{FileIndex, FileMatch, FileQuery};
pub use indexer::{FileIndexer, IndexOptions};
pub use list::ListCursor;
pub use menu::{After, Menu, MenuEntry, MenuKind};
