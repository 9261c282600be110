//! The types every other crate shares: ids, verdicts, rows, hook events, tool calls.
//!
//! Everything that is stored or sent has its type here. Nothing in this crate opens a
//! file, starts a process or depends on another crate of the workspace.

mod address;
pub mod clock;
pub mod credentials;
pub mod digest;
pub mod env;
pub mod environment;
pub mod event;
mod file_change;
pub mod ids;
mod logged_event;
pub mod mode;
pub mod model;
mod nearest;
pub mod notation;
pub mod path;
pub mod permission_update;
pub mod phase;
pub mod redact;
pub mod row;
pub mod shell_words;
pub mod sse;
pub mod testing;
pub mod text;
pub mod tool;
pub mod verdict;

pub use address::{AddressClass, address_class, name_class};
pub use env::Env;
pub use environment::Variable;
pub use event::EventName;
pub use file_change::{BeforeChange, ChangeOrigin, ChangedFile, FileNow, KeptFile, WhyUnkept, path_of_text, path_text};
pub use ids::{CallId, ConversationId, Ordinal, SessionId};
pub use logged_event::{GeneratedTests, LoggedEvent, PlanCompletion, SessionOrigin};
pub use mode::Mode;
pub use nearest::nearest;
pub use phase::Phase;
pub use redact::Redactor;
pub use row::{Entry, EventKind, Group, HookRun, PlanStatus, Row, SkipReason, SystemEntry};
pub use tool::{Access, Attachment, ResultClass, ToolCall, ToolResult, ToolSpec};
pub use verdict::{Authority, Ruling, Verdict};
