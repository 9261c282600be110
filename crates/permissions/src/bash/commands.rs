//! A command: words, prefix assignments, redirections, and what it runs in turn.

use super::lex::{self, Connector, LexOutput, SimpleCommand, assigned};
use super::redirect::FileRedirect;
use super::values::Variables;
use super::words::{self, ShellWord};
use super::wrappers::{self, InnerCommand};
use super::{ParsedScript, read_script};

#[derive(Clone, Debug)]
pub(crate) struct ShellCommand {
    pub env: Vec<(String, ShellWord)>,
    pub words: Vec<ShellWord>,
    /// Arguments it gets only when it is started (`xargs`).
    pub extra: Vec<ShellWord>,
    pub redirects: Vec<FileRedirect>,
    pub link: Connector,
    pub depth: u16,
    /// Index of the written command this one belongs to: its own, or its wrapper's.
    pub of: usize,
    /// Written as a command of the script itself.
    pub own: bool,
    /// A `cd` here moves the shell that runs the script.
    pub moves: bool,
    /// Another reading of the command before it.
    pub twin: bool,
    /// The directory its wrapper changes to (`env -C`).
    pub chdir: Option<ShellWord>,
    /// Texts on its input: here-documents, here-strings, what is printed into its pipe.
    pub fed: Vec<ShellWord>,
    /// Why a script in its arguments is not fully understood.
    pub unclear: Option<&'static str>,
    /// As written, without redirections, and where in it each word starts.
    pub source: String,
    pub starts: Vec<usize>,
}

impl ShellCommand {
    /// Returns the program without its directory; `None` if only a running shell could tell.
    pub(crate) fn name(&self) -> Option<&str> {
        let program = self.words.first()?;
        let name = program.text.rsplit('/').next().unwrap_or_default();
        (!program.has_hole() && !name.is_empty()).then_some(name)
    }

    /// The program is written out, not made by an expansion.
    pub(crate) fn program_is_fixed(&self) -> bool {
        self.words.first().is_some_and(|word| word.fixed && !is_pattern(word))
    }

    /// The script says which program it is, by name or by a variable whose values are all there.
    pub(crate) fn program_is_told(&self) -> bool {
        let Some(program) = self.words.first() else { return false };
        // A variable that is not set yields no word, and the next one is the program.
        let quoted = program.raw.starts_with('"') && !program.raw.contains(['@', '*']);
        let next = self.words.iter().find(|word| word.raw != program.raw);
        let stays = quoted || next.is_none_or(|next| next.fixed && next.is_option());
        let is_word = !program.text.is_empty() || next.is_none();
        let known = !program.has_hole() && !program.derived && is_word && !is_pattern(program);
        self.program_is_fixed() || known && stays
    }

    /// Returns all the ways a deny or ask rule may have meant this command.
    pub(crate) fn readings(&self) -> Vec<String> {
        let text = |words: &[ShellWord]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let mut readings = vec![text(&self.words)];
        if let (Some(name), [program, rest @ ..]) = (self.name(), self.words.as_slice())
            && name != program.text
        {
            readings.push(if rest.is_empty() { name.to_owned() } else { format!("{name} {}", text(rest)) });
        }
        if !self.env.is_empty() {
            let env: Vec<_> = self.env.iter().map(|(name, value)| format!("{name}={}", value.text)).collect();
            readings.push(format!("{} {}", env.join(" "), readings[0]));
        }
        if !self.source.is_empty() && !readings.contains(&self.source) {
            readings.push(self.source.clone());
        }
        readings
    }

    /// Prefix assignments an allow rule need not mention.
    pub(crate) fn env_is_harmless(&self) -> bool {
        self.env.iter().all(|(name, value)| is_harmless_variable(name) && value.fixed)
    }

