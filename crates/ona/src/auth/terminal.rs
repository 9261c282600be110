//! What a person types or a program writes while a login waits for it.
//!
//! Standard input is read on a thread of its own: a login that the browser has finished must
//! not wait for a key.

use crate::output;
use ona_runtime::{Failure, block_on, login::interrupted};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::future;
use std::io::{BufRead, Read, Write, stderr, stdin};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Longer than any address with a code in it.
const MAX_LINE: u64 = 64 * 1024;

/// The lines of standard input as they come.
pub(super) struct Lines(UnboundedReceiver<String>);

impl Lines {
    pub(super) fn read() -> Self {
        let (sender, receiver) = unbounded_channel();
        std::thread::spawn(move || {
            while let Ok(line) = one_line() {
                let ended = line.is_empty();
                if ended || sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self(receiver)
    }

    /// Waits for ever once the input has ended: the browser may still answer.
    pub(super) async fn next(&mut self) -> String {
        match self.0.recv().await {
            Some(line) => line,
            None => future::pending().await,
        }
    }
}

/// Returns a line with its end; empty at the end of the input.
fn one_line() -> std::io::Result<String> {
    let mut line = String::new();
    stdin().lock().take(MAX_LINE).read_line(&mut line)?;
    Ok(line)
}

/// Returns all of standard input, which is a pipe or a file.
pub(crate) fn short_text() -> Result<String, Failure> {
    let mut text = String::new();
    let read = stdin().lock().take(MAX_LINE).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format_args!("stdin could not be read as text: {error}")))?;
    Ok(text)
}

/// Asks for a line that is not shown while it is typed.
pub(crate) fn hidden_line(question: &str, cancel: &CancellationToken) -> Result<String, Failure> {
    let _hidden = HiddenInput::begin();
    // A terminal that has gone away gives no answer below.
    write!(stderr(), "{question}").ok();
    stderr().flush().ok();
    let line = block_on(async {
        let mut lines = Lines::read();
        tokio::select! {
            line = lines.0.recv() => Ok(line.unwrap_or_default()),
            () = cancel.cancelled() => Err(interrupted()),
        }
    });
    output::note("");
    line
}

/// The terminal does not echo while this lives.
struct HiddenInput(Option<Termios>);

impl HiddenInput {
    fn begin() -> Self {
        let Ok(before) = tcgetattr(stdin()) else { return Self(None) };
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        match tcsetattr(stdin(), OptionalActions::Flush, &hidden) {
            Ok(()) => Self(Some(before)),
            Err(_) => Self(None),
        }
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that has gone away needs no echo.
            tcsetattr(stdin(), OptionalActions::Now, before).ok();
        }
    }
}
