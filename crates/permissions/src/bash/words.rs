//! One shell word: what bash makes of its quotes, escapes and expansions.
//!
//! A part that only a running shell could tell is a `HOLE` in the text. Nothing
//! is guessed: a word with a hole can match a deny, never an allow.

use super::braces::{LONGEST, braces};
use super::lex;
use super::nesting::{close_backtick, close_brace, close_paren};
use super::values::{Meaning, Variables};

/// Stands for text that cannot be determined.
pub(crate) const HOLE: char = '\u{fffc}';
/// Where an unquoted expansion splits the word (`rm${IFS}x`).
const SPLIT: char = '\u{f8f0}';

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// As it is written.
    pub raw: String,
    /// Quotes and escapes removed, known variables filled in.
    pub text: String,
    /// The text hangs below the home directory: `~/x` and `"$HOME"/x` are `/x` there.
    pub home: bool,
    /// bash yields exactly this text, apart from file name patterns and `~`.
    pub fixed: bool,
    /// Has an unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// A hole in it, or its text, comes out of the script itself: what a command printed.
    pub derived: bool,
}

impl ShellWord {
    pub(crate) fn plain(text: &str) -> Self {
        Self { raw: text.to_owned(), text: text.to_owned(), home: false, fixed: true, glob: false, derived: false }
    }

    /// A text that some part of the script makes.
    pub(crate) fn computed(text: &str) -> Self {
        Self { fixed: false, derived: true, ..Self::plain(text) }
    }

    pub(crate) fn unknown() -> Self {
        Self { fixed: false, ..Self::plain(&HOLE.to_string()) }
    }

    /// The same kind of word with another text.
    pub(crate) fn with(&self, text: &str) -> Self {
        Self { text: text.to_owned(), home: false, ..self.clone() }
    }

    pub(crate) fn has_hole(&self) -> bool {
        self.text.contains(HOLE)
    }

    pub(crate) fn is_option(&self) -> bool {
        !self.home && self.text.len() > 1 && self.text.starts_with('-')
    }
}

/// Returns the words one written word becomes. Braces and splitting make it several.
pub(super) fn read(raw: &str, variables: &Variables) -> Vec<ShellWord> {
    let mut words = Vec::new();
    for alternative in braces(raw) {
        let word = read_one(&alternative, raw, variables);
        if !word.text.contains(SPLIT) {
            words.push(word);
            continue;
        }
        for (at, text) in word.text.split(SPLIT).filter(|text| !text.is_empty()).enumerate() {
            words.push(ShellWord { text: text.to_owned(), home: word.home && at == 0, fixed: false, ..word.clone() });
        }
    }
    words
}

/// Returns the words the first word of a command becomes. Which program a list of
/// alternatives starts is not guessed (C-9).
pub(super) fn read_program(raw: &str, variables: &Variables) -> Vec<ShellWord> {
    match braces(raw).len() {
        0 | 1 => read(raw, variables),
        _ => vec![ShellWord { raw: raw.to_owned(), ..ShellWord::unknown() }],
    }
}

/// Returns the length of a class such as `[a-z]` or `[[:alpha:]_]` that the text starts with.
pub(crate) fn class_length(text: &str) -> usize {
    // A bracket right at the start is one of the characters.
    let first = 1 + text[1..].chars().take_while(|c| matches!(c, '!' | '^')).count();
    let mut at = first + usize::from(text[first..].starts_with(']'));
    while at < text.len() {
        let rest = &text[at..];
        let named = rest.strip_prefix("[:").and_then(|inside| inside.find(":]"));
        match (named, rest.chars().next()) {
            (Some(end), _) => at += end + 4,
            (None, Some(']')) => return at + 1,
            (None, Some(c)) => at += c.len_utf8(),
            (None, None) => break,
        }
    }
    text.len()
}

/// Returns the text with a star for every `{…}` and `[…]`.
pub(super) fn without_lists(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        result.push_str(&rest[..at]);
        result.push('*');
        rest = match rest[at..].starts_with('[') {
            true => &rest[at + class_length(&rest[at..])..],
            false => rest[at..].find('}').map_or("", |end| &rest[at + end + 1..]),
        };
    }
    result + rest
}

/// Returns the word as one, for places where bash does not split.
pub(super) fn read_whole(raw: &str, variables: &Variables) -> ShellWord {
    let word = read_one(raw, raw, variables);
    ShellWord { text: word.text.replace(SPLIT, " "), ..word }
}

