//! Arguments by which a harmless program runs another one, or writes a file of
//! the caller's choice (attack class D).
//!
//! Consulted only where a rule with a wildcard would allow the command: who
//! allows `find *` means searching. A rule that spells out the whole command
//! has said so, and bare `Bash` allows everything anyway.

use super::commands::is_harmless_variable;
use super::words::ShellWord;
use super::wrappers::SHELLS;
use super::{ShellCommand, evaluated, git, inline, lex};

/// Programs, their short options and their long ones that run or write something.
struct Entry {
    programs: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
}

const ENTRIES: &[Entry] = &[
    Entry { programs: &["rg"], short: "L", long: &["--pre", "--hostname-bin", "--follow"] },
    Entry { programs: &["grep", "egrep", "fgrep"], short: "R", long: &["--dereference-recursive"] },
    Entry { programs: &["man"], short: "PHC", long: &["--pager", "--html", "--config-file", "--preprocessor"] },
    Entry {
        programs: &["tar", "bsdtar"],
        short: "IFx",
        long: &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
            "--extract",
            "--get",
        ],
    },
    Entry { programs: &["zip"], short: "T", long: &["--unzip-command", "--test"] },
    Entry {
        programs: &["rsync"],
        short: "eM",
        long: &["--rsh", "--rsync-path", "--remote-option", "--daemon", "--config", "--log-file", "--write-batch"],
    },
    Entry {
        programs: &["curl"],
        short: "KTOJE",
        long: &[
            "--config",
            "--upload-file",
            "--remote-name",
            "--remote-name-all",
            "--remote-header-name",
            "--next",
            "--output-dir",
            "--trace",
            "--trace-ascii",
            "--libcurl",
            "--stderr",
            "--etag-save",
            "--hsts",
            "--alt-svc",
            "--unix-socket",
            "--abstract-unix-socket",
            "--engine",
            "--netrc-file",
        ],
    },
    Entry {
        programs: &["wget"],
        short: "ePi",
        long: &[
            "--execute",
            "--directory-prefix",
            "--input-file",
            "--use-askpass",
            "--post-file",
            "--body-file",
            "--config",
        ],
    },
    Entry { programs: &["fd", "fdfind"], short: "xXL", long: &["--exec", "--exec-batch", "--follow"] },
    Entry {
        programs: &["docker", "podman", "nerdctl"],
        short: "Hc",
        long: &[
            "--host",
            "--url",
            "--connection",
            "--context",
            "--config",
            "--tlscacert",
            "--privileged",
            "--volume",
            "--mount",
        ],
    },
    Entry {
        programs: &["kubectl", "helm", "oc"],
        short: "s",
        long: &["--kubeconfig", "--context", "--server", "--token", "--kube-context", "--post-renderer", "--cluster"],
    },
    Entry { programs: &["cargo"], short: "Z", long: &["--config"] },
    Entry { programs: &["make", "gmake"], short: "", long: &["--eval"] },
    Entry {
        programs: &["npm", "pnpm", "yarn"],
        short: "",
        long: &["--script-shell", "--node-options", "--call", "--shell"],
    },
    Entry { programs: &["go"], short: "", long: &["-exec", "-toolexec", "-overlay", "-vettool", "-modfile"] },
    Entry {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        short: "B",
        long: &["-wrapper", "-fplugin", "-specs", "-load"],
    },
    Entry { programs: &["java", "javac"], short: "", long: &["-javaagent", "-agentlib", "-agentpath", "-XX:OnError"] },
    Entry { programs: &["gradle", "mvn", "gradlew", "mvnw"], short: "I", long: &["--init-script", "--settings"] },
    Entry { programs: &["pytest", "py.test"], short: "pco", long: &["--override-ini", "--config-file"] },
    Entry { programs: &["ssh", "scp", "sftp"], short: "oFSE", long: &[] },
    Entry { programs: &["sort"], short: "", long: &["--compress-program", "--files0-from"] },
    Entry { programs: &["split"], short: "", long: &["--filter"] },
    Entry {
        programs: &["less", "more"],
        short: "koO",
        long: &["--lesskey-file", "--lesskey-src", "--log-file", "--LOG-FILE"],
    },
    Entry { programs: &["tcpdump"], short: "zwW", long: &[] },
    Entry {
        programs: &["gdb"],
        short: "",
        long: &["-ex", "-x", "-iex", "-ix", "--command", "--eval-command", "--args", "-args"],
    },
    Entry { programs: &["lldb"], short: "oOsSk", long: &["--one-line", "--source", "--batch"] },
    Entry { programs: &["date"], short: "sf", long: &["--set", "--file"] },
    Entry { programs: &["file"], short: "mfC", long: &["--magic-file", "--files-from", "--compile"] },
    Entry { programs: &["sqlite3", "sqlite"], short: "", long: &["-init", "-cmd", "--init", "--cmd"] },
    Entry { programs: &["psql"], short: "foLv", long: &["--file", "--output", "--log-file", "--set", "--variable"] },
    Entry { programs: &["mysql", "mariadb"], short: "", long: &["--pager", "--tee", "--init-command", "--plugin-dir"] },
    Entry {
        programs: &["eslint", "prettier", "jest"],
        short: "c",
        long: &["--config", "--rulesdir", "--plugin", "--parser", "--resolve-plugins-relative-to"],
    },
];

