//! Programs that run another program, and where in their arguments it stands.
//!
//! Two readings, as everywhere: `inside` finds whatever might be run, for deny
//! and ask rules; `stripped` knows the few wrappers an allow rule may look
//! through, in their plain form only.

use super::commands::ShellCommand;
use super::words::ShellWord;

/// Something a command runs.
pub(super) enum InnerCommand {
    /// A command, word by word, and the arguments it gets only when it runs.
    Words { words: Vec<ShellWord>, extra: Vec<ShellWord> },
    /// Text a shell reads. `moves`: the shell is the one that runs this script (`eval`).
    /// `arguments` are `$0`, `$1` and so on.
    Script { text: ShellWord, moves: bool, arguments: Vec<ShellWord> },
}

impl InnerCommand {
    fn words(words: &[ShellWord]) -> Self {
        Self::Words { words: words.to_vec(), extra: Vec::new() }
    }

    fn script(text: ShellWord) -> Self {
        Self::Script { text, moves: false, arguments: Vec::new() }
    }

    /// In the shell that runs this script.
    fn here(text: ShellWord) -> Self {
        Self::Script { text, moves: true, arguments: Vec::new() }
    }

    fn unknown() -> Self {
        Self::words(&[ShellWord::unknown()])
    }
}

/// Wrappers, and how many arguments of their own precede the program.
const WRAPPERS: &[(&str, usize)] = &[
    ("bwrap", 0),
    ("builtin", 0),
    ("busybox", 0),
    ("caffeinate", 0),
    ("catchsegv", 0),
    ("chroot", 1),
    ("chrt", 1),
    ("command", 0),
    ("cpulimit", 0),
    ("dbus-run-session", 0),
    ("doas", 0),
    ("dumb-init", 0),
    ("entr", 0),
    ("env", 0),
    ("exec", 0),
    ("faketime", 1),
    ("fakeroot", 0),
    ("firejail", 0),
    ("flock", 1),
    ("gosu", 1),
    ("ionice", 0),
    ("ltrace", 0),
    ("linux32", 0),
    ("linux64", 0),
    ("nice", 0),
    ("nocorrect", 0),
    ("noglob", 0),
    ("nohup", 0),
    ("nsenter", 0),
    ("numactl", 0),
    ("parallel", 0),
    ("perf", 1),
    ("pkexec", 0),
    ("prlimit", 0),
    ("proot", 0),
    ("proxychains", 0),
    ("proxychains4", 0),
    ("rlwrap", 0),
    ("runuser", 0),
    ("setarch", 1),
    ("setpriv", 0),
    ("setsid", 0),
    ("sg", 1),
    ("ssh-agent", 0),
    ("stdbuf", 0),
    ("strace", 0),
    ("su-exec", 1),
    ("sudo", 0),
    ("systemd-inhibit", 0),
    ("systemd-run", 0),
    ("taskset", 1),
    ("time", 0),
    ("timeout", 1),
    ("tini", 0),
    ("torsocks", 0),
    ("toybox", 0),
    ("trickle", 0),
    ("tsocks", 0),
    ("unbuffer", 0),
    ("unshare", 0),
    ("uv", 1),
    ("valgrind", 0),
    ("watch", 0),
    ("xargs", 0),
    ("xvfb-run", 0),
    ("asdf", 1),
    ("bunx", 0),
    ("bundle", 1),
    ("chronic", 0),
    ("conda", 1),
    ("coproc", 0),
    ("direnv", 2),
    ("dotenv", 0),
    ("gdb", 0),
    ("mise", 1),
    ("npx", 0),
    ("pipenv", 1),
    ("pnpx", 0),
    ("poetry", 1),
    ("rr", 1),
    ("script", 0),
    ("start-stop-daemon", 0),
    ("uvx", 0),
];

/// How a function is exported to other shells.
const FUNCTION: &str = "BASH_FUNC_";

/// `/lib64/ld-linux-x86-64.so.2 program`
fn is_loader(name: &str) -> bool {
    ["ld-linux", "ld-musl", "ld.so", "ld64.so"].iter().any(|loader| name.starts_with(loader))
}

pub(crate) const SHELLS: [&str; 9] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"];

