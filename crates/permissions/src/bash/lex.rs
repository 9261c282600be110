//! The tolerant reader: every simple command that can be found in a text.
//!
//! It never fails. Subshells, groups, loops, substitutions,
//! here-documents and broken syntax only change where it looks next. What it
//! finds too much makes a deny rule match too often; `syntax` is the reader
//! that decides what may be allowed.

use super::heredoc::{PendingHeredoc, delimiter};
use super::nesting::{close_backtick, close_brace, close_paren};
use super::redirect::{self, RawRedirect};
use std::ops::Range;

/// A piece of a script, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawWord {
    pub raw: String,
    /// Place in the text it was read from.
    pub span: Range<usize>,
}

/// What stands between a command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connector {
    /// `;`, a newline, `&`, or the start.
    Then,
    And,
    Or,
    Pipe,
}

#[derive(Clone, Debug)]
pub(super) struct SimpleCommand {
    pub id: usize,
    pub env: Vec<RawWord>,
    pub words: Vec<RawWord>,
    pub redirects: Vec<RawRedirect>,
    pub link: Connector,
    /// How many shells deep: a subshell or substitution does not move its parent.
    pub depth: u16,
    /// Written in the script itself, not inside a substitution or an argument.
    pub own: bool,
}

/// A here-document or here-string and the command it is fed to.
#[derive(Clone, Debug)]
pub(super) struct StdinText {
    pub to: usize,
    pub body: String,
}

#[derive(Default)]
pub(super) struct LexOutput {
    pub commands: Vec<SimpleCommand>,
    pub fed: Vec<StdinText>,
    /// `for NAME in VALUES`
    pub loops: Vec<(String, Vec<String>)>,
    /// `NAME=(VALUES)`
    pub lists: Vec<(String, Vec<String>)>,
    pub functions: Vec<String>,
    pub has_loop: bool,
    /// Something was nested too deeply to be looked at.
    pub overflow: bool,
    /// Here-documents of the script itself: where the operators and the bodies stand.
    pub cuts: Vec<Range<usize>>,
    /// One of them expands, or a here-string does.
    pub expands: bool,
    next_id: usize,
    /// `extglob` stands somewhere in the text.
    extended: bool,
    /// `((` seen so far.
    expressions: usize,
}

/// Substitutions in substitutions; more is reported as `overflow`.
const LEVELS: u16 = 12;
/// Commands of one script.
const COMMANDS: usize = 2_000;
/// Bytes of one value that is put together from others.
pub(super) const LONGEST_VALUE: usize = 4096;
/// Bytes of one script that are not in here-documents.
const CODE: usize = 16 * 1024;

/// Adds the commands of `text` to what was found.
pub(super) fn read(text: &str, depth: u16, own: bool, found: &mut LexOutput) {
    found.extended |= text.contains("extglob");
    Lexer::new(text, depth, own, found).run();
}

impl SimpleCommand {
    fn at(depth: u16, own: bool, link: Connector) -> Self {
        Self { id: 0, env: Vec::new(), words: Vec::new(), redirects: Vec::new(), link, depth, own }
    }

