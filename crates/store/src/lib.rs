//! The SQLite database: schema, the one writer, typed queries, locks, checks.
//!
//! Everything durable goes through `Store::commit` as a group of rows: one
//! transaction, numbered, linked and redacted here. Nothing else in the program
//! opens the file. What the rows mean, when a phase may change and what is shown
//! to a person is decided elsewhere.

mod accounts;
mod backup;
mod calls;
mod check;
mod error;
mod filesystem;
mod given;
mod health;
mod history;
mod lock;
mod memory;
mod migrate;
mod open;
mod owner;
mod parents;
mod pen;
mod plans;
mod reader;
mod schema;
mod scrub;
mod settings;
mod store;
mod testing;
mod transcript;
mod write;
mod writer;

pub use calls::{HookTimes, RecordedCall, RecordedDecision, RecordedRun};
pub use check::{Finding, Report, check};
pub use error::StoreError;
pub use health::{PragmaReport, Pragmas};
pub use history::{SessionLine, StoredEntry};
pub use lock::{LockError, SessionLock, SettingsLock};
pub use memory::StoredMemory;
pub use open::{BUSY_TIMEOUT, usable};
pub use plans::Plan;
pub use reader::{Conversation, Reader};
pub use schema::SCHEMA;
pub use settings::SettingsRow;
pub use store::Store;
pub use testing::{Mutation, StoredCase, StoredRun};
pub use write::Committed;
