//! Makes a script safe to show to the grammar.
//!
//! The grammar's scanner keeps here-documents in hand-managed memory and looks
//! characters up in a table that ends at 255; hostile text can crash it with either. So
//! a small scanner of our own finds here-documents, cuts their bodies out for others to
//! look into, and hands over a text of the same length and the same lines in which
//! quoted text is letters and no `<<` is left. Where the two could see quotes
//! differently, the script counts as unreadable.

use super::syntax::Unreadable;
use std::collections::HashMap;
use std::ops::Range;

/// What stands where an operator was replaced by a plain `<`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StdinSource {
    /// A here-document: where its body is, and whether bash expands it.
    Document { body: Range<usize>, expands: bool, tabs: bool },
    /// `<<<`
    String,
}

#[derive(Debug)]
pub(super) struct SanitizedScript {
    /// As long as the script, with its newlines where they were.
    pub text: String,
    /// By the place of the `<`.
    pub fed: HashMap<usize, StdinSource>,
    /// Where single quotes open, `$'` included.
    pub quotes: Vec<usize>,
}

pub(super) fn sanitize(script: &str) -> Result<SanitizedScript, Unreadable> {
    let mut scanner = Scanner {
        bytes: script.as_bytes(),
        text: script.as_bytes().to_vec(),
        at: 0,
        stack: vec![Frame::new(Kind::Code)],
        waiting: Vec::new(),
        fed: HashMap::new(),
        quotes: Vec::new(),
    };
    scanner.run()?;
    // To bash a byte it knows nothing about is a letter.
    let letter = |byte: u8| if matches!(byte, b' '..=b'~' | b'\n' | b'\t') { byte } else { b'x' };
    let text = scanner.text.into_iter().map(|byte| letter(byte) as char).collect();
    Ok(SanitizedScript { text, fed: scanner.fed, quotes: scanner.quotes })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    /// `(…)`, `$(…)`, `<(…)`
    Paren,
    Backtick,
    Double,
    /// `${…}`
    Brace,
    /// `((…))`, with the parentheses open inside
    Arithmetic(u16),
}

struct Frame {
    kind: Kind,
    /// A command can start here.
    start: bool,
    /// `case` without its `esac`: a `)` may end a pattern.
    cases: u16,
    /// Commands joined by `|` so far.
    stages: u16,
}

impl Frame {
    fn new(kind: Kind) -> Self {
        Self { kind, start: true, cases: 0, stages: 0 }
    }
}

struct Waiting {
    operator: usize,
    end: Vec<u8>,
    expands: bool,
    tabs: bool,
}

/// More than anyone nests.
const DEEPEST: usize = 60;

const LONGEST_PIPELINE: u16 = 50;

struct Scanner<'a> {
    bytes: &'a [u8],
    text: Vec<u8>,
    at: usize,
    stack: Vec<Frame>,
    waiting: Vec<Waiting>,
    fed: HashMap<usize, StdinSource>,
    quotes: Vec<usize>,
}

