//! The SQLite database: schema, the one writer, typed queries, locks, checks.
//!
//! Everything durable goes through `Store::commit` as a group of rows: one
//! transaction, numbered, linked and redacted here. Nothing else in the program
//! opens the file. What the rows mean, when a phase may change and what is shown
//! to a person is decided elsewhere.

mod backup;
mod calls;
mod chain;
mod check;
mod context_attachments;
mod error;
mod filesystem;
mod first_look;
mod health;
mod history;
mod kept_files;
mod lock;
mod memory;
mod migrate;
mod open;
mod ownership;
mod parents;
mod plans;
mod prompts;
mod reader;
mod recover;
mod redaction;
mod rescue;
mod row_writer;
mod schema;
mod settings;
mod store;
mod testing;
mod transcript;
mod usage_rows;
mod watched_file;
mod write;
mod writer;

pub use calls::{HookTimes, RecordedCall, RecordedCalls, RecordedDecision, RecordedRun};
pub use chain::{
    Anchor, AnchorError, AuditDifference, AuditReport, ExportError, ExportTarget, RecordFormat, RecordRow,
    export as export_record, newest_anchor, verify as verify_record,
};
pub use check::{CheckFinding, CheckReport, check};
pub use error::StoreError;
pub use health::{PragmaReport, Pragmas};
pub use history::{NewestSession, SessionLine, StoredEntry};
pub use kept_files::{FileChange, StoredBefore};
pub use lock::{
    LockError, SessionLock, SettingsLock, is_held as is_session_held, remove_unheld as remove_unheld_locks,
};
pub use memory::StoredMemory;
pub use open::{BUSY_TIMEOUT, usable};
pub use plans::StoredPlan;
pub use reader::{Conversation, Reader};
pub use recover::{RecoveredTable, RecoveryReport, recover};
pub use rescue::{LostDatabase, RescuedRows};
pub use schema::SCHEMA;
pub use settings::SettingsRow;
pub use store::Store;
pub use testing::{Mutation, StoredCase, StoredRun};
pub use watched_file::FileLoss;
pub use write::Committed;