fn read_one(alternative: &str, raw: &str, variables: &Variables) -> ShellWord {
    let word =
        ShellWord { raw: raw.to_owned(), text: String::new(), home: false, fixed: true, glob: false, derived: false };
    let mut reader = Reader { raw: alternative, variables, word };
    if alternative != raw {
        reader.word.fixed = false;
    }
    let mut at = reader.tilde();
    while at < alternative.len() {
        at = reader.step(at);
    }
    reader.word
}

struct Reader<'a> {
    raw: &'a str,
    variables: &'a Variables,
    word: ShellWord,
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.raw.as_bytes().get(at).copied()
    }

    /// Takes over the character at this place and says where the next one is.
    fn keep(&mut self, at: usize) -> usize {
        // Callers stop at ASCII bytes, so `at` is always the start of a character.
        let Some(c) = self.raw[at..].chars().next() else { return at + 1 };
        // A hole that was made before, such as the `{}` of find in a script.
        if c == HOLE {
            self.word.fixed = false;
            self.word.derived = true;
        }
        self.word.text.push(c);
        at + c.len_utf8()
    }

    fn hole(&mut self) {
        self.word.text.push(HOLE);
        self.word.fixed = false;
    }

    fn tilde(&mut self) -> usize {
        if !self.raw.starts_with('~') {
            return 0;
        }
        let end = self.raw.find('/').unwrap_or(self.raw.len());
        let user = &self.raw[1..end];
        if user.is_empty() {
            self.word.home = true;
            return 1;
        }
        if user.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-._".contains(&b)) {
            self.hole();
            return end;
        }
        0
    }

    fn step(&mut self, at: usize) -> usize {
        match self.raw.as_bytes()[at] {
            b'\\' => match self.byte(at + 1) {
                Some(b'\n') => at + 2,
                Some(_) => self.keep(at + 1),
                None => self.keep(at),
            },
            b'\'' => {
                let rest = &self.raw[at + 1..];
                let end = rest.find('\'').unwrap_or(rest.len());
                self.word.text.push_str(&rest[..end]);
                at + 1 + end + 1
            }
            b'"' => self.double(at + 1),
            b'$' => self.dollar(at, Quoted::No),
            b'`' => self.backtick(at, Quoted::No),
            b'<' | b'>' if self.byte(at + 1) == Some(b'(') => {
                self.hole();
                close_paren(self.raw, at + 2) + 1
            }
            // `@(a|b)` and its like, with `shopt -s extglob`.
            b'@' | b'*' | b'?' | b'+' | b'!' if self.byte(at + 1) == Some(b'(') => {
                self.word.glob = true;
                self.word.text.push('*');
                close_paren(self.raw, at + 2) + 1
            }
            b'*' | b'?' | b'[' => {
                self.word.glob = true;
                self.keep(at)
            }
            // A range such as `{a..z}`; lists were taken apart before, unless the word is very long.
            b'{' if self.raw.len() > LONGEST || self.raw[at..].contains("..") => {
                self.hole();
                at + self.raw[at..].find('}').map_or(1, |end| end + 1)
            }
            _ => self.keep(at),
        }
    }

    fn double(&mut self, mut at: usize) -> usize {
        while let Some(byte) = self.byte(at) {
            at = match byte {
                b'"' => return at + 1,
                b'\\' => match self.byte(at + 1) {
                    Some(b'$' | b'`' | b'"' | b'\\') => self.keep(at + 1),
                    Some(b'\n') => at + 2,
                    _ => self.keep(at),
                },
                b'$' => self.dollar(at, Quoted::Yes),
                b'`' => self.backtick(at, Quoted::Yes),
                _ => self.keep(at),
            };
        }
        at
    }

    fn dollar(&mut self, at: usize, quoted: Quoted) -> usize {
        let rest = &self.raw[at + 1..];
        match (self.byte(at + 1), quoted) {
            (Some(b'\''), Quoted::No) => {
                self.word.fixed = false;
                self.word.derived = true;
                let (text, length) = ansi_c(&rest[1..]);
                self.word.text.push_str(&text);
                at + 2 + length
            }
            (Some(b'"'), Quoted::No) => {
                self.word.fixed = false;
                at + 1
            }
            (Some(b'('), _) => {
                let end = close_paren(self.raw, at + 2);
                self.substitution(&self.raw[(at + 2).min(end)..end], quoted);
                end + 1
            }
            (Some(b'['), _) => {
                self.hole();
                at + 1 + rest.find(']').map_or(rest.len(), |end| end + 1)
            }
            (Some(b'{'), _) => {
                let end = close_brace(self.raw, at + 2);
                let body = &self.raw[at + 2..end.min(self.raw.len())];
                self.variable(body, quoted);
                end + 1
            }
            (Some(first), _) if first == b'_' || first.is_ascii_alphabetic() => {
                let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                self.variable(&rest[..end], quoted);
                at + 1 + end
            }
            (Some(b'0'..=b'9' | b'@' | b'*'), _) => {
                self.variable(&rest[..1], quoted);
                at + 2
            }
            (Some(b'#' | b'?' | b'-' | b'$' | b'!'), _) => {
                self.hole();
                at + 2
            }
            _ => self.keep(at),
        }
    }

    fn backtick(&mut self, at: usize, quoted: Quoted) -> usize {
        let end = close_backtick(self.raw, at + 1);
        self.substitution(&self.raw[(at + 1).min(end)..end], quoted);
        end + 1
    }

    /// `$(…)`: what it prints, if that is written there.
    fn substitution(&mut self, inside: &str, quoted: Quoted) {
        match printed(inside, self.variables) {
            Some(text) => {
                self.expanded(&text, quoted);
                self.word.derived = true;
            }
            None => {
                self.hole();
                // A new file is none of those that are there.
                self.word.derived |= !inside.trim_start().starts_with("mktemp") && !inside.starts_with('(');
            }
        }
    }

    /// The text an expansion yields.
    fn expanded(&mut self, text: &str, quoted: Quoted) {
        self.word.fixed = false;
        match quoted {
            Quoted::Yes => self.word.text.push_str(text),
            Quoted::No => {
                self.word.glob |= text.contains(['*', '?', '[']);
                self.word.text.extend(text.chars().map(|c| if c.is_whitespace() { SPLIT } else { c }));
            }
        }
    }

    /// `name`, or `name` with an operator behind it.
    fn variable(&mut self, body: &str, quoted: Quoted) {
        self.word.fixed = false;
        // Something else may have set it.
        self.word.derived |= self.variables.are_doubtful();
        let end = match body.bytes().next() {
            Some(b'0'..=b'9' | b'@' | b'*') => 1,
            _ => body.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(body.len()),
        };
        let (name, operator) = body.split_at(end);
        // `$@` is split also in quotes.
        let quoted = if matches!(name, "@" | "*") { Quoted::No } else { quoted };
        let at_start = self.word.text.is_empty() && !self.word.home;
        let plain = matches!(operator, "" | "[@]" | "[*]" | "[0]");
        let fallback = [":-", ":=", "-", "="].iter().find_map(|sign| operator.strip_prefix(sign));
        match (self.variables.get(name), name) {
            (Meaning::Value(value), _) if plain || fallback.is_some() => {
                let value = value.clone();
                if value.home && at_start {
                    self.word.home = true;
                } else if value.home {
                    self.hole();
                }
                self.expanded(&value.text, quoted);
                self.word.glob |= value.glob;
                self.word.derived |= value.derived || fallback.is_some();
            }
            (Meaning::Value(value), _) => match edited(&value.text, operator) {
                Some(text) if !value.home => {
                    let glob = value.glob;
                    self.expanded(&text, quoted);
                    self.word.glob |= glob;
                    self.word.derived = true;
                }
                _ => {
                    self.hole();
                    self.word.derived = true;
                }
            },
            (Meaning::Derived, _) => {
                self.hole();
                self.word.derived = true;
            }
            // What is written there counts if the environment has none.
            (Meaning::Environment, _) if fallback.is_some() => {
                let word = read_one(fallback.unwrap_or_default(), fallback.unwrap_or_default(), self.variables);
                if word.home && at_start {
                    self.word.home = true;
                } else if word.home {
                    self.hole();
                }
                self.expanded(&word.text, quoted);
                self.word.derived |= word.derived;
            }
            (Meaning::Environment, "HOME") if at_start && plain => self.word.home = true,
            (Meaning::Environment, "HOME") if at_start && matches!(operator, "%/" | "%%/") => self.word.home = true,
            (Meaning::Environment, "PWD") if at_start && plain => self.word.text.push('.'),
            (Meaning::Environment, "IFS") if quoted == Quoted::No => self.word.text.push(SPLIT),
            (Meaning::Environment, _) => {
                self.hole();
                // `${!x}`: the value of another variable.
                self.word.derived |= name.is_empty();
            }
        }
    }
}

