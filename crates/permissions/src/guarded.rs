//! The agent's own record and guards: what nothing may change, in any mode.
//!
//! The database with its companions, settings files, hook scripts, trust
//! records. They are recognised by the path as written and as resolved, also
//! before they exist, and in text that cannot be read as a script.

use crate::bash::words::{HOLE, class_length};
use crate::dirs::SessionDirs;
use crate::overlap::{self, Overlap, Relation, relation, segments};
use crate::resolve::{Forms, SearchBelow, search_below};
use crate::text::folded;
use crate::wildcard::Wildcard;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and folders nothing may change in any mode.
#[derive(Clone, Debug, Default)]
pub struct GuardedFiles {
    guards: Vec<Guard>,
    /// Directories too wide to be protected for a file somewhere in them; `safety` asks about those.
    broad: Vec<Vec<String>>,
    home: String,
    /// The path of the database, as scripts see it.
    database: Option<String>,
    /// The variables that hold its path in the script that is judged.
    variables: &'static [&'static str],
}

/// Variables that hold the path of the database in every child.
const DATABASE_VARIABLES: &[&str] = &["agent_sdlc_db", "ona_agent_db"];
/// In a test only this one does; the other names the test's own database.
const LIVE_VARIABLE: &[&str] = &["ona_agent_db"];

#[derive(Clone, Debug)]
struct Guard {
    shown: String,
    /// Both forms, by names.
    forms: Vec<Vec<String>>,
    /// Both forms, as text.
    texts: Vec<String>,
}

/// What is about to happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// The file is created or its content changes.
    Change,
    /// The path goes away, or another thing takes its place.
    Replace,
}

impl Guard {
    fn of(path: PathBuf, session_dirs: &SessionDirs) -> Self {
        let path = path.to_str().and_then(|text| session_dirs.directory(text)).unwrap_or(path);
        let forms = Forms::of(&path);
        Self {
            shown: path.display().to_string(),
            forms: forms.each().map(segments).collect(),
            texts: forms.each().map(|form| folded(&form.to_string_lossy())).collect(),
        }
    }
}

impl GuardedFiles {
    pub(crate) fn add(&mut self, files: impl IntoIterator<Item = PathBuf>, session_dirs: &SessionDirs) {
        self.guards.extend(files.into_iter().map(|path| Guard::of(path, session_dirs)));
    }

