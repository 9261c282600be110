//! The report as one page that needs nothing else: for a manager's browser, a phone,
//! a printer. Everything from outside is quoted, and the page forbids itself to load
//! or run anything, because what a test printed is not to be trusted.

use super::super::coverage::CaseResult;
use super::text::visible;
use super::{CaseLine, CriterionLine, TestReport, seconds};
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

pub(super) fn render(report: &TestReport) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    write(report, &mut page).expect("a String takes everything");
    page
}

fn write(report: &TestReport, page: &mut String) -> std::fmt::Result {
    let title = quoted(&report.title);
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Test report: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n<p class=\"dim\">Test report of conversation <code>{}</code>, plan {}</p>\n</header>\n<main>\n",
        quoted(&report.conversation),
        report.plan
    )?;
    summary(report, page)?;
    matrix(report, page)?;
    uncovered(report, page)?;
    writeln!(page, "<h2>Output of every test</h2>")?;
    for case in &report.cases {
        output(case, page)?;
    }
    if report.cases.is_empty() {
        writeln!(page, "<p>No tests.</p>")?;
    }
    if !report.rejected.is_empty() {
        writeln!(page, "<h2>Not taken as tests</h2>\n<ul>")?;
        for (id, title, why) in &report.rejected {
            writeln!(page, "<li><code>{}</code> {}: {}</li>", quoted(id), quoted(title), quoted(why))?;
        }
        writeln!(page, "</ul>")?;
    }
    writeln!(
        page,
        "</main>\n<footer class=\"dim\">SHA-256 of the report: <code>{}</code></footer>\n</body>\n</html>",
        report.sha256()
    )
}

fn summary(report: &TestReport, page: &mut String) -> std::fmt::Result {
    let totals = &report.totals;
    let good = totals.traced > 0 && totals.passed == totals.traced && report.uncovered().next().is_none();
    let verdict = if good {
        "All tests pass and every success criterion is covered."
    } else {
        "Not everything that was promised is shown to work."
    };
    let width = totals.pass_rate().unwrap_or(0.0) * 100.0;
    write!(
        page,
        "<section class=\"verdict{}\">\n<strong>{} {verdict}</strong>\n\
         <div class=\"bar\" role=\"img\" aria-label=\"Pass rate {2}\"><span style=\"width:{width:.1}%\"></span></div>\n<dl>\n",
        if good { " good" } else { "" },
        if good { "✓" } else { "✗" },
        totals.percent()
    )?;
    let numbers = [
        ("Traced tests", totals.traced.to_string()),
        ("Passed", totals.passed.to_string()),
        ("Failed", totals.failed.to_string()),
        ("Stale", totals.stale.to_string()),
        ("Not run", totals.not_run.to_string()),
        ("Pass rate", totals.percent()),
    ];
    for (name, number) in numbers {
        writeln!(page, "<div><dt>{name}</dt><dd>{number}</dd></div>")?;
    }
    writeln!(page, "</dl>\n</section>")
}

fn matrix(report: &TestReport, page: &mut String) -> std::fmt::Result {
    writeln!(
        page,
        "<h2>Success criteria and their tests</h2>\n<table>\n<thead><tr><th scope=\"col\">Criterion</th>\
         <th scope=\"col\">What was promised</th><th scope=\"col\">Tests</th></tr></thead>\n<tbody>"
    )?;
    for criterion in &report.criteria {
        writeln!(
            page,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td><ul>",
            quoted(&criterion.id),
            quoted(&criterion.text)
        )?;
        for case in report.cases.iter().filter(|case| case.criterion.as_deref() == Some(&criterion.id)) {
            writeln!(
                page,
                "<li>{} {} <code>{}</code></li>",
                word(&case.status),
                quoted(&case.title),
                quoted(&case.id)
            )?;
        }
        if criterion.cases.is_empty() {
            writeln!(page, "<li><span class=\"bad-word\">✗ no test</span></li>")?;
        }
        writeln!(page, "</ul></td></tr>")?;
    }
    writeln!(page, "</tbody>\n</table>")
}

fn uncovered(report: &TestReport, page: &mut String) -> std::fmt::Result {
    let uncovered: Vec<&CriterionLine> = report.uncovered().collect();
    writeln!(page, "<h2>Uncovered criteria: {}</h2>", uncovered.len())?;
    if uncovered.is_empty() {
        return writeln!(page, "<p>Every success criterion has a passing test.</p>");
    }
    writeln!(page, "<ul>")?;
    for criterion in uncovered {
        writeln!(page, "<li><code>{}</code> {}</li>", quoted(&criterion.id), quoted(&criterion.text))?;
    }
    writeln!(page, "</ul>")
}

fn output(case: &CaseLine, page: &mut String) -> std::fmt::Result {
    let open = if case.status == CaseResult::Passed { "" } else { " open" };
    writeln!(
        page,
        "<details{open}>\n<summary>{} {} <code>{}</code></summary>\n<div>",
        word(&case.status),
        quoted(&case.title),
        quoted(&case.id)
    )?;
    let traces =
        case.criterion.as_deref().map_or("no criterion".to_owned(), |id| format!("<code>{}</code>", quoted(id)));
    let mut facts = vec![format!("For {traces}"), quoted(&case.status.to_string())];
    let told = matches!(case.status, CaseResult::Failed(_));
    facts.extend(case.exit_code.filter(|_| !told).map(|code| format!("exit code {code}")));
    facts.extend(case.started_at.as_deref().map(|at| format!("started {} UTC", quoted(at))));
    facts.extend(seconds(case.took_ms).map(|took| format!("took {took}")));
    writeln!(page, "<p class=\"dim\">{}</p>", facts.join(", "))?;
    for (name, text) in [("Standard output", &case.stdout), ("Standard error", &case.stderr)] {
        match text.is_empty() {
            true => writeln!(page, "<h3>{name}: empty</h3>")?,
            false => writeln!(page, "<h3>{name}</h3>\n<pre>{}</pre>", quoted(text))?,
        }
    }
    writeln!(page, "</div>\n</details>")
}

/// Sign and word, so that nothing hangs on a colour.
fn word(status: &CaseResult) -> String {
    match status {
        CaseResult::Passed => "<span class=\"good-word\">✓ passed</span>".to_owned(),
        other => format!("<span class=\"bad-word\">✗ {}</span>", other.word()),
    }
}

fn quoted(text: &str) -> String {
    let text = visible(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
