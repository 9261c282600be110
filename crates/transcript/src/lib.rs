//! What the rows of a session mean: to a model, to a turn, to a person.
//!
//! Everything here is pure. Rows come in as the database holds them, one after
//! another; messages, the next step, repairs and exports go out. The rows are the
//! only truth: nothing derived here is ever read back (section 1, D3).
//!
//! - `record` reads one row, however it was written, `loose` its fields;
//! - `mapper` keeps the messages a model is sent, `draft` their order inside;
//! - `course` knows which rows count after a conversation went back;
//! - `ids` tells the calls of a session apart;
//! - `next` says what a turn does now, `repair` what a crash left to answer;
//! - `compact` says when and how a long history becomes a summary;
//! - `cost` says what it came to, `prices` what a token is charged;
//! - `export` shows a session to people and to other programs.
//!
//! Reading and writing the rows is done in `store`, bytes for a provider in
//! `providers`.

mod compact;
mod cost;
mod course;
mod draft;
mod export;
mod ids;
mod loose;
mod mapper;
mod next;
mod prices;
mod record;
mod repair;
mod usage;

pub use compact::{AUTO_PERCENT, CONTEXT_SIZES, Trigger, commit, context_tokens, due, summary_request, tokens};
pub use cost::{Account, STOP_FEEDBACK, Share, Spent, TurnSpent, Whose, counted};
pub use course::Course;
pub use export::{Head, Lines, LinesHead, json, jsonl, markdown};
pub use ids::tell_apart;
pub use mapper::Mapper;
pub use next::{State, Step, next};
pub use prices::{PUBLISHED, Price, Prices};
pub use record::{Attached, Body, HookNote, Note, Progress, REWOUND, Raw, Record};
pub use repair::{INTERRUPTED, answer_open, repair};
pub use usage::usage_entry;