    /// Returns the texts an allow rule may match: as written, then without what it may look through.
    pub(crate) fn allowable(&self) -> Vec<&str> {
        let tail = |word: usize| &self.source[self.starts[self.env.len() + word]..];
        let mut texts = vec![self.source.as_str()];
        // A command without words has nothing to look through; one that expands has no fixed words.
        let counted = self.starts.len() == self.env.len() + self.words.len() && !self.words.is_empty();
        if !counted || !self.env_is_harmless() {
            return texts;
        }
        let mut at = 0;
        loop {
            texts.push(tail(at));
            texts.extend(tail(at).strip_prefix('\\').filter(|_| self.words[at].text == self.words[at].raw[1..]));
            match wrappers::stripped(&self.words[at..]) {
                Some(over) => at += over,
                None => return texts,
            }
        }
    }
}

/// `[` is a program, not a pattern.
fn is_pattern(word: &ShellWord) -> bool {
    word.glob && !matches!(&*word.text, "[" | "[[")
}

/// Variables that change how a program talks, not what it runs.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "CARGO_TERM_COLOR",
        "CGO_ENABLED",
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "COLUMNS",
        "FORCE_COLOR",
        "GOARCH",
        "GOOS",
        "LANG",
        "LANGUAGE",
        "LINES",
        "NODE_ENV",
        "NO_COLOR",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TZ",
    ];
    NAMES.contains(&name) || (name.starts_with("LC_") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

/// Turns what was found into commands, each followed by what it runs in turn.
pub(super) struct CommandBuilder<'a> {
    pub text: &'a str,
    pub found: &'a LexOutput,
    pub variables: &'a Variables,
    pub level: u8,
    pub script: ParsedScript,
    /// How much was read so far.
    pub weight: usize,
}

/// What an inner command inherits from the one that starts it.
#[derive(Clone)]
struct OuterCommand {
    of: usize,
    depth: u16,
    link: Connector,
    moves: bool,
    twin: bool,
    chdir: Option<ShellWord>,
    fed: Vec<ShellWord>,
}

