//! Results of `ona hooks test` as other programs read them. Pure.

use serde_json::{Value, json};
use std::time::Duration;

pub struct FixtureResult {
    pub name: String,
    /// What was not as expected; nothing if it passed.
    pub differences: Vec<String>,
    pub took: Duration,
}

pub fn tap(tried: &[FixtureResult]) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", tried.len());
    for (index, one) in tried.iter().enumerate() {
        let verdict = if one.differences.is_empty() { "ok" } else { "not ok" };
        // A # in a description would begin a directive, a backslash would take its own away.
        let name = on_one_line(&one.name).replace('\\', "\\\\").replace('#', "\\#");
        text.push_str(&format!("{verdict} {} - {name}\n", index + 1));
        for line in one.differences.iter().flat_map(|difference| difference.split('\n')) {
            text.push_str(&format!("  # {}\n", on_one_line(line)));
        }
    }
    text
}

/// Readers differ in what ends a line.
fn on_one_line(text: &str) -> String {
    let ends_a_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if ends_a_line(c) { ' ' } else { c }).collect()
}

pub fn junit(tried: &[FixtureResult]) -> String {
    let failed = tried.iter().filter(|one| !one.differences.is_empty()).count();
    let time: f64 = tried.iter().map(|one| one.took.as_secs_f64()).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ona hooks\" tests=\"{}\" failures=\"{failed}\" time=\"{time:.3}\">\n",
        tried.len()
    );
    for one in tried {
        let head = format!(
            "  <testcase classname=\"hooks\" name=\"{}\" time=\"{:.3}\"",
            xml(&one.name),
            one.took.as_secs_f64()
        );
        if one.differences.is_empty() {
            text.push_str(&format!("{head}/>\n"));
        } else {
            let first = xml(&one.differences[0]);
            let all = xml(&one.differences.join("\n"));
            text.push_str(&format!("{head}>\n    <failure message=\"{first}\">{all}</failure>\n  </testcase>\n"));
        }
    }
    text.push_str("</testsuite>\n");
    text
}

pub fn json(tried: &[FixtureResult]) -> Value {
    let all: Vec<_> = tried
        .iter()
        .map(|one| json!({"name": one.name, "passed": one.differences.is_empty(), "differences": one.differences, "seconds": one.took.as_secs_f64()}))
        .collect();
    json!(all)
}

/// Text in an attribute or element; what XML cannot say at all is left out.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push_str(&format!("&#{};", u32::from(c))),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [FixtureResult; 2] {
        let took = Duration::from_millis(1500);
        [
            FixtureResult { name: "fine".into(), differences: vec![], took },
            FixtureResult {
                name: "a #1 <b>".into(),
                differences: vec!["decision: expected deny,\nfound none \u{1}".into()],
                took,
            },
        ]
    }

    #[test]
    fn tap_numbers_the_tests_and_escapes_directives() {
        assert_eq!(
            tap(&two()),
            "TAP version 13\n1..2\nok 1 - fine\nnot ok 2 - a \\#1 <b>\n  # decision: expected deny,\n  # found none  \n"
        );
    }

    #[test]
    fn junit_is_well_formed_whatever_hooks_say() {
        assert_eq!(
            junit(&two()),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuite name=\"ona hooks\" tests=\"2\" failures=\"1\" time=\"3.000\">\n\
             \u{20} <testcase classname=\"hooks\" name=\"fine\" time=\"1.500\"/>\n\
             \u{20} <testcase classname=\"hooks\" name=\"a #1 &lt;b&gt;\" time=\"1.500\">\n\
             \u{20}   <failure message=\"decision: expected deny,&#10;found none \">decision: expected deny,&#10;found none </failure>\n\
             \u{20} </testcase>\n</testsuite>\n"
        );
    }
}