    fn is_empty(&self) -> bool {
        self.env.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

impl LexOutput {
    /// Returns the command written before this one, in the same shell.
    pub(crate) fn before(&self, simple: &SimpleCommand) -> Option<&SimpleCommand> {
        let at = self.commands.iter().position(|other| other.id == simple.id)?;
        self.commands[..at].iter().rev().find(|other| other.depth == simple.depth && other.own == simple.own)
    }

    fn id(&mut self) -> usize {
        self.next_id += 1;
        self.next_id
    }
}

pub(super) struct Lexer<'t, 'f> {
    pub text: &'t str,
    pub at: usize,
    /// How much of what was read were here-documents.
    pub data: usize,
    pub depth: u16,
    base: u16,
    pub own: bool,
    /// In `((…))` two signs are a shift.
    arithmetic: bool,
    /// `case` without its `esac` so far.
    cases: usize,
    now: SimpleCommand,
    pub fed: Vec<PendingHeredoc>,
    pub found: &'f mut LexOutput,
}

impl<'t, 'f> Lexer<'t, 'f> {
    fn new(text: &'t str, depth: u16, own: bool, found: &'f mut LexOutput) -> Self {
        let mut now = SimpleCommand::at(depth, own, Connector::Then);
        now.id = found.id();
        Self { text, at: 0, data: 0, depth, base: depth, own, arithmetic: false, cases: 0, now, fed: Vec::new(), found }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn run(&mut self) {
        loop {
            if self.depth > LEVELS || self.found.commands.len() > COMMANDS || self.at - self.data > CODE {
                self.found.overflow = true;
                return;
            }
            self.blanks();
            let Some(byte) = self.byte(0) else { break };
            match (byte, self.byte(1)) {
                (b'\n', _) => {
                    self.at += 1;
                    self.end(Connector::Then);
                    self.bodies();
                }
                (b'#', _) => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                (b';', _) => self.operator(1, Connector::Then),
                (b'&', Some(b'&')) => self.operator(2, Connector::And),
                (b'&', Some(b'>')) => self.redirect(),
                (b'&', _) => self.operator(1, Connector::Then),
                (b'|', Some(b'|')) => self.operator(2, Connector::Or),
                (b'|', Some(b'&')) => self.operator(2, Connector::Pipe),
                (b'|', _) => self.operator(1, Connector::Pipe),
                (b'(', Some(b'(')) if self.arithmetic_command() => {}
                (b'(', _) if self.list() => {}
                (b'(', next) => {
                    if let ([name], Some(b')')) = (self.now.words.as_slice(), next) {
                        self.found.functions.push(name.raw.clone());
                    }
                    let link = self.now.link;
                    self.depth = self.depth.saturating_add(1);
                    self.operator(1, link);
                }
                (b')', _) => {
                    if self.cases > 0 && self.depth == self.base {
                        self.drop_pattern();
                    }
                    self.end(Connector::Then);
                    self.depth = self.depth.saturating_sub(1).max(self.base);
                    self.operator(1, Connector::Then);
                }
                (b'<' | b'>', next) if next != Some(b'(') => self.redirect(),
                _ => self.word_of_command(),
            }
        }
        self.end(Connector::Then);
    }

    /// `((…))`: an expression, or subshells that look like one. Both are read.
    fn arithmetic_command(&mut self) -> bool {
        /// Looking for the end takes time a hostile text could multiply.
        const MOST: usize = 50;
        self.found.expressions += 1;
        if self.found.expressions > MOST {
            self.found.overflow = true;
            return false;
        }
        let end = close_paren(self.text, self.at + 1);
        let inside = self.text.get(self.at + 2..end).and_then(|inside| inside.strip_suffix(')'));
        let Some(inside) = inside else { return false };
        self.end(Connector::Then);
        let mut inner = Lexer { arithmetic: true, ..Lexer::new(inside, self.depth + 1, false, self.found) };
        inner.run();
        // Quotes do not keep an expression from being evaluated.
        if inside.contains('\'') {
            self.expansions(&inside.replace('\'', " "));
        }
        self.at = (end + 1).min(self.text.len());
        true
    }

    /// What stands before a bracket that nothing opened is a pattern of `case`: `*.c|*.h)`.
    fn drop_pattern(&mut self) {
        let is_pattern = |command: &SimpleCommand| {
            let plain = command.words.len() == 1 && command.env.is_empty() && command.redirects.is_empty();
            plain && !command.words[0].raw.contains(['$', '`', '('])
        };
        let mut piped = is_pattern(&self.now) && self.now.link == Connector::Pipe;
        if is_pattern(&self.now) {
            self.now.words.clear();
        }
        while piped
            && let Some(before) = self.found.commands.pop_if(|last| last.depth == self.depth && is_pattern(last))
        {
            piped = before.link == Connector::Pipe;
        }
    }

    /// `NAME=(a b)`: the words of a list, which are not a command.
    fn list(&mut self) -> bool {
        let Some(last) = self.now.env.last().filter(|_| self.now.words.is_empty()) else { return false };
        let Some((name, "")) = assigned(&last.raw) else { return false };
        if last.span.end != self.at {
            return false;
        }
        let name = name.to_owned();
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.blanks();
            match self.byte(0) {
                None => break,
                Some(b')') => {
                    self.at += 1;
                    break;
                }
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                Some(_) => values.extend(self.word().map(|word| word.raw)),
            }
        }
        self.found.lists.push((name, values));
        true
    }

    fn blanks(&mut self) {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b' ' | b'\t'), _) => self.at += 1,
                (Some(b'\\'), Some(b'\n')) => self.at += 2,
                _ => return,
            }
        }
    }

    fn operator(&mut self, length: usize, link: Connector) {
        self.at += length;
        self.end(link);
        self.now.depth = self.depth;
    }

    /// Ends the current command; the next one follows it by `link`.
    fn end(&mut self, link: Connector) {
        let next = SimpleCommand::at(self.depth, self.own, link);
        let done = std::mem::replace(&mut self.now, next);
        self.now.id = self.found.id();
        if !done.is_empty() {
            self.found.commands.push(done);
        }
    }

    fn word_of_command(&mut self) {
        let Some(word) = self.word() else { return };
        let names_descriptor = word.raw.bytes().all(|b| b.is_ascii_digit())
            || (word.raw.starts_with('{') && word.raw.ends_with('}') && word.raw.len() > 2);
        if names_descriptor && matches!(self.byte(0), Some(b'<' | b'>')) && self.byte(1) != Some(b'(') {
            return self.redirect();
        }
        if !self.now.words.is_empty() {
            self.now.words.push(word);
        } else if assigned(&word.raw).is_some() {
            self.now.env.push(word);
        } else if !self.now.env.is_empty() || !self.reserved(&word.raw) {
            self.now.words.push(word);
        }
    }

    /// Steps over the words that only arrange commands.
    fn reserved(&mut self, word: &str) -> bool {
        match word {
            "esac" => self.cases = self.cases.saturating_sub(1),
            "if" | "then" | "elif" | "else" | "fi" | "do" | "done" | "in" | "{" | "}" | "!" | "coproc" => {}
            "while" | "until" => self.found.has_loop = true,
            "for" | "select" => {
                self.found.has_loop = true;
                let name = self.name();
                self.blanks();
                if self.text[self.at..].starts_with("in") {
                    self.at += 2;
                }
                let mut values = Vec::new();
                loop {
                    self.blanks();
                    match self.byte(0) {
                        None | Some(b';' | b'\n' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') => break,
                        Some(_) => values.extend(self.word().map(|word| word.raw)),
                    }
                }
                self.found.loops.push((name, values));
            }
            "case" => {
                self.cases += 1;
                self.name();
            }
            "function" => {
                let name = self.name();
                self.found.functions.push(name);
            }
            _ => return false,
        }
        true
    }

    fn name(&mut self) -> String {
        self.blanks();
        match self.byte(0) {
            None | Some(b';' | b'\n' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') => String::new(),
            Some(_) => self.word().map(|word| word.raw).unwrap_or_default(),
        }
    }

    /// The bracket of `@(a|b)` and its like, which are patterns with `shopt -s extglob`.
    fn is_pattern_list(&self, start: usize) -> bool {
        let sign = self.at.checked_sub(1).filter(|before| *before >= start).map(|before| self.text.as_bytes()[before]);
        // `!(…)` on its own is a command that is not to succeed.
        self.found.extended
            && (matches!(sign, Some(b'@' | b'*' | b'?' | b'+')) || sign == Some(b'!') && self.at > start + 1)
    }

    /// Returns one word, with whatever is substituted into it read as scripts of their own.
    fn word(&mut self) -> Option<RawWord> {
        let start = self.at;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'(' if self.is_pattern_list(start) => self.substitution(1, close_paren),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.substitution(2, close_paren),
                b'<' | b'>' => break,
                b'"' => self.double(),
                b'$' | b'`' => self.expansion(),
                _ => self.at = super::nesting::skip(self.text, self.at),
            }
        }
        if self.at == start {
            // An operator where a word was expected; step over it so that reading goes on.
            self.at = super::nesting::skip(self.text, self.at);
            return None;
        }
        Some(RawWord { raw: self.text[start..self.at].to_owned(), span: start..self.at })
    }

    fn double(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'$' | b'`' => self.expansion(),
                b'\'' => self.at += 1,
                _ => self.at = super::nesting::skip(self.text, self.at),
            }
        }
    }

    fn expansion(&mut self) {
        match (self.byte(0), self.byte(1)) {
            (Some(b'`'), _) => self.substitution(1, close_backtick),
            (_, Some(b'(')) => self.substitution(2, close_paren),
            (_, Some(b'{')) => {
                let end = close_brace(self.text, self.at + 2);
                let inside = self.text[(self.at + 2).min(end)..end].to_owned();
                self.expansions(&inside);
                self.at = (end + 1).min(self.text.len());
            }
            _ => self.at = super::nesting::skip(self.text, self.at),
        }
    }

    fn substitution(&mut self, opening: usize, close: fn(&str, usize) -> usize) {
        let end = close(self.text, self.at + opening);
        let inside = &self.text[(self.at + opening).min(end)..end];
        let script = match opening {
            1 => inside.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\"),
            _ => inside.to_owned(),
        };
        read(&script, self.depth + 1, false, self.found);
        self.at = (end + 1).min(self.text.len());
    }

    /// Substitutions in text that is otherwise data.
    pub(crate) fn expansions(&mut self, text: &str) {
        if self.depth > LEVELS {
            self.found.overflow = true;
            return;
        }
        let mut inner = Lexer::new(text, self.depth + 1, false, self.found);
        while let Some(byte) = inner.byte(0) {
            match byte {
                b'\\' => inner.at = super::nesting::skip(text, inner.at),
                b'$' | b'`' => inner.expansion(),
                _ => inner.at += 1,
            }
        }
    }

    fn redirect(&mut self) {
        let start = self.at;
        let (op, length) = redirect::operator(&self.text[self.at..]);
        self.at += length;
        self.blanks();
        let target = match self.byte(0) {
            None | Some(b';' | b'\n' | b'|' | b')') => None,
            Some(b'&' | b'(') => None,
            Some(b'<' | b'>') if self.byte(1) != Some(b'(') => None,
            Some(_) => self.word(),
        };
        // `a[1<<2]=x` is not a here-document either.
        let last = self.now.words.last().or(self.now.env.last());
        let shift = self.arithmetic || last.is_some_and(|word| word.span.end == start && word.raw.contains('['));
        let op = match op {
            redirect::RedirectOp::HereDoc { .. } if shift => redirect::RedirectOp::Odd,
            op => op,
        };
        match (op, &target) {
            (redirect::RedirectOp::HereDoc { tabs }, Some(word)) => {
                let expands = !word.raw.contains(['\'', '"', '\\']);
                let (end, plain) = delimiter(&word.raw);
                self.cut(start..word.span.end, expands || !plain);
                self.fed.push(PendingHeredoc { to: self.now.id, end, plain, expands, tabs });
            }
            (redirect::RedirectOp::HereString, Some(word)) => {
                self.found.expands = true;
                self.found.fed.push(StdinText { to: self.now.id, body: word.raw.clone() });
            }
            _ => {}
        }
        self.now.redirects.push(RawRedirect { op, target });
    }
}

