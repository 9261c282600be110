//! `ona db init|check|recover|path`. These touch no settings (DEC-012).

use crate::args::Db;
use crate::output;
use ona_runtime::doctor::DAMAGE_REMEDY;
use ona_runtime::{Failure, Launch};
use ona_store::{RecoveredTable, StoreError};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(launch: &Launch, command: &Db) -> Result<u8, Failure> {
    match command {
        Db::Path => {
            output::line(launch.database.path.display());
            Ok(0)
        }
        Db::Init => {
            launch.open_plain()?;
            output::line(launch.database.path.display());
            Ok(0)
        }
        Db::Check { json } => check(launch, *json),
        Db::Recover { out, json } => recover(launch, out, *json),
    }
}

fn recover(launch: &Launch, out: &Path, as_json: bool) -> Result<u8, Failure> {
    let path = &launch.database.path;
    if !path.exists() {
        return Err(Failure::usage(format_args!("no database exists at {}", path.display())));
    }
    let out = launch.cwd.join(out);
    let report = ona_store::recover(path, &out).map_err(|error| match error {
        StoreError::Exists(_) => Failure::usage(error).hint("name a file that does not exist yet"),
        StoreError::Corrupt(_) | StoreError::NotADatabase => {
            let what = format_args!("the schema cannot be read, and without it no table: {error}: {}", path.display());
            Failure::usage(what).hint(format!(
                "nothing was changed; put a copy in its place: an upgrade leaves {0}.schema-*.backup, a lost file \
                 {0}.rescue-*.db",
                path.display(),
            ))
        }
        other => launch.store_failure(other),
    })?;
    let failed = |error| launch.store_failure(error);
    let check = ona_store::check(&out);
    let audit = ona_store::verify_record(&out, None, &[]).map_err(failed)?.unwrap_or_default();
    let complete = report.is_complete() && audit.is_clean();
    if as_json {
        let table = |one: &RecoveredTable| json!({"table": one.table, "rows": one.rows, "unread": one.unread, "refused": one.refused, "lost": one.lost});
        output::json(&json!({
            "path": path.to_string_lossy(),
            "out": out.to_string_lossy(),
            "complete": complete,
            "tables": report.tables.iter().map(table).collect::<Vec<_>>(),
            "left_behind": report.left_behind,
            "made_again": report.made_again,
            "problems": check.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "chain": {"ok": audit.is_clean(), "difference_count": audit.difference_count,
                "first_difference": audit.differences.first().map(ToString::to_string)},
        }));
        return Ok(u8::from(!complete));
    }
    for one in &report.tables {
        output::line(format_args!("{:<22} {:>9} rows{}", one.table, one.rows, missing(one)));
    }
    report.left_behind.iter().for_each(|table| output::line(format_args!("left behind, of another program: {table}")));
    if report.made_again > 0 {
        output::line(format_args!(
            "made again, because rows refer to them: {} conversations and sessions",
            report.made_again
        ));
    }
    check.findings.iter().for_each(|problem| output::line(format_args!("problem: {problem}")));
    match (complete, audit.differences.first()) {
        (true, _) => output::line("everything came through, and the chain of the record is whole"),
        (false, None) => output::line("every row of the record came through: its chain is whole"),
        (false, Some(first)) => output::line(format_args!(
            "differences between the record and its chain: {}; the first: {first} (ona --db '{}' audit verify)",
            audit.difference_count,
            out.display()
        )),
    }
    output::line(format_args!("the new database: {}", out.display()));
    Ok(u8::from(!complete))
}

/// What did not come through of a table.
fn missing(table: &RecoveredTable) -> String {
    const SHOWN: usize = 10;
    let mut text = String::new();
    if !table.unread.is_empty() {
        let ranges = table.unread.iter().take(SHOWN);
        let ranges = ranges.map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
        let dots = if table.unread.len() > SHOWN { " ..." } else { "" };
        text.push_str(&format!(", ids that cannot be read: {}{dots}", ranges.collect::<Vec<_>>().join(" ")));
    }
    if table.refused > 0 {
        text.push_str(&format!(", {} rows broke a rule of the table", table.refused));
    }
    if let Some(why) = &table.lost {
        text.push_str(&format!(", the rest is lost: {why}"));
    }
    text
}

fn check(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let path = &launch.database.path;
    if !path.exists() {
        return Err(Failure::usage(format_args!("no database exists at {}", path.display())).hint("ona db init"));
    }
    ona_store::usable(path).map_err(|error| launch.store_failure(error))?;
    let report = ona_store::check(path);
    let problems: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    if as_json {
        output::json(&json!({"path": path.to_string_lossy(), "ok": problems.is_empty(),
                "schema_version": report.schema_version, "sdlc_schema_version": report.sdlc_schema_version, "problems": problems, "foreign_tables": report.foreign_tables}));
    } else {
        output::line(path.display());
        output::line(format_args!("schema version: {}", report.schema_version.as_deref().unwrap_or("not recorded")));
        output::line(format_args!(
            "version of ona's own tables: {}",
            report.sdlc_schema_version.as_deref().unwrap_or("1 (not recorded)")
        ));
        problems.iter().for_each(|problem| output::line(format_args!("problem: {problem}")));
        report.foreign_tables.iter().for_each(|table| output::line(format_args!("foreign table, left alone: {table}")));
        if problems.is_empty() {
            output::line("ok");
        }
    }
    if report.is_damaged() {
        output::note(format_args!("ona: {DAMAGE_REMEDY}"));
    }
    Ok(u8::from(!problems.is_empty()))
}
