//! A module and every file it imports, read and linked before any of it runs.
//!
//! Only what is written down is followed: static imports, and `import("x")` and
//! `require("x")` with a plain string. From what is left over, packages and built-in
//! modules, the engine is chosen.

use crate::source::{ImportNames, Linked, Parsed, SourceKind, SyntaxError, parse};
use ona_files::ReadError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Graph {
    pub entry: PathBuf,
    files: BTreeMap<PathBuf, File>,
}

#[derive(Clone, Debug)]
struct File {
    parsed: Parsed,
    targets: HashMap<String, ImportTarget>,
}

/// Where a specifier leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    File(PathBuf),
    /// A package of the host, served by our own text.
    Host(String),
    /// A module of the runtime, without its `node:` prefix.
    Builtin(String),
    /// Anything else: an npm package.
    Package(String),
    /// A relative file that does not exist; an error when it is imported.
    Missing(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("Cannot find module '{}'", .0.display())]
    Missing(PathBuf),
    #[error("Cannot find module '{specifier}' imported from {}", .from.display())]
    Unresolved { specifier: String, from: PathBuf },
    #[error("{} is not a JavaScript or TypeScript module{}", .0.display(), hint(.0))]
    NotAModule(PathBuf),
    #[error("{}: {error}", .path.display())]
    Syntax { path: PathBuf, error: SyntaxError },
    #[error("{}: {error}", .path.display())]
    Io { path: PathBuf, error: String },
}

/// Shell files in hook directories are another program's kind of hook.
fn hint(path: &Path) -> &'static str {
    match path.extension().and_then(|one| one.to_str()) {
        Some("sh" | "bash" | "zsh" | "fish" | "ps1" | "py") => "; configure scripts as hooks of another dialect",
        _ => "",
    }
}

/// What our prelude offers in the embedded engine.
const EMBEDDED: &[&str] = &[
    "fs",
    "fs/promises",
    "path",
    "path/posix",
    "path/win32",
    "os",
    "child_process",
    "crypto",
    "url",
    "util",
    "events",
    "buffer",
    "process",
    "timers",
    "timers/promises",
];

/// What a JavaScript runtime brings along.
const BUILTIN: &[&str] = &[
    "assert",
    "assert/strict",
    "async_hooks",
    "bun",
    "cluster",
    "console",
    "constants",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "perf_hooks",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "sqlite",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "test",
    "tls",
    "trace_events",
    "tty",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

impl Graph {
    pub fn read(entry: &Path) -> Result<Self, GraphError> {
        let mut graph = Self { entry: entry.to_owned(), files: BTreeMap::new() };
        let mut open = vec![entry.to_owned()];
        while let Some(path) = open.pop() {
            if graph.files.contains_key(&path) {
                continue;
            }
            let parsed = read(&path)?;
            let mut targets = HashMap::new();
            for import in &parsed.imports {
                let target = resolve(&path, &import.specifier);
                match &target {
                    ImportTarget::File(file) => open.push(file.clone()),
                    ImportTarget::Missing(specifier)
                        if !matches!(import.names, ImportNames::Dynamic | ImportNames::Require) =>
                    {
                        return Err(GraphError::Unresolved { specifier: specifier.clone(), from: path });
                    }
                    _ => {}
                }
                targets.insert(import.specifier.clone(), target);
            }
            graph.files.insert(path, File { parsed, targets });
        }
        Ok(graph)
    }

    /// Returns what the embedded engine cannot serve, sorted.
    pub fn beyond_embedded(&self) -> BTreeSet<String> {
        let all = self.files.values().flat_map(|file| file.targets.values());
        all.filter_map(|target| match target {
            ImportTarget::Package(name) => Some(name.clone()),
            ImportTarget::Builtin(name) if !EMBEDDED.contains(&name.as_str()) => Some(format!("node:{name}")),
            ImportTarget::Builtin(_) | ImportTarget::File(_) | ImportTarget::Host(_) | ImportTarget::Missing(_) => None,
        })
        .collect()
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Returns the text of every file, with imports that lead where `link` says.
    pub fn emit(&self, link: impl Fn(&ImportTarget) -> Linked) -> Vec<(PathBuf, String)> {
        let texts = self.files.iter().map(|(path, file)| {
            let text = file.parsed.emit(path, |specifier| match file.targets.get(specifier) {
                Some(ImportTarget::Missing(name)) => Linked::Provided(name.clone()),
                Some(target) => link(target),
                None => Linked::Specifier(specifier.to_owned()),
            });
            (path.clone(), text)
        });
        texts.collect()
    }
}

fn read(path: &Path) -> Result<Parsed, GraphError> {
    let source = ona_files::read_text(path).map_err(|why| match why {
        ReadError::Absent => GraphError::Missing(path.to_owned()),
        ReadError::Kind(_) => GraphError::NotAModule(path.to_owned()),
        why => GraphError::Io { path: path.to_owned(), error: why.to_string() },
    })?;
    let kind = SourceKind::of(path).ok_or_else(|| GraphError::NotAModule(path.to_owned()))?;
    let source = source.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(source);
    parse(source, kind).map_err(|error| GraphError::Syntax { path: path.to_owned(), error })
}

pub(crate) fn resolve(from: &Path, specifier: &str) -> ImportTarget {
    let bare = specifier.strip_prefix("node:").unwrap_or(specifier);
    if EMBEDDED.contains(&bare) || BUILTIN.contains(&bare) || specifier.starts_with("node:") {
        return ImportTarget::Builtin(bare.to_owned());
    }
    if specifier.starts_with("bun:") {
        return ImportTarget::Package(specifier.to_owned());
    }
    let hosts = ["@oh-my-pi/", "@mariozechner/", "@earendil-works/"];
    if hosts.iter().any(|host| specifier.starts_with(host)) || matches!(specifier, "@sinclair/typebox" | "typebox") {
        return ImportTarget::Host(specifier.to_owned());
    }
    if matches!(specifier, "zod" | "zod/v3" | "zod/v4" | "zod/mini") && !is_installed(from, "zod") {
        return ImportTarget::Host(specifier.to_owned());
    }
    let path = match specifier.strip_prefix("file://") {
        Some(path) => PathBuf::from(path),
        None if specifier.starts_with('.') || specifier.starts_with('/') => {
            from.parent().unwrap_or(Path::new("/")).join(specifier)
        }
        None => return ImportTarget::Package(specifier.to_owned()),
    };
    match find(&normal(&path)) {
        Some(file) => ImportTarget::File(file),
        None => ImportTarget::Missing(specifier.to_owned()),
    }
}

/// Returns whether a runtime would find this package from here.
fn is_installed(from: &Path, package: &str) -> bool {
    from.ancestors().skip(1).any(|folder| folder.join("node_modules").join(package).is_dir())
}

/// Returns the file a path without its true extension means.
fn find(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let text = path.to_string_lossy();
    for (written, real) in [(".js", ".ts"), (".mjs", ".mts"), (".cjs", ".cts")] {
        let swapped = text.strip_suffix(written).map(|stem| PathBuf::from(format!("{stem}{real}")));
        if let Some(file) = swapped.filter(|file| file.is_file()) {
            return Some(file);
        }
    }
    let endings = [".ts", ".mts", ".js", ".mjs", ".cjs", ".json"];
    let beside = endings.iter().map(|ending| PathBuf::from(format!("{text}{ending}")));
    let inside = endings.iter().map(|ending| path.join(format!("index{ending}")));
    beside.chain(inside).find(|file| file.is_file())
}

/// `a/./b/../c` without looking at the disk.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
