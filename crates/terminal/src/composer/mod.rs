//! The composer: where the user writes.
//!
//! A value that takes keys and text and answers with [`ComposerEvent`]s; `view` shows it. What the
//! program knows comes in as data: commands, agents, resources, the index of files, older prompts. It
//! asks nothing and does no I/O, so that a table of keys and screens can test it whole.
//!
//! `buffer` is the text with its cursor and undo, `rows` its rows on the screen, `edit` what editing keys do to
//! it, `press` which key does what and in which order, `complete` when a menu opens and what choosing
//! does, `history` older prompts, `vim` the other way to edit, `view` what is seen.

mod buffer;
mod chips;
mod complete;
mod edit;
pub(crate) mod graphemes;
mod history;
mod kill_ring;
mod paste;
mod press;
mod queue;
mod rows;
mod view;
mod vim;

pub(crate) use chips::clean;
pub use chips::{Image, ImageSource};
pub use complete::{Mention, PathEntry, Sources};
pub use queue::Submission;
pub use vim::VimMode;

use crate::keys::{Action, Chord};
use crate::menus::Menu;
use buffer::Buffer;
use edit::LastEdit;
use history::{History, Search};
use kill_ring::KillRing;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use vim::Vim;

/// What the text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputMode {
    #[default]
    Prompt,
    /// `!`: run it as a command of the user.
    Shell,
    /// `#`: add it to the memory.
    Memory,
}

impl InputMode {
    /// The character that begins this mode.
    pub fn prefix(self) -> &'static str {
        match self {
            InputMode::Prompt => "",
            InputMode::Shell => "!",
            InputMode::Memory => "#",
        }
    }
}

/// What the composer wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum ComposerEvent {
    /// Send it, or queue it with [`Composer::enqueue`] while the agent works.
    Submit(Submission),
    /// Stop the running turn.
    Interrupt,
    /// Leave ona.
    Exit,
    /// Esc twice with nothing typed.
    Rewind,
    /// `?` with nothing typed.
    Help,
    /// Open this text in the user's editor; the result comes back by [`Composer::set_text`].
    EditExternally(String),
    /// Images were put in by path. One that cannot be read goes back by [`Composer::reject_image`].
    CheckImages(Vec<Image>),
    /// Look into a folder for the user's shell line; answered by [`Composer::offer_paths`].
    ListFolder { folder: PathBuf, typed: String },
    /// An action that is not the composer's.
    Do(Action),
    /// A key that the user bound to a slash command.
    Command(String),
    /// A shortcut of a hook module.
    Shortcut(String),
}

/// Text that is not being edited right now, with what it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Draft {
    mode: InputMode,
    /// With chips.
    text: String,
}

/// A line under the text that goes away by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hint {
    text: String,
    until: Duration,
}

#[derive(Clone, Debug)]
pub struct Composer {
    buffer: Buffer,
    mode: InputMode,
    kills: KillRing,
    last: LastEdit,
    chord: Chord,
    history: History,
    search: Option<Search>,
    sources: Sources,
    menu: Option<Menu>,
    /// Where the token begins whose menu was closed by Esc.
    dismissed: Option<usize>,
    queue: VecDeque<Submission>,
    stash: Option<Draft>,
    vim: Option<Vim>,
    hint: Option<Hint>,
    /// When the key was pressed that means more the second time.
    pressed: Option<(Action, Duration)>,
    /// The newest paste that was folded: pasting the same again unfolds it.
    folded: Option<char>,
    /// Rows the text may take.
    visible: usize,
    /// The first row that shows.
    top: usize,
    placeholder: String,
}

/// How long a hint stays, and a second key counts as the second.
const SECOND_KEY: Duration = Duration::from_millis(2_000);
/// Two Escapes this close mean what two Escapes mean.
const TWICE: Duration = Duration::from_millis(500);

/// Cells before the text: the prompt sign and a space.
const MARGIN: u16 = 2;

impl Default for Composer {
    fn default() -> Composer {
        let mut composer = Composer {
            buffer: Buffer::default(),
            mode: InputMode::Prompt,
            kills: KillRing::default(),
            last: LastEdit::Other,
            chord: Chord::default(),
            history: History::default(),
            search: None,
            sources: Sources::default(),
            menu: None,
            dismissed: None,
            queue: VecDeque::new(),
            stash: None,
            vim: None,
            hint: None,
            pressed: None,
            folded: None,
            visible: 10,
            top: 0,
            placeholder: String::new(),
        };
        composer.resize(80, 10);
        composer
    }
}

impl Composer {
    /// Sets the width of the screen and the number of rows the text may take. Must be called before the
    /// first view and when the size changes: moving up and down goes by rows.
    pub fn resize(&mut self, width: u16, rows: u16) {
        // One cell is left for the cursor behind the last character.
        self.buffer.set_width(usize::from(width.saturating_sub(MARGIN + 1)));
        self.visible = usize::from(rows).clamp(1, rows::NEAR);
        self.follow_cursor();
    }

