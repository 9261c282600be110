//! The terminal in the state that the screen needs, and back as it was found.

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::{cursor, execute, terminal};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Raw mode and bracketed paste, until it is dropped. A panic leaves them as well.
pub(super) struct ScreenMode;

impl ScreenMode {
    pub(super) fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        ACTIVE.store(true, Ordering::SeqCst);
        let mode = Self;
        execute!(io::stdout(), EnableBracketedPaste)?;
        Ok(mode)
    }

    /// Has panics restore the terminal before they are reported.
    pub(super) fn restore_on_panic() {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            report(panic);
        }));
    }
}

impl Drop for ScreenMode {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    if ACTIVE.swap(false, Ordering::SeqCst) {
        // A terminal that has gone away needs no restoring.
        execute!(io::stdout(), DisableBracketedPaste, cursor::Show).ok();
        terminal::disable_raw_mode().ok();
        io::stdout().flush().ok();
    }
}
