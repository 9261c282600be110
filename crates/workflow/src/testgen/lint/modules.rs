//! Determines which modules a line of code loads, and which of them are the language's own.

use super::foreign::{Language, quoted};

/// Returns the module a statement loads, unless it belongs to the language itself.
pub(super) fn loaded(line: &str, language: Language) -> Option<String> {
    let other = |module: &str, own: &[&str]| {
        let top = module.split(['.', ':', '/']).next().unwrap_or_default();
        (!module.is_empty() && !own.contains(&top)).then(|| module.to_owned())
    };
    match language {
        Language::Python => python(line),
        Language::JavaScript => javascript(line),
        Language::Ruby => {
            let module = quoted(line).next()?;
            if line.starts_with("require_relative") || line.starts_with("load ") || line.starts_with("load(") {
                return Some(module.to_owned());
            }
            line.starts_with("require").then(|| other(module, &RUBY)).flatten()
        }
        Language::Perl => {
            let rest = line.strip_prefix("use ").or_else(|| line.strip_prefix("require "))?;
            if rest.starts_with(['\'', '"']) || rest.starts_with("lib ") {
                return Some(rest.trim_end_matches(';').to_owned());
            }
            let module = rest.split([';', ' ', '(']).next().unwrap_or_default();
            if module.starts_with(|c: char| c.is_ascii_digit() || c == 'v') {
                return None;
            }
            other(module, &PERL)
        }
        Language::Php => {
            let loads =
                ["require", "include"].iter().any(|word| line.trim_start_matches("<?php").trim().starts_with(word));
            loads.then(|| line.to_owned())
        }
        Language::Go => {
            let line = line.strip_prefix("import ").unwrap_or(line);
            let module = quoted(line).next().filter(|_| line.starts_with('"') || line.contains(" \""))?;
            // The language's own packages have no domain in their path.
            let own = !module.split('/').next().unwrap_or_default().contains('.')
                && !module.contains("internal")
                && !module.contains(' ');
            (!own && module.contains('/') && !module.contains(' ')).then(|| module.to_owned())
        }
        Language::Other => None,
    }
}

fn python(line: &str) -> Option<String> {
    let other = |module: &str| {
        let module = module.trim();
        let top = module.split('.').next().unwrap_or_default();
        let named = top.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        (named && !PYTHON.contains(&top)).then(|| if module.is_empty() { ".".to_owned() } else { module.to_owned() })
    };
    for statement in line.split(';').map(str::trim) {
        if let Some(rest) = statement.strip_prefix("from ") {
            let (module, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            if rest.trim_start().starts_with("import")
                && let Some(module) = other(module)
            {
                return Some(module);
            }
        } else if let Some(rest) = statement.strip_prefix("import ") {
            let names = rest.split(',').map(|name| name.trim().split(' ').next().unwrap_or_default());
            if let Some(module) = names.map(other).find(Option::is_some).flatten() {
                return Some(module);
            }
        }
    }
    for call in
        ["__import__(", "import_module(", "run_path(", "run_module(", "spec_from_file_location(", "SourceFileLoader("]
    {
        if let Some(at) = line.find(call) {
            let module = quoted(&line[at..]).next().unwrap_or("…");
            if let Some(module) = other(module)
                .or((!module.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then(|| module.to_owned()))
            {
                return Some(module);
            }
        }
    }
    ["sys.path.insert", "sys.path.append", "sys.path +=", "sys.path[", "sys.path =", "sys.modules["]
        .iter()
        .any(|word| line.contains(word))
        .then(|| "sys.path".to_owned())
        .or_else(|| (line.contains("exec(open(") || line.contains("exec(compile(")).then(|| "exec".to_owned()))
}

fn javascript(line: &str) -> Option<String> {
    let own = |module: &str| {
        module.starts_with("node:")
            || module.starts_with("data:")
            || NODE.contains(&module.split('/').next().unwrap_or_default())
    };
    let mut calls = Vec::new();
    for call in ["require(", "import(", "require.resolve("] {
        let mut rest = line;
        while let Some(at) = rest.find(call) {
            rest = &rest[at + call.len()..];
            match rest.trim_start().starts_with(['\'', '"', '`']) {
                true => calls.extend(quoted(rest).next()),
                // Made up while running.
                false => calls.push("…"),
            }
        }
    }
    for statement in line.split(';').map(str::trim) {
        if statement.starts_with("import ")
            || statement.starts_with("import{")
            || statement.starts_with("export ")
            || statement.starts_with("} from")
        {
            let from = statement.rfind("from").map_or(0, |at| at);
            let named = statement.contains(" from ")
                || statement.contains("}from")
                || statement[6..].trim_start().starts_with(['\'', '"']);
            calls.extend(quoted(&statement[from..]).next().filter(|_| named));
        }
    }
    calls.into_iter().find(|module| !own(module)).map(str::to_owned)
}

const PYTHON: [&str; 105] = [
    "__future__",
    "abc",
    "argparse",
    "array",
    "ast",
    "asyncio",
    "base64",
    "binascii",
    "bisect",
    "builtins",
    "bz2",
    "calendar",
    "codecs",
    "collections",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "email",
    "enum",
    "errno",
    "fcntl",
    "filecmp",
    "fileinput",
    "fnmatch",
    "fractions",
    "functools",
    "gc",
    "getopt",
    "getpass",
    "glob",
    "grp",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "jsonschema",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "lzma",
    "math",
    "mimetypes",
    "mmap",
    "multiprocessing",
    "numbers",
    "operator",
    "os",
    "pathlib",
    "pexpect",
    "pickle",
    "platform",
    "posixpath",
    "pprint",
    "pty",
    "pwd",
    "pytest",
    "queue",
    "random",
    "re",
    "resource",
    "secrets",
    "select",
    "selectors",
    "shlex",
    "shutil",
    "signal",
    "socket",
    "socketserver",
    "sqlite3",
    "ssl",
    "stat",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tarfile",
    "tempfile",
    "termios",
    "textwrap",
    "threading",
    "time",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unittest",
    "urllib",
    "uuid",
];

const NODE: [&str; 34] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "dns",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "stream",
    "string_decoder",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "worker_threads",
    "zlib",
];

const RUBY: [&str; 22] = [
    "bundler",
    "csv",
    "date",
    "digest",
    "English",
    "erb",
    "fileutils",
    "json",
    "minitest",
    "net",
    "open3",
    "optparse",
    "pathname",
    "pp",
    "securerandom",
    "set",
    "shellwords",
    "socket",
    "sqlite3",
    "stringio",
    "tempfile",
    "time",
];

const PERL: [&str; 24] = [
    "Carp", "constant", "Cwd", "Data", "DBI", "Digest", "Encode", "feature", "Fcntl", "File", "Getopt", "HTTP", "IO",
    "IPC", "JSON", "List", "MIME", "POSIX", "Scalar", "strict", "Test", "Time", "utf8", "warnings",
];
