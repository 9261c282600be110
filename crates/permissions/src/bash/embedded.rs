//! What programs in arguments and on inputs run, read and write: awk, sed,
//! database shells, editors, debuggers, makefiles, one-liners.
//!
//! For deny rules and guards only: they see what is spelled out in such a text.
//! What it computes is `unknown` where it runs something, and not seen where it
//! opens a file. `inline` answers the opposite question for allow rules.

use super::ShellCommand;
use super::files::{FileRole, FileUse};
use super::words::{HOLE, ShellWord};

/// What a text does besides reading its input and printing.
#[derive(Debug, Default)]
pub(super) struct ProgramEffects {
    /// Texts handed to a shell.
    pub scripts: Vec<ShellWord>,
    pub files: Vec<FileUse>,
    /// It runs something that is not spelled out.
    pub unknown: bool,
}

/// Effects of one command; more than a person writes is unknown.
const MOST: usize = 64;

impl ProgramEffects {
    fn run(&mut self, text: &str) {
        match text.trim() {
            "" => self.unknown = true,
            _ if self.scripts.len() >= MOST => self.unknown = true,
            text => self.scripts.push(ShellWord { fixed: false, ..ShellWord::plain(text) }),
        }
    }

    fn open(&mut self, path: &str, role: FileRole) {
        if !path.trim().is_empty() && self.files.len() < 4 * MOST {
            self.files.push(FileUse::one(&path_word(path.trim()), role));
        }
    }
}

/// Returns a path as another program writes it. `~` is not expanded by most, and harmless to expand.
fn path_word(path: &str) -> ShellWord {
    match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        Some(rest) => ShellWord { home: true, fixed: false, ..ShellWord::plain(rest) },
        None => ShellWord { fixed: false, ..ShellWord::plain(path) },
    }
}

/// Returns what the program in a command's arguments or input does, if it is known to take one.
pub(super) fn effects(command: &ShellCommand) -> ProgramEffects {
    let mut effects = ProgramEffects::default();
    let Some(name) = command.name() else { return effects };
    let args = &command.words[1..];
    let fed = || command.fed.iter().map(|word| word.text.as_str());
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => {
            for program in programs(args, &["-e", "--source"], &["-f", "--file", "-F", "-v", "-i", "-l", "-E"], fed()) {
                awk(&program, args, &mut effects);
            }
        }
        "sed" | "gsed" => {
            for program in programs(args, &["-e", "--expression"], &["-f", "--file", "-l"], fed()) {
                sed(&program, &mut effects);
            }
        }
        "sqlite3" | "sqlite" | "litecli" | "duckdb" | "psql" | "mysql" | "mariadb" => {
            let texts = args.iter().map(|word| word.text.as_str()).chain(fed());
            texts.for_each(|text| sql(text, &mut effects));
        }
        "vim" | "vi" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" | "ed" | "red" => {
            let given = values(args, &["-c", "--cmd", "-S"]);
            let plus = args.iter().filter_map(|word| word.text.strip_prefix('+')).map(str::to_owned);
            let on_input = fed().map(str::to_owned);
            given.into_iter().chain(plus).chain(on_input).for_each(|text| editor(&text, &mut effects));
        }
        "gdb" | "lldb" => {
            let flags = ["-ex", "-iex", "--eval-command", "-eval-command", "-o", "--one-line", "-O"];
            let texts = values(args, &flags).into_iter().chain(fed().map(str::to_owned));
            texts.for_each(|text| debugger(&text, &mut effects));
        }
        "make" | "gmake" => {
            for text in values(args, &["--eval", "-E"]) {
                makefile(&text, &mut effects);
            }
            let from = values(args, &["-f", "--file", "--makefile"]);
            if from.iter().any(|file| matches!(&**file, "-" | "/dev/stdin" | "/dev/fd/0") || file.contains(HOLE)) {
                effects.unknown |= command.fed.is_empty() || from.iter().any(|file| file.contains(HOLE));
                fed().for_each(|text| makefile(text, &mut effects));
            }
            let set = args.iter().filter_map(|word| word.text.split_once('='));
            set.filter(|(_, value)| value.contains("$(shell")).for_each(|(_, value)| makefile(value, &mut effects));
        }
        "python" | "pypy" | "perl" | "ruby" | "node" | "nodejs" | "bun" | "deno" | "php" | "lua" | "luajit"
        | "tclsh" | "expect" | "osascript" => one_liner(command, &mut effects),
        _ if matches!(family, "python" | "pypy" | "perl" | "ruby" | "php" | "lua") => one_liner(command, &mut effects),
        _ => {}
    }
    effects
}

