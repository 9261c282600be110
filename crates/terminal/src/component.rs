//! What every part of the screen that takes keys has in common: how it answers a key, and
//! what it looks like.
//!
//! A component is a value. It does no I/O and asks no clock: what it needs to know comes in with the
//! key, and what it wants done leaves as an [`Outcome`]. The loop around it is in `app`.

use ratatui_core::text::Line;

/// What a component made of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<T> {
    /// Not a key of this component; another one may want it.
    Unclaimed,
    /// Taken; draw again.
    Changed,
    /// The component is done, or wants something done.
    Done(T),
}

impl<T> Outcome<T> {
    /// Wraps what a part answered into the answer of the whole.
    pub fn map<U>(self, wrap: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Unclaimed => Outcome::Unclaimed,
            Outcome::Changed => Outcome::Changed,
            Outcome::Done(value) => Outcome::Done(wrap(value)),
        }
    }
}

/// A component as it is seen: its lines from top to bottom, none wider than asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub lines: Vec<Line<'static>>,
    /// Where the terminal's own cursor belongs: input methods and screen readers follow it.
    pub cursor: Option<Cursor>,
}

/// A cell of a view, counted from its upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub column: u16,
    pub row: u16,
}

impl View {
    pub fn height(&self) -> u16 {
        u16::try_from(self.lines.len()).unwrap_or(u16::MAX)
    }

    /// Puts `below` under this view. The cursor of `below` counts if it has one.
    pub fn stack(&mut self, below: View) {
        if let Some(cursor) = below.cursor {
            self.cursor = Some(Cursor { row: cursor.row + self.height(), ..cursor });
        }
        self.lines.extend(below.lines);
    }
}
