//! Brings frames to a terminal: finished lines above, the bottom repainted below them.
//!
//! Everything is written relative to the cursor, on the main screen: the program never needs to
//! know at which row it stands, never clears the screen or the scrollback, and scrolls only by
//! line feeds, so that the terminal's own scrollback, search, selection and copy keep working.

mod append;
mod capabilities;
mod painter;
mod restore;
mod row;
mod width;

pub use capabilities::Capabilities;
pub use painter::{Painter, PainterOptions, Reflow};
pub use restore::{Modes, Restore};
pub use width::{line_width, text_width, widest};

use ratatui_core::text::Line;

/// What is repainted: live tail of the reply, status, dialog, composer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bottom {
    /// From top to bottom, each wrapped to the width of the terminal by who made it. Longer lines
    /// are cut. Of more lines than the terminal has rows, the last are shown.
    pub lines: Vec<Line<'static>>,
    /// Where the real cursor goes: column and row in `lines`. `None` hides it.
    pub cursor: Option<(u16, u16)>,
}

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: u16,
    pub height: u16,
}

/// What the title of the window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title {
    /// Waiting for a prompt.
    Ready,
    /// The agent works.
    Working,
    /// A dialog waits for an answer.
    ActionRequired,
}

impl Title {
    /// The words, as other agents of this kind write them.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Working => "Working",
            Self::ActionRequired => "Action Required",
        }
    }
}
