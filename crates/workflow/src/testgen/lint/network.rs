//! L14: traffic that leaves the machine.

use super::entry::shown;
use super::rule::LintRule;
use super::state::ScriptState;
use super::value::{Origins, TrackedText, is_hole};

/// Returns the host of a URL, or of `host:port`.
fn host(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    match rest.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        None => rest.split(':').next().unwrap_or_default(),
    }
}

pub(super) fn is_loopback(text: &str) -> bool {
    let host = host(text).to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || matches!(host.as_str(), "::1" | "0.0.0.0")
        // `[::1]` without its brackets
        || text == "::1"
}

impl ScriptState<'_> {
    /// `/dev/tcp/HOST/PORT` as a file.
    pub(crate) fn reaches(&mut self, path: &TrackedText, line: u32) {
        let target = path.text.strip_prefix("/dev/tcp/").or_else(|| path.text.strip_prefix("/dev/udp/"));
        if let Some(target) = target
            && !is_loopback(target)
        {
            self.talks_to(path, line);
        }
    }

    fn talks_to(&mut self, what: &TrackedText, line: u32) {
        let line = self.outermost(line);
        self.find(LintRule::L14, line, format_args!("It talks to `{}`", shown(what)));
    }

    pub(crate) fn network(&mut self, words: &[TrackedText], line: u32) {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = &words[1..];
        let text = |at: usize| arguments.get(at).map_or("", |word| word.text.as_str());
        let hosts: Vec<&TrackedText> = match name.as_str() {
            "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "lynx" | "w3m" => {
                if arguments.iter().any(|word| word.text == "--unix-socket") {
                    return;
                }
                urls(&name, arguments)
            }
            "nc" | "ncat" | "netcat" | "telnet" | "ping" | "ftp" | "sftp" | "ssh" | "scp" | "dig" | "nslookup"
            | "host" | "traceroute" | "mosh" | "socat" => {
                let listens = arguments
                    .iter()
                    .any(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('l'));
                if listens && matches!(name.as_str(), "nc" | "ncat" | "netcat") {
                    return;
                }
                let mut hosts: Vec<&TrackedText> =
                    arguments.iter().filter(|word| !word.text.starts_with('-') && !is_number(&word.text)).collect();
                hosts.truncate(1);
                hosts
            }
            "openssl" if text(0) == "s_client" => {
                arguments.windows(2).filter(|pair| pair[0].text == "-connect").map(|pair| &pair[1]).collect()
            }
            "git" => arguments
                .iter()
                .filter(|word| {
                    word.text.contains("://") && !word.text.starts_with("file:") || word.text.starts_with("git@")
                })
                .collect(),
            "rsync" => arguments.iter().filter(|word| word.text.contains("::") || word.text.contains("://")).collect(),
            "pip" | "pip3" | "npm" | "pnpm" | "yarn" | "gem" | "cargo" | "apt" | "apt-get" | "brew" | "apk" | "dnf"
            | "yum" | "go" | "docker" | "podman" | "uv" => {
                let fetches =
                    matches!(text(0), "install" | "add" | "ci" | "pull" | "get" | "i" | "update" | "upgrade" | "fetch");
                if fetches && !arguments.iter().any(|word| matches!(word.text.as_str(), "--offline" | "--no-index")) {
                    words.iter().take(1).collect()
                } else {
                    Vec::new()
                }
            }
            _ => return,
        };
        let hosts: Vec<TrackedText> = hosts.into_iter().cloned().collect();
        for target in hosts {
            // An address the product printed is the product's affair.
            let told = target.from.has(Origins::SURFACES) && host(&target.text).contains(is_hole);
            if !is_loopback(&target.text) && !told {
                self.talks_to(&target, line);
            }
        }
    }
}

fn urls<'v>(name: &str, arguments: &'v [TrackedText]) -> Vec<&'v TrackedText> {
    const TAKING: [&str; 33] = [
        "-o",
        "-H",
        "-d",
        "-X",
        "-u",
        "-A",
        "-e",
        "-b",
        "-c",
        "-w",
        "-m",
        "-T",
        "-F",
        "-x",
        "-E",
        "-K",
        "-Y",
        "-y",
        "--data",
        "--header",
        "--request",
        "--output",
        "--max-time",
        "--user",
        "--data-binary",
        "--retry",
        "--data-raw",
        "--connect-timeout",
        "--write-out",
        "--output-document",
        "--cacert",
        "--retry-delay",
        "--form",
    ];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let text = word.text.as_str();
        if text.starts_with("--") || text.starts_with('-') && text.len() > 1 {
            // `-sSo file`: the last letter of a cluster takes the word.
            let last = text.chars().next_back().unwrap_or_default();
            let cluster = !text.starts_with("--") && TAKING.contains(&format!("-{last}").as_str());
            let output = name == "wget" && last == 'O' && !text.starts_with("--");
            at += usize::from(TAKING.contains(&text) || cluster || output);
        } else {
            found.push(word);
        }
    }
    found
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && !text.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_from_the_rest() {
        for near in [
            "http://127.0.0.1:80/x",
            "localhost",
            "http://[::1]:1/",
            "127.0.0.1/80",
            "http://u@localhost/",
            "a.localhost",
        ] {
            assert!(is_loopback(near), "{near}");
        }
        for far in [
            "http://example.com",
            "http://localhost@example.com/",
            "example.com/localhost",
            "http://localhost.example.com",
            "10.0.0.1",
        ] {
            assert!(!is_loopback(far), "{far}");
        }
    }
}