    /// `db` stands for its journal files and locks as well. A folder stands for what is in it.
    pub fn new(db: Option<PathBuf>, files: impl IntoIterator<Item = PathBuf>, session_dirs: &SessionDirs) -> Self {
        let with = |db: &Path, end: &str| {
            let mut path = db.as_os_str().to_owned();
            path.push(end);
            PathBuf::from(path)
        };
        let companions = ["", "-wal", "-shm", "-journal", ".locks", ".lock"];
        let database = db.iter().flat_map(|db| companions.map(|end| with(db, end)));
        let guards = database.chain(files).map(|path| Guard::of(path, session_dirs)).collect();
        let broad = session_dirs.working_dirs().chain([session_dirs.home.as_path()]).flat_map(|dir| {
            Forms::of(dir).each().flat_map(|dir| dir.ancestors().map(segments).collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        let database = db.as_ref().map(|db| folded(&db.to_string_lossy()));
        Self {
            guards,
            broad: broad.collect(),
            home: folded(&session_dirs.home.to_string_lossy()),
            database,
            variables: DATABASE_VARIABLES,
        }
    }

    /// For scripts whose `AGENT_SDLC_DB` is a database of their own (DEC-122).
    pub(crate) fn for_tests(&mut self) {
        self.variables = LIVE_VARIABLE;
    }

    /// Returns the guarded file a touch of this path would reach, as it should be shown.
    pub(crate) fn reached(&self, path: &Forms, touch: Touch) -> Option<&str> {
        path.each().find_map(|form| self.reached_by(form, touch)).or_else(|| self.linked(path))
    }

    /// Returns the guarded file of which this path is another name (a hard link).
    fn linked(&self, path: &Forms) -> Option<&str> {
        let metadata = path.each().filter_map(|path| std::fs::metadata(path).ok());
        // A folder has several names by nature; what is in it is found by its path.
        let linked = metadata.into_iter().find(|meta| meta.is_file() && meta.nlink() > 1)?;
        self.same_file(linked.dev(), linked.ino())
    }

    /// Returns the guarded file, or the folder it lies in, that is this very file.
    pub(crate) fn same_file(&self, dev: u64, ino: u64) -> Option<&str> {
        /// Levels of a guarded folder that are looked at.
        const LEVELS: usize = 8;
        let is_it = |meta: &Metadata| (meta.dev(), meta.ino()) == (dev, ino);
        let within = |path: &Path| path.symlink_metadata().is_ok_and(|meta| is_it(&meta));
        let holds = |guard: &&Guard| {
            let path = Path::new(&guard.shown);
            std::fs::metadata(path).is_ok_and(|meta| match meta.is_dir() {
                // More files than can be looked at: it may be one of them.
                true => search_below(path, LEVELS, within) != SearchBelow::Nothing,
                false => is_it(&meta),
            })
        };
        self.guards.iter().find(holds).map(|guard| guard.shown.as_str())
    }

    /// As `reached`, for a path that may have patterns and holes in it.
    pub(crate) fn reached_by(&self, path: &Path, touch: Touch) -> Option<&str> {
        let path = segments(path);
        let broad = self.broad.iter().any(|dir| dir.len() == path.len() && overlap::fits(&path, dir) != Overlap::No);
        let hit = |known: &Vec<String>| match relation(&path, known) {
            Relation::Within => true,
            Relation::Above => touch == Touch::Replace && !broad,
            Relation::Elsewhere => false,
        };
        self.guards.iter().find(|guard| guard.forms.iter().any(hit)).map(|guard| guard.shown.as_str())
    }

    /// Returns the guarded file that a copy of everything in `source` to `target` would replace.
    pub(crate) fn overwritten_by_copy(&self, target: &Forms, source: &Forms) -> Option<&str> {
        let source = source.real.as_deref().unwrap_or(&source.given);
        let replaced = |guard: &&Guard| {
            let guarded = Forms::of(Path::new(&guard.shown));
            let below = guarded.each().find_map(|path| target.each().find_map(|target| path.strip_prefix(target).ok()));
            below.is_some_and(|below| source.join(below).symlink_metadata().is_ok())
        };
        self.guards.iter().find(replaced).map(|guard| guard.shown.as_str())
    }

    /// Returns a guarded file below the directory whose name fits one of the patterns (none: any).
    pub(crate) fn below(&self, dir: &Forms, names: &[String]) -> Option<&str> {
        let dirs: Vec<_> = dir.each().map(segments).collect();
        let hit = |known: &Vec<String>| {
            dirs.iter().any(|dir| known.starts_with(dir) && !(names.is_empty() && self.broad.contains(dir)))
                && named(known, names)
        };
        self.guards.iter().find(|guard| guard.forms.iter().any(hit)).map(|guard| guard.shown.as_str())
    }

    /// Returns the guarded file that is there and of which this holds.
    pub(crate) fn lost(&self, is_lost: impl Fn(&Path) -> bool) -> Option<String> {
        let hit = |guard: &&Guard| {
            let forms = Forms::of(Path::new(&guard.shown));
            forms.each().any(&is_lost) && Path::new(&guard.shown).exists()
        };
        self.guards.iter().find(hit).map(|guard| guard.shown.clone())
    }

    /// Returns the guarded file a pattern of file names fits.
    pub(crate) fn matched(&self, path: &Path) -> Option<&str> {
        let path = segments(path);
        let hit = |known: &Vec<String>| relation(&path, known) == Relation::Within;
        self.guards.iter().find(|guard| guard.forms.iter().any(hit)).map(|guard| guard.shown.as_str())
    }

    /// Returns the guarded file a path with holes can be, by its fixed parts.
    pub(crate) fn could_be(&self, path: &Path) -> Option<&str> {
        let path = folded(&path.to_string_lossy());
        let fixed = path.find(is_wild)?;
        let dir = path[..fixed].rfind('/').map_or("", |end| &path[..end]);
        // Everything lies below these; that says nothing.
        let broad = dir.is_empty() || self.broad.contains(&segments(Path::new(dir)));
        if broad && !is_specific(&path[dir.len()..]) {
            return None;
        }
        let hit = |guard: &&Guard| guard.texts.iter().any(|known| can_be(&path, known));
        self.guards.iter().find(hit).map(|guard| guard.shown.as_str())
    }

    /// Returns the guarded file a walk through a directory comes across. In a directory that holds
    /// nearly everything it has to be there already.
    pub(crate) fn found_by_walk(
        &self,
        dir: &Forms,
        names: &[String],
        skipped: &[String],
        folders: bool,
    ) -> Option<&str> {
        let dirs: Vec<_> = dir.each().map(segments).collect();
        let broad = dirs.iter().any(|dir| self.broad.contains(dir));
        let meets = |guard: &&Guard| {
            let path = Path::new(&guard.shown);
            let found =
                guard.forms.iter().any(|known| dirs.iter().any(|dir| known.starts_with(dir)) && named(known, names));
            let left_out = || guard.texts.iter().any(|text| skipped.iter().any(|skip| skips(skip, text)));
            let there = !broad || path.exists();
            found && there && !left_out() && (!folders || !path.is_file())
        };
        self.guards.iter().find(meets).map(|guard| guard.shown.as_str())
    }

    /// Returns a guarded file that ends with `tail` and is named in a text without it.
    pub(crate) fn mentioned_without<'d>(
        &self,
        text: &str,
        tail: &str,
        dirs: impl IntoIterator<Item = &'d Path>,
    ) -> Option<&str> {
        let tail = folded(tail);
        if tail.is_empty() || tail.contains(HOLE) {
            return None;
        }
        let text = self.normalized(text);
        let dirs: Vec<String> = dirs.into_iter().map(|dir| folded(&dir.to_string_lossy())).collect();
        let hit = |guard: &&Guard| {
            guard.texts.iter().filter_map(|path| path.strip_suffix(&tail)).any(|path| {
                let relative = dirs.iter().filter_map(|dir| path.strip_prefix(dir)?.strip_prefix('/'));
                std::iter::once(path).chain(relative).any(|path| mentions_path(&text, path))
            })
        };
        self.guards.iter().find(hit).map(|guard| guard.shown.as_str())
    }

    /// Returns a guarded file named somewhere in a text, seen from these directories.
    pub(crate) fn mentioned<'d>(&self, text: &str, dirs: impl IntoIterator<Item = &'d Path>) -> Option<&str> {
        let text = self.normalized(text);
        let dirs: Vec<String> = dirs.into_iter().map(|dir| folded(&dir.to_string_lossy())).collect();
        self.guards
            .iter()
            .find(|guard| {
                guard.texts.iter().any(|path| {
                    let relative = dirs.iter().filter_map(|dir| path.strip_prefix(dir)?.strip_prefix('/'));
                    std::iter::once(path.as_str()).chain(relative).any(|path| mentions_path(&text, path))
                })
            })
            .map(|guard| guard.shown.as_str())
    }

    /// Returns the text with quotes and escapes removed and the home directory spelled out.
    fn normalized(&self, text: &str) -> String {
        let mut text: String = folded(text).chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '`')).collect();
        for home in ["${home}", "$home"] {
            text = text.replace(home, &self.home);
        }
        // Naming the variable is naming the file, however its value is fetched.
        if let Some(database) = &self.database {
            for name in self.variables {
                for form in [format!("${{{name}}}"), format!("${name}")] {
                    text = text.replace(&form, database);
                }
                text = replace_unless_assigned(&text, name, database);
            }
        }
        text = text.replace("~/", &format!("{}/", self.home));
        while text.contains("//") || text.contains("/./") {
            text = text.replace("/./", "/").replace("//", "/");
        }
        text.replace(" ./", " ")
    }
}