/// Returns what an operator behind a variable's name makes of its value, where its operands are plain text.
fn edited(value: &str, operator: &str) -> Option<String> {
    if value.contains(HOLE) {
        return None;
    }
    match operator {
        ",," | "@L" => return Some(value.to_lowercase()),
        "^^" | "@U" => return Some(value.to_uppercase()),
        _ => {}
    }
    if let Some(rest) = operator.strip_prefix('/') {
        return replaced(value, rest);
    }
    match operator.strip_prefix(':') {
        Some(range) => part(value, range),
        None => trimmed(value, operator),
    }
}

/// `${name/old/new}`, `${name//old/new}`, `${name/#old/new}`, `${name/%old/new}`
fn replaced(value: &str, operands: &str) -> Option<String> {
    let (how, operands) = match operands.bytes().next()? {
        how @ (b'/' | b'#' | b'%') => (how, &operands[1..]),
        _ => (b' ', operands),
    };
    let (old, new) = operands.split_once('/').unwrap_or((operands, ""));
    if old.is_empty() || !is_plain(old) || !is_plain(new) {
        return None;
    }
    Some(match how {
        b'/' => value.replace(old, new),
        b'#' => value.strip_prefix(old).map_or(value.to_owned(), |rest| format!("{new}{rest}")),
        b'%' => value.strip_suffix(old).map_or(value.to_owned(), |rest| format!("{rest}{new}")),
        _ => value.replacen(old, new, 1),
    })
}