/// Returns the values of options: `-e x`, `-ex`, `--expression=x`.
pub(super) fn values(args: &[ShellWord], flags: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        for flag in flags {
            let Some(rest) = word.text.strip_prefix(flag) else { continue };
            match rest {
                "" => found.extend(args.get(at + 1).map(|next| next.text.clone())),
                _ => match rest.strip_prefix('=') {
                    Some(value) => found.push(value.to_owned()),
                    None if !flag.starts_with("--") && flag.len() == 2 => found.push(rest.to_owned()),
                    None => {}
                },
            }
        }
    }
    found
}

/// Returns the texts of a program: given by options, else the first operand; its input if the file is `-`.
fn programs<'f>(
    args: &[ShellWord],
    given: &[&str],
    valued: &[&str],
    fed: impl Iterator<Item = &'f str>,
) -> Vec<String> {
    let mut texts = values(args, given);
    // Bundled: `-ne script`.
    for (at, word) in args.iter().enumerate() {
        let bundle =
            word.is_option() && !word.text.starts_with("--") && word.text.len() > 2 && word.text.ends_with('e');
        texts.extend(args.get(at + 1).filter(|_| bundle).map(|next| next.text.clone()));
    }
    let files = values(args, &["-f", "--file"]);
    if files.iter().any(|file| matches!(&**file, "-" | "/dev/stdin")) {
        texts.extend(fed.map(str::to_owned));
    }
    if texts.is_empty() && files.is_empty() {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            if valued.contains(&word.text.as_str()) {
                at += 2;
            } else if word.is_option() {
                at += 1;
            } else {
                texts.push(word.text.clone());
                break;
            }
        }
    }
    texts
}

/// A piece of an awk program or of code like it.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    Sign(char),
    Name(String),
}

fn tokens(program: &str, quotes: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        if quotes.contains(c) {
            let mut text = String::new();
            while let Some(next) = chars.next() {
                match next {
                    next if next == c => break,
                    '\\' => match chars.next() {
                        Some('n') => text.push('\n'),
                        Some('t') => text.push('\t'),
                        Some(c @ '0'..='7') => {
                            let mut code = c.to_digit(8).unwrap_or(0);
                            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)).filter(|_| code < 64) {
                                code = code * 8 + digit;
                                chars.next();
                            }
                            text.push(char::from_u32(code).unwrap_or(HOLE));
                        }
                        Some('x') => {
                            let mut code = 0;
                            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)).filter(|_| code < 16) {
                                code = code * 16 + digit;
                                chars.next();
                            }
                            text.push(char::from_u32(code).unwrap_or(HOLE));
                        }
                        Some(other) => text.push(other),
                        None => break,
                    },
                    next => text.push(next),
                }
            }
            tokens.push(Token::Text(text));
        } else if c.is_alphabetic() || matches!(c, '_' | HOLE) {
            let mut name = String::from(c);
            while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || matches!(*c, '_' | HOLE)) {
                name.push(next);
            }
            tokens.push(Token::Name(name));
        } else if c == '#' && quotes == "\"" {
            chars.by_ref().find(|c| *c == '\n');
            tokens.push(Token::Sign('\n'));
        } else if !c.is_whitespace() || c == '\n' {
            tokens.push(Token::Sign(c));
        }
    }
    tokens
}

