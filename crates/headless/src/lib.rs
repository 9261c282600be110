//! Prompts answered without a terminal (DEC-101): `-p`, stream-json and the control protocol.
//!
//! [`run`] answers prompts one after another. What it prints are values (`messages`), made of
//! what happens in a turn (`translate`) and written by one `printer`. What the driving program sends is
//! parsed by `input` and arrives in `input_queue`, also while a turn runs; `control` answers its
//! requests, and `host_connection` puts our questions to it.
//!
//! This crate reads no flags and opens no stream: options, a reader and an [`Output`]
//! are handed in, and a run returns how it ended.

mod background;
mod control;
mod event_printer;
#[cfg(test)]
mod fixture;
mod hook_reporter;
mod host_connection;
mod host_hook;
mod host_mcp;
mod host_operator;
mod input;
mod input_queue;
mod live;
mod messages;
mod options;
mod output;
mod prepare;
mod printer;
mod prompt_tool;
mod read_prompt;
mod run;
mod run_cost;
mod stream;
mod translate;
mod turn_result;
mod user_content;

pub use input::is_message;
pub use live::LiveStyle;
pub use options::{HeadlessOptions, OutputFormat, PermissionPrompts};
pub use output::Output;
pub use read_prompt::read_prompt;
pub use run::{Prompts, RunEnd, run};

/// The version of the reference whose stream-json this speaks.
pub const PROTOCOL: &str = "2.1.240";