/// `${name:2}`, `${name:2:3}`
fn part(value: &str, range: &str) -> Option<String> {
    let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
    let from: usize = from.trim().parse().ok()?;
    let rest = value.chars().skip(from);
    Some(match length {
        Some(length) => rest.take(length.trim().parse().ok()?).collect(),
        None => rest.collect(),
    })
}

fn is_plain(text: &str) -> bool {
    !text.contains(['*', '?', '[', '$', '\\', '"', '\'', '`'])
}

/// `%tail` and `#head` where the pattern is plain text.
fn trimmed(value: &str, operator: &str) -> Option<String> {
    let (tail, pattern) = match operator.strip_prefix("%%").or_else(|| operator.strip_prefix('%')) {
        Some(pattern) => (true, pattern),
        None => (false, operator.strip_prefix("##").or_else(|| operator.strip_prefix('#'))?),
    };
    if pattern.is_empty() || !is_plain(pattern) {
        return None;
    }
    let text = if tail { value.strip_suffix(pattern) } else { value.strip_prefix(pattern) };
    Some(text.unwrap_or(value).to_owned())
}

/// Returns what `echo` or `printf` prints, if the text is nothing else.
pub(super) fn printed(script: &str, variables: &Variables) -> Option<String> {
    /// Longer ones, and one in another in another, are not worth the time.
    const MOST: usize = 500;
    let script = script.trim();
    let printer = ["echo", "printf", "command echo", "builtin echo"].iter().find(|name| script.starts_with(**name))?;
    if script.len() > MOST || script.matches(['`', '(']).count() > 3 {
        return None;
    }
    let mut found = lex::LexOutput::default();
    lex::read(script, 0, true, &mut found);
    let [command] = found.commands.as_slice() else { return None };
    if !command.redirects.is_empty() || !command.env.is_empty() {
        return None;
    }
    let args = command.words.get(1 + usize::from(printer.contains(' '))..)?;
    let words: Vec<ShellWord> = args.iter().flat_map(|piece| read(&piece.raw, variables)).collect();
    let join = |words: &[ShellWord]| {
        let texts: Vec<_> = words.iter().filter(|word| !word.home).map(|word| word.text.as_str()).collect();
        (texts.len() == words.len()).then(|| texts.join(" "))
    };
    let text = match (printer.ends_with("printf"), words.as_slice()) {
        (true, [format, rest @ ..]) => formatted(&format.text, rest)?,
        (true, []) => return None,
        (false, [flag, rest @ ..]) if matches!(&*flag.text, "-n" | "-e" | "-ne" | "-en") => join(rest)?,
        (false, words) => join(words)?,
    };
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    (!text.contains('\\')).then(|| text.trim_end_matches('\n').to_owned())
}

