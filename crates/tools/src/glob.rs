//! Finds files by name.
//!
//! Nothing is ignored except `.git`: a file that version control does not track
//! is still a file. The walk starts at the deepest directory the pattern names
//! literally and goes no deeper than the pattern can match.

use crate::files::{FileResult, ToolRefusal, blocking, interrupted, io_refusal};
use crate::path::{absolute, absolutise};
use crate::resolved_file::{real, refusal};
use crate::smallest::Smallest;
use crate::{Tool, ToolContext};
use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use ona_api::path::lexical;
use ona_api::{Access, ToolResult};
use ona_files::{FileLocation, FileType, OpenError, open_dir};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

const SHOWN: usize = 100;

pub(crate) struct GlobTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobInput {
    /// Pattern for file paths, such as "**/*.rs" or "src/**/*.{ts,tsx}". Without a slash it is tried on file names at any depth.
    pattern: String,
    /// Directory to search; the session's directory if not given.
    path: Option<String>,
}

impl Tool for GlobTool {
    type Input = GlobInput;
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Finds files by a name pattern with *, ?, [..], {a,b} and **.\n\
        Returns absolute paths, the most recently changed first, at most 100. Hidden and ignored files are included; \
        .git is not.";

    fn normalise(&self, input: &mut Value, cx: &ToolContext) {
        absolutise(input, "path", cx);
    }

    fn access(&self, input: &GlobInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Search(Scope::of(input, cx).base)]
    }

    async fn run(&self, input: GlobInput, cx: &ToolContext) -> ToolResult {
        let cx = cx.clone();
        blocking(move || glob(&input, &cx)).await
    }
}

fn glob(input: &GlobInput, cx: &ToolContext) -> FileResult {
    let began = Instant::now();
    if input.pattern.contains('\0') {
        return Err("pattern contains a NUL byte.".into());
    }
    if let Some(path) = &input.path {
        directory(Path::new(path))?;
    }
    let scope = Scope::of(input, cx);
    let found = match scope.root(cx)? {
        Some(root) => scope.search(&root, cx)?,
        None => Found::default(),
    };
    if cx.cancel.is_cancelled() {
        return Ok(interrupted());
    }
    let names: Vec<_> = found.paths.iter().map(|path| path.to_string_lossy()).collect();
    let mut content = names.join("\n");
    let truncated = found.total > names.len();
    if truncated {
        content.push_str(&format!(
            "\n[{} of {} files shown, the most recently changed. Narrow the pattern or the path to see others.]",
            names.len(),
            found.total
        ));
    }
    Ok(ToolResult::success(content).data(json!({
        "durationMs": began.elapsed().as_millis() as u64,
        "numFiles": names.len(),
        "filenames": names,
        "truncated": truncated,
        "totalMatches": found.total,
    })))
}

fn directory(path: &Path) -> Result<(), ToolRefusal> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!("{} is not a directory.", path.display()).into()),
        Err(error) => Err(io_refusal(path, &error)),
    }
}

/// Where a pattern is looked for, and what is left of it there.
struct Scope {
    base: PathBuf,
    rest: String,
    /// The pattern had no slash: it is tried on names, at any depth.
    by_name: bool,
}

impl Scope {
    fn of(input: &GlobInput, cx: &ToolContext) -> Scope {
        let pattern = input.pattern.as_str();
        let by_name = !pattern.contains('/');
        let (mut base, mut rest) = match pattern.strip_prefix("~/") {
            Some(rest) => (cx.home.clone(), rest),
            None if pattern.starts_with('/') => (PathBuf::from("/"), pattern),
            None => (input.path.as_ref().map_or_else(|| cx.cwd.clone(), |path| absolute(path, cx)), pattern),
        };
        while let Some((part, tail)) = rest.split_once('/')
            && !part.contains(['*', '?', '[', '{', '\\'])
        {
            base.push(part);
            rest = tail;
        }
        Scope { base: lexical(&base), rest: rest.to_owned(), by_name }
    }

    /// Returns how deep below the base a match can lie.
    fn depth(&self) -> Option<usize> {
        let bounded = !self.by_name && !self.rest.contains("**");
        bounded.then(|| self.rest.matches('/').count() + 1)
    }

