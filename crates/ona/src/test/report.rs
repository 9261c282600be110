//! `ona test report`: what the tests found, for a terminal, a machine or a browser.

use crate::output;
use ona_runtime::plan_tests::Subject;
use ona_runtime::table::Tone;
use ona_runtime::{Failure, Launch, at};
use ona_test_runner::PlanSelector;
use ona_workflow::testgen::report::TestReport;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(super) whose: super::Whose,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Also write the report as a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(launch: &Launch, report: &Report) -> Result<u8, Failure> {
    let open = launch.open()?;
    let subject = Subject::new(launch, &open)?;
    let tests = subject.tests(launch, &open, PlanSelector::Reported)?;
    let test_report = TestReport::new(subject.id.as_str(), &tests.plan.content, &tests.record);
    if let Some(file) = &report.html {
        let path = launch.cwd.join(file);
        let page = test_report.html();
        std::fs::write(&path, &page).map_err(|error| Failure::refused(format_args!("{error}: {}", path.display())))?;
        // In the project it would otherwise be a change that makes every result stale.
        let rows = subject.project.report_written(&path, page.as_bytes());
        open.store.commit_now(&at(&subject.id, ""), rows).map_err(|error| launch.store_failure(error))?;
        output::note(format_args!("ona: the report was written to {}", path.display()));
    }
    match (report.json, &report.html) {
        (true, _) => output::json(&test_report.json()),
        (false, Some(_)) => {}
        (false, None) => {
            let coloured = output::terminal_style(&launch.env).is_some_and(|style| style.coloured);
            test_report.text().trim_end().lines().for_each(|line| output::line(painted(line, coloured)));
        }
    }
    Ok(0)
}

/// A line of the report, by how its case ended.
fn painted(line: &str, coloured: bool) -> String {
    let tone = match line.split_whitespace().nth(1) {
        Some("passed" | "covered") => Tone::Good,
        Some("failed" | "stale" | "not" | "NOT") => Tone::Bad,
        _ => Tone::Plain,
    };
    tone.paint(line, coloured)
}