/// Name and value of `NAME=value`, `NAME+=value` or `NAME[i]=value`.
pub(super) fn assigned(raw: &str) -> Option<(&str, &str)> {
    let (left, value) = raw.split_once('=')?;
    let left = left.strip_suffix('+').unwrap_or(left);
    let name = left.split('[').next().unwrap_or(left);
    let indexed = left.len() == name.len() || left.ends_with(']');
    let mut bytes = name.bytes();
    let valid = bytes.next().is_some_and(|b| b == b'_' || b.is_ascii_alphabetic())
        && bytes.all(|b| b == b'_' || b.is_ascii_alphanumeric());
    (valid && indexed).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let mut found = LexOutput::default();
        read(text, 0, true, &mut found);
        let words =
            |simple: &SimpleCommand| simple.words.iter().map(|word| word.raw.clone()).collect::<Vec<_>>().join(" ");
        found.commands.iter().map(words).filter(|words| !words.is_empty()).collect()
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        for (text, expected) in [
            ("a; b && c || d | e |& f & g\nh", vec!["a", "b", "c", "d", "e", "f", "g", "h"]),
            ("(a; { b; }); ! c", vec!["a", "b", "c"]),
            ("if a; then b; elif c; then d; else e; fi", vec!["a", "b", "c", "d", "e"]),
            ("while a; do b; done; until c; do d; done", vec!["a", "b", "c", "d"]),
            ("for x in 1 $(a); do b $x; done", vec!["a", "b $x"]),
            ("case $x in a) b;; *) c;; esac", vec!["b", "c"]),
            ("function f { a; }; g() { b; }", vec!["a", "g", "b"]),
            (
                "a $(b \"$(c)\") `d \\`e\\`` <(f)",
                vec!["c", "b \"$(c)\"", "e", "d `e`", "f", "a $(b \"$(c)\") `d \\`e\\`` <(f)"],
            ),
            ("a \"x $(b) ${y:-$(c)}\"", vec!["b", "c", "a \"x $(b) ${y:-$(c)}\""]),
            ("cat <<EOF\n$(a)\nb\nEOF\nc", vec!["cat", "a", "c"]),
            ("cat <<'EOF'\n$(a)\nEOF\nc", vec!["cat", "c"]),
            ("((x=1<<E))\na\nE", vec!["a", "E"]),
            ("x[1<<E]=2\na\nE]=2", vec!["x[1", "a", "E]=2"]),
            ("X=1 Y=$(a) b", vec!["a", "b"]),
            ("a # b\nc", vec!["a", "c"]),
            ("a '# b' \"; c\"", vec!["a '# b' \"; c\""]),
            ("> x a b < y", vec!["a b"]),
            ("a 2>&1 &> x {fd}> y", vec!["a"]),
            ("\"unclosed; a", vec!["\"unclosed; a"]),
            ("a\\\n b", vec!["a\\\n b"]),
            (") a", vec!["a"]),
        ] {
            let text = text.replace("a\\\n b", "a \\\n b");
            let expected: Vec<String> = expected.iter().map(|s| s.replace("a\\\n b", "a b")).collect();
            assert_eq!(commands(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_subshell_is_one_deeper() {
        let mut found = LexOutput::default();
        read("a; (b; (c)); d $(e)", 0, true, &mut found);
        let depths: Vec<_> = found.commands.iter().map(|c| (c.words[0].raw.as_str(), c.depth, c.own)).collect();
        assert_eq!(depths, [("a", 0, true), ("b", 1, true), ("c", 2, true), ("e", 1, false), ("d", 0, true)]);
    }

    #[test]
    fn assignments_are_told_from_words() {
        assert_eq!(assigned("A=b=c"), Some(("A", "b=c")));
        assert_eq!(assigned("A+=b"), Some(("A", "b")));
        assert_eq!(assigned("A[1]=b"), Some(("A", "b")));
        assert_eq!(assigned("--a=b"), None);
        assert_eq!(assigned("1=b"), None);
        assert_eq!(assigned("a"), None);
    }
}
