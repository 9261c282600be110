//! Visits the files of a tree on several threads and gathers their hits.

use super::print::{FileHits, HitPrinter, Style};
use super::shown;
use crate::ToolContext;
use crate::files::{ToolRefusal, io_refusal};
use crate::glob::{Newest, newest};
use crate::resolved_file::ResolvedFile;
use crate::smallest::Smallest;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of one file held at a time: a line, or all of it in a multi-line search.
const MAX_HELD: usize = 256 * 1024 * 1024;

pub(super) struct Search<'a> {
    pub root: &'a ResolvedFile<'a>,
    pub matcher: RegexMatcher,
    pub style: Style,
    pub multiline: bool,
    /// How many entries, in order, are needed.
    pub window: usize,
    pub cx: &'a ToolContext,
}

/// What was found: the first entries in order, and how much there is in all.
#[derive(Default)]
pub(super) struct Hits {
    pub entries: Vec<String>,
    /// Entries in all.
    pub total: usize,
    pub files: usize,
    pub matches: u64,
    pub unreadable: usize,
}

pub(super) struct Filters {
    globs: Override,
    types: Option<Types>,
}

pub(super) fn filters(root: &Path, globs: Option<&str>, kind: Option<&str>) -> Result<Filters, ToolRefusal> {
    let mut builder = OverrideBuilder::new(root);
    for glob in globs.map(split_globs).unwrap_or_default() {
        builder.add(glob).map_err(|error| format!("glob: {error}."))?;
    }
    let globs = builder.build().map_err(|error| format!("glob: {error}."))?;
    let types = |name: &str| TypesBuilder::new().add_defaults().select(name).build();
    let types = kind.map(types).transpose().map_err(|error| format!("type: {error}."))?;
    Ok(Filters { globs, types })
}

/// Several globs in one text, separated by spaces or by commas outside braces.
fn split_globs(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let separates = move |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.is_whitespace() || (c == ',' && depth == 0)
    };
    text.split(separates).filter(|glob| !glob.is_empty()).collect()
}

impl Search<'_> {
    /// Searches the one file that was named. It is searched even if it looks binary.
    pub(crate) fn file(&self) -> Result<Hits, ToolRefusal> {
        let (file, info) = self.root.open()?;
        let path = self.root.path;
        // It may have been a directory when the call was judged.
        if !(self.cx.may_show)(path) || !(self.cx.may_show)(&self.root.real) {
            return Err(format!("{} may not be read.", path.display()).into());
        }
        let mut searcher = self.searcher(BinaryDetection::convert(0));
        let printer = HitPrinter::new(&self.matcher, self.style, self.window);
        let hits = printer.search(path, |matcher, sink| searcher.search_file(matcher, &file, sink));
        let mut found = Found::new(self.window);
        if let Some(hits) = hits.map_err(|error| io_refusal(path, &error))? {
            found.add(self.style, path, hits, || Ok(info.modified));
        }
        Ok(found.into_hits(self.style))
    }

    pub(crate) fn tree(&self, filters: Filters) -> Result<Hits, ToolRefusal> {
        // The walk reads ignore files itself, and would wait for a pipe in their place.
        for folder in self.root.real.ancestors() {
            if let Err((file, why)) = ona_files::check_ignore_files(folder) {
                return Err(format!("{} {why}; nothing below it can be searched.", file.display()).into());
            }
        }
        let skipped = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&skipped);
        let mut walk = WalkBuilder::new(&self.root.real);
        walk.hidden(false)
            // Results depend on the tree, not on who asks.
            .git_global(false)
            .current_dir(&self.root.real)
            .overrides(filters.globs)
            .filter_entry(move |entry| {
                if entry.depth() == 0 || entry.file_name() == ".git" {
                    return entry.depth() == 0;
                }
                let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
                let fit = !is_dir || ona_files::check_ignore_files(entry.path()).is_ok();
                count.fetch_add(usize::from(!fit), Ordering::Relaxed);
                fit
            });
        if let Some(types) = filters.types {
            walk.types(types);
        }
        let shared = Mutex::new(Found::new(self.window));
        walk.build_parallel().visit(&mut Seekers { search: self, shared: &shared });
        let mut hits = shared.into_inner().unwrap_or_else(PoisonError::into_inner).into_hits(self.style);
        hits.unreadable += skipped.load(Ordering::Relaxed);
        Ok(hits)
    }

    /// Returns the path as it was asked for, where that leads through links.
    fn shown<'p>(&self, found: &'p Path) -> Cow<'p, Path> {
        match found.strip_prefix(&self.root.real) {
            Ok(below) if self.root.path != self.root.real => self.root.path.join(below).into(),
            _ => found.into(),
        }
    }

    fn may_show(&self, path: &Path, found: &Path) -> bool {
        (self.cx.may_show)(path) && (path == found || (self.cx.may_show)(found))
    }

    fn searcher(&self, binary: BinaryDetection) -> Searcher {
        let (before, after) = self.style.context();
        SearcherBuilder::new()
            .heap_limit(Some(MAX_HELD))
            .binary_detection(binary)
            .line_number(self.style.has_numbers())
            .multi_line(self.multiline)
            .before_context(before)
            .after_context(after)
            .build()
    }
}