/// Returns the text an expression stands for: literals one after another, holes for the rest.
/// `None`: nothing of it is written there.
fn expression(tokens: &[Token], step: isize, from: usize) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut at = from as isize;
    let mut depth = 0;
    while let Some(token) = usize::try_from(at).ok().and_then(|at| tokens.get(at)) {
        match token {
            Token::Text(text) => parts.push(text.clone()),
            Token::Sign('(' | ')' | '[' | ']') if depth == 0 && !parts.is_empty() && step < 0 => break,
            Token::Sign('(') => depth += 1,
            Token::Sign(')') if step > 0 && depth == 0 => break,
            Token::Sign(')') => depth -= 1,
            Token::Sign(';' | '\n' | '{' | '}' | '|' | '>' | '<') => break,
            Token::Sign(',') if depth == 0 => break,
            Token::Sign('.' | '+') => {}
            Token::Name(name) if matches!(name.as_str(), "print" | "printf" | "getline") => break,
            Token::Sign(_) | Token::Name(_) => {
                if parts.last().is_none_or(|last| last != HOLE.encode_utf8(&mut [0; 4])) {
                    parts.push(HOLE.to_string());
                }
            }
        }
        at += step;
    }
    if step < 0 {
        parts.reverse();
    }
    let text = parts.concat();
    (!text.chars().all(|c| c == HOLE)).then_some(text)
}

fn awk(program: &str, args: &[ShellWord], effects: &mut ProgramEffects) {
    let tokens = tokens(program, "\"");
    let runs = |text: Option<String>, effects: &mut ProgramEffects| match text {
        Some(text) if !text.contains(HOLE) => effects.run(&text),
        text => {
            text.iter().for_each(|text| effects.run(text));
            // It may be a value from the command line.
            values(args, &["-v", "--assign"]).iter().filter_map(|pair| pair.split_once('=')).for_each(|(_, value)| {
                effects.run(value);
            });
            effects.unknown = true;
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            Token::Name(name) if name == "system" => runs(expression(&tokens, 1, at + 2), effects),
            Token::Sign('|') if next == Some(&Token::Sign('|')) || at > 0 && tokens[at - 1] == Token::Sign('|') => {}
            Token::Sign('|') => {
                let skip = usize::from(next == Some(&Token::Sign('&')));
                let reads = matches!(tokens.get(at + 1 + skip), Some(Token::Name(name)) if name == "getline");
                match (reads, at) {
                    (true, 1..) => runs(expression(&tokens, -1, at - 1), effects),
                    _ => runs(expression(&tokens, 1, at + 1 + skip), effects),
                }
            }
            Token::Sign('>') if next != Some(&Token::Sign('=')) => {
                let skip = usize::from(next == Some(&Token::Sign('>')));
                if at == 0 || tokens[at - 1] != Token::Sign('>') {
                    let target = expression(&tokens, 1, at + 1 + skip);
                    target.iter().for_each(|path| effects.open(path, FileRole::Write));
                }
            }
            Token::Sign('<')
                if tokens[..at].iter().rev().take(4).any(|t| matches!(t, Token::Name(n) if n == "getline")) =>
            {
                let source = expression(&tokens, 1, at + 1);
                source.iter().for_each(|path| effects.open(path, FileRole::Read));
            }
            Token::Sign('@') => match (next, tokens.get(at + 2)) {
                (Some(Token::Name(name)), Some(Token::Text(path))) if matches!(&**name, "include" | "load") => {
                    effects.open(path, FileRole::Read);
                }
                _ => {}
            },
            _ => {}
        }
    }
    // Files that are named by a variable: `-v f=path`, `f=path`, ARGV.
    if tokens.iter().any(|token| matches!(token, Token::Name(name) if name == "getline" || name == "ARGV")) {
        for token in &tokens {
            if let Token::Text(text) = token {
                effects.open(text, FileRole::Read);
            }
        }
        let pairs = values(args, &["-v", "--assign"]);
        pairs.iter().filter_map(|pair| pair.split_once('=')).for_each(|(_, value)| effects.open(value, FileRole::Read));
    }
}

