//! Takes the terminal over and gives it back, however the program ends.
//!
//! Taking over: raw mode, bracketed paste, focus reports, unambiguous keys, the title saved. Giving
//! back undoes exactly that, shows the cursor and puts it below everything that was painted. It
//! happens when the guard is dropped (a normal end, and signals that end the loop), in a panic
//! before its message is printed, and around everything that needs the terminal as a shell leaves
//! it: a suspended program, an external editor.

use rustix::process::{Signal, kill_current_process_group};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

/// Which modes are wanted besides raw mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// See `Capabilities::keyboard_flags`.
    pub keyboard_flags: bool,
}

/// The modes that are on; `Some(None)` is raw mode alone. A panic on any thread has to find them.
static ACTIVE: Mutex<Option<Option<Modes>>> = Mutex::new(None);
/// Whether an overlay is shown on the alternate screen.
static OVERLAY: AtomicBool = AtomicBool::new(false);
/// How many rows of the bottom are below the cursor.
static BELOW: AtomicU16 = AtomicU16::new(0);

/// The terminal is taken over while this exists.
#[derive(Debug)]
pub struct Restore {
    modes: Option<Modes>,
}

impl Restore {
    pub fn enter(modes: Modes) -> io::Result<Self> {
        Self::start(Some(modes))
    }

    /// For plain mode: raw mode alone, and no sequence is ever written.
    pub fn plain() -> io::Result<Self> {
        Self::start(None)
    }

    fn start(modes: Option<Modes>) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // A second failure inside a panic could not be reported better than the first one.
                give_back(true).unwrap_or_default();
                report(panic);
            }));
        });
        let restore = Self { modes };
        restore.take_over()?;
        Ok(restore)
    }

    /// Gives the terminal back for a while. Call `Painter::leave` before, and `take_over` after.
    pub fn lend(&self) -> io::Result<()> {
        give_back(false)
    }

    /// Takes the terminal over again, also after the program was stopped by something that cannot
    /// be caught (SIGSTOP) and continued.
    pub fn take_over(&self) -> io::Result<()> {
        let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if active.is_some() {
            // A shell may have changed modes meanwhile. What is on a stack is still there.
            crossterm::terminal::disable_raw_mode()?;
            crossterm::terminal::enable_raw_mode()?;
            return write(&self.modes.map(again).unwrap_or_default());
        }
        crossterm::terminal::enable_raw_mode()?;
        *active = Some(self.modes);
        write(&self.modes.map(entering).unwrap_or_default())
    }

    /// Stops the program as Ctrl-Z in a shell does, with the terminal given back; returns when it
    /// was continued and has taken the terminal over again. Call `Painter::leave` before and
    /// repaint after.
    pub fn suspend(&self) -> io::Result<()> {
        // Another thread may be the one that receives the stop, so this one waits for the other end.
        let continued = Arc::new(AtomicBool::new(false));
        let registration = signal_hook::flag::register(signal_hook::consts::SIGCONT, Arc::clone(&continued))?;
        self.lend()?;
        // The whole group, as the terminal does, so that a shell script around it stops as well.
        kill_current_process_group(Signal::STOP)?;
        while !continued.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal_hook::low_level::unregister(registration);
        self.take_over()
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        // The terminal may be gone, which is why this is the end.
        give_back(true).unwrap_or_default();
    }
}

/// Remembers where the cursor is for a panic; called by the painter after each frame.
pub(super) fn rows_below(rows: u16) {
    BELOW.store(rows, Ordering::Relaxed);
}

pub(super) fn overlay(shown: bool) {
    OVERLAY.store(shown, Ordering::Relaxed);
}

fn give_back(below: bool) -> io::Result<()> {
    let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(modes) = active.take() else { return Ok(()) };
    let mut text = String::new();
    if OVERLAY.swap(false, Ordering::Relaxed) {
        text.push_str("\x1b[?1049l");
    }
    let rows = BELOW.swap(0, Ordering::Relaxed);
    if below && rows > 0 {
        text.push_str(&format!("\x1b[{rows}B\r\n"));
    }
    text.push_str(&modes.map(leaving).unwrap_or_default());
    let written = write(&text);
    crossterm::terminal::disable_raw_mode()?;
    written
}

fn entering(modes: Modes) -> String {
    let keyboard = if modes.keyboard_flags { "\x1b[>1u" } else { "" };
    format!("\x1b[22;2t\x1b[?2004h\x1b[?1004h{keyboard}")
}

fn again(modes: Modes) -> String {
    let keyboard = if modes.keyboard_flags { "\x1b[=1u" } else { "" };
    format!("\x1b[?2004h\x1b[?1004h{keyboard}")
}

/// Also ends what a frame that was cut short may have left on: one update, no wrapping, a style.
fn leaving(modes: Modes) -> String {
    let keyboard = if modes.keyboard_flags { "\x1b[<u" } else { "" };
    format!("\x1b[?2026l\x1b[?7h\x1b[m{keyboard}\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[23;2t")
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