/// What one thread, or in the end all, have found.
struct Found {
    by_age: Smallest<Newest>,
    by_path: Smallest<(PathBuf, Vec<String>)>,
    entries: usize,
    files: usize,
    matches: u64,
    unreadable: usize,
}

impl Found {
    fn new(window: usize) -> Self {
        Self {
            by_age: Smallest::new(window),
            by_path: Smallest::new(window),
            entries: 0,
            files: 0,
            matches: 0,
            unreadable: 0,
        }
    }

    fn add(
        &mut self,
        style: Style,
        path: &Path,
        hits: FileHits,
        modified: impl FnOnce() -> std::io::Result<std::time::SystemTime>,
    ) {
        self.files += 1;
        self.matches += hits.matches;
        match style {
            Style::Files => {
                self.entries += 1;
                self.by_age.push(newest(path, modified()), 1);
            }
            Style::Counts => {
                self.entries += 1;
                self.by_path.push((path.into(), vec![format!("{}:{}", shown(path), hits.matches)]), 1);
            }
            Style::Lines { .. } => {
                self.entries += hits.total;
                self.by_path.push((path.into(), hits.lines), hits.total);
            }
        }
    }

    fn merge(&mut self, other: Found) {
        self.by_age.merge(other.by_age);
        self.by_path.merge(other.by_path);
        self.entries += other.entries;
        self.files += other.files;
        self.matches += other.matches;
        self.unreadable += other.unreadable;
    }

    fn into_hits(self, style: Style) -> Hits {
        let by_age = self.by_age.into_sorted().into_iter().map(|(_, path)| shown(&path).into_owned());
        let mut entries: Vec<String> = by_age.collect();
        let mut total = self.entries;
        let separated = style.context() != (0, 0);
        for (_, lines) in self.by_path.into_sorted() {
            if separated && !entries.is_empty() {
                entries.push(super::print::BREAK.into());
            }
            entries.extend(lines);
        }
        if separated {
            total += self.files.saturating_sub(1);
        }
        Hits { entries, total, files: self.files, matches: self.matches, unreadable: self.unreadable }
    }
}

struct Seekers<'a> {
    search: &'a Search<'a>,
    shared: &'a Mutex<Found>,
}

impl<'s, 'a: 's> ParallelVisitorBuilder<'s> for Seekers<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        let Seekers { search, shared } = *self;
        Box::new(Seeker {
            search,
            shared,
            searcher: search.searcher(BinaryDetection::quit(0)),
            printer: HitPrinter::new(&search.matcher, search.style, search.window),
            found: Found::new(search.window),
        })
    }
}

/// One thread's part of the search, with its own buffers.
struct Seeker<'a> {
    search: &'a Search<'a>,
    shared: &'a Mutex<Found>,
    searcher: Searcher,
    printer: HitPrinter<'a>,
    found: Found,
}

impl ParallelVisitor for Seeker<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.search.cx.cancel.is_cancelled() {
            return WalkState::Quit;
        }
        let Ok(entry) = entry else {
            self.found.unreadable += 1;
            return WalkState::Continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return WalkState::Continue;
        }
        let path = self.search.shown(entry.path());
        let searcher = &mut self.searcher;
        // What was found under this path is opened under it: a folder that has become a link is left out.
        let opened = ona_files::open_file(entry.path()).map_err(std::io::Error::other);
        let hits = opened.and_then(|file| {
            let hits = self.printer.search(&path, |matcher, sink| searcher.search_file(matcher, &file, sink))?;
            Ok(hits.map(|hits| (hits, file)))
        });
        match hits {
            // Asked only here, because most files have no hit.
            Ok(Some((hits, file))) if self.search.may_show(&path, entry.path()) => {
                self.found.add(self.search.style, &path, hits, || file.metadata()?.modified());
            }
            Ok(_) => {}
            Err(_) => self.found.unreadable += usize::from(self.search.may_show(&path, entry.path())),
        }
        WalkState::Continue
    }
}

impl Drop for Seeker<'_> {
    fn drop(&mut self) {
        let found = std::mem::replace(&mut self.found, Found::new(self.search.window));
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_separated_by_spaces_and_commas_but_not_in_braces() {
        assert_eq!(split_globs("*.ts,*.{js,jsx} !x"), ["*.ts", "*.{js,jsx}", "!x"]);
    }
}
