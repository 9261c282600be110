//! Path rules: `Read(pattern)` and `Edit(pattern)`, in the manner of gitignore.
//!
//! Anchors: `//x` the root, `~/x` home, `/x` the project, `x` and `./x` the start
//! directory. A pattern that denies or asks reaches any depth below the start
//! and ignores case; one that allows means what it says. Braces and `!` are
//! ordinary characters. A directory stands for its content.

use crate::dirs::SessionDirs;
use crate::overlap::{self, Overlap};
use crate::resolve::Forms;
use crate::text::{composed, path_text};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// How far a pattern reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternScope {
    /// Allow: narrow.
    Narrow,
    /// Deny and ask: wide.
    Wide,
}

#[derive(Clone, Debug)]
pub(crate) struct PathRule {
    roots: Vec<PathBuf>,
    matcher: Gitignore,
    /// The pattern by names, `**` for any depth.
    names: Vec<String>,
}

impl PathRule {
    /// `None` if the pattern is not a valid glob.
    pub(crate) fn new(pattern: &str, scope: PatternScope, session_dirs: &SessionDirs) -> Option<Self> {
        let (roots, line) = anchored(pattern, scope, session_dirs);
        let mut builder = GitignoreBuilder::new(".");
        builder.case_insensitive(scope == PatternScope::Wide).ok()?;
        builder.add_line(None, &line).ok()?;
        let matcher = builder.build().ok()?;
        let roots =
            roots.iter().flat_map(|root| Forms::of(root).each().map(Path::to_path_buf).collect::<Vec<_>>()).collect();
        let mut names = overlap::segments(Path::new(&line));
        if !line.starts_with('/') && names.first().is_none_or(|name| name != "**") {
            names.insert(0, "**".to_owned());
        }
        Some(Self { roots, matcher, names })
    }

    /// Returns whether either form of the path is meant.
    pub(crate) fn matches_either_form(&self, path: &Forms) -> bool {
        path.each().any(|form| self.matches(form))
    }

    /// Returns whether both forms are meant. What cannot be resolved is not covered.
    pub(crate) fn covers(&self, path: &Forms) -> bool {
        path.real.as_deref().is_some_and(|real| self.matches(real)) && self.matches(&path.given)
    }

    /// Returns whether what is in the directory is meant, without looking at names.
    pub(crate) fn matches_content(&self, dir: &Forms) -> bool {
        self.matches_either_form(&dir.join(NOBODY))
    }

    pub(crate) fn covers_content(&self, dir: &Forms) -> bool {
        self.covers(&dir.join(NOBODY))
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| {
            let Ok(below) = path.strip_prefix(root) else { return false };
            let below = path_text(below);
            self.matcher.matched_path_or_any_parents(Path::new(below.as_ref()), false).is_ignore()
        })
    }

    /// Returns whether a path with patterns or holes in it can be meant.
    pub(crate) fn could_match(&self, path: &Path) -> Overlap {
        let path = overlap::segments(path);
        let below = self.roots.iter().filter_map(|root| {
            let root = overlap::segments(root);
            path.starts_with(&root).then(|| overlap::fits(&path[root.len()..], &self.names))
        });
        let unrooted = path.iter().position(|name| name.contains(crate::bash::words::HOLE));
        // `$D/.env` may be anywhere, also below the root of the rule.
        let loose = unrooted.map(|at| overlap::fits(&path[at..], &self.names));
        below.chain(loose).max().unwrap_or(Overlap::No)
    }

    /// Returns whether the rule can mean something below the directory.
    pub(crate) fn is_near(&self, dir: &Path) -> bool {
        self.roots.iter().any(|root| root.starts_with(dir) || dir.starts_with(root))
    }

    /// Returns whether a file called like this, anywhere, can be meant.
    pub(crate) fn could_match_name(&self, name: &str) -> Overlap {
        match self.names.as_slice() {
            [any, last] if any == "**" => {
                overlap::fits(&overlap::segments(Path::new(name)), std::slice::from_ref(last))
            }
            [.., last] => {
                overlap::fits(&overlap::segments(Path::new(name)), std::slice::from_ref(last)).min(Overlap::Maybe)
            }
            [] => Overlap::No,
        }
    }
}

/// A name that no file has.
const NOBODY: &str = "\u{fdd0}";

/// Returns whether the pattern can be used at all.
pub(crate) fn is_valid(pattern: &str) -> bool {
    let nowhere = SessionDirs { project: "/".into(), start: "/".into(), home: "/".into(), extra: Vec::new() };
    PathRule::new(pattern, PatternScope::Wide, &nowhere).is_some()
}

