//! A session for people and for other programs.
//!
//! Three projections of the same rows. None is ever read back: the rows in the
//! database are the transcript, a file made from them is a picture of it (D3).
//! Secrets were removed when the rows were written.

mod json;
mod jsonl;
mod markdown;
mod visible;

pub use json::json;
pub use jsonl::{JsonlContext, JsonlWriter, jsonl};
pub use markdown::markdown;

use crate::cost::UsageReport;
use crate::prices::Prices;
use ona_api::{ConversationId, SessionId};

/// What is known of a session besides its rows.
#[derive(Clone, Debug)]
pub struct ExportHead {
    pub session: SessionId,
    pub conversation: ConversationId,
    /// The session whose Agent call made this one.
    pub parent: Option<SessionId>,
    pub project_dir: String,
    pub started_at: String,
    pub title: Option<String>,
    /// Of this program, `X.Y.Z`.
    pub version: String,
    /// What it used, and what that is charged.
    pub account: UsageReport,
    pub prices: Prices,
}