/// Returns whatever a command might run besides itself.
pub(super) fn inside(command: &ShellCommand) -> Vec<InnerCommand> {
    let mut inner: Vec<InnerCommand> =
        super::evaluated::substitutions(command).into_iter().map(InnerCommand::here).collect();
    let Some(name) = command.name() else { return inner };
    let arguments = &command.words[1..];
    let own = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name).map(|(_, own)| own);
    if let Some(own) = own.or(is_loader(name).then_some(&0)) {
        let passed = passed_on(name, command);
        programs(arguments, *own, &mut |at| {
            let words = passed.fill(&arguments[at..]);
            inner.push(InnerCommand::Words { words, extra: passed.behind.clone() });
        });
    }
    match name {
        "eval" => inner.push(InnerCommand::here(joined(arguments))),
        // A command of the history, which is not visible here.
        "fc" if !arguments.iter().any(|word| word.text.starts_with("-l")) => inner.push(InnerCommand::unknown()),
        // `BASH_FUNC_ls%%=() { …; }`: a function for the shells that are started.
        "env" => inner.extend(
            arguments
                .iter()
                .filter(|word| word.text.starts_with(FUNCTION))
                .filter_map(|word| Some(word.with(&format!("f{}", word.text.split_once('=')?.1))))
                .map(InnerCommand::script),
        ),
        "trap" => inner.extend(arguments.first().map(|text| InnerCommand::here(text.clone()))),
        "alias" => inner.extend(arguments.iter().filter_map(|word| {
            let (_, text) = word.text.split_once('=')?;
            Some(InnerCommand::here(word.with(text)))
        })),
        // These hand their arguments, as one text, to a shell.
        "watch" | "parallel" | "hyperfine" | "tmux" | "screen" | "ts" => {
            inner.push(InnerCommand::script(joined(operands(arguments))));
            inner.extend(arguments.iter().filter(|word| word.text.contains(' ')).cloned().map(InnerCommand::script));
        }
        // What runs elsewhere may run here (`ssh localhost`).
        "ssh" => inner.extend(
            operands(arguments)
                .get(1..)
                .filter(|words| !words.is_empty())
                .map(|words| InnerCommand::script(joined(words))),
        ),
        "at" | "batch" | "crontab" => inner.extend(command.fed.iter().cloned().map(InnerCommand::script)),
        "hash" => inner.extend(
            arguments.windows(2).filter(|pair| pair[0].text == "-p").map(|pair| InnerCommand::words(&pair[1..])),
        ),
        "source" | "." => inner.extend(sourced(command, arguments)),
        "find" => programs_after(arguments, &["-exec", "-execdir", "-ok", "-okdir"], Behind::Nothing, &mut inner),
        "fd" | "fdfind" => programs_after(arguments, &["-x", "--exec", "-X", "--exec-batch"], Behind::Name, &mut inner),
        "git" => git(arguments, &mut inner),
        "bind" => inner.extend(
            arguments.iter().filter_map(|word| Some(word.with(word.text.split_once(':')?.1))).map(InnerCommand::here),
        ),
        _ => {}
    }
    if SHELLS.contains(&name) {
        shell(command, arguments, &mut inner);
    }
    inner.extend(super::runs::scripts(command).into_iter().map(InnerCommand::script));
    let effects = super::embedded::effects(command);
    inner.extend(effects.scripts.into_iter().map(InnerCommand::script));
    inner.extend(effects.unknown.then(InnerCommand::unknown));
    inner
}

/// Returns the directory a wrapper starts its program in.
pub(super) fn directory(command: &ShellCommand) -> Option<ShellWord> {
    let flags: &[&str] = match command.name()? {
        "env" => &["-C", "--chdir"],
        "sudo" => &["-D", "--chdir"],
        "bwrap" | "systemd-run" | "nsenter" | "unshare" | "firejail" => {
            &["--chdir", "--working-directory", "--wd", "--wdns"]
        }
        "chroot" => return command.words.iter().skip(1).find(|word| !word.is_option()).cloned(),
        // In the directory of each file that is found.
        "find" if command.words.iter().any(|word| matches!(&*word.text, "-execdir" | "-okdir")) => {
            return Some(ShellWord { derived: true, ..ShellWord::unknown() });
        }
        _ => return None,
    };
    for (at, word) in command.words.iter().enumerate() {
        for flag in flags {
            match word.text.strip_prefix(flag) {
                Some("") => return command.words.get(at + 1).cloned(),
                Some(rest) => return Some(word.with(rest.strip_prefix('=').unwrap_or(rest))),
                None => {}
            }
        }
    }
    None
}

/// What a wrapper adds to the arguments of the program it starts.
struct PassedOn {
    /// The text it replaces.
    mark: Option<String>,
    values: Vec<ShellWord>,
    behind: Vec<ShellWord>,
}

impl PassedOn {
    fn fill(&self, words: &[ShellWord]) -> Vec<ShellWord> {
        let Some(mark) = self.mark.as_deref().filter(|mark| !mark.is_empty()) else { return words.to_vec() };
        let fill = |word: &ShellWord| match word.text.contains(mark) {
            true => self.values.iter().map(|value| filled(word, mark, value)).collect(),
            false => vec![word.clone()],
        };
        words.iter().flat_map(fill).collect()
    }
}