/// Returns whether the last name fits one of the patterns (none: any).
fn named(known: &[String], names: &[String]) -> bool {
    let last = &known[known.len().saturating_sub(1)..];
    names.is_empty() || names.iter().any(|name| relation(&segments(Path::new(name)), last) == Relation::Within)
}

/// Returns whether `-not -path PATTERN` leaves out a file. The pattern may start at the start of the walk.
fn skips(pattern: &str, path: &str) -> bool {
    let pattern = folded(pattern);
    let below = pattern.trim_start_matches("./").trim_matches(['/', '*']);
    Wildcard::new(&pattern).fits(path)
        || !below.is_empty() && Wildcard::new(&format!("*/{below}/*")).fits(path)
        || Wildcard::new(&format!("*/{below}")).fits(path)
}

fn is_wild(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | HOLE)
}

/// Returns whether a text with holes says anything. An extension right behind a hole does not:
/// `"$name.json"` is how loops name their results.
fn is_specific(text: &str) -> bool {
    let runs: Vec<&str> = text.split(is_wild).collect();
    let last = runs.len() - 1;
    runs.iter().enumerate().any(|(at, run)| {
        let before = text[..run.as_ptr() as usize - text.as_ptr() as usize].chars().next_back();
        let extension = at == last && before == Some(HOLE) && run.starts_with('.') && !run.contains('/');
        !extension && run.chars().any(|c| !matches!(c, '/' | '.' | ']'))
    })
}