impl CommandBuilder<'_> {
    /// Adds a command, once for each reading of its variables.
    pub(crate) fn add(&mut self, simple: &SimpleCommand) {
        let fed = self.found.fed.iter().filter(|fed| fed.to == simple.id).map(|fed| fed.body.as_str());
        let targets = simple.redirects.iter().filter_map(|redirect| Some(redirect.target.as_ref()?.raw.as_str()));
        let pieces = simple.env.iter().chain(&simple.words).map(|piece| piece.raw.as_str());
        for (at, variables) in self.variables.readings(pieces.chain(targets).chain(fed)).iter().enumerate() {
            self.add_reading(simple, variables, at > 0);
        }
    }

    fn add_reading(&mut self, simple: &SimpleCommand, variables: &Variables, twin: bool) {
        let assignment = |piece: &lex::RawWord| {
            let (name, value) = assigned(&piece.raw)?;
            Some((name.to_owned(), words::read_whole(value, variables)))
        };
        let files = simple.redirects.iter();
        let (source, starts) = self.source(simple);
        let command = ShellCommand {
            env: simple.env.iter().filter_map(assignment).collect(),
            words: read_words(simple, variables),
            extra: Vec::new(),
            redirects: files.flat_map(|r| r.files(|raw| words::read_whole(raw, variables))).collect(),
            link: simple.link,
            depth: simple.depth,
            of: self.script.commands.len(),
            own: simple.own,
            moves: true,
            twin,
            chdir: None,
            fed: self.fed(simple, variables),
            unclear: None,
            source,
            starts,
        };
        self.push(command, 0);
    }

    /// Returns what a command reads: here-documents, here-strings, and what is printed into its pipe.
    fn fed(&self, simple: &SimpleCommand, variables: &Variables) -> Vec<ShellWord> {
        let fed = self.found.fed.iter().filter(|fed| fed.to == simple.id);
        let mut texts: Vec<ShellWord> = fed
            .map(|fed| match fed.body.contains('\n') {
                true => ShellWord { fixed: false, ..ShellWord::plain(&fed.body) },
                false => words::read_whole(&fed.body, variables),
            })
            .collect();
        if simple.link == Connector::Pipe
            && let Some(text) =
                self.found.before(simple).and_then(|before| words::printed(&plain_text(before), variables))
        {
            texts.push(ShellWord { fixed: false, ..ShellWord::plain(&text) });
        }
        texts
    }

    /// Returns the command without its redirections, spaced as it is written.
    fn source(&self, simple: &SimpleCommand) -> (String, Vec<usize>) {
        let mut source = String::new();
        let mut starts = Vec::new();
        let mut last = None;
        for piece in simple.env.iter().chain(&simple.words) {
            if let Some(end) = last {
                let gap = if simple.own { self.text.get(end..piece.span.start).unwrap_or(" ") } else { " " };
                let blank = !gap.is_empty() && gap.bytes().all(|b| b == b' ' || b == b'\t');
                source.push_str(if blank { gap } else { " " });
            }
            starts.push(source.len());
            source.push_str(&piece.raw);
            last = Some(piece.span.end);
        }
        (source, starts)
    }

    fn push(&mut self, command: ShellCommand, wrapped: u8) {
        /// A wrapper in a wrapper in a wrapper.
        const DEEPEST: u8 = 8;
        self.weight += 1 + command.words.len();
        if wrapped > DEEPEST || self.weight > MOST {
            self.script.broken = true;
            return;
        }
        let inner = wrappers::inside(&command);
        let shares_shell = command.moves && matches!(command.name(), Some("command" | "builtin" | "eval"));
        let outer = OuterCommand {
            of: command.of,
            depth: command.depth,
            link: command.link,
            moves: shares_shell,
            twin: command.twin,
            chdir: wrappers::directory(&command).or_else(|| command.chdir.clone()),
            fed: command.fed.clone(),
        };
        self.script.commands.push(command);
        for inner in inner {
            match inner {
                InnerCommand::Words { words, extra } => {
                    let command = ShellCommand {
                        env: Vec::new(),
                        redirects: Vec::new(),
                        link: outer.link,
                        depth: outer.depth,
                        of: outer.of,
                        own: false,
                        moves: outer.moves,
                        twin: outer.twin,
                        chdir: outer.chdir.clone(),
                        // What a wrapper does not read itself is left for what it starts.
                        fed: outer.fed.clone(),
                        unclear: None,
                        source: String::new(),
                        starts: Vec::new(),
                        words,
                        extra,
                    };
                    self.push(command, wrapped + 1);
                }
                InnerCommand::Script { text, moves, arguments } => self.nest(&text, &arguments, moves, &outer),
            }
        }
    }

    fn nest(&mut self, text: &ShellWord, arguments: &[ShellWord], moves: bool, outer: &OuterCommand) {
        let variables = match arguments {
            [] => self.variables.clone(),
            arguments => self.variables.with_arguments(arguments),
        };
        let inner = read_script(&text.text, &variables, self.level + 1, self.weight);
        let unclear = if text.fixed { inner.unclear } else { Some("it runs a text that is not fixed") };
        if let Some(parent) = self.script.commands.get_mut(outer.of) {
            parent.unclear = parent.unclear.or(unclear);
        }
        self.weight = inner.weight;
        self.script.has_loop |= inner.has_loop;
        self.script.broken |= inner.broken;
        let deeper = if moves { outer.depth } else { outer.depth + 1 };
        for mut command in inner.commands {
            command.depth += deeper;
            command.own = false;
            command.of = outer.of;
            if command.chdir.is_none() {
                command.chdir.clone_from(&outer.chdir);
            }
            self.script.commands.push(command);
        }
    }
}

/// Words one script can amount to, with all it runs and every reading of it.
const MOST: usize = 40_000;

fn read_words(simple: &SimpleCommand, variables: &Variables) -> Vec<ShellWord> {
    let [program, arguments @ ..] = simple.words.as_slice() else { return Vec::new() };
    let mut words = words::read_program(&program.raw, variables);
    words.extend(arguments.iter().flat_map(|piece| words::read(&piece.raw, variables)));
    words
}

/// Returns a command as text, without what stands before and behind it.
fn plain_text(simple: &SimpleCommand) -> String {
    simple.words.iter().map(|piece| piece.raw.as_str()).collect::<Vec<_>>().join(" ")
}
