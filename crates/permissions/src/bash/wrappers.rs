//! Programs that run another program, and where in their arguments it stands.
//!
//! Two readings, as everywhere: `inside` finds whatever might be run, for deny
//! and ask rules; `stripped` knows the few wrappers an allow rule may look
//! through, in their plain form only.

use super::commands::Command;
use super::words::Word;

/// Something a command runs.
pub(super) enum Inner {
    /// A command, word by word.
    Words(Vec<Word>),
    /// Text a shell reads. `moves`: the shell is the one that runs this script (`eval`).
    Script { text: Word, moves: bool },
}

/// Wrappers, and how many arguments of their own precede the program.
const WRAPPERS: [(&str, usize); 65] = [
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
];

pub(crate) const SHELLS: [&str; 9] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"];

/// Whatever a command might run besides itself.
pub(super) fn inside(command: &Command) -> Vec<Inner> {
    let Some(name) = command.name() else { return Vec::new() };
    let arguments = &command.words[1..];
    let mut inner = Vec::new();
    if let Some((_, own)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        programs(arguments, *own, &mut |at| inner.push(Inner::Words(arguments[at..].to_vec())));
    }
    match name {
        "eval" => inner.push(Inner::Script { text: joined(arguments), moves: true }),
        "trap" => inner.extend(arguments.first().map(|text| Inner::Script { text: text.clone(), moves: true })),
        "alias" => inner.extend(arguments.iter().filter_map(|word| {
            let (_, text) = word.text.split_once('=')?;
            Some(Inner::Script { text: word.with(text), moves: true })
        })),
        // These hand their arguments, as one text, to a shell.
        "watch" | "parallel" => inner.push(Inner::Script { text: joined(operands(arguments)), moves: false }),
        "su" | "runuser" | "script" | "flock" | "sg" | "env" | "ssh-agent" => {
            for pair in arguments.windows(2) {
                if matches!(pair[0].text.as_str(), "-c" | "--command" | "-S" | "--split-string") {
                    inner.push(Inner::Script { text: pair[1].clone(), moves: false });
                }
            }
        }
        "find" => programs_after(arguments, &["-exec", "-execdir", "-ok", "-okdir"], &mut inner),
        "fd" | "fdfind" => programs_after(arguments, &["-x", "--exec", "-X", "--exec-batch"], &mut inner),
        "git" => git(arguments, &mut inner),
        _ => {}
    }
    if SHELLS.contains(&name) {
        shell(command, arguments, &mut inner);
    }
    inner
}

/// Calls `found` for every place at which the wrapped program may start. Options
/// may or may not take the word behind them, so there can be several.
fn programs(words: &[Word], own: usize, found: &mut impl FnMut(usize)) {
    let mut open = vec![(0, own)];
    let mut seen = Vec::new();
    while let Some((at, left)) = open.pop() {
        if seen.contains(&(at, left)) {
            continue;
        }
        seen.push((at, left));
        let Some(word) = words.get(at) else { continue };
        if word.text == "--" || super::lex::assigned(&word.text).is_some() || matches!(word.text.as_str(), "{" | "!") {
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

fn programs_after(words: &[Word], flags: &[&str], inner: &mut Vec<Inner>) {
    /// Nobody writes more; what follows is then unknown.
    const MOST: usize = 16;
    let is_flag = |word: &Word| flags.contains(&word.text.as_str());
    if words.iter().filter(|word| is_flag(word)).count() > MOST {
        return inner.push(Inner::Words(vec![Word::unknown()]));
    }
    for (at, word) in words.iter().enumerate() {
        if is_flag(word) {
            let rest = &words[at + 1..];
            let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            inner.push(Inner::Words(rest[..end].to_vec()));
        }
    }
}

fn shell(command: &Command, arguments: &[Word], inner: &mut Vec<Inner>) {
    let takes_text = |word: &&Word| word.is_option() && !word.text.starts_with("--") && word.text.contains('c');
    if arguments.iter().any(|word| takes_text(&word)) {
        let text = operands(arguments).first();
        inner.extend(text.map(|text| Inner::Script { text: text.clone(), moves: false }));
    } else if operands(arguments).is_empty() || arguments.iter().any(|word| word.text == "-s") {
        match command.fed.as_slice() {
            [] => inner.push(Inner::Words(vec![Word::unknown()])),
            fed => inner.extend(fed.iter().map(|text| Inner::Script { text: text.clone(), moves: false })),
        }
    }
}

/// Programs git is told about on its command line.
fn git(arguments: &[Word], inner: &mut Vec<Inner>) {
    for (at, word) in arguments.iter().enumerate() {
        let mut script = |text: &str| inner.push(Inner::Script { text: word.with(text), moves: false });
        if let Some((_, text)) = word.text.split_once("=!").filter(|(key, _)| key.contains("alias.")) {
            script(text);
        }
        for option in ["--exec=", "--receive-pack=", "--upload-pack=", "--extcmd="] {
            if let Some(text) = word.text.strip_prefix(option) {
                script(text);
            }
        }
        if matches!(word.text.as_str(), "-x" | "--exec" | "--extcmd")
            && let Some(next) = arguments.get(at + 1)
        {
            inner.push(Inner::Script { text: next.clone(), moves: false });
        }
        if matches!(word.text.as_str(), "run" | "foreach") && at > 0 {
            inner.push(Inner::Script { text: joined(operands(&arguments[at + 1..])), moves: false });
        }
    }
}

/// The arguments from the first that is no option.
fn operands(arguments: &[Word]) -> &[Word] {
    let first = arguments.iter().position(|word| !word.is_option() && word.text != "--");
    &arguments[first.unwrap_or(arguments.len())..]
}

fn joined(words: &[Word]) -> Word {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Word { fixed: words.iter().all(|word| word.fixed), ..Word::plain(&text) }
}

/// How many words an allow rule may step over: wrappers in a form that only
/// times, slows or detaches what they run.
pub(super) fn stripped(words: &[Word]) -> Option<usize> {
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
