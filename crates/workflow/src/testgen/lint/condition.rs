//! `[ … ]`, `[[ … ]]` and `test`: what they compare, and whether they can come out otherwise.

use super::state::ScriptState;
use super::status::{Comparison, ExitStatus, add, either};
use super::syntax::TestToken;
use super::value::{Origins, TrackedText};

/// An operand, or a word in the place of an operator.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub value: TrackedText,
    pub operator: bool,
}

impl Operand {
    fn is(&self, text: &str) -> bool {
        self.operator && self.value.text == text
    }
}

impl ScriptState<'_> {
    pub(crate) fn operands(&mut self, tokens: &[TestToken]) -> Vec<Operand> {
        let mut operands = Vec::new();
        for token in tokens {
            match token {
                TestToken::Operator(text) => {
                    operands.push(Operand { value: TrackedText::literal(text.as_str()), operator: true })
                }
                TestToken::Word(word) => operands.push(Operand { value: self.single(word), operator: false }),
            }
        }
        operands
    }

    /// Returns the arguments of `test`.
    pub(crate) fn arguments_of_test(&mut self, words: &[TrackedText]) -> Vec<Operand> {
        let last = words.len().saturating_sub(1);
        let operator = |(at, value): (usize, &TrackedText)| {
            let text = value.text.as_str();
            let sign = value.from.is_none()
                && match text {
                    "!" | "(" | ")" => true,
                    "=" | "==" | "!=" | "<" | ">" | "=~" => at > 0 && at < last,
                    _ => {
                        text.len() <= 3
                            && text.len() > 1
                            && text.starts_with('-')
                            && text[1..].bytes().all(|b| b.is_ascii_alphabetic())
                            && at < last
                    }
                };
            Operand { value: value.clone(), operator: sign }
        };
        words.iter().enumerate().map(operator).collect()
    }

    pub(crate) fn test(&mut self, operands: &[Operand], patterns: bool, line: u32) -> ExitStatus {
        // Brackets only group; what is grouped is looked at just the same.
        let flat: Vec<Operand> = operands.iter().filter(|o| !o.is("(") && !o.is(")")).cloned().collect();
        let mut ways = flat.split(|operand| operand.is("-o") || operand.is("||"));
        let first = ways.next().map(|way| self.every(way, patterns, line)).unwrap_or_default();
        let rest: Vec<_> = ways.map(<[Operand]>::to_vec).collect();
        let mut status = ExitStatus { atoms: first, ..ExitStatus::default() };
        status.constant = constant(&flat);
        for way in rest {
            let other = self.every(&way, patterns, line);
            status = either(status.atoms, other, line);
        }
        status
    }

    fn every(&mut self, operands: &[Operand], patterns: bool, line: u32) -> Vec<Comparison> {
        let mut atoms = Vec::new();
        for term in operands.split(|operand| operand.is("-a") || operand.is("&&")) {
            let term: Vec<&Operand> = term.iter().skip_while(|operand| operand.is("!")).collect();
            let atom = self.term(&term, patterns, line);
            add(&mut atoms, vec![atom]);
        }
        atoms
    }

    fn term(&mut self, term: &[&Operand], patterns: bool, line: u32) -> Comparison {
        match term {
            [sign, operand] if sign.operator => self.unary(&sign.value.text, &operand.value, line),
            [one] => self.unary("-n", &one.value, line),
            [left, sign, right] => {
                let mut atom = Comparison::check(left.value.from | right.value.from, line);
                atom.always = self.holds_anyway(&left.value, &sign.value.text, &right.value, patterns);
                atom
            }
            [] => Comparison::check(Origins::NONE, line),
            more => {
                let from = more.iter().fold(Origins::NONE, |all, operand| all | operand.value.from);
                Comparison::check(from, line)
            }
        }
    }

    fn unary(&mut self, sign: &str, operand: &TrackedText, line: u32) -> Comparison {
        if sign == "-v" {
            let from = self.variable(&operand.text.clone()).from;
            return Comparison::check(from | Origins::AMBIENT, line);
        }
        if matches!(sign, "-n" | "-z") {
            let mut atom = Comparison::check(operand.from, line);
            // `-n "x$out"` holds for any output.
            let written = operand.text.chars().any(|c| !super::value::is_hole(c) && !c.is_whitespace());
            atom.always = written && !operand.from.is_none();
            if operand.from.is_none() && self.in_function() {
                // A function looks at its arguments.
                atom.from = Origins::AMBIENT;
            }
            return atom;
        }
        if matches!(sign, "-t" | "-o" | "-R") {
            return Comparison::check(Origins::AMBIENT, line);
        }
        let from = match sign {
            "-s" => {
                let content = self.content(&operand.text);
                content.from
            }
            _ => self.existence(&operand.text),
        };
        Comparison::check(from, line)
    }

    fn holds_anyway(&mut self, left: &TrackedText, sign: &str, right: &TrackedText, patterns: bool) -> bool {
        let observed = (left.from | right.from).has(Origins::SURFACES | Origins::STATUS | Origins::AMBIENT);
        if left.text == right.text && observed {
            return true;
        }
        let pattern = right.text.as_str();
        match sign {
            "-ge" => pattern == "0" || pattern.starts_with('-'),
            "-gt" => pattern.starts_with('-'),
            "-le" => left.text == "0",
            "=" | "==" | "!=" if patterns => {
                let inside = pattern.trim_matches('*');
                let anything = inside.is_empty() && !pattern.is_empty();
                anything || (pattern.len() > inside.len() && observed && left.says(inside))
            }
            "=~" => matches_anything(pattern) || (observed && left.says(plain_part(pattern))),
            _ => false,
        }
    }
}

