//! Older prompts: walking through those of the folder, searching those of all folders.
//!
//! Entries come in as data and are kept by the app. An entry is a whole input with its prefix (`!`, `#`), so
//! that it comes back in the mode it was sent in.

use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The folder's, the oldest first.
    folder: Vec<Arc<str>>,
    /// All folders', the oldest first; what was sent here is in both.
    all: Vec<Arc<str>>,
    /// While walking: how far back, and what was being written before.
    walk: Option<Walk>,
}

#[derive(Clone, Debug)]
struct Walk {
    index: usize,
    draft: String,
}

impl History {
    pub(crate) fn set(&mut self, folder: Vec<String>, all: Vec<String>) {
        // What was sent before the file had been read stays the newest.
        let sent = std::mem::take(&mut self.folder);
        let list = |entries: Vec<String>| entries.into_iter().map(Arc::from).chain(sent.iter().cloned()).collect();
        self.folder = list(folder);
        self.all = list(all);
        self.walk = None;
    }

    /// Adds an input; the same input twice in a row is one entry.
    pub(crate) fn push(&mut self, input: &str) {
        self.walk = None;
        if input.trim().is_empty() || self.folder.last().is_some_and(|last| **last == *input) {
            return;
        }
        let input: Arc<str> = input.into();
        self.folder.push(Arc::clone(&input));
        self.all.push(input);
    }

    /// Returns the entry before, leaving what is being written aside.
    pub(crate) fn older(&mut self, current: &str) -> Option<Arc<str>> {
        let walk = match &self.walk {
            None => Walk { index: self.folder.len().checked_sub(1)?, draft: current.to_owned() },
            Some(walk) => Walk { index: walk.index.checked_sub(1)?, draft: walk.draft.clone() },
        };
        let entry = Arc::clone(self.folder.get(walk.index)?);
        self.walk = Some(walk);
        Some(entry)
    }

    /// Returns the next entry, or at last what was being written.
    pub(crate) fn newer(&mut self) -> Option<Arc<str>> {
        let walk = self.walk.as_mut()?;
        walk.index += 1;
        match self.folder.get(walk.index) {
            Some(entry) => Some(Arc::clone(entry)),
            None => self.walk.take().map(|walk| walk.draft.into()),
        }
    }

    /// The text was changed: walking on would lose the change, so the walk begins anew.
    pub(crate) fn stop(&mut self) {
        self.walk = None;
    }

    /// Returns shell commands that begin like this, the newest first, each once.
    pub(crate) fn shell_commands(&self, begin: &str, most: usize) -> Vec<Arc<str>> {
        let mut found: Vec<Arc<str>> = Vec::new();
        for entry in self.folder.iter().rev() {
            if let Some(command) = entry.strip_prefix('!').map(str::trim)
                && command.starts_with(begin)
                && command != begin
                && found.iter().all(|known| **known != *command)
            {
                found.push(command.into());
                if found.len() == most {
                    break;
                }
            }
        }
        found
    }
}

/// Ctrl+R: finds older prompts by a part of them, as it is typed.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) query: String,
    /// What was being written when the search began.
    pub(crate) draft: String,
    found: Option<usize>,
    /// Nothing older contains the query; what is shown is the last that did.
    pub(crate) exhausted: bool,
}

impl Search {
    pub(crate) fn new(draft: String) -> Search {
        Search { query: String::new(), draft, found: None, exhausted: false }
    }

    /// Returns what was found and where in it.
    pub(crate) fn found(&self, history: &History) -> Option<(Arc<str>, std::ops::Range<usize>)> {
        let entry = history.all.get(self.found?)?;
        Some((Arc::clone(entry), find(entry, &self.query)?))
    }

    /// The query was changed: what is shown may still fit.
    pub(crate) fn again(&mut self, history: &History) {
        let from = self.found.map_or(history.all.len(), |found| found + 1);
        self.back_from(history, from);
    }

    /// A shorter query may fit newer entries.
    pub(crate) fn afresh(&mut self, history: &History) {
        self.found = None;
        self.again(history);
    }

    pub(crate) fn older(&mut self, history: &History) {
        let from = self.found.unwrap_or(history.all.len());
        self.back_from(history, from);
    }

    pub(crate) fn newer(&mut self, history: &History) {
        let Some(found) = self.found else { return };
        let shown = history.all.get(found).cloned();
        let next = (found + 1..history.all.len()).find(|index| {
            Some(&history.all[*index]) != shown.as_ref() && find(&history.all[*index], &self.query).is_some()
        });
        if next.is_some() {
            self.found = next;
            self.exhausted = false;
        }
    }

