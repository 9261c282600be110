//! Decides whether a prompt holds a line of the implementation (DEC-123). The last look before
//! anything is sent: how the prompt was made should have kept every such line out.
//!
//! Blanks are left out of the comparison, so that a line that was indented or wrapped on
//! its way is still recognised. The work is linear in the size of prompt and sources.

use std::collections::HashSet;

/// Lines shorter than this, not counting blanks, are everybody's: `return 0`, `done`.
const TELLING: usize = 24;

/// A file the implementation made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedSource {
    pub path: String,
    pub text: String,
}

/// A line of the implementation in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    pub path: String,
    /// Counted from 1.
    pub line: usize,
}

/// Returns the first line of a source that stands in `prompt` and not in `known`, the text of
/// plan and contract.
pub fn leak(prompt: &str, known: &str, sources: &[TouchedSource]) -> Option<Leak> {
    let (prompt, known) = (dense(prompt), dense(known));
    // Every beginning a line could have in the prompt.
    let beginnings: HashSet<&[char]> = prompt.windows(TELLING).collect();
    for source in sources {
        for (number, line) in (1..).zip(source.text.lines()) {
            let line = dense(line);
            if line.len() < TELLING || !beginnings.contains(&line[..TELLING]) {
                continue;
            }
            if holds(&prompt, &line) && !holds(&known, &line) {
                return Some(Leak { path: source.path.clone(), line: number });
            }
        }
    }
    None
}

fn dense(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn holds(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str, known: &str, source: &str) -> Option<usize> {
        let source = TouchedSource { path: "a.py".into(), text: source.into() };
        leak(prompt, known, &[source]).map(|leak| leak.line)
    }

    const LINE: &str = "def shout(words): return upper";

    #[test]
    fn a_telling_line_is_found_however_it_is_set() {
        let source = format!("import os\n{LINE}\n");
        assert_eq!(found(&format!("docs:\n    {LINE}\n"), "", &source), Some(2));
        assert_eq!(found("docs: def shout(words):\n  return upper.", "", &source), Some(2));
        assert_eq!(found(&format!("x{LINE}y"), "", &source), Some(2));
        assert_eq!(found("def shout(words): return lower", "", &source), None);
    }

    #[test]
    fn what_plan_or_contract_say_is_no_leak_and_short_lines_are_nobodys() {
        assert_eq!(found(&format!("plan: {LINE}"), &format!("plan: {LINE}"), LINE), None);
        assert_eq!(found("return 0\nfor x in y: do(x)", "", "return 0\nfor x in y: do(x)\n"), None);
        let exactly = "a".repeat(24);
        assert_eq!((found(&exactly, "", &exactly), found(&exactly, "", &exactly[1..])), (Some(1), None));
    }
}