/// Programs that run what they are given, so that a wildcard behind them means everything.
const NEVER: [&str; 36] = [
    "alias",
    "at",
    "batch",
    "bind",
    "chroot",
    "compgen",
    "complete",
    "crontab",
    "ed",
    "emacs",
    "enable",
    "entr",
    "ex",
    "exec",
    "flock",
    "eval",
    "hash",
    "hyperfine",
    "ionice",
    "let",
    "nvim",
    "nsenter",
    "parallel",
    "script",
    "screen",
    "setsid",
    "shopt",
    "strace",
    "systemd-run",
    "tmux",
    "trap",
    "unshare",
    "vi",
    "view",
    "vim",
    "watch",
];

/// Returns why a rule with a wildcard does not cover this command.
pub(crate) fn reason(command: &ShellCommand) -> Option<String> {
    let name = command.name()?;
    let args = &command.words[1..];
    if NEVER.contains(&name) {
        return Some(format!("{name} runs what it is given"));
    }
    if let Some(word) = evaluated::hides_command(command) {
        return Some(format!("{name} evaluates {}, which has a command in it", word.raw));
    }
    let entry = ENTRIES.iter().find(|entry| entry.programs.contains(&name));
    if let Some(word) = entry.and_then(|entry| args.iter().find(|word| entry.names(word))) {
        return Some(format!("{name} {} can run a program or write a file", word.text));
    }
    let special = match name {
        "find" => args.iter().find(|word| is_find_action(&word.text)).map(|word| word.text.clone()),
        "git" => git::danger(command),
        "sed" | "gsed" => inline::sed(args).then(|| "its script".to_owned()),
        "awk" | "gawk" | "mawk" | "nawk" => inline::awk(args).then(|| "its program".to_owned()),
        "sqlite3" | "sqlite" | "psql" | "mysql" | "mariadb" => inline::sql(args).then(|| "its statement".to_owned()),
        "curl" | "wget" => url(name, args),
        "unzip" | "cpio" | "7z" => Some("unpacking".to_owned()),
        "tar" | "bsdtar" => {
            args.first().filter(|word| !word.is_option() && word.text.contains('x')).map(|_| "unpacking".to_owned())
        }
        "make" | "gmake" => make(args),
        "go" => (args.first().is_some_and(|word| word.text == "env")
            && args.iter().any(|word| word.text.starts_with("-w")))
        .then(|| "env -w".to_owned()),
        "mapfile" | "readarray" => args.iter().find(|word| word.text.starts_with("-C")).map(|word| word.text.clone()),
        "source" | "." => args.first().filter(|word| word.text.starts_with("/dev/")).map(|word| word.text.clone()),
        "cargo" => args.first().filter(|word| word.text.starts_with('+')).map(|word| word.text.clone()),
        "less" | "more" => args.iter().find(|word| word.text.starts_with('+')).map(|word| word.text.clone()),
        "printf" => args.first().filter(|word| word.text.starts_with("-v")).map(|word| word.text.clone()),
        "docker" | "podman" | "nerdctl" => {
            args.iter().find(|word| word.text.starts_with("-v")).map(|word| word.text.clone())
        }
        "time" | "env" | "sudo" | "doas" => {
            let odd =
                |word: &&ShellWord| sets_variable(word) || name == "env" && word.is_option() && splits(&word.text);
            args.iter().find(odd).map(|word| word.text.clone())
        }
        _ if SHELLS.contains(&name) => shell(args),
        _ => inline::interpreter(name, args).map(str::to_owned),
    };
    if let Some(what) = special {
        return Some(format!("{name}: {what} can run a program or write a file"));
    }
    let known = entry.is_some() || matches!(name, "find" | "git" | "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk");
    let pattern = |word: &&ShellWord| word.glob && word.raw.starts_with(['*', '?', '[']);
    if known && let Some(word) = args.iter().find(pattern) {
        return Some(format!("a file that fits {} could be an option of {name}", word.raw));
    }
    None
}

