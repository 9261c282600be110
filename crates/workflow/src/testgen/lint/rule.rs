//! The rules, closed (DEC-124), and what breaking one of them is called.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintRule {
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

impl LintRule {
    pub const ALL: [LintRule; 14] = [
        LintRule::L01,
        LintRule::L02,
        LintRule::L03,
        LintRule::L04,
        LintRule::L05,
        LintRule::L06,
        LintRule::L07,
        LintRule::L08,
        LintRule::L09,
        LintRule::L10,
        LintRule::L11,
        LintRule::L12,
        LintRule::L13,
        LintRule::L14,
    ];

    /// Returns what to do instead, in one sentence.
    pub fn remedy(self) -> &'static str {
        match self {
            LintRule::L01 => "Start the script with `# traces: <criterion id>` and `# title: <what is shown>`.",
            LintRule::L02 => "Write one bash script, valid UTF-8, at most 64 KiB, that `bash -n` accepts.",
            LintRule::L03 => {
                "Call the product through a public entry point (`ona` or one of sdlc.publicApi.entryPoints)."
            }
            LintRule::L04 => {
                "Assert on the database, on files, on the output of a call, on a tool result or on a hook record."
            }
            LintRule::L05 => "Assert on what the product did, not only on its exit status.",
            LintRule::L06 => "Compare something the product wrote with what is expected of it.",
            LintRule::L07 => "Call the product's public interface instead of loading its modules.",
            LintRule::L08 => {
                "Let the product run its real code; a local test server may stand in for a network service."
            }
            LintRule::L09 => "Leave the loader and the interpreters of the product as they are.",
            LintRule::L10 => "Call the real entry point; do not put anything in its place.",
            LintRule::L11 => "Write fixtures below $SDLC_TEST_TMP or /tmp; leave the project as it is.",
            LintRule::L12 => "Assert on what the product does, not on the source it was written in.",
            LintRule::L13 => "Let a failing assertion end the script: `… || exit 1`.",
            LintRule::L14 => "Talk to 127.0.0.1 or localhost only.",
        }
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LintFinding {
    /// Counted from 1.
    pub line: u32,
    pub rule: LintRule,
    /// What is wrong, and what to do instead.
    pub message: String,
}

impl LintFinding {
    pub(super) fn new(rule: LintRule, line: u32, what: impl fmt::Display) -> Self {
        Self { line, rule, message: format!("{what}. {}", rule.remedy()) }
    }
}
