//! What `ona audit verify` finds: differences between the tables and the chain, the chain and
//! itself, the chain and an anchor.
//!
//! A difference means that something was changed by other means than ona. Rows that hooks and
//! templates insert by SQL (section 8.4) are none: the chain lists them when the next group is
//! written, and they are reported as foreign. Nothing here changes a database.

use crate::chain::ChainedTable;
use crate::chain::anchor::Anchor;
use crate::chain::encoding::{Digest, ListedRow};
use crate::chain::walk::{self, ChainLink, Finder, PresentRow, WalkEnd};
use crate::error::StoreError;
use crate::migrate::{self, STEPS};
use crate::schema::SchemaContents;
use crate::{chain, open};
use ona_api::SessionId;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;
use std::path::Path;

/// How many differences and foreign rows are kept to be named; all are counted.
const NAMED: usize = 1000;

/// A row of one of the four tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordRow {
    pub table: &'static str,
    pub id: i64,
}

/// One difference, in a sentence if displayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditDifference {
    #[error("row {} of {} was changed after it was written", row.id, row.table)]
    Changed { row: RecordRow, group: i64 },
    #[error("row {} of {} was deleted", row.id, row.table)]
    Deleted { row: RecordRow, group: i64 },
    /// With a lower id than rows that were there before.
    #[error("row {} of {} was inserted afterwards, between rows that were there", row.id, row.table)]
    Inserted { row: RecordRow },
    /// A row has what the chain lists for another one.
    #[error("row {} of {} has the content of row {from}: rows were reordered", row.id, row.table)]
    Reordered { row: RecordRow, group: i64, from: i64 },
    /// Rows at the end were deleted and their ids given again.
    #[error("row {} of {} was deleted, and its id was given to another row", row.id, row.table)]
    Replaced { row: RecordRow, group: i64 },
    #[error("the table {0} is missing or lacks columns")]
    TableMissing(&'static str),
    #[error("row {0} of sdlc_chain was changed")]
    GroupChanged(i64),
    #[error("rows {from} to {to} of sdlc_chain are missing")]
    GroupsMissing { from: i64, to: i64 },
    #[error("rows {from} to {to} of sdlc_chain were removed from its end")]
    GroupsDropped { from: i64, to: i64 },
    #[error("the chain was started again at row {0} of sdlc_chain; rows before that are not covered")]
    Restarted(i64),
    #[error("the chain was removed: sdlc_chain has no rows")]
    NoChain,
    #[error("another database is in its place: the anchor is of {expected}, this is {}", found.as_deref().unwrap_or("unknown"))]
    OtherDatabase { expected: String, found: Option<String> },
    #[error("the chain ends at row {found}, before row {group} that the anchor names: its end was removed")]
    AnchorDropped { group: i64, found: i64 },
    #[error("row {0} of sdlc_chain is not the one the anchor names: the chain was computed again")]
    AnchorDiffers(i64),
}

