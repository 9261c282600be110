//! Tells typing from pasting.
//!
//! Terminals with bracketed paste say what is pasted. Through tmux, a driver or an old terminal, pasted text
//! arrives as keys, and its line ends as Enter: taken as keys, the first line would be sent on
//! its own. What one read of the terminal brings is therefore looked at as a whole: several
//! characters together were not typed by hand, so an Enter among them is a line end, and so is one
//! right after a text of several lines. One line and then Enter is how programs type a prompt
//! (`tmux send-keys TEXT Enter`): there, as after a pause, it is the key.

use super::key::Key;
use crossterm::event::{Event, KeyCode, KeyEventKind};
use std::time::Duration;

/// One thing that happened, at a time counted from the start of the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Key(Press),
    /// Characters that arrived together. They are text, whatever keys they could be.
    Text {
        text: String,
        at: Duration,
    },
    /// Pasted, says the terminal.
    Paste {
        text: String,
        at: Duration,
    },
    Resize {
        width: u16,
        height: u16,
    },
    Focus(bool),
}

/// A key and when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Press {
    pub key: Key,
    pub at: Duration,
}

/// Turns batches of events into inputs. A batch is what can be read without waiting.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// When text last arrived in one piece.
    text_at: Option<Duration>,
    /// That text had a line end in it.
    several_lines: bool,
}

/// So many characters in one batch are not typed: a hand makes at most two keys in the time
/// that a busy program needs for a frame.
const TOGETHER: usize = 3;

/// A line end this soon after a piece of text belongs to it: drivers write long texts in pieces, about 10 ms apart.
const SAME_TEXT: Duration = Duration::from_millis(30);

impl Decoder {
    pub fn decode(&mut self, batch: impl IntoIterator<Item = Event>, at: Duration) -> Vec<Input> {
        let mut inputs = Vec::new();
        let mut run: Vec<Key> = Vec::new();
        for event in batch {
            match event {
                Event::Key(event) if event.kind == KeyEventKind::Release => {}
                Event::Key(event) => {
                    let key = Key::from(event);
                    if written(key).is_some() {
                        run.push(key);
                    } else {
                        self.end_run(&mut run, at, &mut inputs);
                        inputs.push(Input::Key(Press { key, at }));
                    }
                }
                other => {
                    self.end_run(&mut run, at, &mut inputs);
                    match other {
                        Event::Paste(text) => inputs.push(Input::Paste { text: line_ends(&text), at }),
                        Event::Resize(width, height) => inputs.push(Input::Resize { width, height }),
                        Event::FocusGained => inputs.push(Input::Focus(true)),
                        Event::FocusLost => inputs.push(Input::Focus(false)),
                        Event::Key(_) | Event::Mouse(_) => {}
                    }
                }
            }
        }
        self.end_run(&mut run, at, &mut inputs);
        inputs
    }

    fn end_run(&mut self, run: &mut Vec<Key>, at: Duration, inputs: &mut Vec<Input>) {
        if run.is_empty() {
            return;
        }
        let same_text = self.text_at.is_some_and(|before| at.saturating_sub(before) < SAME_TEXT);
        let goes_on = same_text && self.several_lines;
        if run[0] == Key::ENTER && !goes_on {
            // It ends what was typed before, and something else follows at once.
            inputs.push(Input::Key(Press { key: run.remove(0), at }));
        }
        let characters = run.iter().filter(|key| key.text().is_some()).count();
        let line_ends = run.iter().filter(|key| written(**key) == Some('\n')).count();
        let sends = run.last() == Some(&Key::ENTER) && line_ends == 1 && !goes_on;
        let enter = if sends { run.pop() } else { None };
        let begins_with_line_end = run.first().is_some_and(|key| key.text().is_none());
        if characters >= TOGETHER || (goes_on && begins_with_line_end) {
            self.text_at = Some(at);
            self.several_lines = goes_on || line_ends > usize::from(sends);
            inputs.push(Input::Text { text: run.drain(..).filter_map(written).collect(), at });
        }
        inputs.extend(run.drain(..).chain(enter).map(|key| Input::Key(Press { key, at })));
    }
}

