//! Rule files: Markdown below a `rules` folder, for everything or for some paths only.

use crate::frontmatter::{self, StringList};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ona_files::{DirEntries, Follow};
use std::path::{Path, PathBuf};

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Meta {
    paths: StringList,
}

/// A rule that waits for a file its patterns match.
#[derive(Clone, Debug)]
pub(crate) struct ScopedRule {
    pub file: PathBuf,
    pub patterns: Vec<String>,
    set: GlobSet,
    /// What the patterns are relative to.
    root: PathBuf,
}

impl ScopedRule {
    pub(crate) fn covers(&self, path: &Path) -> bool {
        path.strip_prefix(&self.root).is_ok_and(|relative| self.set.is_match(relative))
    }
}

/// `Some` if the rule is for some paths only.
pub(crate) fn scoped(file: &Path, text: &str, root: &Path) -> Option<ScopedRule> {
    let (meta, _) = frontmatter::split::<Meta>(text);
    if meta.paths.0.is_empty() {
        return None;
    }
    let set = glob_set(&meta.paths.0);
    Some(ScopedRule { file: file.to_owned(), patterns: meta.paths.0, set, root: root.to_owned() })
}

/// An invalid pattern matches nothing.
pub(crate) fn glob_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Returns the text of a rule without its block.
pub(crate) fn body(text: &str) -> &str {
    frontmatter::split::<Meta>(text).1
}

/// How deep folders are looked through.
const DEEPEST: usize = 8;

/// Markdown files below a folder, sorted, and whether there are too many to look at them all.
/// Links are followed, cycles are not.
pub(crate) fn files(folder: &Path) -> DirEntries {
    let mut found = ona_files::list_below(folder, DEEPEST, Follow::Links);
    found.paths.retain(|path| path.extension().is_some_and(|ending| ending == "md") && !path.is_dir());
    found
}
