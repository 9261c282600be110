//! The corpus of scripts: Markdown, one script per heading, and below it the rules it
//! breaks. A script without a header gets one, so that only L01's own cases spell it out.

use ona_workflow::testgen::lint::{LintContext, LintRule, Surface, check, examine};
use std::path::Path;

struct Case {
    name: String,
    script: String,
    expected: Vec<String>,
    touched: Vec<String>,
    entry_points: Vec<String>,
}

const HEADER: &str = "# traces: SC-1\n# title: It does what it should\n";

fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/lint");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let topic = file.file_stem().unwrap().to_string_lossy();
    text.split("\n## ").skip(1).map(|section| case(&topic, section)).collect()
}

fn case(topic: &str, section: &str) -> Case {
    let (title, rest) = section.split_once('\n').unwrap();
    let name = format!("{topic}: {title}");
    let (_, rest) = rest.split_once("````bash\n").unwrap_or_else(|| panic!("{name} has no script"));
    let (script, below) = rest.split_once("````").unwrap();
    let mut case = Case {
        name,
        script: if script.starts_with("# raw\n") { script.into() } else { format!("{HEADER}{script}") },
        expected: Vec::new(),
        touched: Vec::new(),
        entry_points: Vec::new(),
    };
    let mut said = false;
    for line in below.lines() {
        let words = |rest: &str| rest.split(", ").map(str::to_owned).collect::<Vec<_>>();
        if let Some(rules) = line.strip_prefix("Breaks ") {
            case.expected = words(rules);
            said = true;
        } else if line == "Clean" {
            said = true;
        } else if let Some(paths) = line.strip_prefix("Touched: ") {
            case.touched = words(paths);
        } else if let Some(entries) = line.strip_prefix("Entry points: ") {
            case.entry_points = words(entries);
        }
    }
    assert!(said, "{}: say `Clean` or `Breaks Lnn`", case.name);
    case
}

#[test]
fn every_script_of_the_corpus_breaks_exactly_the_rules_it_says() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let around = LintContext { entry_points: &case.entry_points, touched: &case.touched };
        let findings = check(case.script.as_bytes(), &around);
        let mut found: Vec<String> = findings.iter().map(|finding| finding.rule.to_string()).collect();
        found.sort();
        found.dedup();
        if found != case.expected {
            let lines: Vec<_> = findings.iter().map(|f| format!("    {}: {} {}", f.line, f.rule, f.message)).collect();
            wrong.push(format!("{}\n  expected {:?}, found\n{}", case.name, case.expected, lines.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let clean = cases.iter().filter(|case| case.expected.is_empty()).count();
    assert!(cases.len() >= 70 && clean * 4 >= cases.len(), "{clean} of {}", cases.len());
}

#[test]
fn every_rule_has_a_script_that_breaks_it() {
    let cases = cases();
    for rule in LintRule::ALL {
        let name = rule.to_string();
        assert!(cases.iter().any(|case| case.expected.contains(&name)), "{name}");
        assert!(rule.remedy().ends_with('.'), "{name}");
    }
}

#[test]
fn assertions_are_classified_by_surface() {
    let template = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../ona/tests/templates/{name}.sh"));
        HEADER.to_owned() + &std::fs::read_to_string(path).unwrap()
    };
    let surfaces = |script: &str| examine(script.as_bytes(), &LintContext::default()).surfaces;
    assert_eq!(surfaces(&template("8.8.1")), [Surface::Database, Surface::ToolResult]);
    assert_eq!(surfaces(&template("8.8.2")), [Surface::Database]);
    assert_eq!(surfaces(&template("8.8.3")), [Surface::Database, Surface::ToolResult, Surface::HookRecord]);
    assert_eq!(surfaces("ona --version | grep -q ona || exit 1"), [Surface::ProcessOutput]);
    assert_eq!(surfaces("ona x\n[ -f \"$SDLC_TEST_TMP/a\" ] || exit 1"), [Surface::File]);
    assert_eq!(surfaces("ona x || exit 1"), []);
}