fn sed(script: &str, effects: &mut ProgramEffects) {
    let mut rest = script;
    while !rest.is_empty() {
        rest = match sed_command(rest, effects) {
            Some(rest) => rest,
            None => {
                // Not the sed we know; the rest may run something.
                effects.unknown |= rest.contains('e');
                return;
            }
        };
    }
}

/// Reads one command and says what is left.
fn sed_command<'s>(script: &'s str, effects: &mut ProgramEffects) -> Option<&'s str> {
    let script = script.trim_start_matches([' ', '\t', '\n', ';', '}', '{']);
    let (script, line) = (sed_addresses(script)?, |text: &'s str| text.split('\n').next().unwrap_or_default());
    let Some(letter) = script.chars().next() else { return Some("") };
    let rest = &script[letter.len_utf8()..];
    match letter {
        'e' => {
            let text = line(rest);
            effects.run(text.trim_end_matches('}'));
            Some(&rest[text.len()..])
        }
        'w' | 'W' | 'r' | 'R' => {
            let text = line(rest);
            let role = if matches!(letter, 'w' | 'W') { FileRole::Write } else { FileRole::Read };
            effects.open(text, role);
            effects.open(text.trim_end().trim_end_matches('}'), role);
            Some(&rest[text.len()..])
        }
        's' | 'y' => {
            let mark = rest.chars().next().filter(|c| *c != '\\' && *c != '\n')?;
            let (_, rest) = delimited(&rest[mark.len_utf8()..], mark)?;
            let (replacement, mut rest) = delimited(rest, mark)?;
            if letter == 'y' {
                return Some(rest);
            }
            loop {
                match rest.chars().next() {
                    Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => rest = &rest[1..],
                    Some('e') => {
                        effects.run(&replacement.replace("\\/", "/").replace('&', &HOLE.to_string()));
                        effects.unknown = true;
                        rest = &rest[1..];
                    }
                    Some('w') => {
                        let text = line(&rest[1..]);
                        effects.open(text, FileRole::Write);
                        effects.open(text.trim_end().trim_end_matches('}'), FileRole::Write);
                        return Some(&rest[1 + text.len()..]);
                    }
                    _ => return Some(rest),
                }
            }
        }
        'a' | 'i' | 'c' => {
            let mut text = line(rest);
            while text.ends_with('\\') && text.len() < rest.len() {
                text = &rest[..text.len() + 1 + line(&rest[text.len() + 1..]).len()];
            }
            Some(&rest[text.len()..])
        }
        '#' | ':' | 'b' | 't' | 'T' | 'q' | 'Q' | 'l' | 'L' | 'v' => {
            let end = rest.find(['\n', ';', '}']).unwrap_or(rest.len());
            Some(&rest[if letter == '#' { line(rest).len() } else { end }..])
        }
        'p' | 'P' | 'd' | 'D' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'z' | 'F' | '{' | '}' => Some(rest),
        _ => None,
    }
}

fn sed_addresses(mut script: &str) -> Option<&str> {
    loop {
        match script.chars().next() {
            Some('0'..='9' | '$' | ',' | '!' | '~' | '+' | ' ' | '\t') => script = &script[1..],
            Some('/') => script = delimited(&script[1..], '/')?.1.trim_start_matches(['I', 'M']),
            Some('\\') => {
                let mark = script[1..].chars().next()?;
                script = delimited(&script[1 + mark.len_utf8()..], mark)?.1.trim_start_matches(['I', 'M']);
            }
            _ => return Some(script),
        }
    }
}

/// Returns the text up to the mark, and what is behind it.
fn delimited(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    let mut class = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark && !class => return Some((&text[..at], &text[at + c.len_utf8()..])),
            '[' => {
                class = text[at..].contains(']') && mark != ']' && text[at + 1..].find(mark) < text[at + 1..].find(']')
            }
            ']' => class = false,
            _ => {}
        }
    }
    // A class that never ends was none.
    if class { text.split_once(mark) } else { None }
}

