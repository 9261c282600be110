//! State, keys, state: what the composer does, seen from outside.

mod completing;
mod cost;
mod editing;
mod leaving;
mod remembering;
mod sending;

use super::{Composer, ComposerEvent};
use crate::keys::{Input, Key, Keymap, Press};
use crate::menus::{CommandItem, FileIndex};
use crate::{Outcome, View};
use std::sync::Arc;
use std::time::Duration;

/// A composer with a hand on the keys.
pub(crate) struct Hand {
    pub(crate) composer: Composer,
    keys: Keymap,
    now: Duration,
    pub(crate) busy: bool,
    pub(crate) events: Vec<ComposerEvent>,
}

impl Hand {
    pub(crate) fn new() -> Hand {
        let mut composer = Composer::default();
        composer.resize(40, 6);
        Hand { composer, keys: Keymap::default(), now: Duration::ZERO, busy: false, events: Vec::new() }
    }

    fn input(&mut self, input: &Input) -> bool {
        let busy = self.busy;
        match self.composer.input(input, &self.keys, busy) {
            Outcome::Unclaimed => return false,
            Outcome::Changed => {}
            Outcome::Done(event) => self.events.push(event),
        }
        true
    }

    /// Presses keys one after another, a tenth of a second apart.
    pub(crate) fn keys(&mut self, names: &str) -> &mut Hand {
        for name in names.split_whitespace() {
            self.key(name.parse().unwrap_or_else(|_| panic!("{name} is a key")));
        }
        self
    }

    pub(crate) fn key(&mut self, key: Key) -> bool {
        self.wait(100);
        self.input(&Input::Key(Press { key, at: self.now }))
    }

    /// Types characters one after another.
    pub(crate) fn types(&mut self, text: &str) -> &mut Hand {
        for c in text.chars() {
            self.key(if c == '\n' { Key::ctrl('j') } else { Key::char(c) });
        }
        self
    }

    /// Characters that arrive in one read.
    pub(crate) fn chunk(&mut self, text: &str) -> &mut Hand {
        self.wait(10);
        self.input(&Input::Text { text: text.to_owned(), at: self.now });
        self
    }

    pub(crate) fn paste(&mut self, text: &str) -> &mut Hand {
        self.wait(100);
        self.input(&Input::Paste { text: text.to_owned(), at: self.now });
        self
    }

    pub(crate) fn wait(&mut self, milliseconds: u64) -> &mut Hand {
        self.now += Duration::from_millis(milliseconds);
        self
    }

    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    pub(crate) fn text(&self) -> String {
        self.composer.text()
    }

    /// The text with `|` where the cursor is.
    pub(crate) fn shown(&self) -> String {
        let buffer = &self.composer.buffer;
        let (before, after) = buffer.text().split_at(buffer.cursor());
        format!("{}{}|{}", self.composer.mode.prefix(), buffer.chips.fold(before), buffer.chips.fold(after))
    }

    pub(crate) fn screen(&self) -> String {
        screen(&self.composer.view(24))
    }

    /// Takes what was sent so far.
    pub(crate) fn sent(&mut self) -> Vec<String> {
        let sent = std::mem::take(&mut self.events).into_iter();
        sent.filter_map(|event| match event {
            ComposerEvent::Submit(submission) => Some(submission.history_entry()),
            _ => None,
        })
        .collect()
    }

    pub(crate) fn with_commands(mut self) -> Hand {
        let command = |name: &str, arguments: &str, help: &str| CommandItem {
            name: name.into(),
            arguments: arguments.into(),
            help: help.into(),
            ..CommandItem::default()
        };
        let mut model = command("model", "[model]", "Choose a model");
        model.choices = vec![("opus".into(), "the largest".into()), ("haiku".into(), "the fastest".into())];
        let mut clear = command("clear", "", "Start anew");
        clear.aliases = vec!["new".into()];
        let mut skill = command("tidy", "", "A skill");
        skill.stackable = true;
        let all = [
            command("add-dir", "<path>", "Add a folder"),
            clear,
            command("compact", "[words]", "Summarise"),
            model,
            skill,
        ];
        self.composer.set_sources(|sources| sources.commands = all.into_iter().map(Arc::new).collect());
        self
    }

    pub(crate) fn with_files(mut self, paths: &[&str]) -> Hand {
        let index = FileIndex::new(paths.iter().map(|path| (*path).to_owned()).collect());
        self.composer.set_sources(|sources| sources.set_files(Arc::new(index)));
        self
    }
}

/// A view as text, with `▏` before the cell of the cursor.
pub(crate) fn screen(view: &View) -> String {
    let mut lines: Vec<String> =
        view.lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect()).collect();
    if let Some(cursor) = view.cursor {
        let line = &mut lines[usize::from(cursor.row)];
        let mut cells = 0;
        let mut at = 0;
        while cells < usize::from(cursor.column) && at < line.len() {
            let next = super::graphemes::next(line, at);
            cells += crate::screen::text_width(&line[at..next]);
            at = next;
        }
        line.push_str(&" ".repeat(usize::from(cursor.column).saturating_sub(cells)));
        if cells < usize::from(cursor.column) {
            at = line.len();
        }
        line.insert(at, '▏');
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}
