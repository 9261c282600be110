//! `ona test add`: the operator's own script, through the same lint as a generated one.

use crate::output;
use ona_runtime::plan_tests::{AddedTest, Subject, add_test, entry_points, names_a_criterion, with_traces};
use ona_runtime::{Failure, Launch};
use serde_json::json;
use std::io::Read;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    #[command(flatten)]
    pub(super) whose: super::Whose,

    /// Script to add
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Success criterion it tests, if its `# traces:` line does not name one
    #[arg(long, value_name = "ID")]
    criterion: Option<String>,
}

/// A script cannot be longer than 64 KiB; this much shows that it is.
const ENOUGH: u64 = 64 * 1024 + 1;

pub(super) fn run(launch: &Launch, add: &Add) -> Result<u8, Failure> {
    launch.operator_only("tests")?;
    let script = read(launch, add)?;
    let entry_points = entry_points(launch)?;
    let open = launch.open()?;
    let subject = Subject::new(launch, &open)?;
    let tell = |line: String| output::note(format_args!("{}:{line}", add.file.display()));
    let added = add_test(launch, &open, &subject, &entry_points, script, add.criterion.as_deref(), tell)?;
    let Some(AddedTest { case, retired }) = added else {
        return Err(Failure::refused(format_args!("this is not a behavioural test: {}", add.file.display())));
    };
    output::json(&json!({
        "test_case_id": case.id,
        "conversation_id": subject.id,
        "plan_id": case.plan,
        "criterion_id": case.criterion,
        "title": case.title,
        "status": case.status.as_str(),
        "retired": retired,
    }));
    Ok(0)
}

fn read(launch: &Launch, add: &Add) -> Result<Vec<u8>, Failure> {
    let mut script = Vec::new();
    let file = std::fs::File::open(launch.cwd.join(&add.file));
    file.and_then(|file| file.take(ENOUGH).read_to_end(&mut script))
        .map_err(|error| Failure::usage(format_args!("{error}: {}", add.file.display())))?;
    match &add.criterion {
        Some(criterion) if !names_a_criterion(&script) => Ok(with_traces(script, criterion)),
        _ => Ok(script),
    }
}
