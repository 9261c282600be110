//! Code in other languages that a script carries: what it loads, fakes and talks to.
//!
//! Read as text, line by line, for the forms these things are written in. It is
//! code the test runs; fixtures the product is to work on are never looked at.

use super::modules::loaded;
use super::network::is_loopback;
use super::shadow::interposes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    Go,
    Other,
}

impl Language {
    pub(crate) fn of_program(name: &str) -> Option<Self> {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Some(match bare {
            "python" | "pypy" | "pytest" | "ipython" => Self::Python,
            "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "npx" | "bunx" | "jest" | "vitest" | "mocha" => {
                Self::JavaScript
            }
            "ruby" | "rspec" | "irb" => Self::Ruby,
            "perl" | "prove" => Self::Perl,
            "php" => Self::Php,
            "go" => Self::Go,
            "lua" | "Rscript" | "java" | "osascript" | "tclsh" | "expect" => Self::Other,
            _ => return None,
        })
    }

    pub(crate) fn of_file(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
        Some(match ending {
            "py" => Self::Python,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => Self::JavaScript,
            "rb" => Self::Ruby,
            "pl" | "pm" | "t" => Self::Perl,
            "php" => Self::Php,
            "go" => Self::Go,
            _ => return None,
        })
    }
}

/// What a piece of code does that matters here; line numbers count from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ForeignFindings {
    /// A module that is not the language's own.
    pub loads: Option<(u32, String)>,
    /// A mocking library or call.
    pub fakes: Option<(u32, &'static str)>,
    pub interposes: Option<u32>,
    pub talks: Option<(u32, String)>,
    /// A path it opens for writing.
    pub writes: Vec<(u32, String)>,
    /// It can end with a status other than 0 of its own accord.
    pub checks: bool,
    /// It starts other programs.
    pub starts: bool,
    /// It reads files or databases by itself.
    pub reads: bool,
}

const FAKES: [&str; 34] = [
    "jest.mock",
    "jest.fn",
    "jest.spyOn",
    "jest.doMock",
    "jest.unstable_mockModule",
    "vi.mock",
    "vi.fn",
    "vi.spyOn",
    "vi.doMock",
    "sinon",
    "proxyquire",
    "mock-require",
    "testdouble",
    "rewire",
    "nock(",
    "mock.module(",
    "mock.method(",
    "mock.fn(",
    "unittest.mock",
    "from mock import",
    "import mock",
    "MagicMock",
    "monkeypatch",
    "mocker.patch",
    "flexmock",
    "mockito",
    "Mockito",
    "mockall",
    "gomock",
    "testify/mock",
    "allow_any_instance_of",
    "Test::MockModule",
    "PowerMock",
    "easymock",
];

const NETWORKING: [&str; 17] = [
    "urllib",
    "requests",
    "http.client",
    "httpx",
    "aiohttp",
    "socket",
    "fetch(",
    "axios",
    "http.get",
    "https.get",
    "http.request",
    "https.request",
    "net.connect",
    "Net::HTTP",
    "LWP::",
    "IO::Socket",
    "http.Get(",
];

pub(super) fn mocking(line: &str) -> Option<&'static str> {
    FAKES.iter().copied().find(|fake| line.contains(fake))
}

pub(super) fn look(code: &str, language: Language) -> ForeignFindings {
    let mut seen = ForeignFindings::default();
    let networking = NETWORKING.iter().any(|word| code.contains(word));
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    seen.checks = has(&[
        "assert",
        "sys.exit",
        "exit(",
        "process.exit",
        "raise ",
        "throw ",
        "die ",
        "die(",
        "exit 1",
        "os.Exit",
        "fail(",
        "abort",
        "expect(",
    ]);
    seen.starts = has(&[
        "subprocess",
        "os.system",
        "os.popen",
        "child_process",
        "execSync",
        "spawnSync",
        "Open3",
        "system(",
        "exec.Command",
        "`",
    ]);
    seen.reads = has(&[
        "open(",
        "read_text",
        "read_bytes",
        "readFile",
        "File.read",
        "sqlite3",
        "DatabaseSync",
        "os.path",
        "existsSync",
        "statSync",
        "Path(",
    ]);
    for (number, line) in (0..).zip(code.lines()) {
        let line = without_comment(line, language);
        if seen.loads.is_none() {
            seen.loads = loaded(line, language).map(|module| (number, module));
        }
        if seen.fakes.is_none() {
            seen.fakes = mocking(line).map(|fake| (number, fake));
        }
        let sets = ["environ", "process.env", "ENV[", "env=", "env:", "putenv"].iter().any(|word| line.contains(word));
        for text in quoted(line) {
            if seen.interposes.is_none() && sets && interposes(text, "--require") {
                seen.interposes = Some(number);
            }
            let url = text.contains("://") && !text.starts_with("file:");
            if seen.talks.is_none() && networking && url && !is_loopback(text) && !text.ends_with("://") {
                seen.talks = Some((number, text.to_owned()));
            }
        }
        if seen.interposes.is_none() && (line.contains("env.NODE_OPTIONS =") || line.contains("env.LD_PRELOAD")) {
            seen.interposes = Some(number);
        }
        for call in ["create_connection(", ".connect(", "HTTPConnection(", "HTTPSConnection(", "PeerAddr =>"] {
            if let Some(at) = line.find(call)
                && networking
                && let Some(host) = quoted(&line[at..]).next()
                && host.contains('.')
                && !host.contains('/')
                && !is_loopback(host)
            {
                seen.talks.get_or_insert((number, host.to_owned()));
            }
        }
        seen.writes.extend(written(line).into_iter().map(|path| (number, path.to_owned())));
    }
    seen
}