impl Entry {
    fn names(&self, word: &ShellWord) -> bool {
        if !word.is_option() {
            return false;
        }
        let text = word.text.split('=').next().unwrap_or_default();
        if let Some(name) = text.strip_prefix("--") {
            // Long options may be cut short.
            return self.long.iter().any(|long| *long == text || (name.len() > 2 && long.starts_with(text)));
        }
        // Programs that write long options with one dash do not bundle short ones.
        let bundles = self.long.iter().all(|long| long.starts_with("--"));
        let short = if bundles { text } else { text.get(..2).unwrap_or(text) };
        self.long.contains(&text) || short.contains(|c| self.short.contains(c))
    }
}

/// `env -S`: the words of another command.
fn splits(option: &str) -> bool {
    option.starts_with("--split") || !option.starts_with("--") && option.contains('S')
}

/// Variables tell programs what to load and run.
fn sets_variable(word: &ShellWord) -> bool {
    lex::assigned(&word.text).is_some_and(|(name, _)| !is_harmless_variable(name))
}

fn is_find_action(text: &str) -> bool {
    const ACTIONS: [&str; 11] =
        ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-L", "-follow"];
    ACTIONS.contains(&text)
}

fn make(args: &[ShellWord]) -> Option<String> {
    let input = |pair: &[ShellWord]| {
        matches!(&*pair[0].text, "-f" | "--file" | "--makefile") && matches!(&*pair[1].text, "-" | "/dev/stdin")
    };
    let piped = args.windows(2).find(|pair| input(pair)).map(|pair| format!("{} {}", pair[0].text, pair[1].text));
    let odd = |word: &&ShellWord| {
        word.text.starts_with("SHELL=") || matches!(&*word.text, "-f-" | "--file=-" | "--makefile=-")
    };
    piped.or_else(|| args.iter().find(odd).map(|word| word.text.clone()))
}

fn url(name: &str, args: &[ShellWord]) -> Option<String> {
    let plain = |word: &&ShellWord| {
        let scheme = word.text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let file = word.text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
        file || scheme.is_some_and(|scheme| scheme != "http" && scheme != "https")
    };
    let names_file = |word: &&ShellWord| {
        word.text.starts_with('@') || ["=@", "%output{"].iter().any(|sign| word.text.contains(sign))
    };
    let odd = args.iter().find(|word| plain(word) || names_file(word)).map(|word| word.text.clone());
    // Without `-O` wget names the file after the address.
    let unnamed = name == "wget"
        && !args.iter().any(|word| word.text.starts_with("-O") || word.text.starts_with("--output-document"));
    odd.or_else(|| unnamed.then(|| "a file named by the address".to_owned()))
}

fn shell(args: &[ShellWord]) -> Option<String> {
    let odd = args.iter().find(|word| matches!(word.text.as_str(), "-s" | "-i" | "--rcfile" | "--init-file" | "-"));
    if let Some(word) = odd {
        return Some(word.text.clone());
    }
    args.iter().all(ShellWord::is_option).then(|| "its input".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bash::parse;

    #[test]
    fn everyday_commands_are_not_dangerous() {
        for script in [
            "git commit -m 'x' main",
            "git config user.name bob",
            "git push origin main",
            "git log --oneline -5",
            "find . -name '*.js'",
            "rg -n needle src",
            "sed -n 1p f.txt",
            "sed -i s/x/y/g f.txt",
            "awk '{print $1}' f",
            "tar -czf a.tgz src",
            "curl -sSf https://a.test",
            "cargo build --release",
            "npm run test",
            "bash build.sh",
            "python3 x.py",
            "docker ps -a",
            "sort -u f",
            "ls *.txt",
            "make -j4 all",
        ] {
            assert_eq!(reason(&parse(script).commands[0]), None, "{script}");
        }
    }
}