impl Scanner<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn top(&mut self) -> &mut Frame {
        self.stack.last_mut().expect("the outermost frame is never popped")
    }

    fn fail<T>(&self, why: &'static str) -> Result<T, Unreadable> {
        let line = 1 + self.bytes[..self.at.min(self.bytes.len())].iter().filter(|byte| **byte == b'\n').count();
        Err(Unreadable { line: line as u32, why })
    }

    fn push(&mut self, kind: Kind, over: usize) -> Result<(), Unreadable> {
        if self.stack.len() > DEEPEST {
            return self.fail("It is nested too deeply");
        }
        self.stack.push(Frame::new(kind));
        self.at += over;
        Ok(())
    }

    fn pop(&mut self, over: usize) {
        self.stack.pop();
        self.at += over;
        self.top().start = false;
    }

    /// Makes letters of everything but newlines.
    fn letters(&mut self, range: Range<usize>) {
        self.text[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'x');
    }

    fn run(&mut self) -> Result<(), Unreadable> {
        while self.at < self.bytes.len() {
            match self.top().kind {
                Kind::Code | Kind::Paren | Kind::Backtick => self.code()?,
                Kind::Double | Kind::Brace | Kind::Arithmetic(_) => self.inside()?,
            }
        }
        if self.stack.len() > 1 {
            return self.fail("A quote or bracket is never closed");
        }
        if !self.waiting.is_empty() {
            return self.fail("A here-document is never closed");
        }
        Ok(())
    }

    fn code(&mut self) -> Result<(), Unreadable> {
        let start = self.top().start;
        match self.byte(0) {
            b'\\' => {
                self.top().start = false;
                // `[ a \> b ]`: the grammar knows no such operator, but others.
                if matches!(self.byte(1), b'<' | b'>') && self.byte(2) == b' ' {
                    self.text[self.at..self.at + 2].fill(b'=');
                }
                // `\<<` must not look like an operator.
                if self.byte(1) == b'<' && self.byte(2) == b'<' {
                    self.text[self.at + 1] = b'x';
                }
                self.at += 2;
            }
            b'\n' => {
                if !start {
                    self.top().stages = 0;
                }
                self.top().start = true;
                self.at += 1;
                self.bodies()?;
            }
            b' ' | b'\t' => self.at += 1,
            b'|' if self.byte(1) != b'|' => {
                // The parser takes quadratic time for these.
                self.top().stages += 1;
                if self.top().stages > LONGEST_PIPELINE {
                    return self.fail("A pipeline has too many commands");
                }
                self.top().start = true;
                self.at += 1;
            }
            b';' | b'&' | b'|' => {
                self.top().start = true;
                self.top().stages = 0;
                self.at += if self.starts("||") { 2 } else { 1 };
            }
            b'#' if self.at == 0
                || matches!(self.bytes[self.at - 1], b' ' | b'\t' | b'\n' | b';' | b'(' | b'&' | b'|') =>
            {
                let end = self.bytes[self.at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(self.bytes.len(), |length| self.at + length);
                self.letters(self.at + 1..end);
                self.at = end;
            }
            b'(' if start && self.byte(1) == b'(' => self.push(Kind::Arithmetic(0), 2)?,
            b'(' => self.push(Kind::Paren, 1)?,
            b')' if self.top().cases > 0 => {
                self.top().start = true;
                self.at += 1;
            }
            b')' if self.top().kind == Kind::Paren => self.pop(1),
            b')' => return self.fail("A bracket closes that was never opened"),
            b'`' if self.top().kind == Kind::Backtick => self.pop(1),
            b'=' if self.starts("=~ ") => self.expression(),
            b'<' if self.starts("<<<") => {
                self.fed.insert(self.at, StdinSource::String);
                self.text[self.at + 1..self.at + 3].fill(b' ');
                self.at += 3;
            }
            b'<' if self.starts("<<") => self.document()?,
            // Opened for both; the grammar does not know it, and writing is what matters.
            b'<' if self.starts("<>") => {
                self.text[self.at..self.at + 2].copy_from_slice(b"> ");
                self.at += 2;
            }
            b'<' | b'>' if self.byte(1) == b'(' => self.push(Kind::Paren, 2)?,
            b'\'' => self.single(self.at, self.at + 1)?,
            b'"' | b'$' | b'`' => self.expansion()?,
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => self.word(start),
            // `{` and `!` are words a command may follow.
            b'{' if matches!(self.byte(1), b' ' | b'\t' | b'\n') => {
                self.top().start = true;
                self.at += 1;
            }
            b'!' => self.at += 1,
            _ => {
                self.top().start = false;
                self.at += 1;
            }
        }
        Ok(())
    }

    /// The regular expression behind `=~`: with quotes in it the grammar is lost, so one
    /// that expands nothing is made a word.
    fn expression(&mut self) {
        self.at += 3;
        let rest = &self.bytes[self.at..];
        let (mut end, mut quote, mut open) = (0, None, 0);
        while let Some(byte) = rest.get(end) {
            match (byte, quote) {
                (b'\n', _) => break,
                (b' ' | b'\t', None) if open == 0 => break,
                (b'\\', _) => end += 1,
                (b'(', None) => open += 1,
                (b')', None) => open -= 1,
                (b'\'' | b'"', None) => quote = Some(byte),
                (byte, Some(mark)) if byte == mark => quote = None,
                _ => {}
            }
            end += 1;
        }
        let expands = |pair: &[u8]| pair[0] == b'$' && (pair[1].is_ascii_alphanumeric() || b"_{(".contains(&pair[1]));
        let text = &rest[..end.min(rest.len())];
        let plain = !text.windows(2).any(expands) && !text.contains(&b'`');
        if plain && quote.is_none() && text.iter().any(|byte| matches!(byte, b'\'' | b'"')) {
            let range = self.at..self.at + text.len();
            self.at = range.end;
            self.letters(range);
        }
    }

    fn word(&mut self, start: bool) {
        let length = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let word = &self.bytes[self.at..self.at + length];
        let keyword =
            start && matches!(self.bytes.get(self.at + length), None | Some(b' ' | b'\t' | b'\n' | b';' | b')'));
        self.at += length;
        match word {
            b"case" if keyword => {
                self.top().cases += 1;
                self.top().start = false;
            }
            b"esac" if keyword => {
                self.top().cases = self.top().cases.saturating_sub(1);
                self.top().start = false;
            }
            b"if" | b"then" | b"elif" | b"else" | b"do" | b"while" | b"until" | b"time" if keyword => {}
            // Patterns follow, and after the last of them `esac`.
            b"in" if self.top().cases > 0 => self.top().start = true,
            _ => self.top().start = false,
        }
    }

    /// Inside double quotes, `${…}` and `((…))`.
    fn inside(&mut self) -> Result<(), Unreadable> {
        let kind = self.top().kind;
        let quoted = self.stack.iter().any(|frame| frame.kind == Kind::Double);
        match (kind, self.byte(0)) {
            (_, b'\\') => {
                if kind != Kind::Double && self.byte(1) == b'\'' {
                    self.text[self.at + 1] = b'x';
                }
                self.at += 2;
            }
            (Kind::Double, b'"') | (Kind::Brace, b'}') => self.pop(1),
            (Kind::Arithmetic(0), b')') if self.byte(1) == b')' => self.pop(2),
            (Kind::Arithmetic(0), b')') => return self.fail("An arithmetic expression is not closed by `))`"),
            (Kind::Arithmetic(open), b'(') => {
                self.top().kind = Kind::Arithmetic(open + 1);
                self.at += 1;
            }
            (Kind::Arithmetic(open), b')') => {
                self.top().kind = Kind::Arithmetic(open - 1);
                self.at += 1;
            }
            (_, b'<') if self.byte(1) == b'<' => {
                if matches!(kind, Kind::Arithmetic(_)) {
                    return self.fail("A shift can be mistaken for a here-document");
                }
                self.text[self.at..self.at + 2].fill(b'x');
                self.at += 2;
            }
            (_, b'\n') if !self.waiting.is_empty() => {
                return self.fail("A quote or bracket is open where a here-document starts");
            }
            (Kind::Brace, b'\'') if !quoted => self.single(self.at, self.at + 1)?,
            // In double quotes it is a letter; the grammar would see a quote.
            (Kind::Brace, b'\'') => {
                self.text[self.at] = b'x';
                self.at += 1;
            }
            (_, b'"') if kind != Kind::Double => self.push(Kind::Double, 1)?,
            (_, b'$' | b'`') => self.expansion()?,
            _ => self.at += 1,
        }
        Ok(())
    }

    fn expansion(&mut self) -> Result<(), Unreadable> {
        let quoted = self.top().kind == Kind::Double;
        self.top().start = false;
        match self.byte(0) {
            b'"' => self.push(Kind::Double, 1),
            b'`' => match self.stack.iter().any(|frame| frame.kind == Kind::Backtick) {
                true => self.fail("A backtick stands where `$(…)` would be clear"),
                false => self.push(Kind::Backtick, 1),
            },
            _ if self.starts("$((") => self.push(Kind::Arithmetic(0), 3),
            _ if self.starts("$(") => self.push(Kind::Paren, 2),
            _ if self.starts("${") => self.push(Kind::Brace, 2),
            _ if self.starts("$'") && !quoted => self.single(self.at, self.at + 2),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    /// Single quotes, opened at `from`; their text starts at `inside`.
    fn single(&mut self, from: usize, inside: usize) -> Result<(), Unreadable> {
        let escapes = inside - from == 2;
        let mut end = inside;
        while let Some(byte) = self.bytes.get(end).filter(|byte| **byte != b'\'') {
            end += if escapes && *byte == b'\\' { 2 } else { 1 };
        }
        if end >= self.bytes.len() {
            return self.fail("A single quote is never closed");
        }
        if !self.waiting.is_empty() && self.bytes[inside..end].contains(&b'\n') {
            return self.fail("A quote or bracket is open where a here-document starts");
        }
        self.letters(inside..end);
        self.quotes.push(from);
        self.top().start = false;
        self.at = end + 1;
        Ok(())
    }

    /// `<<EOF`, `<<-'EOF'`: its body starts behind the next newline.
    fn document(&mut self) -> Result<(), Unreadable> {
        let operator = self.at;
        if operator > 0 && matches!(self.bytes[operator - 1], b'[' | b']' | b'a'..=b'z' | b'A'..=b'Z' | b'_') {
            return self.fail("A shift can be mistaken for a here-document");
        }
        self.at += 2;
        let tabs = self.byte(0) == b'-';
        self.at += usize::from(tabs);
        while matches!(self.byte(0), b' ' | b'\t') {
            self.at += 1;
        }
        let quote = match self.byte(0) {
            mark @ (b'\'' | b'"' | b'\\') => Some(mark),
            _ => None,
        };
        self.at += usize::from(quote.is_some());
        let word = self.at;
        while self.byte(0).is_ascii_alphanumeric() || matches!(self.byte(0), b'_' | b'-' | b'.') {
            self.at += 1;
        }
        let end = self.bytes[word..self.at].to_vec();
        if let Some(mark @ (b'\'' | b'"')) = quote {
            if self.byte(0) != mark {
                return self.fail("The word that ends a here-document is not plain");
            }
            self.at += 1;
        }
        let ends = matches!(self.byte(0), b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>' | 0);
        if end.is_empty() || !ends {
            return self.fail("The word that ends a here-document is not plain");
        }
        self.text[operator + 1..self.at].fill(b'h');
        self.waiting.push(Waiting { operator, end, expands: quote.is_none(), tabs });
        self.top().start = false;
        Ok(())
    }

    /// The bodies announced on the line that just ended.
    fn bodies(&mut self) -> Result<(), Unreadable> {
        for waiting in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let closing = loop {
                if self.at >= self.bytes.len() {
                    self.at = start;
                    return self.fail("A here-document is never closed");
                }
                let from = self.at;
                let length = self.bytes[from..].iter().position(|byte| *byte == b'\n');
                let end = length.map_or(self.bytes.len(), |length| from + length);
                self.at = (end + 1).min(self.bytes.len());
                let mut line = &self.bytes[from..end];
                while waiting.tabs && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                if line == waiting.end.as_slice() {
                    break from;
                }
                // bash joins such lines before it looks for the end.
                if waiting.expands && line.ends_with(b"\\") {
                    return self.fail("A line of a here-document ends with a backslash");
                }
            };
            self.text[start..self.at].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            let body = start..closing;
            let fed = StdinSource::Document { body, expands: waiting.expands, tabs: waiting.tabs };
            self.fed.insert(waiting.operator, fed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(script: &str) -> Result<String, &'static str> {
        let shielded = sanitize(script).map_err(|unreadable| unreadable.why)?;
        assert_eq!(shielded.text.len(), script.len());
        assert_eq!(shielded.text.matches('\n').count(), script.matches('\n').count());
        Ok(shielded.text)
    }

    #[test]
    fn here_documents_are_cut_out_and_lines_stay() {
        assert_eq!(text("cat <<EOF | b\n$(x)\nEOF\nc").unwrap(), "cat <hhhh | b\n    \n   \nc");
        assert_eq!(text("cat <<-'E' && d\n\tx\n\tE\nc").unwrap(), "cat <hhhhh && d\n  \n  \nc");
        assert_eq!(text("x=$(a <<E\n)\nE\n)\nc").unwrap(), "x=$(a <hh\n \n \n)\nc");
        assert_eq!(text("a <<< \"$x\"").unwrap(), "a <   \"$x\"");
        let shielded = sanitize("cat <<A <<'B'\n1\nA\n2\nB\n").unwrap();
        let StdinSource::Document { body, expands, .. } = &shielded.fed[&8] else { panic!() };
        assert_eq!((body.clone(), *expands), (18..20, false));
    }

    #[test]
    fn quoted_text_is_letters() {
        assert_eq!(text("a '<<E' \"<<E $(b '<<')\" # <<E").unwrap(), "a 'xxx' \"xxE $(b 'xx')\" #xxxx");
        assert_eq!(text("a $'\\'<<' ä").unwrap(), "a $'xxxx' xx");
        assert_eq!(text("x=$(case a in b) c;; (d) e;; esac) f").unwrap(), "x=$(case a in b) c;; (d) e;; esac) f");
    }

    #[test]
    fn what_could_hide_a_command_is_not_read() {
        for script in [
            "((x=1<<E))\na\nE\n",
            "x[1<<E]=2\na\nE]=2\n",
            "cat <<E$x\na\nE\n",
            "cat <<E",
            "cat <<E\na\\\nE\nb\nE\n",
            "cat <<E \"a\nb\"\nE\n",
            "a 'b",
            "a \"b",
            "a $(b",
            "a)",
        ] {
            assert!(text(script).is_err(), "{script}");
        }
        assert!(text(&"(".repeat(200)).is_err());
    }
}