fn without_comment(line: &str, language: Language) -> &str {
    let trimmed = line.trim();
    let comment = match language {
        Language::JavaScript | Language::Go | Language::Php => trimmed.starts_with("//"),
        _ => trimmed.starts_with('#'),
    };
    if comment { "" } else { trimmed }
}

/// Returns the texts in quotes on a line.
pub(super) fn quoted(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let open = rest.find(['\'', '"', '`'])?;
            let mark = rest[open..].chars().next()?;
            let inside = &rest[open + 1..];
            let Some(end) = inside.find(mark) else {
                rest = inside;
                continue;
            };
            rest = &inside[end + 1..];
            return Some(&inside[..end]);
        }
    })
}

/// Paths in calls that write files.
fn written(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let first = |text: &'_ str, after: &str| -> Option<(usize, usize)> {
        let at = text.find(after)? + after.len();
        let inside = text[at..].trim_start();
        let start = at + (text[at..].len() - inside.len());
        let mark = inside.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let end = inside[1..].find(mark)?;
        Some((start + 1, start + 1 + end))
    };
    for call in [
        "writeFileSync(",
        "writeFile(",
        "appendFileSync(",
        "createWriteStream(",
        "unlinkSync(",
        "rmSync(",
        "mkdirSync(",
        "os.remove(",
        "os.unlink(",
        "os.mkdir(",
        "os.makedirs(",
        "shutil.rmtree(",
        "File.write(",
    ] {
        found.extend(first(line, call).map(|(from, to)| &line[from..to]));
    }
    for call in ["open(", "File.open(", "Path("] {
        if let Some((from, to)) = first(line, call) {
            let rest = &line[to..];
            let mode = quoted(rest.get(1..).unwrap_or_default()).next().unwrap_or_default();
            let opens = call != "Path("
                && mode.len() <= 3
                && mode.starts_with(['w', 'a', 'x', 'r'])
                && (mode.contains('+') || !mode.starts_with('r'));
            let path = call == "Path("
                && [".write_text", ".write_bytes", ".unlink", ".touch", ".mkdir"].iter().any(|m| rest.contains(m));
            if opens || path {
                found.push(&line[from..to]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(code: &str, language: Language) -> Option<String> {
        look(code, language).loads.map(|(_, module)| module)
    }

    #[test]
    fn a_projects_modules_are_told_from_the_languages_own() {
        use Language::*;
        for (language, code) in [
            (Python, "import json, sys, os.path as p"),
            (Python, "from collections import OrderedDict; import re"),
            (Python, "x = 'import app'"),
            (Python, "print('from app import x')"),
            (JavaScript, "const fs = require('fs'); const { x } = require(\"node:path\")"),
            (JavaScript, "import { readFileSync } from 'fs'"),
            (JavaScript, "let exported = 'from ./x'"),
            (Ruby, "require 'json'"),
            (Perl, "use strict; use JSON::PP; use v5.10;"),
            (Go, "import \"encoding/json\""),
        ] {
            assert_eq!(loads(code, language), None, "{code}");
        }
        for (language, code, module) in [
            (Python, "import json, app.core", "app.core"),
            (Python, "from app import x", "app"),
            (Python, "from . import x", "."),
            (Python, "m = __import__('app')", "app"),
            (Python, "sys.path.insert(0, 'src')", "sys.path"),
            (JavaScript, "const x = require('./src/x')", "./src/x"),
            (JavaScript, "import { toolRead } from '../lib/executeTools.mjs'", "../lib/executeTools.mjs"),
            (JavaScript, "const x = await import('../x.js')", "../x.js"),
            (JavaScript, "const x = require(name)", "…"),
            (JavaScript, "import app from 'my-app'", "my-app"),
            (Ruby, "require_relative 'lib/x'", "lib/x"),
            (Perl, "use lib 'lib';", "lib 'lib'"),
            (Go, "import \"example.com/app/internal/x\"", "example.com/app/internal/x"),
        ] {
            assert_eq!(loads(code, language).as_deref(), Some(module), "{code}");
        }
    }
}
