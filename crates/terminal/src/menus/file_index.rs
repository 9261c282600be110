//! The files and folders of a project, to be found by a few letters.
//!
//! Made once for a tree and never changed. All paths stand in one text, in order of depth and length, with
//! one word of bits per path that says which letters occur in it: most paths are ruled out by
//! comparing one number. As letters are added, only what fitted before is looked at.

use super::fuzzy;
use std::cmp::Reverse;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct FileIndex {
    /// All paths one after another; folders end with a slash.
    paths: String,
    lower: String,
    entries: Vec<IndexEntry>,
    /// The walk ended early: there are more files than this.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    start: u32,
    length: u16,
    /// Where the last part begins.
    name: u16,
    mask: u64,
}

/// A path that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatch {
    pub path: String,
    /// Bytes of the path that were typed.
    pub matched: Vec<usize>,
}

/// A query that grows letter by letter.
#[derive(Clone, Debug, Default)]
pub struct FileQuery {
    typed: String,
    fitting: Option<Vec<u32>>,
    /// Paths that were looked at for the newest letter; for tests that count.
    pub looked_at: usize,
    pub scored: usize,
}

/// A key must not wait for more paths than this. Paths are in order of depth and length, so
/// that those left out are the deepest.
const MOST_SCORED: usize = 20_000;

impl FileIndex {
    /// Makes an index of relative paths; folders end with a slash.
    pub fn new(mut paths: Vec<String>) -> FileIndex {
        paths.retain(|path| !path.is_empty() && path.len() <= usize::from(u16::MAX));
        let depth = |path: &str| path.trim_end_matches('/').bytes().filter(|byte| *byte == b'/').count();
        paths.sort_by(|a, b| (depth(a), a.len(), a).cmp(&(depth(b), b.len(), b)));
        paths.dedup();
        let mut index = FileIndex::default();
        for path in paths {
            let name = path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
            let lower = path.to_ascii_lowercase();
            let (Ok(start), Ok(length), Ok(name)) =
                (u32::try_from(index.paths.len()), u16::try_from(path.len()), u16::try_from(name))
            else {
                index.cut = true;
                break;
            };
            index.entries.push(IndexEntry { start, length, name, mask: fuzzy::mask(lower.as_bytes()) });
            index.paths.push_str(&path);
            index.lower.push_str(&lower);
        }
        index
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn range(entry: IndexEntry) -> std::ops::Range<usize> {
        let start = entry.start as usize;
        start..start + usize::from(entry.length)
    }

    fn found(&self, number: u32, typed: &str) -> FileMatch {
        let entry = self.entries[number as usize];
        let path = &self.paths[Self::range(entry)];
        FileMatch { path: path.to_owned(), matched: fuzzy::positions(path, usize::from(entry.name), typed) }
    }
}

impl FileQuery {
    /// Returns the best paths for what is typed now.
    pub fn search(&mut self, index: &Arc<FileIndex>, typed: &str, most: usize) -> Vec<FileMatch> {
        let typed = typed.trim_start_matches("./").to_ascii_lowercase();
        if !typed.starts_with(&self.typed) || self.typed.is_empty() {
            self.fitting = None;
        }
        self.typed.clone_from(&typed);
        (self.looked_at, self.scored) = (0, 0);
        if typed.is_empty() {
            return (0..index.entries.len().min(most) as u32).map(|number| index.found(number, "")).collect();
        }
        let wanted = fuzzy::mask(typed.as_bytes());
        let mut best: Vec<(Reverse<i32>, u32)> = Vec::new();
        let mut fitting = Vec::new();
        let numbers: Box<dyn Iterator<Item = u32>> = match &self.fitting {
            Some(fitting) => Box::new(fitting.iter().copied()),
            None => Box::new(0..index.entries.len() as u32),
        };
        let mut all = true;
        for number in numbers {
            self.looked_at += 1;
            let entry = index.entries[number as usize];
            if entry.mask & wanted != wanted {
                continue;
            }
            if self.scored == MOST_SCORED {
                all = false;
                break;
            }
            self.scored += 1;
            let path = &index.lower.as_bytes()[FileIndex::range(entry)];
            if let Some(score) = fuzzy::score(path, usize::from(entry.name), typed.as_bytes()) {
                fitting.push(number);
                best.push((Reverse(score), number));
            }
        }
        if all {
            self.fitting = Some(fitting);
        }
        if best.len() > most {
            best.select_nth_unstable(most);
            best.truncate(most);
        }
        best.sort_unstable();
        best.into_iter().map(|(_, number)| index.found(number, &typed)).collect()
    }

