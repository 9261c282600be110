//! The built-in tools that touch files and processes, and what a tool is.
//!
//! A call is first planned, then run. Planning checks the input against the
//! tool's own type, makes paths absolute and says what would be touched
//! ([`Plan::access`]); hooks, rules and the operator judge that very plan, and
//! only a plan can run. Running never fails in the Rust sense: what went wrong
//! is a [`ToolResult`](ona_api::ToolResult), because the model reads it.
//!
//! Nothing here asks for permission, writes rows, prints, or looks at the
//! environment of this process; what a call may know is in [`Cx`].

mod ask_user_question;
mod bash;
mod cx;
mod edit;
mod files;
mod fingerprint;
mod glob;
mod grep;
mod input;
mod kept;
mod located;
mod notebook_edit;
mod patch;
mod path;
pub mod picture;
mod read;
mod shape;
mod shell;
mod task_output;
mod task_stop;
mod tasks;
mod text_file;
mod tool;
mod tool_search;
mod toolbox;
mod write;

pub use ask_user_question::{answers_itself, has_open_questions};
pub use bash::{joined, stream_text};
pub use cx::{Cx, GuardedName, SeenFiles};
pub use fingerprint::fingerprint;
pub use input::{BadInput, Count, parse, schema};
pub use path::absolute;
pub use shape::{fits, with_defaults};
pub use shell::STREAM_CAP;
pub use tasks::{Job, State, TaskInfo, TaskKind, Tasks};
pub use tool::{AnyTool, BoxFuture, Offer, Plan, Tool};
pub use tool_search::ToolSearch;
pub use toolbox::{Source, ToolBox};