    /// Older prompts, the oldest first: those of this folder, which the arrows walk through, and those of
    /// all folders, which the search looks at. What was sent before stays the newest.
    pub fn set_history(&mut self, folder: Vec<String>, all: Vec<String>) {
        self.history.set(folder, all);
    }

    /// What menus offer. The menu that is open is filled again.
    pub fn set_sources(&mut self, change: impl FnOnce(&mut Sources)) {
        change(&mut self.sources);
        if self.menu.is_some() {
            self.update_menu();
        }
    }

    /// Shown while nothing is typed.
    pub fn set_placeholder(&mut self, text: &str) {
        self.placeholder = crate::text::visible_line(text);
    }

    pub fn set_vim(&mut self, on: bool) {
        match (on, &self.vim) {
            (true, None) => self.vim = Some(Vim::default()),
            (false, Some(_)) => self.vim = None,
            _ => {}
        }
    }

    /// The mode of the vim keys, for the status line.
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    pub fn mode(&self) -> InputMode {
        self.mode
    }

    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The text as it would be sent.
    pub fn text(&self) -> String {
        self.buffer.chips.expand(self.buffer.text())
    }

    /// Replaces the text, as one step that can be undone. Labels of images and folded pastes become what
    /// they stand for again.
    pub fn set_text(&mut self, text: &str) {
        let text = self.buffer.chips.unfold_labels(text.strip_suffix('\n').unwrap_or(text));
        self.buffer.set(&text);
        self.after_change();
    }

    /// Writes at the cursor, for suggestions and what other parts put in.
    pub fn insert(&mut self, text: &str) {
        self.buffer.begin_step();
        self.buffer.insert(&chips::clean(text));
        self.buffer.begin_step();
        self.after_change();
    }

    /// Puts an image from the clipboard at the cursor.
    pub fn insert_image(&mut self, media_type: &str, data: std::sync::Arc<[u8]>) {
        let source = ImageSource::Data { media_type: media_type.to_owned(), data };
        if let Some(chip) = self.buffer.chips.add_image(source) {
            self.insert_chip(chip);
        }
    }

    /// The image cannot be read: its path stands in the text again, as it was pasted.
    pub fn reject_image(&mut self, image: &Image) {
        let Some(chip) = self.buffer.chips.image_chip(image.number) else { return };
        let ImageSource::File(path) = &image.source else { return };
        if let Some(at) = self.buffer.text().find(chip) {
            self.buffer.replace(at..at + chip.len_utf8(), &path.to_string_lossy());
            self.after_change();
        }
    }

    /// Shows a line under the text for a moment.
    pub fn show_hint(&mut self, text: &str, at: Duration) {
        self.hint = Some(Hint { text: text.to_owned(), until: at + SECOND_KEY });
    }

    /// Returns when [`Composer::expire`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        self.hint.as_ref().map(|hint| hint.until)
    }

    /// Takes away what has been shown for long enough. Returns whether the view changed.
    pub fn expire(&mut self, now: Duration) -> bool {
        let over = self.hint.as_ref().is_some_and(|hint| hint.until <= now);
        if over {
            self.hint = None;
        }
        over
    }

    fn draft(&self) -> Draft {
        Draft { mode: self.mode, text: self.buffer.text().to_owned() }
    }

    fn take_draft(&mut self) -> Draft {
        let draft = self.draft();
        self.set_draft(&Draft::default());
        draft
    }

    fn set_draft(&mut self, draft: &Draft) {
        self.mode = draft.mode;
        self.buffer.set(&draft.text);
        self.menu = None;
        self.dismissed = None;
        self.last = LastEdit::Other;
        self.follow_cursor();
    }

    /// Shows an entry of the history, whose prefix says what it is for.
    fn set_entry(&mut self, entry: &str) {
        let mode = [InputMode::Shell, InputMode::Memory].into_iter().find(|mode| entry.starts_with(mode.prefix()));
        let mode = mode.unwrap_or_default();
        self.set_draft(&Draft { mode, text: entry[mode.prefix().len()..].to_owned() });
    }

    /// The input as the history keeps it.
    fn entry(&self) -> String {
        format!("{}{}", self.mode.prefix(), self.buffer.text())
    }

    fn after_change(&mut self) {
        self.update_menu();
        self.follow_cursor();
    }

    fn follow_cursor(&mut self) {
        let row = self.buffer.rows().of(self.buffer.cursor());
        let last = self.buffer.rows().count().saturating_sub(self.visible);
        self.top = self.top.clamp((row + 1).saturating_sub(self.visible), row).min(last);
    }
}

#[cfg(test)]
pub(crate) mod tests;
