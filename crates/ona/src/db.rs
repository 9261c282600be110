//! `ona db init|check|path`. These touch no settings (DEC-012).

use crate::args::Db;
use crate::output;
use ona_runtime::{Failure, Launch};
use serde_json::json;

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
    }
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
    Ok(u8::from(!problems.is_empty()))
}
