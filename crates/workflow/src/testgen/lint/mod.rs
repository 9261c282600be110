//! Whether a script is a behavioural test, told from its text alone (DEC-124).
//!
//! Fourteen closed rules keep out what sections 8.5.2 and 8.5.3 forbid: smoke tests,
//! tautologies, mocks, assertions that can not fail. Nothing is run and no file is
//! opened; what the rules need to know of the project comes in as `Surroundings`.
//!
//! The script is parsed (`shield`, `parse`, `lower`) and then followed with values in place of a
//! shell (`world`, `flow`, `branch`, `command`): each text is known by its letters and by where it
//! comes from, so that an assertion can be asked what it looks at. What can not be told
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
mod lower;
mod lower_words;
mod modules;
mod network;
mod parse;
mod place;
mod quote;
mod rule;
mod shadow;
mod shield;
mod status;
mod surface;
mod syntax;
mod tool;
mod value;
mod words;
mod world;
mod wrapper;

pub use header::{Header, header};
pub use rule::{Finding, Rule};
pub use surface::Surface;
use world::World;

/// What a script is judged against.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Public entry points of the project, beside `ona`.
    pub entry_points: &'a [String],
    /// Project-relative paths of the source the implementation touched.
    pub touched: &'a [String],
}

/// The longest script there is.
const LONGEST: usize = 64 * 1024;

/// What there is to say about a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// What is wrong with it, by line; a behavioural test has none.
    pub findings: Vec<Finding>,
    /// What its assertions look at.
    pub surfaces: Vec<Surface>,
}

/// Everything that is wrong with a script, by line.
pub fn check(script: &[u8], around: &Surroundings<'_>) -> Vec<Finding> {
    examine(script, around).findings
}

pub fn examine(script: &[u8], around: &Surroundings<'_>) -> Examination {
    let text = match readable(script) {
        Ok(text) => text,
        Err(finding) => return Examination { findings: vec![finding], surfaces: Vec::new() },
    };
    let mut findings: Vec<Finding> = header::check(text).into_iter().collect();
    let mut surfaces = Vec::new();
    match parse::read(text, 1) {
        Ok(statements) => {
            let mut world = World::new(around);
            world.script(&statements);
            findings.extend(verdict(&world, &statements));
            findings.extend(world.findings);
            surfaces = Surface::of(world.observed);
        }
        Err(unreadable) => {
            findings.push(Finding::new(Rule::L02, unreadable.line, unreadable.why));
            findings.extend(as_foreign(text));
        }
    }
    findings.sort();
    findings.dedup_by_key(|finding| (finding.line, finding.rule));
    Examination { findings, surfaces }
}

/// L02, as far as bytes tell.
fn readable(script: &[u8]) -> Result<&str, Finding> {
    let at = |offset: usize| 1 + script[..offset].iter().filter(|byte| **byte == b'\n').count() as u32;
    if script.len() > LONGEST {
        return Err(Finding::new(Rule::L02, 1, "It is longer than 64 KiB"));
    }
    let text = std::str::from_utf8(script)
        .map_err(|error| Finding::new(Rule::L02, at(error.valid_up_to()), "It is not valid UTF-8"))?;
    // Control characters and direction marks show a reader something else than bash sees.
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
            || value::is_hole(c)
    };
    match text.char_indices().find(|(_, c)| hidden(*c)) {
        Some((offset, c)) => {
            let what = format!("It has the invisible character U+{:04X} in it", c as u32);
            Err(Finding::new(Rule::L02, at(offset), what))
        }
        None => Ok(text),
    }
}

/// L03 to L05: what is missing once everything was followed.
fn verdict(world: &World<'_>, statements: &[syntax::Statement]) -> Option<Finding> {
    let last = statements.last().map_or(1, |statement| statement.line);
    if world.calls.is_empty() {
        return Some(Finding::new(Rule::L03, 1, "It never calls the product"));
    }
    // What is wrong with the assertions there are says more than that none is left.
    let explained = |finding: &Finding| matches!(finding.rule, Rule::L06 | Rule::L12 | Rule::L13);
    let explained = world.findings.iter().any(explained);
    match world.smoke {
        _ if world.good > 0 => None,
        Some(smoke) if smoke.written || !explained => {
            Some(Finding::new(Rule::L05, smoke.line, "Only the exit status of the product is looked at"))
        }
        None if !explained => {
            Some(Finding::new(Rule::L04, last, "Nothing in it fails when the product does something else"))
        }
        _ => None,
    }
}

/// A test in another language is told what else is wrong with it.
fn as_foreign(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for language in [foreign::Language::JavaScript, foreign::Language::Python] {
        let seen = foreign::look(text, language);
        if let Some((line, module)) = seen.loads {
            findings.push(Finding::new(Rule::L07, line + 1, format_args!("It loads the module `{module}`")));
        }
        if let Some((line, fake)) = seen.fakes {
            findings.push(Finding::new(
                Rule::L08,
                line + 1,
                format_args!("`{fake}` puts a double in the place of real code"),
            ));
        }
    }
    findings
}