/// Returns the pattern for exactly this file, wherever the session runs.
pub(crate) fn literally(path: &Path) -> String {
    let mut pattern = String::from("/");
    for c in path_text(path).chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Returns the directories a pattern hangs below, and the gitignore line for it.
fn anchored(pattern: &str, scope: PatternScope, session_dirs: &SessionDirs) -> (Vec<PathBuf>, String) {
    let pattern = composed(pattern.trim());
    let fixed = |root: &Path, rest: &str| (vec![root.to_path_buf()], line(rest, Depth::Top));
    if let Some(rest) = pattern.strip_prefix("//") {
        return fixed(Path::new("/"), rest);
    }
    if let Some(rest) = pattern.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        return fixed(&session_dirs.home, rest);
    }
    if let Some(rest) = pattern.strip_prefix('/') {
        return fixed(&session_dirs.project, rest);
    }
    let mut start = session_dirs.start.as_path();
    let mut rest: &str = &pattern;
    let mut dotted = false;
    loop {
        if let Some(below) = rest.strip_prefix("../") {
            start = start.parent().unwrap_or(start);
            rest = below;
        } else if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else {
            break;
        }
        dotted = true;
    }
    let whole_tree = matches!(rest, "" | "." | "*" | "**" | "**/*");
    let mut roots = vec![start.to_path_buf()];
    // A pattern for the whole tree applies to every working directory.
    if scope == PatternScope::Wide || whole_tree {
        roots.extend(session_dirs.extra.iter().cloned());
    }
    let depth = match scope {
        PatternScope::Wide => Depth::Any,
        PatternScope::Narrow if dotted || rest.trim_end_matches('/').contains('/') => Depth::Top,
        PatternScope::Narrow => Depth::Any,
    };
    (roots, line(rest, depth))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Any,
}

fn line(pattern: &str, depth: Depth) -> String {
    let pattern = pattern.trim_start_matches('/');
    if matches!(pattern, "" | "." | "**") {
        return "**".to_owned();
    }
    let inner = pattern.trim_end_matches('/').contains('/');
    let mut line = match depth {
        Depth::Top => "/".to_owned(),
        Depth::Any if inner && !pattern.starts_with("**/") => "**/".to_owned(),
        Depth::Any => String::new(),
    };
    for (at, c) in pattern.char_indices() {
        if matches!(c, '{' | '}') || (at == 0 && line.is_empty() && matches!(c, '!' | '#')) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, scope: PatternScope, path: &str) -> bool {
        let session_dirs =
            SessionDirs { project: "/p".into(), start: "/p/s".into(), home: "/h".into(), extra: vec!["/x".into()] };
        PathRule::new(pattern, scope, &session_dirs).unwrap().matches(Path::new(path))
    }

    #[test]
    fn anchors_and_depth() {
        use PatternScope::{Narrow, Wide};
        for (pattern, scope, path, expected) in [
            ("//etc/hosts", Wide, "/etc/hosts", true),
            ("//etc", Wide, "/etc/hosts", true),
            ("/etc/hosts", Wide, "/etc/hosts", false),
            ("/a", Wide, "/p/a", true),
            ("/a", Wide, "/p/b/a", false),
            ("~/*.txt", Narrow, "/h/a.txt", true),
            ("~/*.txt", Narrow, "/h/b/a.txt", false),
            (".env", Wide, "/p/s/.env", true),
            (".env", Wide, "/p/s/a/b/.env", true),
            (".env", Wide, "/p/.env", false),
            (".env", Wide, "/x/.env", true),
            ("./.env", Wide, "/p/s/a/.env", true),
            ("a/b", Wide, "/p/s/c/a/b", true),
            ("a/b", Narrow, "/p/s/c/a/b", false),
            ("a/b", Narrow, "/p/s/a/b/c", true),
            (".env", Narrow, "/p/s/a/.env", true),
            ("./.env", Narrow, "/p/s/a/.env", false),
            ("./**", Narrow, "/p/s/a/b", true),
            ("./**", Narrow, "/x/a", true),
            ("./**", Narrow, "/p/a", false),
            ("../**", Narrow, "/p/a", true),
            ("src/", Wide, "/p/s/src/a", true),
            ("*.{js,ts}", Wide, "/p/s/a.js", false),
            ("*.{js,ts}", Wide, "/p/s/a.{js,ts}", true),
            ("!a", Wide, "/p/s/!a", true),
            ("!a", Wide, "/p/s/b", false),
            ("#a", Wide, "/p/s/#a", true),
            ("A.TXT", Wide, "/p/s/a.txt", true),
            ("A.TXT", Narrow, "/p/s/a.txt", false),
            ("caf\u{e9}/**", Wide, "/p/s/cafe\u{301}/x", true),
            ("src/?.js", Wide, "/p/s/src/a.js", true),
            ("src/[c].ts", Wide, "/p/s/src/c.ts", true),
        ] {
            assert_eq!(matches(pattern, scope, path), expected, "{scope:?} {pattern} {path}");
        }
        assert!(!is_valid("[z-a]"));
    }

    #[test]
    fn a_literal_pattern_means_one_file() {
        let path = Path::new("/a/[b]*{c}\\d");
        assert!(matches(&literally(path), PatternScope::Narrow, "/a/[b]*{c}\\d"));
        assert!(!matches(&literally(path), PatternScope::Narrow, "/a/bx{c}\\d"));
    }
}