/// Returns the word with a value in place of the mark.
fn filled(word: &ShellWord, mark: &str, value: &ShellWord) -> ShellWord {
    let home = value.home && word.text.starts_with(mark);
    let text = word.text.replace(mark, &value.text);
    ShellWord { text, home, fixed: false, glob: word.glob || value.glob, derived: true, ..word.clone() }
}

/// `xargs` and `parallel` take arguments from their input.
fn passed_on(name: &str, command: &ShellCommand) -> PassedOn {
    /// As many as are worth looking at; the rest is not known.
    const MOST: usize = 8;
    let mut passed = PassedOn { mark: None, values: Vec::new(), behind: Vec::new() };
    if !matches!(name, "xargs" | "parallel") {
        return passed;
    }
    let fed = command.fed.iter().flat_map(|text| text.text.split_whitespace());
    passed.values.extend(fed.take(MOST).map(|text| ShellWord::computed(text.trim_matches(['\'', '"']))));
    passed.values.push(ShellWord { derived: true, ..ShellWord::unknown() });
    let mut at = 1;
    while let Some(word) = command.words.get(at).filter(|word| word.is_option()) {
        let next = || command.words.get(at + 1).map(|word| word.text.clone());
        match word.text.as_str() {
            "-I" | "--replace" => passed.mark = next(),
            "-i" => passed.mark = Some("{}".to_owned()),
            text => {
                let glued = ["-I", "--replace=", "-i"].iter().find_map(|flag| text.strip_prefix(flag));
                passed.mark = glued.map(str::to_owned).or(passed.mark);
            }
        }
        let takes_next = matches!(&*word.text, "-I" | "-n" | "-P" | "-s" | "-L" | "-d" | "-E" | "-a" | "-j");
        at += 1 + usize::from(takes_next);
    }
    if name == "parallel" {
        passed.mark = passed.mark.or(Some("{}".to_owned()));
    }
    if passed.mark.is_none() || name == "parallel" {
        passed.behind.clone_from(&passed.values);
    }
    passed
}

/// `. <(…)` runs what another command prints.
fn sourced(command: &ShellCommand, arguments: &[ShellWord]) -> Vec<InnerCommand> {
    let Some(file) = arguments.first() else { return Vec::new() };
    match &*file.text {
        "/dev/stdin" | "/dev/fd/0" => match command.fed.as_slice() {
            [] => vec![InnerCommand::unknown()],
            fed => fed.iter().cloned().map(InnerCommand::here).collect(),
        },
        _ => match printed_file(file) {
            Some(text) => vec![InnerCommand::here(text)],
            None if file.raw.contains("<(") => vec![InnerCommand::unknown()],
            None => Vec::new(),
        },
    }
}

/// Returns the text of `<(echo text)`.
fn printed_file(word: &ShellWord) -> Option<ShellWord> {
    let inside = word.raw.strip_prefix("<(")?.strip_suffix(')')?;
    let text = super::words::printed(inside, &super::values::Variables::default())?;
    Some(ShellWord { fixed: false, ..ShellWord::plain(&text) })
}

/// Calls `found` for every place at which the wrapped program may start. Options
/// may or may not take the word behind them, so there can be several.
fn programs(words: &[ShellWord], own: usize, found: &mut impl FnMut(usize)) {
    let mut open = vec![(0, own)];
    let mut seen = Vec::new();
    while let Some((at, left)) = open.pop() {
        if seen.contains(&(at, left)) {
            continue;
        }
        seen.push((at, left));
        let Some(word) = words.get(at) else { continue };
        let sets = super::lex::assigned(&word.text).is_some() || word.text.starts_with(FUNCTION);
        if word.text == "--" || sets || matches!(word.text.as_str(), "{" | "!") {
            open.push((at + 1, left));
        } else if word.is_option() {
            open.push((at + 1, left));
            if !word.text.contains('=') {
                open.push((at + 2, left));
            }
        } else if left > 0 {
            open.push((at + 1, left - 1));
        } else {
            found(at);
        }
    }
}

/// Whether the name of a file follows where no `{}` says where it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    Name,
}

fn programs_after(words: &[ShellWord], flags: &[&str], behind: Behind, inner: &mut Vec<InnerCommand>) {
    /// More is not expected; what follows is then unknown.
    const MOST: usize = 16;
    let is_flag = |word: &ShellWord| flags.contains(&word.text.as_str());
    if words.iter().filter(|word| is_flag(word)).count() > MOST {
        return inner.push(InnerCommand::unknown());
    }
    let found = ShellWord { derived: true, ..ShellWord::unknown() };
    for (at, word) in words.iter().enumerate() {
        if is_flag(word) {
            let rest = &words[at + 1..];
            let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            let marked = rest[..end].iter().any(|word| word.text.contains("{}"));
            let fill =
                |word: &ShellWord| if word.text.contains("{}") { filled(word, "{}", &found) } else { word.clone() };
            let extra = if behind == Behind::Name && !marked { vec![found.clone()] } else { Vec::new() };
            inner.push(InnerCommand::Words { words: rest[..end].iter().map(fill).collect(), extra });
        }
    }
}