impl AuditDifference {
    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            AuditDifference::Changed { .. } => "changed",
            AuditDifference::Deleted { .. } => "deleted",
            AuditDifference::Inserted { .. } => "inserted",
            AuditDifference::Reordered { .. } => "reordered",
            AuditDifference::Replaced { .. } => "replaced",
            AuditDifference::TableMissing(_) => "table_missing",
            AuditDifference::GroupChanged(_) => "chain_changed",
            AuditDifference::GroupsMissing { .. } => "chain_rows_missing",
            AuditDifference::GroupsDropped { .. } => "chain_end_removed",
            AuditDifference::Restarted(_) => "chain_restarted",
            AuditDifference::NoChain => "chain_removed",
            AuditDifference::OtherDatabase { .. } => "other_database",
            AuditDifference::AnchorDropped { .. } => "anchor_removed",
            AuditDifference::AnchorDiffers(_) => "anchor_differs",
        }
    }

    /// The row it is about, if it is about one.
    pub fn row(&self) -> Option<&RecordRow> {
        match self {
            AuditDifference::Changed { row, .. }
            | AuditDifference::Deleted { row, .. }
            | AuditDifference::Inserted { row }
            | AuditDifference::Reordered { row, .. }
            | AuditDifference::Replaced { row, .. } => Some(row),
            _ => None,
        }
    }

    /// The row of the chain that shows it, or the first of them.
    pub fn group(&self) -> Option<i64> {
        match self {
            AuditDifference::Changed { group, .. }
            | AuditDifference::Deleted { group, .. }
            | AuditDifference::Reordered { group, .. }
            | AuditDifference::Replaced { group, .. }
            | AuditDifference::GroupChanged(group)
            | AuditDifference::GroupsMissing { from: group, .. }
            | AuditDifference::GroupsDropped { from: group, .. }
            | AuditDifference::Restarted(group)
            | AuditDifference::AnchorDropped { group, .. }
            | AuditDifference::AnchorDiffers(group) => Some(*group),
            AuditDifference::Inserted { .. }
            | AuditDifference::TableMissing(_)
            | AuditDifference::NoChain
            | AuditDifference::OtherDatabase { .. } => None,
        }
    }
}

/// What was compared and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditReport {
    pub database: Option<String>,
    /// When the chain began. What was there by then is as it was at that time.
    pub since: Option<String>,
    /// Rows of the chain.
    pub groups: u64,
    /// Rows of the tables that were compared.
    pub rows: u64,
    /// Those of them that were there before the chain began.
    pub rows_before: u64,
    /// In the order of the chain; the first ones of them.
    pub differences: Vec<AuditDifference>,
    pub difference_count: u64,
    /// Rows that other programs inserted; the first ones of them.
    pub foreign: Vec<RecordRow>,
    pub foreign_count: u64,
    /// Ids above everything listed that were given to rows of other programs and are not there any
    /// more: table, first and last.
    pub foreign_gone: Vec<(&'static str, i64, i64)>,
}

impl AuditReport {
    pub fn is_clean(&self) -> bool {
        self.difference_count == 0
    }

    /// Whether other programs wrote to the tables.
    pub fn has_foreign_rows(&self) -> bool {
        self.foreign_count > 0 || !self.foreign_gone.is_empty()
    }
}

/// Compares a database with its chain, and with anchors. With a session only rows of that session
/// count, and everything about the chain itself. `None` if the session does not exist.
pub fn verify(path: &Path, session: Option<&SessionId>, anchors: &[Anchor]) -> Result<Option<AuditReport>, StoreError> {
    let connection = open::record(path)?;
    let snapshot = connection.unchecked_transaction()?;
    let found = SchemaContents::read(&snapshot)?;
    refuse_older(&snapshot, &found)?;
    if let Some(session) = session
        && !is_session(&snapshot, &found, session)?
    {
        return Ok(None);
    }
    let mut audit = Audit::new(session, anchors);
    let mut tables = [true; 4];
    for table in ChainedTable::ALL {
        tables[table.index()] = found.is_complete(table.name());
        if !tables[table.index()] {
            audit.note(AuditDifference::TableMissing(table.name()));
        }
    }
    if found.is_complete(chain::TABLE) {
        let end = walk::walk(&snapshot, tables, session.is_some(), &mut audit)?;
        audit.finish(&end);
    } else {
        audit.note(AuditDifference::NoChain);
    }
    Ok(Some(audit.report))
}

/// Returns the anchor of the chain as it ends now, and when its last row was written. `None` if
/// the chain was removed.
pub fn anchor(path: &Path) -> Result<Option<(Anchor, String)>, StoreError> {
    let connection = open::record(path)?;
    let snapshot = connection.unchecked_transaction()?;
    let found = SchemaContents::read(&snapshot)?;
    refuse_older(&snapshot, &found)?;
    if found.is_complete(chain::TABLE) { chain::anchor::newest(&snapshot) } else { Ok(None) }
}

