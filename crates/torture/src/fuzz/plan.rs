//! Plans and test scripts. Laws: criteria are the same with either line end; each criterion has an
//! id of its own; a plan says the same when text without headings stands before it.

use super::{mutate, same};
use crate::random::Random;
use ona_workflow::testgen::criteria;
use ona_workflow::testgen::lint::{self, LintContext};
use std::collections::HashSet;

const PLANS: [&str; 4] = [
    "# Plan\n\nWords.\n\n## Success criteria\n\n1. It works\n   and more\n2. `x` prints y\n- [ ] C3: z\n\n## Next\n- no\n",
    "Acceptance criteria:\n* a\n  * deeper\n* b\n\n```\n# Success criteria\n- not one\n```\n",
    "Success Criteria\n================\n\nOne paragraph\nof two lines\n\nAnother\n",
    "- **Success criteria**\n  - AC-1 first\n  - AC-2 second\n- Other\n",
];
const MARKDOWN: [&str; 34] = [
    "# ",
    "## ",
    "### ",
    "Success criteria",
    "Acceptance criteria",
    ":",
    "\n",
    "\n\n",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "[ ] ",
    "[x] ",
    "    ",
    "\t",
    "```",
    "~~~",
    "> ",
    "---",
    "===",
    "**",
    "`",
    "C1",
    "AC-1:",
    "<!--",
    "-->",
    "|a|b|",
    "é",
    "a",
    "\r\n",
    "&amp;",
    "[l](u)",
];
const SCRIPTS: [&str; 3] = [
    "#!/usr/bin/env bash\n# test: it adds\n# criterion: C1\nset -eu\nout=$(./bin/add 1 2)\n[ \"$out\" = 3 ] || { echo \"got $out\" >&2; exit 1; }\n",
    "#!/bin/sh\n# test: b\nif ! ./x | grep -q y; then exit 1; fi\ncurl -s http://127.0.0.1:1/ | jq -e .a\n",
    "#!/usr/bin/env bash\n# test: c\nf() { local a=$1; test -n \"$a\"; }\nf \"$(cat out.txt)\" && exit 0 || exit 1\n",
];
const SHELL: [&str; 30] = [
    "#!/bin/bash\n",
    "set -e\n",
    "exit 0\n",
    "exit 1\n",
    "true\n",
    "[ 1 = 1 ]\n",
    "if ",
    "then ",
    "fi\n",
    "$(",
    ")",
    "\"",
    "'",
    "$x",
    "x=1\n",
    "|| ",
    "&& ",
    "| ",
    "<<E\n",
    "E\n",
    "for x in a; do ",
    "done\n",
    "while ",
    "case x in ",
    "esac\n",
    "trap 'x' EXIT\n",
    "source x\n",
    "eval ",
    "python3 -c ",
    "\\\n",
];

pub(super) fn read(random: &mut Random, input: &mut String) -> Result<(), String> {
    if random.one_in(3) {
        let script = mutate::bytes(random, &SCRIPTS, &SHELL);
        *input = String::from_utf8_lossy(&script).into_owned();
        let context = LintContext::default();
        return same(
            "a script is checked alike twice",
            &lint::examine(&script, &context),
            &lint::examine(&script, &context),
        );
    }
    let plan = mutate::words(random, &PLANS, &MARKDOWN).replace('\r', "");
    *input = plan.clone();
    let found = criteria::parse(&plan);
    same("line ends", &found, &criteria::parse(&plan.replace('\n', "\r\n")))?;
    let ids: HashSet<_> = found.iter().map(|criterion| &criterion.id).collect();
    same("ids of their own", &ids.len(), &found.len())
}