    /// A new index has other numbers.
    pub fn reset(&mut self) {
        self.fitting = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{FileIndex, FileQuery, MOST_SCORED};
    use std::sync::Arc;

    fn search(paths: &[&str], typed: &str) -> Vec<String> {
        let index = Arc::new(FileIndex::new(paths.iter().map(|path| (*path).to_owned()).collect()));
        FileQuery::default().search(&index, typed, 5).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn the_file_that_is_meant_comes_first() {
        let paths = &[
            "README.md",
            "src/",
            "src/main.rs",
            "src/parser/mod.rs",
            "src/parser/lexer.rs",
            "src/domain.rs",
            "tests/parser_tests.rs",
            "docs/maintenance.md",
        ];
        for (typed, first) in [
            ("main", "src/main.rs"),
            ("MAIN", "src/main.rs"),
            ("lex", "src/parser/lexer.rs"),
            ("pm", "src/parser/mod.rs"),
            ("read", "README.md"),
            ("./src/d", "src/domain.rs"),
            ("tests/", "tests/parser_tests.rs"),
            ("partest", "tests/parser_tests.rs"),
        ] {
            assert_eq!(search(paths, typed).first().map(String::as_str), Some(first), "{typed}");
        }
        assert_eq!(search(paths, "xyz"), Vec::<String>::new());
        assert_eq!(search(paths, "")[..2], ["src/", "README.md"]);
    }

    #[test]
    fn what_was_typed_is_marked() {
        let index = Arc::new(FileIndex::new(vec!["src/main.rs".into()]));
        assert_eq!(FileQuery::default().search(&index, "mrs", 1)[0].matched, [4, 9, 10]);
    }

    /// A large tree with names as they are.
    fn large() -> Arc<FileIndex> {
        let parts = ["core", "render", "parser", "network", "storage", "widgets", "util", "tests", "session", "model"];
        let mut paths = Vec::new();
        for n in 0..100_000usize {
            let part = |at: usize| parts[n / 10usize.pow(at as u32) % 10];
            paths.push(format!("packages/{}/{}/src/{}/{}_{n}.rs", part(4), part(3), part(2), part(1)));
        }
        Arc::new(FileIndex::new(paths))
    }

    #[test]
    fn a_key_looks_at_a_bounded_number_of_a_hundred_thousand_paths() {
        let index = large();
        let mut query = FileQuery::default();
        for typed in ["s", "se", "ses", "sess", "sessi", "sessio", "session", "session_9", "session_99980"] {
            let found = query.search(&index, typed, 50);
            assert!(!found.is_empty(), "{typed}");
            assert!(query.scored <= MOST_SCORED, "{typed}: {}", query.scored);
        }
        assert!(query.looked_at < 20_000, "letters that are added look at what fitted: {}", query.looked_at);
        let found = query.search(&index, "session_99980", 50);
        assert!(found[0].path.ends_with("session_99980.rs") || found.is_empty(), "{found:?}");
    }

    #[test]
    fn taking_letters_back_finds_what_was_found_before() {
        let index = Arc::new(FileIndex::new(vec!["a/b.rs".into(), "a/c.rs".into()]));
        let mut query = FileQuery::default();
        let before = query.search(&index, "a", 9);
        query.search(&index, "ab", 9);
        assert_eq!(query.search(&index, "a", 9), before);
    }
}