/// A database without a chain is one of an older version, one of another program, or tampered with.
fn refuse_older(connection: &Connection, found: &SchemaContents) -> Result<(), StoreError> {
    if !ChainedTable::ALL.iter().any(|table| found.has_table(table.name())) {
        return Err(StoreError::NotOurs);
    }
    if found.has_table(chain::TABLE) {
        return Ok(());
    }
    let recorded = match found.has_table("schema_meta") {
        true => migrate::recorded(connection)?,
        false => None,
    };
    let version = recorded.as_deref().map_or(Ok(migrate::FIRST), |text| migrate::accept(text, STEPS))?;
    match version < chain::SINCE {
        true => Err(StoreError::TooOld { found: version, known: migrate::newest(STEPS) }),
        false => Ok(()),
    }
}

pub(super) fn is_session(
    connection: &Connection,
    found: &SchemaContents,
    session: &SessionId,
) -> Result<bool, StoreError> {
    // A session whose rows were all deleted is known by the chain.
    for table in ["sessions", chain::TABLE] {
        if found.is_complete(table) {
            let sql = format!("SELECT 1 FROM {table} WHERE session_id = ?1 LIMIT 1");
            let one = connection.query_row(&sql, [session.as_str()], |_| Ok(())).optional()?;
            if one.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Collects what a walk finds.
struct Audit<'a> {
    session: Option<&'a SessionId>,
    anchors: &'a [Anchor],
    report: AuditReport,
    /// Digests of rows that are not what they were, to tell reordered rows: listed, then present.
    expected: HashMap<(usize, Digest), i64>,
    present: HashMap<RecordRow, Digest>,
}

impl<'a> Audit<'a> {
    fn new(session: Option<&'a SessionId>, anchors: &'a [Anchor]) -> Self {
        Self { session, anchors, report: AuditReport::default(), expected: HashMap::new(), present: HashMap::new() }
    }

    fn note(&mut self, difference: AuditDifference) {
        self.report.difference_count += 1;
        if self.report.differences.len() < NAMED {
            self.report.differences.push(difference);
        }
    }

    fn note_foreign(&mut self, row: RecordRow) {
        self.report.foreign_count += 1;
        if self.report.foreign.len() < NAMED {
            self.report.foreign.push(row);
        }
    }

    /// Whether a row is of the session that is asked for.
    fn concerns(&self, link: Option<&ChainLink>, present: Option<&PresentRow>) -> bool {
        let Some(wanted) = self.session else { return true };
        let is_it = |session: Option<&String>| session.is_some_and(|session| session == wanted.as_str());
        let group = link.and_then(|link| link.session.as_ref());
        is_it(present.and_then(|row| row.session.as_ref()))
            || is_it(group)
            // A row from before the chain that is gone may have been of any session.
            || link.is_some() && group.is_none() && present.is_none()
    }

    fn finish(&mut self, end: &WalkEnd) {
        match &end.last {
            None => self.note(AuditDifference::NoChain),
            Some(last) => self.compare_end(last, end),
        }
        let moved = |difference: &AuditDifference| -> Option<AuditDifference> {
            let AuditDifference::Changed { row, group } = difference else { return None };
            let table = ChainedTable::ALL.into_iter().find(|table| table.name() == row.table)?;
            let from = *self.expected.get(&(table.index(), *self.present.get(row)?))?;
            Some(AuditDifference::Reordered { row: row.clone(), group: *group, from })
        };
        let differences = self.report.differences.iter().map(|one| moved(one).unwrap_or_else(|| one.clone()));
        self.report.differences = differences.collect();
    }

    fn compare_end(&mut self, last: &ChainLink, end: &WalkEnd) {
        if end.numbers_given > last.group {
            self.note(AuditDifference::GroupsDropped { from: last.group + 1, to: end.numbers_given });
        }
        let database = self.report.database.clone();
        for anchor in self.anchors {
            if database.as_ref() != Some(&anchor.database) {
                self.note(AuditDifference::OtherDatabase {
                    expected: anchor.database.clone(),
                    found: database.clone(),
                });
            } else if anchor.group > last.group {
                self.note(AuditDifference::AnchorDropped { group: anchor.group, found: last.group });
            }
        }
        if self.session.is_some() {
            return;
        }
        for table in ChainedTable::ALL {
            let at = table.index();
            let highest = end.ids_present[at].max(last.listed[at]);
            if end.ids_given[at] > highest {
                self.report.foreign_gone.push((table.name(), highest + 1, end.ids_given[at]));
            }
        }
    }
}

fn row(table: ChainedTable, id: i64) -> RecordRow {
    RecordRow { table: table.name(), id }
}

impl Finder for Audit<'_> {
    fn link(&mut self, before: Option<i64>, link: &ChainLink) {
        let is_start = matches!(link.kind.as_str(), "start" | "restart");
        if before.is_none() {
            self.report.database.clone_from(&link.database);
            self.report.since = Some(link.written_at.clone());
        }
        let next = before.unwrap_or(0).saturating_add(1);
        // A removed row breaks the hash of the next one: that is one difference.
        let mut explained = false;
        if link.group != next {
            self.note(AuditDifference::GroupsMissing { from: next, to: link.group.saturating_sub(1) });
            explained = true;
        }
        if link.kind == "restart" || is_start && before.is_some() {
            self.note(AuditDifference::Restarted(link.group));
            explained = true;
        }
        if !explained && (!link.is_intact || link.rows.is_none() || before.is_none() && !is_start) {
            self.note(AuditDifference::GroupChanged(link.group));
        }
        for anchor in self.anchors {
            let is_named = anchor.group == link.group && Some(&anchor.database) == self.report.database.as_ref();
            if is_named && Some(anchor.hash) != link.hash {
                self.note(AuditDifference::AnchorDiffers(link.group));
            }
        }
        self.report.groups += 1;
    }

    fn listed(&mut self, link: &ChainLink, listed: &ListedRow, present: Option<&PresentRow>) {
        if !self.concerns(Some(link), present) {
            return;
        }
        let group = link.group;
        let row = row(listed.table, listed.id);
        self.report.rows += 1;
        self.report.rows_before += u64::from(link.kind == "before");
        if listed.is_foreign {
            self.note_foreign(row.clone());
        }
        match present {
            Some(present) if present.digest == listed.digest => {}
            other => {
                if self.expected.len() < NAMED {
                    self.expected.insert((listed.table.index(), listed.digest), listed.id);
                    self.present.extend(other.map(|present| (row.clone(), present.digest)));
                }
                self.note(match other {
                    Some(_) => AuditDifference::Changed { row, group },
                    None => AuditDifference::Deleted { row, group },
                });
            }
        }
    }

    fn again(&mut self, link: &ChainLink, listed: &ListedRow) {
        if self.concerns(Some(link), None) {
            self.note(AuditDifference::Replaced { row: row(listed.table, listed.id), group: link.group });
        }
    }

    fn passed_over(&mut self, table: ChainedTable, present: &PresentRow) {
        if self.concerns(None, Some(present)) {
            self.note(AuditDifference::Inserted { row: row(table, present.id) });
        }
    }

    fn above(&mut self, table: ChainedTable, present: &PresentRow) {
        if self.concerns(None, Some(present)) {
            self.report.rows += 1;
            self.note_foreign(row(table, present.id));
        }
    }
}

/// Says whether the schema has what a query over these tables needs.
pub(super) fn contents(connection: &Connection) -> Result<SchemaContents, StoreError> {
    let found = SchemaContents::read(connection)?;
    match ChainedTable::ALL.iter().any(|table| found.has_table(table.name())) {
        true => Ok(found),
        false => Err(StoreError::NotOurs),
    }
}