fn shell(command: &ShellCommand, arguments: &[ShellWord], inner: &mut Vec<InnerCommand>) {
    let takes_text = |word: &&ShellWord| word.is_option() && !word.text.starts_with("--") && word.text.contains('c');
    if arguments.iter().any(|word| takes_text(&word)) {
        if let [text, rest @ ..] = operands(arguments) {
            inner.push(InnerCommand::Script { text: text.clone(), moves: false, arguments: rest.to_vec() });
        }
    } else if operands(arguments).is_empty() || arguments.iter().any(|word| word.text == "-s") {
        match command.fed.as_slice() {
            [] => inner.push(InnerCommand::unknown()),
            fed => {
                let arguments: Vec<ShellWord> =
                    std::iter::once(ShellWord::unknown()).chain(operands(arguments).iter().cloned()).collect();
                inner.extend(fed.iter().map(|text| InnerCommand::Script {
                    text: text.clone(),
                    moves: false,
                    arguments: arguments.clone(),
                }));
            }
        }
    } else if let Some(file) = operands(arguments).first() {
        match &*file.text {
            "/dev/stdin" | "/dev/fd/0" | "-" => inner.extend(command.fed.iter().cloned().map(InnerCommand::script)),
            _ => match printed_file(file) {
                Some(text) => inner.push(InnerCommand::script(text)),
                None if file.raw.contains("<(") => inner.push(InnerCommand::unknown()),
                None => {}
            },
        }
    }
}

/// Programs git is told about on its command line.
fn git(arguments: &[ShellWord], inner: &mut Vec<InnerCommand>) {
    for (at, word) in arguments.iter().enumerate() {
        // `alias.z=reset --hard`; with `!` it is a command, which `runs` finds.
        if let Some((_, text)) =
            word.text.split_once('=').filter(|(key, _)| key.to_ascii_lowercase().starts_with("alias."))
        {
            inner.push(InnerCommand::script(word.with(&format!("git {text}"))));
        }
        if word.text == "-x"
            && let Some(next) = arguments.get(at + 1)
        {
            inner.push(InnerCommand::script(next.clone()));
        }
        if matches!(word.text.as_str(), "run" | "foreach") && at > 0 {
            inner.push(InnerCommand::script(joined(operands(&arguments[at + 1..]))));
        }
    }
}

/// Returns the arguments from the first that is not an option.
fn operands(arguments: &[ShellWord]) -> &[ShellWord] {
    let first = arguments.iter().position(|word| !word.is_option() && word.text != "--");
    &arguments[first.unwrap_or(arguments.len())..]
}

fn joined(words: &[ShellWord]) -> ShellWord {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let derived = words.iter().any(|word| word.derived);
    ShellWord { fixed: words.iter().all(|word| word.fixed), derived, ..ShellWord::plain(&text) }
}

/// Returns how many words an allow rule may step over: wrappers in a form that only
/// times, slows or detaches what they run.
pub(super) fn stripped(words: &[ShellWord]) -> Option<usize> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut at = 1;
    match text(0) {
        "time" | "nohup" | "builtin" => {}
        "command" | "xargs" if !text(1).starts_with('-') => {}
        "nice" => match text(1) {
            "-n" if number(text(2)) => at = 3,
            option if option.strip_prefix('-').is_some_and(number) => at = 2,
            option if option.starts_with('-') => return None,
            _ => {}
        },
        "stdbuf" => {
            while let Some(mode) = text(at).strip_prefix('-') {
                if !matches!(mode, "o0" | "oL" | "e0" | "eL" | "i0") {
                    return None;
                }
                at += 1;
            }
        }
        "timeout" => {
            while text(at).starts_with('-') {
                at += match text(at) {
                    "--foreground" | "--preserve-status" => 1,
                    "-k" | "-s" | "--kill-after" | "--signal" => 2,
                    _ => return None,
                };
            }
            let duration = text(at).trim_end_matches(['s', 'm', 'h', 'd']);
            if !number(&duration.replacen('.', "", 1)) {
                return None;
            }
            at += 1;
        }
        _ => return None,
    }
    // `time` may be followed by assignments.
    let program = words.get(at).filter(|word| !word.is_option() && super::lex::assigned(&word.raw).is_none());
    program.map(|_| at)
}
