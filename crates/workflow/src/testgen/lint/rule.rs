//! The rules, closed (DEC-124), and what breaking one of them is called.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    L01,
    L02,
    L03,
    L04,
    L05,
    L06,
    L07,
    L08,
    L09,
    L10,
    L11,
    L12,
    L13,
    L14,
}

impl Rule {
    pub const ALL: [Rule; 14] = [
        Rule::L01,
        Rule::L02,
        Rule::L03,
        Rule::L04,
        Rule::L05,
        Rule::L06,
        Rule::L07,
        Rule::L08,
        Rule::L09,
        Rule::L10,
        Rule::L11,
        Rule::L12,
        Rule::L13,
        Rule::L14,
    ];

    /// What to do instead, in one sentence.
    pub fn remedy(self) -> &'static str {
        match self {
            Rule::L01 => "Start the script with `# traces: <criterion id>` and `# title: <what is shown>`.",
            Rule::L02 => "Write one bash script, valid UTF-8, at most 64 KiB, that `bash -n` accepts.",
            Rule::L03 => "Call the product through a public entry point (`ona` or one of sdlc.publicApi.entryPoints).",
            Rule::L04 => {
                "Assert on the database, on files, on the output of a call, on a tool result or on a hook record."
            }
            Rule::L05 => "Assert on what the product did, not only on its exit status.",
            Rule::L06 => "Compare something the product wrote with what is expected of it.",
            Rule::L07 => "Call the product's public interface instead of loading its modules.",
            Rule::L08 => "Let the product run its real code; a local test server may stand in for a network service.",
            Rule::L09 => "Leave the loader and the interpreters of the product as they are.",
            Rule::L10 => "Call the real entry point; do not put anything in its place.",
            Rule::L11 => "Write fixtures below $SDLC_TEST_TMP or /tmp; leave the project as it is.",
            Rule::L12 => "Assert on what the product does, not on the source it was written in.",
            Rule::L13 => "Let a failing assertion end the script: `… || exit 1`.",
            Rule::L14 => "Talk to 127.0.0.1 or localhost only.",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Counted from 1.
    pub line: u32,
    pub rule: Rule,
    /// What is wrong, and what to do instead.
    pub message: String,
}

impl Finding {
    pub(super) fn new(rule: Rule, line: u32, what: impl fmt::Display) -> Self {
        Self { line, rule, message: format!("{what}. {}", rule.remedy()) }
    }
}
