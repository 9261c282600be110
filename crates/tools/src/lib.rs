//! The built-in tools that touch files and processes, and what a tool is.
//!
//! A call is first planned, then run. Planning checks the input against the
//! tool's own type, makes paths absolute and says what would be touched
//! ([`PlannedCall::access`]); hooks, rules and the operator judge that very plan, and
//! only a plan can run. Running never fails in the Rust sense: what went wrong
//! is a [`ToolResult`](ona_api::ToolResult), because the model reads it.
//!
//! Nothing here asks for permission, writes rows, prints, or looks at the
//! environment of this process; what a call may know is in [`ToolContext`].

mod ask_user_question;
mod bash;
mod brief;
mod context;
mod edit;
mod files;
mod fingerprint;
mod glob;
mod grep;
pub mod image;
mod input;
mod notebook_edit;
mod patch;
mod path;
mod read;
mod resolved_file;
mod schema_check;
mod shell;
mod smallest;
mod task_output;
mod task_stop;
mod tasks;
mod text_file;
mod tool;
mod tool_search;
mod toolbox;
mod write;

pub use ask_user_question::{answers_itself, has_open_questions};
pub use bash::{join_streams, stream_text};
pub use brief::brief_message;
pub use context::{AddressRuling, CallAuthor, GuardedName, JudgeAddress, SeenFiles, ToolContext};
pub use fingerprint::fingerprint;
pub use input::{BadInput, Count, parse, schema};
pub use patch::changed_lines;
pub use path::absolute;
pub use schema_check::{validate, with_defaults};
pub use shell::STREAM_CAP;
pub use tasks::{BackgroundJob, EndedTask, TaskInfo, TaskKind, TaskState, Tasks};
pub use tool::{AnyTool, BoxFuture, Offer, PlannedCall, Tool};
pub use tool_search::ToolSearchTool;
pub use toolbox::{ToolBox, ToolSource};