/// Returns what two literals come to.
fn constant(operands: &[Operand]) -> Option<bool> {
    let (negated, rest) = match operands {
        [sign, rest @ ..] if sign.is("!") => (true, rest),
        rest => (false, rest),
    };
    let literal = |operand: &&Operand| operand.value.is_known() && operand.value.from.is_none();
    let [left, sign, right] = rest else { return None };
    if !literal(&left) || !literal(&right) {
        return None;
    }
    let (left, right) = (left.value.text.as_str(), right.value.text.as_str());
    let numbers = || Some((left.parse::<i64>().ok()?, right.parse::<i64>().ok()?));
    let result = match sign.value.text.as_str() {
        "=" | "==" if !right.contains(['*', '?', '[']) => left == right,
        "!=" if !right.contains(['*', '?', '[']) => left != right,
        "-eq" => numbers().map(|(left, right)| left == right)?,
        "-ne" => numbers().map(|(left, right)| left != right)?,
        "-lt" => numbers().map(|(left, right)| left < right)?,
        "-gt" => numbers().map(|(left, right)| left > right)?,
        "-le" => numbers().map(|(left, right)| left <= right)?,
        "-ge" => numbers().map(|(left, right)| left >= right)?,
        _ => return None,
    };
    Some(result != negated)
}

/// A regular expression nothing fails to match: one of its alternatives is made of
/// things that may be there or not.
pub(super) fn matches_anything(pattern: &str) -> bool {
    let optional = |part: &str| {
        let inside = part.trim_matches(['(', ')', '^', '$', '\\']);
        let mut letters = inside.chars();
        loop {
            match (letters.next(), letters.next()) {
                (None, _) => return true,
                (Some(c), Some('*' | '?')) if c != ']' && c != ')' => {}
                _ => return false,
            }
        }
    };
    pattern.split('|').any(optional)
}

/// Returns what a simple expression looks for, without its anchors.
pub(super) fn plain_part(pattern: &str) -> &str {
    pattern.trim_start_matches('^').trim_end_matches('$').trim_start_matches(".*").trim_end_matches(".*")
}