fn sql(text: &str, effects: &mut ProgramEffects) {
    for line in text.lines().map(str::trim_start) {
        if let Some(command) = line.strip_prefix('.').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            dot_command(command, effects);
        } else if let Some(shell) = line.strip_prefix("\\!").or_else(|| line.strip_prefix("\\\\!")) {
            effects.run(shell);
        } else if let Some((what, rest)) = line.strip_prefix('\\').and_then(|rest| rest.split_once(' ')) {
            let rest = rest.trim();
            match (what, rest.strip_prefix('|')) {
                (_, Some(shell)) => effects.run(shell),
                ("i" | "ir" | "include", None) => effects.open(rest, FileRole::Read),
                ("o" | "out" | "w" | "write" | "s", None) => effects.open(rest, FileRole::Write),
                _ => {}
            }
        }
    }
    if let Some((_, shell)) = text.split_once("\\!") {
        effects.run(shell.lines().next().unwrap_or_default());
    }
    let tokens = tokens(text, "'\"`");
    let is =
        |at: usize, word: &str| matches!(tokens.get(at), Some(Token::Name(name)) if name.eq_ignore_ascii_case(word));
    let literal = |from: usize| match tokens.get(from) {
        // `'a'||'b'` and functions.
        Some(_) => {
            let mut text = String::new();
            for token in &tokens[from..] {
                match token {
                    Token::Text(part) => text.push_str(part),
                    Token::Sign('|' | '(' | ')') => {}
                    Token::Name(name) if name.eq_ignore_ascii_case("as") => break,
                    Token::Sign(';' | ',') => break,
                    Token::Name(_) | Token::Sign(_) if !text.ends_with(HOLE) => text.push(HOLE),
                    Token::Name(_) | Token::Sign(_) => {}
                }
            }
            text
        }
        None => String::new(),
    };
    for at in 0..tokens.len() {
        let from = at + 1;
        if is(at, "attach") {
            open_address(&literal(from + usize::from(is(from, "database"))), effects);
        } else if is(at, "into") && at > 0 && (is(at - 1, "vacuum") || at > 1 && is(at - 2, "vacuum")) {
            open_address(&literal(from), effects);
        } else if is(at, "readfile") || is(at, "fsdir") || is(at, "read_csv") || is(at, "read_text") {
            effects.open(&literal(from), FileRole::Read);
        } else if is(at, "writefile") || is(at, "outfile") || is(at, "dumpfile") {
            effects.open(&literal(from), FileRole::Write);
        } else if is(at, "load_extension") {
            effects.open(&literal(from), FileRole::Any);
        } else if is(at, "program") {
            effects.run(&literal(from));
        } else if is(at, "system") && !is(from, "table") {
            match tokens.get(from) {
                Some(Token::Text(text)) => effects.run(text),
                _ => effects.unknown |= at == 0,
            }
        }
    }
}

/// The file a database address names.
fn open_address(text: &str, effects: &mut ProgramEffects) {
    if text.is_empty() || text == ":memory:" {
        return;
    }
    effects.open(text, FileRole::Write);
    let address = text.strip_prefix("file:").map(|rest| rest.split('?').next().unwrap_or(rest));
    if let Some(path) = address {
        let path = path.strip_prefix("//localhost").or_else(|| path.strip_prefix("//")).unwrap_or(path);
        effects.open(&decoded(path), FileRole::Write);
    }
}

