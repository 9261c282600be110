//! `ona test lint`: says whether scripts are behavioural tests (DEC-124). Reads
//! files, prints findings; what is wrong with a script is `ona_workflow`'s to say.

use crate::output;
use ona_runtime::plan_tests;
use ona_runtime::{Failure, Launch};
use ona_workflow::testgen::lint::{LintContext, check};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Lint {
    /// Scripts to check; "-" reads stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Another program that tests may call (as in sdlc.publicApi.entryPoints)
    #[arg(long = "entry-point", value_name = "NAME")]
    entry_points: Vec<String>,

    /// Source file of the project that assertions may not read
    #[arg(long, value_name = "PATH")]
    touched: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A script cannot be longer than 64 KiB; this much shows that it is.
const ENOUGH: u64 = 64 * 1024 + 1;

pub(super) fn run(launch: &Launch, lint: &Lint) -> Result<u8, Failure> {
    // All files first: half a verdict would be read as a whole one.
    let scripts: Vec<(&Path, Vec<u8>)> =
        lint.files.iter().map(|file| Ok((file.as_path(), read(launch, file)?))).collect::<Result<_, Failure>>()?;
    let mut entry_points = plan_tests::entry_points(launch)?;
    entry_points.extend(lint.entry_points.iter().cloned());
    let around = LintContext { entry_points: &entry_points, touched: &lint.touched };
    let found: Vec<_> = scripts
        .iter()
        .flat_map(|(file, script)| check(script, &around).into_iter().map(move |finding| (file.display(), finding)))
        .collect();
    if lint.json {
        let rows = found.iter().map(|(file, finding)| {
            json!({
                "file": file.to_string(),
                "rule": finding.rule.to_string(),
                "line": finding.line,
                "message": finding.message,
            })
        });
        output::json(&rows.collect());
    } else {
        for (file, finding) in &found {
            output::line(format_args!("{file}:{}: {} {}", finding.line, finding.rule, finding.message));
        }
    }
    Ok(u8::from(!found.is_empty()))
}

fn read(launch: &Launch, file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(ENOUGH).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(launch.cwd.join(file)).and_then(|file| file.take(ENOUGH).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::usage(format_args!("{error}: {}", file.display())))?;
    Ok(bytes)
}