    /// Returns where the base led when the call was judged, if it is a directory.
    fn root(&self, cx: &ToolContext) -> Result<Option<PathBuf>, ToolRefusal> {
        let root = real(&self.base, cx)?;
        match open_dir(&root) {
            Ok(_) => Ok(Some(root)),
            Err(OpenError::Io(_)) => Ok(None),
            Err(error @ OpenError::Link) => Err(refusal(&self.base, error)),
        }
    }

    fn search(&self, root: &Path, cx: &ToolContext) -> Result<Found, ToolRefusal> {
        let glob = GlobBuilder::new(&self.rest).literal_separator(true).empty_alternates(true).build();
        let matcher = glob.map_err(|error| format!("pattern: {error}."))?.compile_matcher();
        let shared = Mutex::new(Tally::default());
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .max_depth(self.depth())
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
            .build_parallel();
        walk.visit(&mut Seekers { scope: self, root, matcher: &matcher, cx, shared: &shared });
        let Tally { found, total } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Found { total, paths: found.into_sorted().into_iter().map(|(_, path)| path).collect() })
    }
}

#[derive(Default)]
struct Found {
    total: usize,
    paths: Vec<PathBuf>,
}

/// Newest first, then by name.
pub(crate) type Newest = (Reverse<SystemTime>, PathBuf);

pub(crate) fn newest(path: &Path, modified: std::io::Result<SystemTime>) -> Newest {
    (Reverse(modified.unwrap_or(SystemTime::UNIX_EPOCH)), path.to_owned())
}

struct Tally {
    found: Smallest<Newest>,
    total: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Self { found: Smallest::new(SHOWN), total: 0 }
    }
}

struct Seekers<'a> {
    scope: &'a Scope,
    root: &'a Path,
    matcher: &'a GlobMatcher,
    cx: &'a ToolContext,
    shared: &'a Mutex<Tally>,
}

impl<'s, 'a: 's> ParallelVisitorBuilder<'s> for Seekers<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        let Seekers { scope, root, matcher, cx, shared } = *self;
        Box::new(Seeker { scope, root, matcher, cx, shared, tally: Tally::default() })
    }
}

/// One thread's part of the walk. What it found is merged when it is done.
struct Seeker<'a> {
    scope: &'a Scope,
    root: &'a Path,
    matcher: &'a GlobMatcher,
    cx: &'a ToolContext,
    shared: &'a Mutex<Tally>,
    tally: Tally,
}

impl Seeker<'_> {
    fn matches(&self, entry: &DirEntry) -> bool {
        if self.scope.by_name {
            return self.matcher.is_match(entry.file_name());
        }
        entry.path().strip_prefix(self.root).is_ok_and(|below| self.matcher.is_match(below))
    }
}

impl ParallelVisitor for Seeker<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.cx.cancel.is_cancelled() {
            return WalkState::Quit;
        }
        // A directory that cannot be read has no files to show.
        let Ok(entry) = entry else { return WalkState::Continue };
        let kind = entry.file_type();
        if kind.is_none_or(|kind| kind.is_dir()) || !self.matches(&entry) {
            return WalkState::Continue;
        }
        if let Some(modified) = modified(entry.path())
            && (self.cx.may_show)(entry.path())
            && let Ok(below) = entry.path().strip_prefix(self.root)
        {
            // The same under the name that was asked for, where that is a link.
            let path = self.scope.base.join(below);
            if path == entry.path() || (self.cx.may_show)(&path) {
                self.tally.total += 1;
                self.tally.found.push(newest(&path, Ok(modified)), 1);
            }
        }
        WalkState::Continue
    }
}

/// When a file was changed, if it is one and lies where the walk found it: a directory that
/// has become a link since the walk began does not lend its names. A link counts as what
/// it leads to.
fn modified(path: &Path) -> Option<SystemTime> {
    match FileLocation::at(path).ok()?.info() {
        Ok(info) => info.filter(|info| info.kind != FileType::Directory).map(|info| info.modified),
        Err(OpenError::Link) => {
            let metadata = std::fs::metadata(path).ok().filter(|metadata| !metadata.is_dir())?;
            Some(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH))
        }
        Err(OpenError::Io(_)) => None,
    }
}

impl Drop for Seeker<'_> {
    fn drop(&mut self) {
        let Tally { found, total } = std::mem::take(&mut self.tally);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.found.merge(found);
        shared.total += total;
    }
}
