//! The program in a pseudo-terminal, read back through a terminal emulator.
//!
//! A reader thread feeds what the program writes to the emulator and answers what a terminal
//! answers: where the cursor is (`ESC[6n`) and what it is (`ESC[c`). Tests send keys and wait
//! for what the screen shows. They never sleep, and they wait only for screens that the program
//! holds: one that is replaced at once may never be seen.

use crate::run::Ona;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a screen that must come is waited for.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Columns and rows unless a test says otherwise.
const SIZE: (u16, u16) = (80, 24);

const SCROLLBACK: usize = 100_000;

pub mod keys {
    //! What a terminal sends for keys that are not characters.

    pub const ENTER: &str = "\r";
    pub const ESCAPE: &str = "\x1b";
    pub const TAB: &str = "\t";
    pub const SHIFT_TAB: &str = "\x1b[Z";
    pub const BACKSPACE: &str = "\x7f";
    pub const UP: &str = "\x1b[A";
    pub const DOWN: &str = "\x1b[B";
    pub const RIGHT: &str = "\x1b[C";
    pub const LEFT: &str = "\x1b[D";
    pub const HOME: &str = "\x1b[H";
    pub const END: &str = "\x1b[F";
    pub const PAGE_UP: &str = "\x1b[5~";
    pub const PAGE_DOWN: &str = "\x1b[6~";
    pub const DELETE: &str = "\x1b[3~";

    /// Ctrl and a letter.
    pub fn ctrl(letter: char) -> String {
        char::from((letter as u8) & 0x1f).to_string()
    }

    /// Alt and a key.
    pub fn alt(key: &str) -> String {
        format!("\x1b{key}")
    }

    /// A paste, as terminals with bracketed paste send it.
    pub fn paste(text: &str) -> String {
        format!("\x1b[200~{text}\x1b[201~")
    }
}

/// What the program has shown so far.
pub struct Shown {
    emulator: vt100::Parser<Answers>,
    raw: Vec<u8>,
    ended: bool,
}

/// What the emulator itself has no answer for.
#[derive(Default)]
struct Answers {
    replies: Vec<u8>,
    title: String,
    copied: Vec<Vec<u8>>,
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        match (first, params.first().and_then(|values| values.first()), last) {
            (None, Some(6), 'n') => {
                let (row, column) = screen.cursor_position();
                self.replies.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, _, 'c') => self.replies.extend(b"\x1b[?62;22c"),
            _ => {}
        }
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.copied.push(data.to_vec());
    }
}

impl Shown {
    /// The rows of the screen, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        self.emulator.screen().rows(0, u16::MAX).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The screen as one text, without empty rows at its end.
    pub fn text(&self) -> String {
        self.rows().join("\n").trim_end().to_owned()
    }

    /// Column and row of the cursor, from 0; `None` if it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let screen = self.emulator.screen();
        let (row, column) = screen.cursor_position();
        (!screen.hide_cursor()).then_some((column, row))
    }

    /// The title of the window.
    pub fn title(&self) -> &str {
        &self.emulator.callbacks().title
    }

    /// What the program has put into the clipboard (OSC 52), as it was sent.
    pub fn copied(&self) -> &[Vec<u8>] {
        &self.emulator.callbacks().copied
    }

    /// The emulator's screen: cells with their styles, modes that are on.
    pub fn screen(&self) -> &vt100::Screen {
        self.emulator.screen()
    }

    /// Every byte the program has written.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether the program has closed the terminal.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Scrollback and screen, from the first row to the last that is not empty.
    pub fn everything(&mut self) -> Vec<String> {
        let screen = self.emulator.screen_mut();
        let mut rows = Vec::new();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            rows.extend(screen.rows(0, u16::MAX).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, u16::MAX));
        let mut rows: Vec<String> = rows.iter().map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// The screen with its styles, as bytes that any terminal shows: for `scripts/screenshot`.
    pub fn picture(&self) -> String {
        let mut text = String::new();
        for row in self.emulator.screen().rows_formatted(0, u16::MAX) {
            writeln!(text, "{row}\x1b[m").unwrap_or_default();
        }
        text
    }
}

/// A program in a pseudo-terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    shared: Arc<(Mutex<Shown>, Condvar)>,
}

impl Ona {
    /// Starts the program in a terminal of 80 columns and 24 rows.
    pub fn terminal<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Terminal {
        self.terminal_of(SIZE, args)
    }