/// `%2f` in an address is `/` to the program that opens it.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A dot command of the sqlite shell. Names may be cut short.
fn dot_command(line: &str, effects: &mut ProgramEffects) {
    let (name, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let is = |full: &str| name.len() > 1 && full.starts_with(&name.to_ascii_lowercase());
    if is("shell") || is("system") {
        return effects.run(rest);
    }
    let unquoted: String = rest.chars().filter(|c| !matches!(c, '\'' | '"')).collect();
    if let Some(shell) = unquoted.trim().strip_prefix('|') {
        return effects.run(shell);
    }
    let reads = ["read", "restore", "import", "load"].iter().any(|full| is(full));
    let writes = ["open", "save", "backup", "clone", "output", "once", "log", "trace", "excel", "archive", "cd"];
    let role = match (reads, writes.iter().any(|full| is(full))) {
        (_, true) => FileRole::Write,
        (true, false) => FileRole::Read,
        (false, false) => return,
    };
    for word in unquoted.split_whitespace().filter(|word| !word.starts_with('-')) {
        match word.starts_with("file:") {
            true => open_address(word, effects),
            false => effects.open(word, role),
        }
    }
    effects.open(&unquoted, role);
}

/// Commands of ex and its family.
fn editor(text: &str, effects: &mut ProgramEffects) {
    for line in text.split(['\n', '|']) {
        let line = line.trim().trim_start_matches(':');
        if let Some((before, shell)) = line.split_once('!') {
            // `w!` and `q!` only insist; what follows may be a command again.
            let insists = before.ends_with(|c: char| c.is_ascii_alphabetic());
            match insists {
                true if shell.contains('!') => editor(shell, effects),
                true => {}
                false => effects.run(shell.trim_start_matches('!')),
            }
        }
        if ["system", "exe", "term", "python", "py3", "perl", "ruby", "lua", "jobstart"]
            .iter()
            .any(|n| line.contains(n))
        {
            for token in tokens(line, "'\"") {
                if let Token::Text(text) = token {
                    effects.run(text.trim_start_matches(['!', ':']));
                    effects.open(&text, FileRole::Any);
                }
            }
            effects.unknown |= line.contains("exe");
        }
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || "%,.$'<>".contains(c)).trim_start();
        let Some((verb, path)) = line.split_once([' ', '\t']) else { continue };
        match verb.trim_end_matches('!') {
            "r" | "re" | "read" | "e" | "edit" | "sp" | "split" | "vs" | "vsplit" | "tabe" | "tabedit" | "vie"
            | "view" | "so" | "source" | "0r" => effects.open(path, FileRole::Read),
            "w" | "write" | "sav" | "saveas" | "wq" | "x" | "up" | "update" | "f" | "file" | "W" => {
                effects.open(path.trim_start_matches('>'), FileRole::Write);
            }
            _ => {}
        }
    }
}

fn debugger(text: &str, effects: &mut ProgramEffects) {
    for line in text.lines().map(str::trim) {
        let verb = line.split_whitespace().next().unwrap_or_default();
        let rest = line[verb.len()..].trim();
        match verb {
            "shell" | "she" | "make" | "pipe" => effects.run(rest.split_once('|').map_or(rest, |(_, shell)| shell)),
            "platform" => effects.run(rest.strip_prefix("shell").unwrap_or(rest)),
            "source" => effects.open(rest, FileRole::Read),
            "dump" | "restore" | "save" | "generate-core-file" | "gcore" => {
                rest.split_whitespace().for_each(|word| effects.open(word, FileRole::Any));
            }
            "python" | "py" | "script" | "call" | "print" | "p" | "expr" | "expression" | "guile" => {
                for token in tokens(rest, "'\"") {
                    if let Token::Text(text) = token {
                        effects.run(&text);
                        effects.open(&text, FileRole::Any);
                    }
                }
            }
            _ => {
                if let Some(shell) = line.strip_prefix('!') {
                    effects.run(shell);
                }
            }
        }
    }
}

/// Recipes and `$(shell …)` of a makefile.
fn makefile(text: &str, effects: &mut ProgramEffects) {
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    let recipe = |line: &str, effects: &mut ProgramEffects| {
        let line = line.trim_start_matches(['\t', ' ', '@', '-', '+']);
        if !line.is_empty() {
            effects.run(&line.replace("$$", "$"));
        }
    };
    for line in text.lines() {
        if line.starts_with('\t') {
            recipe(line, effects);
        } else if let Some((_, line)) = line.split_once(';').filter(|(target, _)| target.contains(':')) {
            recipe(line, effects);
        }
        for (at, _) in line.match_indices("$(shell") {
            let inside = &line[at + "$(shell".len()..];
            let end = super::nesting::close_paren(inside, 0);
            effects.run(&inside[..end]);
        }
        if let Some((_, shell)) = line.split_once("!=") {
            effects.run(shell);
        }
    }
}

