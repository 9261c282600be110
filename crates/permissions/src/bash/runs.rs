//! Options and variables whose value is a command: `tar -I`, `rsync -e`, `GIT_PAGER`.
//!
//! For deny rules: the value is read as a script. Which of them an allow rule
//! must not cover is said by `danger`.

use super::ShellCommand;
use super::embedded::values;
use super::words::ShellWord;

struct Entry {
    programs: &'static [&'static str],
    options: &'static [&'static str],
}

const ENTRIES: &[Entry] = &[
    Entry {
        programs: &["tar", "bsdtar", "gtar"],
        options: &[
            "--to-command",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
    },
    Entry { programs: &["rsync"], options: &["-e", "--rsh", "--rsync-path"] },
    Entry { programs: &["zip"], options: &["-TT", "--unzip-command"] },
    Entry { programs: &["scp", "sftp"], options: &["-S", "-D"] },
    Entry { programs: &["sort"], options: &["--compress-program"] },
    Entry { programs: &["split"], options: &["--filter"] },
    Entry { programs: &["man"], options: &["-P", "--pager", "-H", "--html"] },
    Entry { programs: &["rg"], options: &["--pre", "--hostname-bin"] },
    Entry { programs: &["compgen", "complete"], options: &["-C", "-F"] },
    Entry { programs: &["mapfile", "readarray"], options: &["-C"] },
    Entry { programs: &["go"], options: &["-exec", "-toolexec", "-vettool"] },
    Entry { programs: &["npm", "pnpm", "yarn", "npx"], options: &["--script-shell", "-c", "--call"] },
    Entry { programs: &["su", "runuser", "sg", "ssh-agent"], options: &["--command", "--session-command"] },
    Entry { programs: &["script", "flock"], options: &["--command"] },
    Entry { programs: &["nix-shell", "nix"], options: &["--run", "--command", "-c"] },
    Entry { programs: &["expect", "tclsh"], options: &["-c"] },
    Entry { programs: &["docker", "podman"], options: &["--entrypoint"] },
    Entry { programs: &["tcpdump"], options: &["-z"] },
    Entry { programs: &["curl", "wget"], options: &["--use-askpass"] },
    Entry { programs: &["git"], options: &["--exec", "--receive-pack", "--upload-pack", "--extcmd", "-O"] },
    Entry { programs: &["start-stop-daemon"], options: &["--exec", "--startas", "-x", "-a"] },
    Entry { programs: &["xterm", "konsole", "gnome-terminal"], options: &["-e"] },
    Entry { programs: &["pwsh", "powershell"], options: &["-c", "-Command"] },
];

/// Commands in options and variables of a command.
pub(super) fn scripts(command: &ShellCommand) -> Vec<ShellWord> {
    let Some(name) = command.name() else { return Vec::new() };
    let args = &command.words[1..];
    let options = ENTRIES.iter().filter(|entry| entry.programs.contains(&name)).flat_map(|entry| entry.options);
    let options: Vec<&str> = options.copied().collect();
    let mut texts = values(args, &options);
    match name {
        "tar" | "bsdtar" | "gtar" => {
            let actions = values(args, &["--checkpoint-action"]);
            texts.extend(actions.iter().filter_map(|action| Some(action.strip_prefix("exec=")?.to_owned())));
            // Cut short: `--checkpoint-act=exec=x`.
            let cut = args.iter().filter(|word| word.text.starts_with("--checkpoint-a"));
            texts.extend(cut.filter_map(|word| Some(word.text.split_once("exec=")?.1.to_owned())));
        }
        "ssh" | "scp" | "sftp" | "rsync" => texts.extend(ssh(args)),
        // `-qc text`: short options may be bundled.
        "su" | "runuser" | "script" | "flock" | "sg" | "ssh-agent" => texts.extend(bundled(args, 'c')),
        "env" => {
            texts.extend(bundled(args, 'S'));
            texts.extend(values(args, &["--split-string"]));
        }
        "go" => texts.extend(go(args)),
        "git" | "npm" | "yarn" | "pnpm" => texts.extend(configured(args)),
        "less" | "more" => {
            texts.extend(args.iter().filter_map(|word| Some(word.text.strip_prefix("+!")?.to_owned())));
        }
        _ => {}
    }
    texts.extend(command.env.iter().filter(|(name, _)| is_command_variable(name)).map(|(_, value)| value.text.clone()));
    // `GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!cmd' git x`
    let git = command.env.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_VALUE_"));
    texts.extend(git.map(|(_, value)| value.text.trim_start_matches('!').to_owned()));
    let fixed = |text: &String| args.iter().any(|word| word.fixed && word.text.contains(text.as_str()));
    texts
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| ShellWord { fixed: fixed(&text), ..ShellWord::plain(&text) })
        .collect()
}