/// `printf`, as far as `%s` goes.
fn formatted(format: &str, args: &[ShellWord]) -> Option<String> {
    if args.iter().any(|word| word.home) {
        return None;
    }
    let pieces: Vec<&str> = format.split("%s").collect();
    if pieces.iter().any(|piece| piece.contains('%')) {
        return None;
    }
    if pieces.len() == 1 {
        return Some(format.to_owned());
    }
    // The format is used again for the arguments that are left.
    let rounds = args.chunks(pieces.len() - 1).map(|args| {
        let texts = args.iter().map(|word| word.text.as_str()).chain(std::iter::repeat(""));
        pieces.iter().zip(std::iter::once("").chain(texts)).map(|(piece, text)| format!("{text}{piece}")).collect()
    });
    Some(rounds.collect::<Vec<String>>().concat())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Yes,
}

/// Returns the text of `$'…'` from behind its opening quote, and its length with the closing one.
fn ansi_c(body: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return (text, at + 1),
            '\\' => {
                let Some((_, escape)) = chars.next() else { break };
                let mut number = |first: Option<char>, radix: u32, digits: usize| {
                    let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
                    for _ in 0..digits {
                        let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
                        value = value.saturating_mul(radix).saturating_add(digit);
                        chars.next();
                    }
                    char::from_u32(value).unwrap_or(HOLE)
                };
                text.push(match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'e' | 'E' => '\u{1b}',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    'x' => number(None, 16, 2),
                    'u' => number(None, 16, 4),
                    'U' => number(None, 16, 8),
                    '0'..='7' => number(Some(escape), 8, 2),
                    'c' => match chars.next() {
                        Some((_, c)) => char::from((c as u32 & 0x1f) as u8),
                        None => break,
                    },
                    other => other,
                });
            }
            c => text.push(c),
        }
    }
    (text, body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        let mut found = lex::LexOutput::default();
        lex::read("X='rm -rf'; Y=$(y)", 0, true, &mut found);
        let words = read(raw, &Variables::of(&found, &Variables::default()));
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("|").replace(HOLE, "_")
    }

    #[test]
    fn quotes_and_escapes_are_removed_as_bash_does() {
        for (raw, expected) in [
            (r"\r\m", "rm"),
            ("r\\\nm", "rm"),
            ("'touch'", "touch"),
            (r#""./."env"#, "./.env"),
            (r"$'\x72\x6d'", "rm"),
            (r"$'\162\155\u0021'", "rm!"),
            (r#""a\nb\"c""#, "a\\nb\"c"),
            (r#""\$x""#, "$x"),
            ("'a'\"b\"c", "abc"),
            ("$X", "rm|-rf"),
            ("\"$X\"", "rm -rf"),
            ("$Y-${Z:-rm}", "_-rm"),
            ("${X%-rf}", "rm"),
            ("$(echo a b)", "a|b"),
            ("\"$(printf '%s' 'a b')\"", "a b"),
            ("rm${IFS}x", "rm|x"),
            ("$(a b)c", "_c"),
            ("`a`", "_"),
            ("{rm,-rf,x}", "rm|-rf|x"),
            (".e{nv,x}", ".env|.ex"),
            ("{}", "{}"),
            ("a{1..3}", "a_"),
            ("'", ""),
            ("\\", "\\"),
            ("~root/x", "_/x"),
        ] {
            assert_eq!(text(raw), expected, "{raw}");
        }
    }

    #[test]
    fn a_word_says_whether_bash_would_change_it() {
        let word = |raw: &str| read(raw, &Variables::default()).remove(0);
        assert!(word("a\\ b'c'\"d\"").fixed);
        assert!(word("~/x").home && word("~/x").fixed && word("~/x").text == "/x");
        assert!(word("\"$HOME\"/x").home && !word("$HOME/x").fixed);
        assert!(!word("'~/x'").home && !word("'$x'").has_hole());
        assert!(word("*.txt").glob && !word("'*.txt'").glob);
        for raw in ["$x", "$(x)", "`x`", "$'x'", "$\"x\"", "{a,b}", "a{1..2}", "~root", "\"$?\""] {
            assert!(!word(raw).fixed, "{raw}");
        }
    }
}
