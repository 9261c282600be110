//! What a terminal sends for a key, for programs that read keys themselves: components of hook modules.

use super::Key;
use crossterm::event::{KeyCode, KeyModifiers};

/// Returns the bytes of a key as text; `None` for keys that no plain terminal sends.
pub fn sent_as(key: Key) -> Option<String> {
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { "\x1b" } else { "" };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let text = match key.code {
        KeyCode::Char(c) if control => char::from(u8::try_from(c).ok()? & 0x1f).to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "\r".to_owned(),
        KeyCode::Esc => "\x1b".to_owned(),
        KeyCode::Tab => "\t".to_owned(),
        KeyCode::BackTab => "\x1b[Z".to_owned(),
        KeyCode::Backspace => "\x7f".to_owned(),
        KeyCode::Up => "\x1b[A".to_owned(),
        KeyCode::Down => "\x1b[B".to_owned(),
        KeyCode::Right => "\x1b[C".to_owned(),
        KeyCode::Left => "\x1b[D".to_owned(),
        KeyCode::Home => "\x1b[H".to_owned(),
        KeyCode::End => "\x1b[F".to_owned(),
        KeyCode::PageUp => "\x1b[5~".to_owned(),
        KeyCode::PageDown => "\x1b[6~".to_owned(),
        KeyCode::Delete => "\x1b[3~".to_owned(),
        KeyCode::Insert => "\x1b[2~".to_owned(),
        _ => return None,
    };
    Some(format!("{alt}{text}"))
}

#[cfg(test)]
mod tests {
    use super::sent_as;
    use crate::keys::KeySequence;

    #[test]
    fn keys_are_sent_as_terminals_send_them() {
        for (key, sent) in [
            ("a", "a"),
            ("enter", "\r"),
            ("escape", "\x1b"),
            ("ctrl+a", "\x01"),
            ("alt+x", "\x1bx"),
            ("up", "\x1b[A"),
            ("shift+tab", "\x1b[Z"),
        ] {
            let sequence: KeySequence = key.parse().unwrap();
            assert_eq!(sent_as(sequence.0[0]).as_deref(), Some(sent), "{key}");
        }
    }
}
