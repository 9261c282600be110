//! Which key does what, in which order.
//!
//! Escape and Ctrl+C have several meanings; the order in which they are tried is the contract (DEC-195 and the
//! drivers that type into a terminal): Escape with text never stops the agent and never clears
//! at once, and Ctrl+C clears before it stops and stops before it leaves.

use super::edit::LastEdit;
use super::history::Search;
use super::vim::VimOutcome;
use super::{Composer, ComposerEvent, Draft, InputMode, SECOND_KEY, TWICE, chips, paste};
use crate::Outcome;
use crate::composer::chips::ImageSource;
use crate::keys::{Action, Bound, Context, Input, Keymap, Press, Resolved};
use crate::menus::MenuKind;
use std::time::Duration;

impl Composer {
    /// Takes an input. `busy` says whether a turn is running.
    pub fn input(&mut self, input: &Input, keys: &Keymap, busy: bool) -> Outcome<ComposerEvent> {
        match input {
            Input::Key(press) => self.press(*press, keys, busy),
            Input::Text { text, at } => self.typed(text, *at, keys, busy),
            Input::Paste { text, .. } => self.pasted(text),
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    /// Takes a key.
    pub fn press(&mut self, press: Press, keys: &Keymap, busy: bool) -> Outcome<ComposerEvent> {
        self.hint = None;
        if self.search.is_none() && self.chord.keys().is_empty() && self.menu.is_none() {
            match self.vim_key(press) {
                VimOutcome::Unclaimed => {}
                VimOutcome::Changed => return Outcome::Changed,
                VimOutcome::Search => return self.act(Action::HistorySearch, press.at, busy),
                VimOutcome::HistoryPrevious => return self.act(Action::HistoryPrevious, press.at, busy),
                VimOutcome::HistoryNext => return self.act(Action::HistoryNext, press.at, busy),
            }
        }
        let contexts: &[Context] = match (&self.search, &self.menu) {
            (Some(_), _) => &[Context::HistorySearch, Context::Global],
            (None, Some(menu)) if !menu.entries.is_empty() => &[Context::Autocomplete, Context::Chat, Context::Global],
            (None, _) => &[Context::Chat, Context::Global],
        };
        match keys.resolve(contexts, &mut self.chord, press.key) {
            Resolved::Bound(Bound::Action(action)) => self.act(action, press.at, busy),
            Resolved::Bound(Bound::Command(name)) => Outcome::Done(ComposerEvent::Command(name)),
            Resolved::Bound(Bound::Shortcut(name)) => Outcome::Done(ComposerEvent::Shortcut(name)),
            Resolved::Bound(Bound::Nothing) | Resolved::Pending | Resolved::Broken => Outcome::Changed,
            Resolved::Unbound => self.unbound(press),
        }
    }

    fn unbound(&mut self, press: Press) -> Outcome<ComposerEvent> {
        use crossterm::event::KeyCode;
        if self.search.is_some() {
            match (press.key.text(), press.key.code) {
                (Some(c), _) => self.search_for(&c.to_string()),
                (None, KeyCode::Backspace) => self.shorten_search(),
                _ => return Outcome::Unclaimed,
            }
            return Outcome::Changed;
        }
        let Some(c) = press.key.text() else { return Outcome::Unclaimed };
        self.pressed = None;
        self.type_char(c)
    }

    fn type_char(&mut self, c: char) -> Outcome<ComposerEvent> {
        if self.buffer.is_empty() && self.mode == InputMode::Prompt {
            match c {
                '!' => self.mode = InputMode::Shell,
                '#' => self.mode = InputMode::Memory,
                '?' => return Outcome::Done(ComposerEvent::Help),
                _ => self.write(c.encode_utf8(&mut [0; 4])),
            }
        } else {
            self.write(c.encode_utf8(&mut [0; 4]));
        }
        self.after_change();
        Outcome::Changed
    }

    /// Takes characters that arrived together: they are text, and open no menu unless they look like the
    /// beginning of a command.
    fn typed(&mut self, text: &str, at: Duration, keys: &Keymap, busy: bool) -> Outcome<ComposerEvent> {
        use crate::keys::Key;
        if self.search.is_some() {
            self.search_for(&chips::clean(text).replace('\n', " "));
            return Outcome::Changed;
        }
        if self.vim.as_ref().is_some_and(|vim| !vim.inserts()) {
            let mut last = Outcome::Changed;
            for c in text.chars() {
                let key = if c == '\n' { Key::ENTER } else { Key::char(c) };
                last = self.press(Press { key, at }, keys, busy);
                if matches!(last, Outcome::Done(_)) {
                    break;
                }
            }
            return last;
        }
        self.hint = None;
        self.pressed = None;
        self.vim_record(text);
        self.write_text(text);
        let command = self.mode == InputMode::Prompt
            && self.buffer.text().starts_with('/')
            && !self.buffer.text().contains(char::is_whitespace);
        if command {
            self.update_menu();
        } else {
            self.close_menu();
        }
        self.follow_cursor();
        Outcome::Changed
    }

    fn write_text(&mut self, text: &str) {
        let mut text = chips::clean(text);
        if self.buffer.is_empty() && self.mode == InputMode::Prompt && text.starts_with('!') {
            self.mode = InputMode::Shell;
            text.remove(0);
        }
        self.write(&text);
    }

    fn pasted(&mut self, text: &str) -> Outcome<ComposerEvent> {
        self.hint = None;
        self.pressed = None;
        if self.search.is_some() {
            self.search_for(&chips::clean(text).replace('\n', " "));
            return Outcome::Changed;
        }
        self.close_menu();
        let text = chips::clean(text);
        if let Some(paths) = paste::image_paths(&text).filter(|_| self.mode == InputMode::Prompt) {
            let chips: Vec<char> =
                paths.into_iter().filter_map(|path| self.buffer.chips.add_image(ImageSource::File(path))).collect();
            let text: String = chips.iter().flat_map(|chip| [*chip, ' ']).collect();
            self.insert_as_step(&text);
            return Outcome::Done(ComposerEvent::CheckImages(self.buffer.chips.images(&text)));
        }
        if !chips::is_long(&text) {
            self.buffer.begin_step();
            self.write_text(&text);
            self.last = LastEdit::Other;
            self.follow_cursor();
            return Outcome::Changed;
        }
        // The same again, right behind its placeholder, means: show it.
        let chip = self.folded.filter(|chip| self.buffer.chips.paste(*chip).as_deref() == Some(&text));
        let before = chip.and_then(|chip| self.buffer.text()[..self.buffer.cursor()].trim_end().strip_suffix(chip));
        if let (Some(chip), Some(before)) = (chip, before) {
            let at = before.len();
            self.unfold(at, chip);
            self.folded = None;
            self.after_change();
            return Outcome::Changed;
        }
        match self.buffer.chips.add_paste(&text) {
            Some(chip) => {
                self.folded = Some(chip);
                self.insert_chip(chip);
            }
            None => self.insert_as_step(&text),
        }
        self.close_menu();
        Outcome::Changed
    }

    fn act(&mut self, action: Action, at: Duration, busy: bool) -> Outcome<ComposerEvent> {
        let before = self.pressed.take();
        let again =
            |within: Duration| before.is_some_and(|(key, when)| key == action && at.saturating_sub(when) <= within);
        match action {
            Action::Interrupt => return self.interrupt(at, busy, again(SECOND_KEY)),
            Action::Exit => return self.exit(at, busy, again(SECOND_KEY)),
            Action::Cancel => return self.cancel(at, busy, again(TWICE)),
            Action::Submit => return self.submit(),
            Action::HistoryPrevious => self.up(),
            Action::HistoryNext => self.down(),
            Action::HistorySearch => {
                self.close_menu();
                self.search = Some(Search::new(self.entry()));
            }
            Action::OlderMatch | Action::NewerMatch | Action::AcceptMatch | Action::CancelSearch => {
                self.search_key(action)
            }
            Action::RunMatch => {
                self.search_key(Action::AcceptMatch);
                return self.submit();
            }
            Action::Stash => self.stash(),
            Action::ClearInput => self.clear(),
            Action::Complete => return self.complete(),
            Action::AcceptCompletion => self.accept_completion(),
            Action::DismissCompletion => {
                self.dismissed = self.menu.take().map(|menu| menu.range.start);
            }
            Action::NextCompletion => self.menu.iter_mut().for_each(|menu| menu.list.next()),
            Action::PreviousCompletion => self.menu.iter_mut().for_each(|menu| menu.list.previous()),
            Action::ExternalEditor => return Outcome::Done(ComposerEvent::EditExternally(self.text())),
            Action::Help => return Outcome::Done(ComposerEvent::Help),
            action if self.edit(action) => {}
            action => return Outcome::Done(ComposerEvent::Do(action)),
        }
        Outcome::Changed
    }

    /// Ctrl+C: clear, then stop, then (twice) leave.
    fn interrupt(&mut self, at: Duration, busy: bool, again: bool) -> Outcome<ComposerEvent> {
        if self.search.is_some() {
            self.search_key(Action::CancelSearch);
        } else if !self.buffer.is_empty() || self.mode != InputMode::Prompt {
            self.clear();
        } else if busy {
            return self.stop_turn();
        } else if again {
            return Outcome::Done(ComposerEvent::Exit);
        } else {
            self.pressed = Some((Action::Interrupt, at));
            self.show_hint("Press Ctrl+C again to leave", at);
        }
        Outcome::Changed
    }

    /// Ctrl+D: deletes to the right; on an empty line it leaves, while the agent works only the second time.
    fn exit(&mut self, at: Duration, busy: bool, again: bool) -> Outcome<ComposerEvent> {
        if !self.buffer.is_empty() {
            self.edit(Action::DeleteRight);
        } else if !busy || again {
            return Outcome::Done(ComposerEvent::Exit);
        } else {
            self.pressed = Some((Action::Exit, at));
            self.show_hint("Work is going on: Ctrl+D again leaves", at);
        }
        Outcome::Changed
    }

    /// Escape: with text it does nothing at once, because drivers send it before Enter.
    fn cancel(&mut self, at: Duration, busy: bool, again: bool) -> Outcome<ComposerEvent> {
        if self.menu.is_some() {
            self.dismissed = self.menu.take().map(|menu| menu.range.start);
            return Outcome::Changed;
        }
        match (self.buffer.is_empty(), again) {
            (false, true) => self.clear(),
            (false, false) => {
                self.pressed = Some((Action::Cancel, at));
                self.show_hint("Esc again clears the text", at);
            }
            (true, _) if self.mode != InputMode::Prompt => self.mode = InputMode::Prompt,
            (true, _) if busy => return self.stop_turn(),
            (true, true) => return Outcome::Done(ComposerEvent::Rewind),
            (true, false) => {
                self.pressed = Some((Action::Cancel, at));
                self.show_hint("Esc again to rewind", at);
            }
        }
        Outcome::Changed
    }

    /// What waits comes back into the text instead of being sent to an agent that was just stopped.
    fn stop_turn(&mut self) -> Outcome<ComposerEvent> {
        self.take_queue_back();
        Outcome::Done(ComposerEvent::Interrupt)
    }

    /// Empties the text; it stays in the history.
    fn clear(&mut self) {
        let entry = self.entry();
        self.history.push(&entry);
        self.set_draft(&Draft::default());
    }

    fn stash(&mut self) {
        match self.buffer.is_empty() {
            false => self.stash = Some(self.take_draft()),
            true => {
                if let Some(stash) = self.stash.take() {
                    self.set_draft(&stash);
                }
            }
        }
    }

    fn submit(&mut self) -> Outcome<ComposerEvent> {
        let at = self.buffer.cursor();
        if self.buffer.text()[..at].ends_with('\\') {
            self.buffer.begin_step();
            self.buffer.replace(at - 1..at, "\n");
            self.after_change();
            return Outcome::Changed;
        }
        if let Some(menu) = &self.menu
            && menu.selected().is_some()
        {
            let command = menu.kind == MenuKind::Command;
            let whole = self.accept_completion_whole();
            if !(command && whole) {
                return Outcome::Changed;
            }
        }
        let submission = self.submission();
        if submission.text.is_empty() {
            return Outcome::Changed;
        }
        let entry = self.entry();
        self.history.push(entry.trim());
        self.set_draft(&Draft::default());
        self.buffer.forget_changes();
        if let Some(stash) = self.stash.take() {
            self.set_draft(&stash);
        }
        if let Some(vim) = &mut self.vim {
            vim.start_inserting();
        }
        Outcome::Done(ComposerEvent::Submit(submission))
    }

    fn up(&mut self) {
        if self.buffer.move_rows(-1) {
            self.follow_cursor();
            return;
        }
        if self.take_newest_back() {
            return;
        }
        let entry = self.entry();
        if let Some(older) = self.history.older(&entry) {
            self.set_entry(&older);
            // The cursor stays in the first row, so that the next key goes on.
            let first = self.buffer.rows().range(0, self.buffer.text());
            let end = if self.buffer.rows().count() == 1 { first.end } else { first.start };
            self.buffer.move_to(end);
            self.follow_cursor();
        }
    }

    fn down(&mut self) {
        if self.buffer.move_rows(1) {
            self.follow_cursor();
        } else if let Some(newer) = self.history.newer() {
            self.set_entry(&newer);
        }
    }

    fn search_for(&mut self, more: &str) {
        let Some(search) = &mut self.search else { return };
        search.query.push_str(more);
        search.again(&self.history);
        self.show_found();
    }

    fn shorten_search(&mut self) {
        let Some(search) = &mut self.search else { return };
        if search.query.pop().is_none() {
            return self.search_key(Action::CancelSearch);
        }
        search.afresh(&self.history);
        self.show_found();
    }

    fn search_key(&mut self, action: Action) {
        let Some(mut search) = self.search.take() else { return };
        match action {
            Action::OlderMatch => search.older(&self.history),
            Action::NewerMatch => search.newer(&self.history),
            Action::CancelSearch => return self.set_entry(&search.draft.clone()),
            _ => return,
        }
        self.search = Some(search);
        self.show_found();
    }

    fn show_found(&mut self) {
        let Some(search) = &self.search else { return };
        match search.found(&self.history) {
            Some((entry, range)) => {
                self.set_entry(&entry);
                self.buffer.move_to(range.start.saturating_sub(self.mode.prefix().len()));
            }
            None => self.set_entry(&search.draft.clone()),
        }
        self.follow_cursor();
    }
}
