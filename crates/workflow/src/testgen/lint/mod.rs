//! Decides from its text alone whether a script is a behavioural test (DEC-124).
//!
//! Fourteen closed rules keep out what sections 8.5.2 and 8.5.3 forbid: smoke tests,
//! tautologies, mocks, assertions that cannot fail. Nothing is run and no file is
//! opened; what the rules need to know of the project comes in as `LintContext`.
//!
//! The script is parsed (`sanitize`, `parse`, `lower`) and then followed with values in place of a
//! shell (`state`, `flow`, `branch`, `command`): each text is known by its letters and by where it
//! comes from, so that an assertion can be asked what it looks at. What cannot be determined
//! from the text is a finding, never a pass.

mod branch;
mod builtin;
mod changes;
mod command;
mod condition;
mod document;
mod entry;
mod files;
mod flow;
mod foreign;
mod header;
mod interpreter;
mod location;
mod lower;
mod lower_words;
mod modules;
mod network;
mod parse;
mod quote;
mod rule;
mod sanitize;
mod shadow;
mod state;
mod status;
mod surface;
mod syntax;
mod tool;
mod value;
mod words;
mod wrapper;

pub use header::{Header, header};
pub use rule::{LintFinding, LintRule};
use state::ScriptState;
pub use surface::Surface;

/// What a script is judged against.
#[derive(Clone, Copy, Debug, Default)]
pub struct LintContext<'a> {
    /// Public entry points of the project, beside `ona`.
    pub entry_points: &'a [String],
    /// Project-relative paths of the source the implementation touched.
    pub touched: &'a [String],
}

/// The longest script there is.
const LONGEST: usize = 64 * 1024;

/// What there is to say about a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// What is wrong with it, by line; a behavioural test has none.
    pub findings: Vec<LintFinding>,
    /// What its assertions look at.
    pub surfaces: Vec<Surface>,
}

/// Returns everything that is wrong with a script, by line.
pub fn check(script: &[u8], context: &LintContext<'_>) -> Vec<LintFinding> {
    examine(script, context).findings
}

pub fn examine(script: &[u8], context: &LintContext<'_>) -> LintReport {
    let text = match readable(script) {
        Ok(text) => text,
        Err(finding) => return LintReport { findings: vec![finding], surfaces: Vec::new() },
    };
    let mut findings: Vec<LintFinding> = header::check(text).into_iter().collect();
    let mut surfaces = Vec::new();
    match parse::read(text, 1) {
        Ok(statements) => {
            let mut state = ScriptState::new(context);
            state.script(&statements);
            findings.extend(verdict(&state, &statements));
            findings.extend(state.findings);
            surfaces = Surface::of(state.observed);
        }
        Err(unreadable) => {
            findings.push(LintFinding::new(LintRule::L02, unreadable.line, unreadable.why));
            findings.extend(as_foreign(text));
        }
    }
    findings.sort();
    findings.dedup_by_key(|finding| (finding.line, finding.rule));
    LintReport { findings, surfaces }
}

/// L02, as far as bytes tell.
fn readable(script: &[u8]) -> Result<&str, LintFinding> {
    let at = |offset: usize| 1 + script[..offset].iter().filter(|byte| **byte == b'\n').count() as u32;
    if script.len() > LONGEST {
        return Err(LintFinding::new(LintRule::L02, 1, "It is longer than 64 KiB"));
    }
    let text = std::str::from_utf8(script)
        .map_err(|error| LintFinding::new(LintRule::L02, at(error.valid_up_to()), "It is not valid UTF-8"))?;
    // Control characters and direction marks show a reader something else than bash sees.
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
            || value::is_hole(c)
    };
    match text.char_indices().find(|(_, c)| hidden(*c)) {
        Some((offset, c)) => {
            let what = format!("It has the invisible character U+{:04X} in it", c as u32);
            Err(LintFinding::new(LintRule::L02, at(offset), what))
        }
        None => Ok(text),
    }
}

/// L03 to L05: what is missing once everything was followed.
fn verdict(state: &ScriptState<'_>, statements: &[syntax::Statement]) -> Option<LintFinding> {
    let last = statements.last().map_or(1, |statement| statement.line);
    if state.calls.is_empty() {
        return Some(LintFinding::new(LintRule::L03, 1, "It never calls the product"));
    }
    // What is wrong with the assertions there are says more than that none is left.
    let explained = |finding: &LintFinding| matches!(finding.rule, LintRule::L06 | LintRule::L12 | LintRule::L13);
    let explained = state.findings.iter().any(explained);
    match state.smoke {
        _ if state.good > 0 => None,
        Some(smoke) if smoke.written || !explained => {
            Some(LintFinding::new(LintRule::L05, smoke.line, "Only the exit status of the product is looked at"))
        }
        None if !explained => {
            Some(LintFinding::new(LintRule::L04, last, "Nothing in it fails when the product does something else"))
        }
        _ => None,
    }
}

/// Returns what else is wrong with a test in another language.
fn as_foreign(text: &str) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for language in [foreign::Language::JavaScript, foreign::Language::Python] {
        let seen = foreign::look(text, language);
        if let Some((line, module)) = seen.loads {
            findings.push(LintFinding::new(LintRule::L07, line + 1, format_args!("It loads the module `{module}`")));
        }
        if let Some((line, fake)) = seen.fakes {
            findings.push(LintFinding::new(
                LintRule::L08,
                line + 1,
                format_args!("`{fake}` puts a double in the place of real code"),
            ));
        }
    }
    findings
}
