//! What reading a file yields: what the product wrote, or only what the script did.

use super::location::{LocationKind, PathLocation};
use super::state::{ScriptFile, ScriptState};
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    /// Returns the content of a file.
    pub(crate) fn content(&mut self, path: &str) -> TrackedText {
        let location = self.location(path);
        if let Some(file) = self.files.get(&location.key).cloned() {
            return match self.product_may_have_touched(&location.key, &file) {
                true => self.unknown(file.content.from | Origins::FILES),
                false if file.content.from.is_none() => TrackedText { from: Origins::OWN, ..file.content },
                false => file.content,
            };
        }
        let from = self.origin(&location, path);
        self.unknown(from)
    }

    /// Returns whether a file is there and what it looks like from outside.
    pub(crate) fn existence(&mut self, path: &str) -> Origins {
        let location = self.location(path);
        match self.files.get(&location.key).cloned() {
            Some(file) if self.product_may_have_touched(&location.key, &file) => Origins::FILES,
            Some(_) => Origins::OWN,
            None if path.is_empty() => Origins::NONE,
            None => self.origin(&location, path),
        }
    }

    /// Whose a file is that the script has not written.
    fn origin(&self, location: &PathLocation, path: &str) -> Origins {
        let called = !self.calls.is_empty();
        match location.kind {
            LocationKind::Device => Origins::NONE,
            LocationKind::System => Origins::AMBIENT,
            _ if self.is_touched(location) => Origins::SOURCE,
            LocationKind::Database if called => Origins::DATABASE,
            _ if !called || path.is_empty() => Origins::AMBIENT,
            LocationKind::Database | LocationKind::Scratch | LocationKind::Project | LocationKind::Unknown => {
                Origins::FILES
            }
        }
    }

    /// A path in the project that is, or holds, source the implementation touched.
    fn is_touched(&self, location: &PathLocation) -> bool {
        if location.kind != LocationKind::Project {
            return false;
        }
        let inside = location.key.split_once('/').map_or("", |(_, inside)| inside);
        let fixed = inside.split(['*', '?', '[']).next().unwrap_or_default();
        let glob = fixed.len() < inside.len();
        self.context.touched.iter().map(|path| path.trim_start_matches("./")).any(|touched| {
            let below =
                |dir: &str| touched.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            inside.is_empty() || below(inside) || (glob && touched.starts_with(fixed))
        })
    }

    /// After the script wrote it, the product was called with something that names it,
    /// or a directory it is in. Then what it holds says something about the product:
    /// that a file was left alone is behaviour too.
    fn product_may_have_touched(&self, key: &str, file: &ScriptFile) -> bool {
        let Some(calls) = self.calls.get(file.calls..).filter(|calls| !calls.is_empty()) else { return false };
        let name = key.rsplit('/').next().unwrap_or(key);
        let named = |text: &str| {
            let mut dir = key;
            loop {
                if text.contains(dir) {
                    return true;
                }
                match dir.rfind('/') {
                    Some(at) if at > 0 => dir = &dir[..at],
                    _ => break,
                }
            }
            mentions(text, name)
        };
        calls.iter().any(|call| named(call)) || mentions(&self.seeds, key) || mentions(&self.seeds, name)
    }

    /// The script writes a file.
    pub(crate) fn write(&mut self, path: &str, content: TrackedText, append: bool) {
        let location = self.location(path);
        if location.kind == LocationKind::Device {
            return;
        }
        let mut content = content;
        if append && let Some(old) = self.files.get(&location.key) {
            let mut all = old.content.clone();
            all.push(&content);
            content = all;
        }
        if content.text.len() > 64 << 10 {
            content = self.unknown(content.from);
        }
        content.from |= self.controlled();
        self.written.push(location.key.clone());
        self.files.insert(location.key, ScriptFile { content, calls: self.calls.len() });
    }
}

/// The text names this file, as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.len() > 1
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}
