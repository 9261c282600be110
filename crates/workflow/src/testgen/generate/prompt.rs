//! The one message the generator gets, and the digest of everything in it.

use crate::testgen::lint::LintRule;
use ona_api::digest;
use ona_api::testing::Criterion;
use std::fmt::Write;

/// In place of a system prompt; as fixed as everything else.
pub const SYSTEM: &str = "You write behavioural tests for a program that you know only from outside.";

const INSTRUCTIONS: &str = r#"Write behavioural tests for the success criteria below. You are given the approved plan, the criteria, and public interfaces. You do not see how the work was done, and a test must not depend on it.

Answer form, strictly: for every criterion under "Criteria to cover" at least one test, each in a block of its own that opens with a line ```bash and closes with a line ```. The first lines of each block are
# traces: <the id of exactly one criterion>
# title: <one line that says what is shown>
Inside a block no line starts with ```. Text outside the blocks is not read.

What a test is:
- One bash script, run as `bash FILE` from the project's root. Exit 0 means the criterion holds; every failed assertion ends the script with a status other than 0, as in `... || exit 1`.
- It sets up its own fixtures below "$SDLC_TEST_TMP" (a fresh folder; also HOME and TMPDIR). It leaves the project's files as they are. "$AGENT_SDLC_DB" names a fresh database with the schema below.
- It uses the product through its public entry points, as a user would.
- It asserts on what can be seen from outside: stdout, stderr and exit codes of a call; files it makes or changes; rows in the database; content and is_error of a tool result; rows of hook_invocations.
- It checks what is promised, with values: a wrong result must make it fail. That a call did not crash shows nothing.

What a test must not do:
- import or source the project's modules, call its inner functions, or look at its source;
- mock, stub, patch, shadow or replace any part of the product, by libraries, functions, aliases, PATH or loader variables;
- compare constants with each other or with what the script itself wrote;
- swallow a failure (`|| true`, an unconditional `exit 0`);
- use a network other than 127.0.0.1.

Patterns:
```bash
# traces: SC-1
# title: The tool prints the sum of its arguments
out=$(./bin/sum 2 3) || exit 1
[ "$out" = 5 ] || { echo "expected 5, got $out" >&2; exit 1; }
```
```bash
# traces: SC-2
# title: An unknown option is refused with a usage line
code=0
./bin/sum --nonsense >"$SDLC_TEST_TMP/out" 2>"$SDLC_TEST_TMP/err" || code=$?
[ "$code" -eq 2 ] || { echo "exit $code" >&2; exit 1; }
grep -qi usage "$SDLC_TEST_TMP/err" || { cat "$SDLC_TEST_TMP/err" >&2; exit 1; }
```
```bash
# traces: SC-3
# title: A refused call is recorded as an error
ona --eval '{"tool":"Read","input":{"file_path":"/nowhere"}}' >"$SDLC_TEST_TMP/line"
grep -q '"is_error":true' "$SDLC_TEST_TMP/line" || exit 1
n=$(sqlite3 "$AGENT_SDLC_DB" "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND payload_json LIKE '%\"is_error\":true%'")
[ "$n" -eq 1 ] || exit 1
```"#;

/// One text of the project's public interface, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicText {
    /// `command: ./tool --help`, `file: docs/cli.md`.
    pub name: String,
    pub text: String,
}

/// Why the case for a criterion is asked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub criterion: String,
    /// Empty: it got no answer.
    pub rules: Vec<LintRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorPrompt {
    pub text: String,
    /// What it is made of, by name, each with its SHA-256.
    pub inputs: Vec<(String, String)>,
    /// The public parts: their text does not count as a leak.
    pub known: String,
}

/// `criteria` are all of the plan's, `wanted` the ids this request is about.
pub fn prompt(
    contract: &str,
    plan: &str,
    criteria: &[Criterion],
    wanted: &[&str],
    entry_points: &[String],
    public: &[PublicText],
    rejected: &[Rejection],
) -> GeneratorPrompt {
    let mut made = GeneratorPrompt { text: String::new(), inputs: Vec::new(), known: String::new() };
    let listed: String = criteria.iter().map(|one| format!("- {}: {}\n", one.id, one.text)).collect();
    made.fixed("instructions", None, INSTRUCTIONS);
    made.fixed("contract", Some("Public contract of the product"), contract);
    made.fixed("plan", Some("Approved plan"), plan);
    made.fixed("criteria", Some("Success criteria of the plan"), &listed);
    if !entry_points.is_empty() {
        let listed: String = entry_points.iter().map(|one| format!("- {one}\n")).collect();
        made.fixed("entry points", Some("Public entry points of the project"), &listed);
    }
    for piece in public {
        made.add(&piece.name, Some(&format!("Public interface of the project, {}", piece.name)), &piece.text);
    }
    made.fixed("wanted", Some("Criteria to cover"), &wanted.join(", "));
    if !rejected.is_empty() {
        made.fixed("rejected", Some("An earlier answer was not accepted"), &reasons(rejected));
    }
    made
}

impl GeneratorPrompt {
    /// A part that is known to everybody concerned.
    fn fixed(&mut self, name: &str, title: Option<&str>, text: &str) {
        self.known.push_str(text);
        self.known.push('\n');
        self.add(name, title, text);
    }

    fn add(&mut self, name: &str, title: Option<&str>, text: &str) {
        self.inputs.push((name.to_owned(), digest::sha256_hex(text.as_bytes())));
        if let Some(title) = title {
            // Writing to a String cannot fail.
            write!(self.text, "\n\n# {title}\n\n").ok();
        }
        self.text.push_str(text.trim_end());
    }
}

/// Rule ids and their remedies, which are fixed words; nothing of the rejected script.
fn reasons(rejected: &[Rejection]) -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    for Rejection { criterion, rules } in rejected {
        if rules.is_empty() {
            writeln!(text, "- {criterion}: it had no test").ok();
        }
        for rule in rules {
            writeln!(text, "- {criterion}: {rule}. {}", rule.remedy()).ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_named_with_its_digest_and_only_public_interfaces_are_suspect() {
        let criteria = [Criterion { id: "SC-1".into(), text: "prints 5".into() }];
        let piece = PublicText { name: "file: api.md".into(), text: "--loud shouts".into() };
        let rejected = [Rejection { criterion: "SC-1".into(), rules: vec![LintRule::L05] }];
        let made = prompt("CONTRACT", "PLAN", &criteria, &["SC-1"], &["./x".into()], &[piece], &rejected);
        let names: Vec<_> = made.inputs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["instructions", "contract", "plan", "criteria", "entry points", "file: api.md", "wanted", "rejected"]
        );
        assert_eq!(made.inputs[2].1, digest::sha256_hex(b"PLAN"));
        assert!(made.text.contains("--loud shouts") && !made.known.contains("--loud"));
        assert!(made.text.contains("- SC-1: L05. Assert on what the product did"));
    }

    #[test]
    fn our_own_patterns_are_what_we_ask_for() {
        let patterns = crate::testgen::generate::scripts(INSTRUCTIONS);
        assert_eq!((patterns.scripts.len(), patterns.unclosed), (3, false));
        let entry_points = ["./bin/sum".to_owned()];
        let context = crate::testgen::lint::LintContext { entry_points: &entry_points, touched: &[] };
        for script in &patterns.scripts {
            assert_eq!(crate::testgen::lint::check(script.as_bytes(), &context), [], "{script}");
        }
    }
}
