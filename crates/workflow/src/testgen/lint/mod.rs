//! Whether a script is a behavioural test, told from its text alone (DEC-124).
//!
//! Fourteen closed rules keep out what sections 8.5.2 and 8.5.3 forbid: smoke tests,
//! tautologies, mocks, assertions that can not fail. Nothing is run and no file is
//! opened; what the rules need to know of the project comes in as `Surroundings`.

mod header;
mod rule;

pub use header::{Header, header};
pub use rule::{Finding, Rule};

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

/// Everything that is wrong with a script, by line.
pub fn check(script: &[u8], around: &Surroundings<'_>) -> Vec<Finding> {
    if script.len() > LONGEST {
        return vec![Finding::new(Rule::L02, 1, "it is longer than 64 KiB")];
    }
    let text = match std::str::from_utf8(script) {
        Ok(text) => text,
        Err(error) => {
            let line = 1 + script[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u32;
            return vec![Finding::new(Rule::L02, line, "it is not valid UTF-8")];
        }
    };
    let _ = around;
    let mut findings: Vec<Finding> = header::check(text).into_iter().collect();
    findings.sort();
    findings.dedup();
    findings
}
