//! What the rows of a session mean for a model, a turn and a person.
//!
//! Everything here is pure. Rows come in as the database holds them, one after
//! another; messages, the next step, repairs and exports go out. The rows are the
//! only truth: nothing derived here is ever read back (section 1, D3).
//!
//! - `record` parses one row, however it was written, `lenient_json` its fields;
//! - `mapper` builds the messages for the model, `draft` the order inside each;
//! - `rewinds` knows which rows count after a conversation was rewound;
//! - `ids` makes the ids of calls unique within a session;
//! - `next` returns the next step of a turn, `repair` the results a crash left open;
//! - `compact` decides when and how a long history becomes a summary;
//! - `cost` sums up usage, `prices` has the price of a token;
//! - `export` shows a session to people and to other programs.
//!
//! Reading and writing the rows is done in `store`, bytes for a provider in
//! `providers`.

mod compact;
mod cost;
mod draft;
mod export;
mod ids;
mod lenient_json;
mod mapper;
mod next;
mod prices;
mod record;
mod repair;
mod rewinds;
mod usage;

pub use compact::{
    AUTO_PERCENT, CONTEXT_SIZES, Trigger, collapse_entry, context_tokens, estimate_tokens, is_compaction_due,
    is_known_context, summary_request,
};
pub use cost::{ModelUsage, RowOwner, STOP_FEEDBACK, TokenUsage, TurnUsage, UsageReport, counted};
pub use export::{ExportHead, JsonlContext, JsonlWriter, json, jsonl, markdown};
pub use ids::make_call_ids_unique;
pub use mapper::Mapper;
pub use next::{Step, TurnState, next};
pub use prices::{PUBLISHED, Price, Prices};
pub use record::{AttachmentRecord, Body, HookRecord, ProgressRecord, RawRow, Record, RowProblem};
pub use repair::{INTERRUPTED, answer_open_calls, repair};
pub use rewinds::Rewinds;
pub use usage::usage_entry;