/// Returns the value of a short option that may stand in a bundle: `-c x`, `-qc x`, `-cx`.
fn bundled(args: &[ShellWord], letter: char) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate().filter(|(_, word)| word.is_option() && !word.text.starts_with("--")) {
        match word.text.split_once(letter) {
            Some((_, "")) => found.extend(args.get(at + 1).map(|next| next.text.clone())),
            Some((_, value)) => found.push(value.to_owned()),
            None => {}
        }
    }
    found
}

/// `-o ProxyCommand=x`, and what runs on the other side, which may be this one.
fn ssh(args: &[ShellWord]) -> Vec<String> {
    const KEYS: [&str; 4] = ["proxycommand", "localcommand", "knownhostscommand", "remotecommand"];
    let value = |text: &String| {
        let (key, value) = text.split_once(['=', ' '])?;
        KEYS.contains(&key.trim().to_ascii_lowercase().as_str()).then(|| value.trim().to_owned())
    };
    values(args, &["-o"]).iter().filter_map(value).collect()
}

/// `go env -w CC=x`, `GOFLAGS=-toolexec=x`.
fn go(args: &[ShellWord]) -> Vec<String> {
    let pairs = args.iter().filter_map(|word| word.text.split_once('='));
    let value = |(_, value): (&str, &str)| value.rsplit_once("exec=").map_or(value, |(_, value)| value).to_owned();
    match args.first() {
        Some(word) if word.text == "env" => pairs.map(value).collect(),
        _ => Vec::new(),
    }
}

/// `git config core.pager x`, `git -c core.editor=x`, `npm config set script-shell x`.
fn configured(args: &[ShellWord]) -> Vec<String> {
    const KEYS: [&str; 18] = [
        "alias.",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.askpass",
        "core.gitproxy",
        "sequence.editor",
        "diff.external",
        "credential.helper",
        "gpg.program",
        "filter.",
        "merge.",
        "pager.",
        "difftool.",
        "mergetool.",
        "script-shell",
        "interactive.difffilter",
    ];
    let is_key = |text: &str| KEYS.iter().any(|key| text.to_ascii_lowercase().starts_with(key));
    let value = |text: &str| text.strip_prefix('!').unwrap_or(text).to_owned();
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let next = args.get(at + 1);
        match word.text.split_once('=') {
            Some((key, text)) if is_key(key) => found.push(value(text)),
            None if is_key(&word.text) => found.extend(next.map(|next| value(&next.text))),
            _ => {}
        }
    }
    found
}

/// Variables that programs run.
fn is_command_variable(name: &str) -> bool {
    const NAMES: [&str; 25] = [
        "BASH_ENV",
        "BROWSER",
        "CC",
        "CXX",
        "EDITOR",
        "ENV",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "LESSCLOSE",
        "LESSOPEN",
        "MANPAGER",
        "PAGER",
        "PROMPT_COMMAND",
        "PS4",
        "RSYNC_RSH",
        "RUSTC_WRAPPER",
        "SHELL",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "VISUAL",
    ];
    NAMES.contains(&name)
}