    /// Starts the program in a terminal of so many columns and rows.
    pub fn terminal_of<A: AsRef<OsStr>>(&self, size: (u16, u16), args: impl IntoIterator<Item = A>) -> Terminal {
        let prepared = self.command(args);
        let mut command = CommandBuilder::new(prepared.get_program());
        command.args(prepared.get_args());
        command.env_clear();
        for (name, value) in prepared.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        if command.get_env("TERM").is_none() {
            command.env("TERM", "xterm-256color");
        }
        command.cwd(prepared.get_current_dir().expect("the command has a folder"));
        Terminal::start(command, size)
    }
}

impl Terminal {
    /// Starts any program, for example a shell that starts the program under test.
    pub fn start(command: CommandBuilder, (columns, rows): (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(pty_size(columns, rows)).expect("a pseudo-terminal");
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let writer = Arc::new(Mutex::new(pair.master.take_writer().expect("taken once")));
        let shown = Shown {
            emulator: vt100::Parser::new_with_callbacks(
                at_least_one(rows),
                at_least_one(columns),
                SCROLLBACK,
                Answers::default(),
            ),
            raw: Vec::new(),
            ended: false,
        };
        let shared = Arc::new((Mutex::new(shown), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let (answers, screen) = (Arc::clone(&writer), Arc::clone(&shared));
        std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            // Linux reports an error instead of an end when the last writer is gone.
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let mut shown = lock(&screen.0);
                shown.raw.extend_from_slice(&buffer[..count]);
                shown.emulator.process(&buffer[..count]);
                let replies = std::mem::take(&mut shown.emulator.callbacks_mut().replies);
                drop(shown);
                if !replies.is_empty() {
                    // The program may have ended since it asked.
                    lock(&answers).write_all(&replies).ok();
                }
                screen.1.notify_all();
            }
            lock(&screen.0).ended = true;
            screen.1.notify_all();
        });
        Self { child, master: pair.master, writer, shared }
    }

    /// Sends keys; `keys` has those that are not characters.
    pub fn send(&self, keys: &str) {
        let mut writer = lock(&self.writer);
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("the terminal takes keys");
    }

    /// Waits until the screen holds what is wanted and returns what `look` made of it.
    pub fn wait<T>(&self, wanted: &str, mut look: impl FnMut(&mut Shown) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT;
        let mut shown = lock(&self.shared.0);
        loop {
            if let Some(found) = look(&mut shown) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if shown.ended || left.is_zero() {
                let why = if shown.ended { "the program ended" } else { "nothing came in time" };
                panic!("{why} while waiting for {wanted}; the screen:\n{}\n", shown.everything().join("\n"));
            }
            shown = self.shared.1.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the screen contains a text; returns the screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait(&format!("{text:?}"), |shown| Some(shown.text()).filter(|screen| screen.contains(text)))
    }

    /// Waits until a text has left the screen; returns the screen.
    pub fn wait_until_gone(&self, text: &str) -> String {
        self.wait(&format!("{text:?} to go"), |shown| Some(shown.text()).filter(|screen| !screen.contains(text)))
    }

    /// Waits until the title of the window contains a text.
    pub fn wait_for_title(&self, text: &str) {
        self.wait(&format!("the title {text:?}"), |shown| shown.title().contains(text).then_some(()));
    }

    /// Looks at what is shown now.
    pub fn look<T>(&self, look: impl FnOnce(&mut Shown) -> T) -> T {
        look(&mut lock(&self.shared.0))
    }

    /// The screen as it is now.
    pub fn screen(&self) -> String {
        self.look(|shown| shown.text())
    }

    /// Scrollback and screen as they are now.
    pub fn everything(&self) -> Vec<String> {
        self.look(Shown::everything)
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let mut shown = lock(&self.shared.0);
        shown.emulator.screen_mut().set_size(at_least_one(rows), at_least_one(columns));
        self.master.resize(pty_size(columns, rows)).expect("the terminal can be resized");
    }

    /// The id of the process, for signals.
    pub fn process(&self) -> u32 {
        self.child.process_id().expect("the program was started")
    }

    /// Waits for the end of the program; returns its exit code.
    pub fn wait_exit(&mut self) -> i32 {
        let deadline = Instant::now() + TIMEOUT;
        let mut shown = lock(&self.shared.0);
        while !shown.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the program did not end; the screen:\n{}\n", shown.text());
            shown = self.shared.1.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(shown);
        self.child.wait().expect("the program can be waited for").exit_code() as i32
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that passed has waited for the end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn at_least_one(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}
