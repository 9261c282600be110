//! `ona audit verify|anchor|export`: what the record shows, and whether it was changed.
//!
//! These only read, and look at nothing but the database: they work beside a session that is
//! running and on a file of another machine.

use crate::args::{Audit, AuditFormat};
use crate::output;
use ona_api::SessionId;
use ona_runtime::{Failure, Launch, ids};
use ona_store::{
    Anchor, AuditReport, ExportError, ExportTarget, Reader, RecordFormat, export_record, newest_anchor, verify_record,
};
use serde_json::json;
use std::io::{self, BufWriter, IsTerminal};

/// How many of a long list a person is shown; --json has more.
const SHOWN: usize = 20;

pub(crate) fn run(launch: &Launch, command: &Audit) -> Result<u8, Failure> {
    let path = &launch.database.path;
    if !path.exists() {
        return Err(Failure::usage(format_args!("no database exists at {}", path.display()))
            .hint("name it: ona --db /absolute/path/ona.db audit ..."));
    }
    match command {
        Audit::Verify { session, last, against, strict, json } => {
            let anchors = against.iter().map(|text| text.parse::<Anchor>()).collect::<Result<Vec<_>, _>>();
            let anchors = anchors.map_err(Failure::usage)?;
            let session = named(launch, session.as_deref(), *last)?;
            let report = verify_record(path, session.as_ref(), &anchors);
            let report = report.map_err(|error| launch.store_failure(error))?;
            let report = report.ok_or_else(|| unknown(session.as_ref()))?;
            if *json {
                output::json(&report.to_json(path, *strict));
            } else {
                print(launch, &report, !anchors.is_empty());
            }
            Ok(u8::from(!report.is_ok(*strict)))
        }
        Audit::Anchor { json } => anchor(launch, *json),
        Audit::Export { format, session, last } => {
            export(launch, *format, named(launch, session.as_deref(), *last)?.as_ref())
        }
    }
}

/// The session whose rows are meant. A database that cannot be read well enough for a search is judged all the
/// same, for the id as it was typed.
fn named(launch: &Launch, session: Option<&str>, last: bool) -> Result<Option<SessionId>, Failure> {
    if session.is_none() && !last {
        return Ok(None);
    }
    let reader = match (Reader::open_read_only(&launch.database.path), session) {
        (Ok(Some(reader)), _) => reader,
        (_, Some(session)) => return Ok(Some(SessionId::from(session))),
        (Ok(None), None) => return Err(Failure::usage("this project has no session").hint("ona sessions list")),
        (Err(error), None) => return Err(launch.store_failure(error)),
    };
    ids::session_or_last(launch, &reader, session).map(Some)
}

fn unknown(session: Option<&SessionId>) -> Failure {
    let session = session.map(SessionId::as_str).unwrap_or_default();
    Failure::usage(format_args!("session {session} does not exist")).hint("ona sessions list")
}

fn print(launch: &Launch, report: &AuditReport, has_anchor: bool) {
    output::line(launch.database.path.display());
    output::line(format_args!("{} rows in {} groups were compared", report.rows, report.groups));
    if report.rows_before > 0 {
        output::line(format_args!(
            "{} of them are older than the chain: what they were before {} is not known",
            report.rows_before,
            report.since.as_deref().unwrap_or("that")
        ));
    }
    if report.has_foreign_rows() {
        output::line(format_args!(
            "foreign: {} rows were inserted by other programs (hooks and templates do that)",
            report.foreign_count
        ));
        for row in report.foreign.iter().take(SHOWN) {
            output::line(format_args!("  row {} of {}", row.id, row.table));
        }
        more(report.foreign_count, report.foreign.len());
        for (table, from, to) in &report.foreign_gone {
            output::line(format_args!("  ids {from} to {to} of {table} were given to rows that are gone"));
        }
    }
    for difference in report.differences.iter().take(SHOWN) {
        let group = difference.row().and(difference.group());
        let group = group.map(|group| format!(" (group {group})")).unwrap_or_default();
        output::line(format_args!("difference: {difference}{group}"));
    }
    more(report.difference_count, report.differences.len());
    match (report.is_clean(), has_anchor) {
        (true, true) => output::line("ok: the record is as it was written, and continues what the anchor names"),
        (true, false) => {
            output::line("ok: the record fits its chain; only an anchor (ona audit anchor) shows a removed end");
        }
        (false, _) => output::line("the record was changed by other means than ona"),
    }
}

fn more(count: u64, listed: usize) {
    let shown = listed.min(SHOWN) as u64;
    if count > shown {
        output::line(format_args!("  and {} more", count - shown));
    }
}

fn anchor(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let found = newest_anchor(&launch.database.path).map_err(|error| launch.store_failure(error))?;
    let Some((anchor, written_at)) = found else {
        let what = format_args!("the database has no chain that can be anchored: {}", launch.database.path.display());
        return Err(Failure::refused(what).hint("ona audit verify"));
    };
    if as_json {
        output::json(&json!({
            "anchor": anchor.to_string(),
            "database_id": anchor.database,
            "group": anchor.group,
            "hash": anchor.hash(),
            "written_at": written_at,
            "path": launch.database.path.to_string_lossy(),
        }));
    } else {
        output::line(anchor);
    }
    Ok(0)
}

fn export(launch: &Launch, format: AuditFormat, session: Option<&SessionId>) -> Result<u8, Failure> {
    let format = match format {
        AuditFormat::Jsonl => RecordFormat::Jsonl,
        AuditFormat::Csv => RecordFormat::Csv,
    };
    let stdout = io::stdout().lock();
    let target = if stdout.is_terminal() { ExportTarget::Terminal } else { ExportTarget::File };
    match export_record(&launch.database.path, format, session, target, &mut BufWriter::new(stdout)) {
        Ok(true) => Ok(0),
        Ok(false) => Err(unknown(session)),
        Err(ExportError::Store(error)) => Err(launch.store_failure(error)),
        // The reader has seen enough.
        Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Failure::refused(error)),
    }
}