/// Strings in code on a command line or an input: files, and commands where it runs some.
fn one_liner(command: &ShellCommand, effects: &mut ProgramEffects) {
    let args = &command.words[1..];
    let is_code = |word: &&ShellWord| word.text.contains(['(', ' ', ';', '=', '<', '`']) && !word.is_option();
    let glued = args.iter().filter(|word| word.is_option() && word.text.contains(['(', ';', '"', '\'']));
    let texts = args.iter().filter(is_code).chain(glued).chain(&command.fed);
    for text in texts.map(|word| word.text.as_str()) {
        const RUNS: [&str; 9] = ["system", "popen", "Popen", "subprocess", "exec", "spawn", "run(", "`", "os."];
        let runs = RUNS.iter().any(|word| text.contains(word)) || text.contains("qx");
        for token in tokens(text, "'\"`").into_iter().take(2 * MOST) {
            let Token::Text(text) = token else { continue };
            // perl: `<file`, `|cmd`
            effects.open(text.trim_start_matches(['<', '>', '+']), FileRole::Any);
            if runs {
                effects.run(text.trim_matches('|'));
            }
        }
        if runs {
            // `['rm', 'x']`
            let list: Vec<String> = tokens(text, "'\"")
                .into_iter()
                .filter_map(|token| match token {
                    Token::Text(text) if !text.is_empty() => Some(text),
                    _ => None,
                })
                .collect();
            effects.run(&list.join(" "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bash::parse;

    fn shown(script: &str) -> String {
        let effects = effects(&parse(script).commands[0]);
        let mut parts: Vec<String> = effects.scripts.iter().map(|word| format!("run {}", word.text)).collect();
        parts.extend(effects.files.iter().map(|file| format!("{:?} {}", file.role, file.word.text)));
        parts.extend(effects.unknown.then(|| "?".to_owned()));
        parts.join(", ").replace(HOLE, "_")
    }

    #[test]
    fn what_a_text_runs_reads_and_writes_is_found() {
        for (script, expected) in [
            ("awk 'BEGIN{system(\"rm x\")}'", "run rm x"),
            ("awk 'BEGIN{system(\"rm \" $1)}'", "run rm _, ?"),
            ("awk '{print $1 > \"out\"}' f", "Write out"),
            ("awk '{print $1 >> \"out\" ; close(\"out\")}' f", "Write out"),
            ("awk '{print | \"sh -c x\"}'", "run sh -c x"),
            ("awk '$1 > 5 || $2 < 3 {print}' f", ""),
            ("awk '{ if ($1 >= 3) print \"a b\" }' f", ""),
            ("awk -F: '{print $1}' /etc/passwd", ""),
            ("sed 's/a/b/' f", ""),
            ("sed -n '1,5p;/x/{s|a/b|c|g;p}' f", ""),
            ("sed '1e rm x' f", "run rm x"),
            ("sed 's/x/rm y/e' f", "run rm y, ?"),
            ("sed -n 'w out' f", "Write out, Write out"),
            ("sed '/a/r .env' f", "Read .env, Read .env"),
            ("sed -e 's/[/]/x/g' -e 's/a/b/w out' f", "Write out, Write out"),
            ("sed '/^#/d; s/ *$//; y/abc/xyz/' f", ""),
            ("sqlite3 a.db '.shell rm x'", "run rm x"),
            ("sqlite3 a.db \"ATTACH '../o.db' AS o\"", "Write ../o.db"),
            ("sqlite3 a.db 'select a from b where c > 1'", ""),
            ("make --eval='a:;rm x' a", "run rm x"),
            ("make -j4 all", ""),
            ("vim -c '!rm x' -c q f", "run rm x"),
            ("vim -c 'wq!' f", ""),
            ("gdb -ex 'shell rm x' -batch", "run rm x"),
            ("gdb -ex run -ex bt --args ./a.out", ""),
        ] {
            assert_eq!(shown(script), expected, "{script}");
        }
    }
}