/// Returns whether a text with holes can be the path: a hole stands for any text, a pattern for a part of a name.
fn can_be(text: &str, path: &str) -> bool {
    let path = path.as_bytes();
    // reach[at]: what was read of the text can be path[..at].
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[if c == '[' { class_length(rest) } else { c.len_utf8() }..];
        match c {
            c if is_wild(c) => {
                for at in 0..path.len() {
                    reach[at + 1] |= reach[at] && (c == HOLE || path[at] != b'/');
                }
            }
            c => {
                let mut utf8 = [0; 4];
                for byte in c.encode_utf8(&mut utf8).bytes() {
                    for at in (0..path.len()).rev() {
                        reach[at + 1] = reach[at] && path[at] == byte;
                    }
                    reach[0] = false;
                }
            }
        }
    }
    reach[path.len()]
}

/// `NAME=value` gives the variable another value, which is not the file it held.
fn replace_unless_assigned(text: &str, name: &str, with: &str) -> String {
    let mut parts = text.split(name);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let starts =
            replaced.chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '('));
        if starts && part.starts_with('=') {
            replaced.push_str(name);
        } else {
            // `process.env.NAME` names the file; the text before it is not a part of its path.
            replaced.push(' ');
            replaced.push_str(with);
        }
        replaced.push_str(part);
    }
    replaced
}

/// Returns whether the text names the path, not a longer one.
fn mentions_path(text: &str, path: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + path.len()..].chars();
        let longer = match after.next() {
            Some('.') => after.next().is_some_and(part),
            Some(c) => part(c),
            None => false,
        };
        let starts = before.is_none_or(|c| !part(c) && !matches!(c, '.' | '/') || path.starts_with('/') && c == '/');
        // `./x` names x.
        let dotted = before == Some('/') && text[..at].ends_with("./") && !text[..at].ends_with("../");
        (starts || dotted) && !longer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded() -> GuardedFiles {
        let session_dirs = SessionDirs { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        GuardedFiles::new(
            Some("/w/ona.db".into()),
            ["~/.claude/settings.json".into(), "/w/hooks".into()],
            &session_dirs,
        )
    }

    #[test]
    fn files_companions_and_folders_are_protected() {
        for path in ["/w/ona.db", "/w/ona.db-wal", "/w/ona.db.locks/x", "/h/.claude/settings.json", "/w/hooks/a.sh"] {
            assert!(guarded().reached_by(Path::new(path), Touch::Change).is_some(), "{path}");
        }
        for path in ["/w/ona.db.old", "/w", "/h/.claude", "/h/.claude/other", "/w/hooks2"] {
            assert_eq!(guarded().reached_by(Path::new(path), Touch::Change), None, "{path}");
        }
        assert!(guarded().reached_by(Path::new("/h/.claude"), Touch::Replace).is_some());
        assert!(guarded().reached_by(Path::new("/w/*.db"), Touch::Replace).is_some());
        assert_eq!(guarded().reached_by(Path::new("/h"), Touch::Replace), None, "that is for the safety checks");
    }

    #[test]
    fn a_mention_is_recognised_in_any_spelling() {
        for text in [
            "open('/w/ona.db','w')",
            "x ~/.claude/settings.json",
            "x $HOME/.claude/settings.json;",
            "x \"${HOME}\"/.claude//settings.json",
            "x /h/./.claude/set\\tings.json",
            "(ona.db)",
            "./ona.db",
            "hooks/a.sh",
            "x \"$AGENT_SDLC_DB\" y",
            "x ${AGENT_SDLC_DB}-wal",
            "connect(os.environ['ONA_AGENT_DB'])",
            "AGENT_SDLC_DB=/x y $AGENT_SDLC_DB",
        ] {
            assert!(guarded().mentioned(text, [Path::new("/w")]).is_some(), "{text}");
        }
        for text in [
            "AGENT_SDLC_DB=/x/other.db y /x/other.db",
            "ona.db.old",
            "/x/ona.db",
            "my-ona.db",
            "hooks2",
            "webhooks",
            "../ona.db",
        ] {
            assert_eq!(guarded().mentioned(text, [Path::new("/w")]), None, "{text}");
        }
    }
}
