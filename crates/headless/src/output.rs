//! Where messages go.

use std::io;

/// The stream that messages are written to, and whether anyone still reads it.
pub trait Output: Send + Sync {
    /// Writes one line and flushes it. An error means that nobody reads any more.
    fn write_line(&self, line: &str) -> io::Result<()>;

    /// Writes a piece of a line, for a person who watches.
    fn write_text(&self, text: &str) -> io::Result<()>;

    /// Ends a line that was begun by `write_text`, if there is one.
    fn end_line(&self);

    /// Returns whether the reader has gone, also if nothing was written since.
    fn is_closed(&self) -> bool;

    /// Prints a sentence for people, beside the messages.
    fn note(&self, sentence: &str);
}
