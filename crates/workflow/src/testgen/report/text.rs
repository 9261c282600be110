//! The report for a terminal.

use super::super::coverage::CaseResult;
use super::{CaseLine, TestReport, seconds};
use std::fmt::Write;

pub(super) fn render(report: &TestReport) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    write(report, &mut page).expect("a String takes everything");
    page
}

fn write(report: &TestReport, page: &mut String) -> std::fmt::Result {
    writeln!(page, "Test report: {}", one_line(&report.title))?;
    writeln!(page, "conversation {}, plan {}\n", report.conversation, report.plan)?;
    matrix(report, page)?;
    if report.cases.iter().any(|case| case.started_at.is_some()) {
        writeln!(page, "Output\n")?;
        for case in &report.cases {
            output(case, page)?;
        }
    }
    writeln!(page, "Uncovered: {}", report.uncovered().count())?;
    for criterion in report.uncovered() {
        writeln!(page, "  {}  {}", criterion.id, one_line(&criterion.text))?;
    }
    let totals = &report.totals;
    writeln!(
        page,
        "\n{} traced tests: {} passed, {} failed, {} stale, {} not run; pass rate {}",
        totals.traced,
        totals.passed,
        totals.failed,
        totals.stale,
        totals.not_run,
        totals.percent()
    )
}

fn matrix(report: &TestReport, page: &mut String) -> std::fmt::Result {
    writeln!(page, "Success criteria")?;
    let wide = report.criteria.iter().map(|criterion| criterion.id.len()).max().unwrap_or(0);
    let case_wide = report.cases.iter().map(|case| case.id.len()).max().unwrap_or(0);
    let indent = " ".repeat(wide + 4);
    let row = |page: &mut String, case: &CaseLine| {
        let took = seconds(case.took_ms).map(|took| format!(" ({took})")).unwrap_or_default();
        writeln!(page, "{indent}{:<case_wide$}  {:<13}  {}{took}", case.id, case.status.word(), one_line(&case.title))
    };
    for criterion in &report.criteria {
        let state = if criterion.covered { "covered" } else { "NOT COVERED" };
        writeln!(page, "  {:<wide$}  {state:<11}  {}", criterion.id, one_line(&criterion.text))?;
        for case in report.cases.iter().filter(|case| case.criterion.as_deref() == Some(&criterion.id)) {
            row(page, case)?;
        }
        if criterion.cases.is_empty() {
            writeln!(page, "{indent}it has no test")?;
        }
    }
    if report.criteria.is_empty() {
        writeln!(page, "  the plan has none")?;
    }
    let known = |id: &String| report.criteria.iter().any(|criterion| criterion.id == *id);
    let mut rest = report.cases.iter().filter(|case| !case.criterion.as_ref().is_some_and(known)).peekable();
    if rest.peek().is_some() {
        writeln!(page, "\nTests that count for no criterion")?;
        rest.try_for_each(|case| row(page, case))?;
    }
    if !report.rejected.is_empty() {
        writeln!(page, "\nNot taken as tests")?;
        for (id, title, why) in &report.rejected {
            writeln!(page, "{indent}{id:<case_wide$}  {}: {}", one_line(title), one_line(why))?;
        }
    }
    writeln!(page)
}

fn output(case: &CaseLine, page: &mut String) -> std::fmt::Result {
    writeln!(page, "{}  {}", case.id, one_line(&case.title))?;
    let Some(started) = &case.started_at else { return writeln!(page, "  {}\n", case.status) };
    let code = match (case.exit_code, &case.status) {
        (Some(code), status) if !matches!(status, CaseResult::Failed(_)) => format!(", exit code {code}"),
        _ => String::new(),
    };
    writeln!(page, "  {}{code}, started {started}", case.status)?;
    for (name, text) in [("stdout", &case.stdout), ("stderr", &case.stderr)] {
        if text.is_empty() {
            writeln!(page, "  {name} is empty")?;
            continue;
        }
        writeln!(page, "  {name}")?;
        for line in text.lines() {
            writeln!(page, "    {}", visible(line))?;
        }
    }
    writeln!(page)
}

fn one_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Control characters as pictures: what a test printed must not steer a terminal.
pub(super) fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' => c,
            '\u{7f}' => '\u{2421}',
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).expect("the pictures stand in this order"),
            '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => c,
        })
        .collect()
}
