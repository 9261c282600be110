//! The chain: what makes a later change of the record show (`ona audit`).
//!
//! `transcript_entries`, `hook_invocations`, `tool_permission_log` and `events` are only ever added
//! to. Each committed group that adds rows to them also adds one row to `sdlc_chain`. It lists those
//! rows with a digest each, and its hash covers the list and the hash of the row before it. To change
//! a row in silence one has to compute every later hash again, and that shows against an anchor (a
//! hash that is kept elsewhere). Nothing inside the file can show more than that.
//!
//! # What is hashed
//!
//! Everything needed to write another verifier. All digests are SHA-256. A value is encoded by its
//! storage class, integers in big endian:
//!
//! ```text
//! NULL     00
//! INTEGER  01, 8 bytes, two's complement
//! REAL     02, 8 bytes, IEEE 754
//! TEXT     03, 8 bytes length, the bytes (UTF-8)
//! BLOB     04, 8 bytes length, the bytes
//! ```
//!
//! Digest of a row: of TEXT `ona row 1`, TEXT name of the table, then each column of section 4.3 but
//! `id`, in the order of `schema.sql`.
//!
//! `sdlc_chain.rows`: for each row 41 bytes: one byte for the table (1 `transcript_entries`,
//! 2 `hook_invocations`, 3 `tool_permission_log`, 4 `events`; plus 128 if the row was inserted by
//! another program), 8 bytes id, the digest. In the order of the tables, then of the ids.
//!
//! `sdlc_chain.hash`: digest of TEXT `ona group 1`, the hash of the row before as it is stored
//! (BLOB of 32 zero bytes for the first row), then each column but `hash`, in the order of `schema.sql`.
//!
//! # Kinds of rows of the chain
//!
//! `start` is the first one and has a random id of the database, so that no two chains are alike. It
//! is followed by `before` rows that list what was there before the chain began, in parts. `group` is
//! one committed group. `restart` instead of `start`: the table was there already and was dropped.
//!
//! A group lists, in the tables it writes to, everything above the highest id listed so far
//! (`transcript_id` to `event_id`): its own rows, and those that hooks or triggers inserted by SQL
//! since then. What comes later with a lower id was inserted afterwards.
//!
//! This directory: `encoding` is the format above, `seal` writes, `walk` compares the tables with the
//! chain row by row, `verify`, `anchor` and `export` are what `ona audit` does with that.

mod anchor;
mod encoding;
mod export;
mod report;
mod seal;
mod verify;
mod walk;

pub use anchor::{Anchor, AnchorError};
pub use export::{ExportError, ExportTarget, RecordFormat, export};
pub use verify::{AuditDifference, AuditReport, RecordRow, anchor as newest_anchor, verify};

pub(crate) use seal::{ChainStart, OwnRows, begin_if_empty, seal};

use crate::schema;
use std::sync::LazyLock;

/// The table of the chain.
pub(crate) const TABLE: &str = "sdlc_chain";

/// The version of our own tables that has it.
pub(crate) const SINCE: i64 = 2;

/// A table whose rows are chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainedTable {
    Transcript,
    Hooks,
    Permissions,
    Events,
}

impl ChainedTable {
    pub(crate) const ALL: [ChainedTable; 4] =
        [ChainedTable::Transcript, ChainedTable::Hooks, ChainedTable::Permissions, ChainedTable::Events];

    pub(crate) fn name(self) -> &'static str {
        match self {
            ChainedTable::Transcript => "transcript_entries",
            ChainedTable::Hooks => "hook_invocations",
            ChainedTable::Permissions => "tool_permission_log",
            ChainedTable::Events => "events",
        }
    }

    /// Position in `ALL`.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Its columns in the order of `schema.sql`, `id` first.
    pub(crate) fn columns(self) -> impl Iterator<Item = &'static str> {
        let found = schema::TABLES.iter().find(|(table, _)| *table == self.name());
        found.map_or("", |(_, columns)| columns).split_whitespace()
    }

    /// `SELECT` of all columns, up to and without `WHERE`.
    fn select(self) -> &'static str {
        static SELECTS: LazyLock<[String; 4]> = LazyLock::new(|| {
            ChainedTable::ALL.map(|table| {
                let columns: Vec<_> = table.columns().collect();
                format!("SELECT {} FROM {}", columns.join(", "), table.name())
            })
        });
        &SELECTS[self.index()]
    }

    /// Its rows above an id, in order.
    fn rows_above(self) -> &'static str {
        static QUERIES: LazyLock<[String; 4]> =
            LazyLock::new(|| ChainedTable::ALL.map(|table| format!("{} WHERE id > ?1 ORDER BY id", table.select())));
        &QUERIES[self.index()]
    }
}