    fn back_from(&mut self, history: &History, from: usize) {
        if self.query.is_empty() {
            self.found = None;
            self.exhausted = false;
            return;
        }
        // The same text is not offered twice in a row.
        let shown = self.found.filter(|found| *found >= from).and_then(|found| history.all.get(found));
        let before = history.all.get(..from).unwrap_or_default().iter().enumerate().rev();
        let next = before.into_iter().find(|(_, entry)| Some(*entry) != shown && find(entry, &self.query).is_some());
        self.exhausted = next.is_none();
        if let Some((index, _)) = next {
            self.found = Some(index);
        } else if self.found.is_some_and(|found| find(&history.all[found], &self.query).is_none()) {
            self.found = None;
        }
    }
}

/// Finds a query; capitals in it mean themselves, else case does not matter.
pub(crate) fn find(text: &str, query: &str) -> Option<std::ops::Range<usize>> {
    if query.chars().any(char::is_uppercase) {
        return text.find(query).map(|at| at..at + query.len());
    }
    if text.is_ascii() || query.is_ascii() {
        let (text, query) = (text.as_bytes(), query.as_bytes());
        let first = *query.first()?;
        let last = text.len().checked_sub(query.len())?;
        return (0..=last)
            .find(|at| {
                text[*at].eq_ignore_ascii_case(&first) && text[*at..*at + query.len()].eq_ignore_ascii_case(query)
            })
            .map(|at| at..at + query.len());
    }
    let query: Vec<char> = query.chars().flat_map(char::to_lowercase).collect();
    text.char_indices().find_map(|(at, _)| {
        let mut rest = text[at..].char_indices();
        let mut matched = 0;
        while matched < query.len() {
            let (_, c) = rest.next()?;
            for c in c.to_lowercase() {
                if query.get(matched) != Some(&c) {
                    return None;
                }
                matched += 1;
            }
        }
        Some(at..rest.next().map_or(text.len(), |(next, _)| at + next))
    })
}

#[cfg(test)]
mod tests {
    use super::{History, Search, find};

    fn history(entries: &[&str]) -> History {
        let mut history = History::default();
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        history.set(entries.clone(), entries);
        history
    }

    #[test]
    fn walking_back_and_forth_keeps_what_was_being_written() {
        let mut history = history(&["one", "two"]);
        history.push("three");
        history.push("three");
        let older = |history: &mut History| history.older("draft").map(|entry| entry.to_string());
        let seen: Vec<_> = std::iter::from_fn(|| older(&mut history)).collect();
        assert_eq!(seen, ["three", "two", "one"]);
        let seen: Vec<_> = std::iter::from_fn(|| history.newer().map(|entry| entry.to_string())).collect();
        assert_eq!(seen, ["two", "three", "draft"]);
    }

    #[test]
    fn a_search_goes_from_new_to_old() {
        let history = history(&["fix the parser", "run tests", "Fix the lexer", "run tests", "run tests"]);
        let mut search = Search::new(String::new());
        let found = |search: &Search| search.found(&history).map(|(entry, _)| entry.to_string());
        search.query = "f".into();
        search.again(&history);
        assert_eq!(found(&search).as_deref(), Some("Fix the lexer"));
        search.query = "fix the p".into();
        search.again(&history);
        assert_eq!(found(&search).as_deref(), Some("fix the parser"));
        search.older(&history);
        assert_eq!((found(&search).as_deref(), search.exhausted), (Some("fix the parser"), true));
        search.query = "fix".into();
        search.afresh(&history);
        search.older(&history);
        search.newer(&history);
        assert_eq!((found(&search).as_deref(), search.exhausted), (Some("Fix the lexer"), false));
        search.query = "run".into();
        search.afresh(&history);
        search.older(&history);
        assert!(search.exhausted, "entries with the same text are one");
        search.query = "nothing like it".into();
        search.afresh(&history);
        assert_eq!(found(&search), None);
    }

    #[test]
    fn capitals_mean_themselves() {
        for (text, query, expected) in [
            ("Fix It", "it", Some(4..6)),
            ("Fix It", "It", Some(4..6)),
            ("fix it", "It", None),
            ("straße ÜBER", "über", Some(8..13)),
            ("日本語", "本", Some(3..6)),
            ("short", "longer than it", None),
            ("x", "", None),
        ] {
            assert_eq!(find(text, query), expected, "{query} in {text}");
        }
    }

    #[test]
    fn shell_commands_of_the_folder_complete() {
        let history = history(&["!cargo test", "cargo", "!cargo check", "!cargo test"]);
        let found: Vec<_> = history.shell_commands("cargo", 9).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["cargo test", "cargo check"]);
    }
}
