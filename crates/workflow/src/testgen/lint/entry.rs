//! Calls of the product: which commands are public entry points.

use super::location::LocationKind;
use super::rule::LintRule;
use super::state::ScriptState;
use super::value::TrackedText;

/// What a command's first words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryPoint {
    Product,
    /// Named like it, but from a directory tests may write to.
    Double,
    No,
}

impl ScriptState<'_> {
    pub(crate) fn entry_points(&self) -> impl Iterator<Item = &str> {
        std::iter::once("ona").chain(self.context.entry_points.iter().map(|entry| entry.trim()))
    }

    /// The programs entry points start with, without directories.
    pub(crate) fn is_entry_name(&self, name: &str) -> bool {
        let program = |entry: &str| {
            let program = entry.split_whitespace().next().unwrap_or_default();
            program.rsplit('/').next().unwrap_or_default().to_owned()
        };
        // `python3 -m app` makes no entry point of python3.
        !name.is_empty()
            && self
                .entry_points()
                .filter(|entry| !entry.contains(char::is_whitespace))
                .any(|entry| program(entry) == name)
    }

    pub(crate) fn entry(&self, words: &[TrackedText]) -> EntryPoint {
        let Some(program) = words.first() else { return EntryPoint::No };
        let location = self.location(&program.text);
        for entry in self.entry_points() {
            let parts: Vec<&str> = entry.split_whitespace().collect();
            let Some((first, rest)) = parts.split_first() else { continue };
            let same_rest =
                rest.iter().zip(&words[1..]).filter(|(part, word)| **part == word.text).count() == rest.len();
            let same = match first.contains('/') {
                true => program.text.contains('/') && self.location(first).key == location.key,
                false => program.text == *first,
            };
            if same && same_rest {
                return EntryPoint::Product;
            }
            let named = program.text.contains('/') && program.text.rsplit('/').next() == Some(*first);
            if named && same_rest {
                return match location.kind {
                    LocationKind::System | LocationKind::Project => EntryPoint::Product,
                    _ => EntryPoint::Double,
                };
            }
        }
        EntryPoint::No
    }

    pub(crate) fn is_double(&mut self, words: &[TrackedText], line: u32) -> bool {
        if self.entry(words) != EntryPoint::Double {
            return false;
        }
        let line = self.outermost(line);
        self.find(LintRule::L10, line, format_args!("`{}` is not the product", shown(&words[0])));
        true
    }
}

/// Returns a value as a reader of messages can take it.
pub(super) fn shown(value: &TrackedText) -> String {
    let text: String = value.text.chars().map(|c| if super::value::is_hole(c) { '…' } else { c }).take(60).collect();
    text.replace('\n', " ")
}