/// Returns the character a key stands for in pasted text. Ctrl+J is how a line feed
/// arrives, as terminals in raw mode do not make it Enter.
fn written(key: Key) -> Option<char> {
    match key {
        Key::ENTER => Some('\n'),
        key if key == Key::plain(KeyCode::Tab) => Some('\t'),
        key if key == Key::ctrl('j') => Some('\n'),
        key => key.text(),
    }
}

fn line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Input, Press};
    use crate::keys::Key;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    use std::time::Duration;

    fn events(text: &str) -> Vec<Event> {
        let key = |c| match c {
            '\r' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '\n' => KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL),
            '\t' => KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE),
            '\x1b' => KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
            c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
        };
        text.chars().map(|c| Event::Key(key(c))).collect()
    }

    /// Decodes pieces that arrive at the given milliseconds, and writes the result down.
    fn decode(pieces: &[(u64, &str)]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let at = Duration::from_millis;
        let inputs = pieces.iter().flat_map(|(ms, text)| decoder.decode(events(text), at(*ms)));
        inputs
            .map(|input| match input {
                Input::Key(press) => press.key.to_string(),
                Input::Text { text, .. } => format!("{text:?}"),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn what_arrives_together_is_text() {
        for (what, pieces, expected) in [
            ("typing", &[(0, "h"), (90, "i"), (200, "\r")][..], &["h", "i", "Enter"][..]),
            ("two keys in one frame", &[(0, "y\r")], &["y", "Enter"]),
            ("a paste of two lines", &[(0, "one\rtwo\r")], &["\"one\\ntwo\\n\""]),
            ("a program types a prompt", &[(0, "one two\r")], &["\"one two\"", "Enter"]),
            ("in two pieces", &[(0, "one two"), (10, "\r")], &["\"one two\"", "Enter"]),
            ("and the next", &[(0, "one two\r"), (10, "three\r")], &["\"one two\"", "Enter", "\"three\"", "Enter"]),
            ("a paste in two pieces", &[(0, "one\rtwo"), (10, "\rthree\r")], &["\"one\\ntwo\"", "\"\\nthree\\n\""]),
            (
                "Enter and the next prompt",
                &[(0, "one two"), (500, "\rthree\r")],
                &["\"one two\"", "Enter", "\"three\"", "Enter"],
            ),
            ("lines and a late Enter", &[(0, "one\rtwo"), (500, "\r")], &["\"one\\ntwo\"", "Enter"]),
            ("a driver: text, pause, Enter", &[(0, "one two"), (500, "\r")], &["\"one two\"", "Enter"]),
            (
                "the end of a line in the next piece",
                &[(0, "one\rtwo"), (10, "\r"), (600, "\r")],
                &["\"one\\ntwo\"", "\"\\n\"", "Enter"],
            ),
            ("line feeds and tabs", &[(0, "a\tb\nc")], &["\"a\\tb\\nc\""]),
            ("Tab alone", &[(0, "\t")], &["Tab"]),
            ("Ctrl+J alone", &[(0, "\n")], &["Ctrl+J"]),
            ("Escape ends the text", &[(0, "abc\x1b")], &["\"abc\"", "Esc"]),
            ("Escape and Enter later", &[(0, "abc"), (500, "\x1b"), (1100, "\r")], &["\"abc\"", "Esc", "Enter"]),
        ] {
            assert_eq!(decode(pieces), expected, "{what}");
        }
    }

    #[test]
    fn pastes_have_one_kind_of_line_end_and_releases_are_not_keys() {
        let mut decoder = Decoder::default();
        let at = Duration::from_millis(7);
        let mut release = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE);
        release.kind = crossterm::event::KeyEventKind::Release;
        let batch = [Event::Paste("a\r\nb\rc".into()), Event::Key(release), Event::Resize(80, 24), Event::FocusLost];
        assert_eq!(
            decoder.decode(batch, at),
            [Input::Paste { text: "a\nb\nc".into(), at }, Input::Resize { width: 80, height: 24 }, Input::Focus(false),]
        );
        // The terminal says where a paste ends, so an Enter right behind it is the key.
        let at = Duration::from_millis(8);
        assert_eq!(decoder.decode(events("\r"), at), [Input::Key(Press { key: Key::ENTER, at })]);
    }
}
