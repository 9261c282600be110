//! One key with its modifiers, in one spelling for what terminals report in several.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

/// One key, or several pressed one after another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeySequence(pub Vec<Key>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a key; write for example ctrl+k, alt+enter, shift+tab, f2, or ctrl+x ctrl+e")]
pub struct UnknownKey(pub String);

impl Key {
    pub const ENTER: Key = Key::plain(KeyCode::Enter);
    pub const ESC: Key = Key::plain(KeyCode::Esc);

    pub const fn plain(code: KeyCode) -> Key {
        Key { code, modifiers: KeyModifiers::NONE }
    }

    pub const fn char(c: char) -> Key {
        Key::plain(KeyCode::Char(c))
    }

    pub const fn ctrl(c: char) -> Key {
        Key { code: KeyCode::Char(c), modifiers: KeyModifiers::CONTROL }
    }

    /// Brings a key into the one spelling that the tables use.
    ///
    /// Shift is part of a character, not a modifier of it; Ctrl ignores the case of letters, as the
    /// control characters do; and the four control characters after Ctrl+Z, which crossterm reports
    /// as Ctrl with a digit, get the names on their keys.
    pub fn new(code: KeyCode, modifiers: KeyModifiers) -> Key {
        let mut modifiers =
            modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::SUPER);
        let code = match code {
            KeyCode::Char(c) if modifiers.intersects(KeyModifiers::CONTROL) => KeyCode::Char(match c {
                '4' => '\\',
                '5' => ']',
                '6' => '^',
                '7' | '/' => {
                    modifiers.remove(KeyModifiers::SHIFT);
                    '_'
                }
                c if c.is_ascii_uppercase() => {
                    modifiers.remove(KeyModifiers::SHIFT);
                    c.to_ascii_lowercase()
                }
                c => c,
            }),
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::SHIFT) => {
                modifiers.remove(KeyModifiers::SHIFT);
                let mut upper = c.to_uppercase();
                KeyCode::Char(match (upper.next(), upper.next()) {
                    (Some(upper), None) => upper,
                    _ => c,
                })
            }
            KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => {
                modifiers.remove(KeyModifiers::SHIFT);
                KeyCode::BackTab
            }
            KeyCode::BackTab => {
                modifiers.remove(KeyModifiers::SHIFT);
                KeyCode::BackTab
            }
            other => other,
        };
        Key { code, modifiers }
    }

    /// Returns the character this key writes, if it writes one.
    pub fn text(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() && !c.is_control() => Some(c),
            _ => None,
        }
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Key {
        Key::new(event.code, event.modifiers)
    }
}

/// Names of keys in files and on the screen; the first of a code is the one that is shown.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Esc),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("del", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Key, UnknownKey> {
        let unknown = || UnknownKey(text.to_owned());
        // A plus sign may be the key itself: "ctrl++".
        let (modifiers, name) = match text.strip_suffix("++") {
            Some(modifiers) => (modifiers, "+"),
            None if text == "+" => ("", "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut all = KeyModifiers::NONE;
        for modifier in modifiers.split('+').filter(|_| !modifiers.is_empty()) {
            all |= match modifier.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => KeyModifiers::CONTROL,
                "shift" => KeyModifiers::SHIFT,
                "alt" | "opt" | "option" | "meta" => KeyModifiers::ALT,
                "cmd" | "command" | "super" | "win" => KeyModifiers::SUPER,
                _ => return Err(unknown()),
            };
        }
        let mut chars = name.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => {
                let lower = name.to_ascii_lowercase();
                let function = lower.strip_prefix('f').and_then(|n| n.parse().ok()).filter(|n| (1..=24).contains(n));
                match (NAMES.iter().find(|(known, _)| *known == lower), function) {
                    (Some((_, code)), _) => *code,
                    (None, Some(n)) => KeyCode::F(n),
                    (None, None) => return Err(unknown()),
                }
            }
        };
        Ok(Key::new(code, all))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (flag, name) in [
            (KeyModifiers::SUPER, "Cmd+"),
            (KeyModifiers::CONTROL, "Ctrl+"),
            (KeyModifiers::ALT, "Alt+"),
            (KeyModifiers::SHIFT, "Shift+"),
        ] {
            if self.modifiers.contains(flag) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::BackTab => f.write_str("Shift+Tab"),
            KeyCode::Esc => f.write_str("Esc"),
            KeyCode::F(n) => write!(f, "F{n}"),
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.modifiers.is_empty() => write!(f, "{c}"),
            KeyCode::Char(c) => write!(f, "{}", c.to_uppercase()),
            KeyCode::Up => f.write_str("↑"),
            KeyCode::Down => f.write_str("↓"),
            KeyCode::Left => f.write_str("←"),
            KeyCode::Right => f.write_str("→"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            code => match NAMES.iter().find(|(_, known)| *known == code) {
                Some((name, _)) => {
                    let (first, rest) = name.split_at(1);
                    write!(f, "{}{rest}", first.to_ascii_uppercase())
                }
                None => write!(f, "{code:?}"),
            },
        }
    }
}

impl FromStr for KeySequence {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<KeySequence, UnknownKey> {
        let keys: Vec<Key> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        match keys.is_empty() {
            true => Err(UnknownKey(text.to_owned())),
            false => Ok(KeySequence(keys)),
        }
    }
}

impl fmt::Display for KeySequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{key}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, KeySequence};
    use crossterm::event::{KeyCode, KeyModifiers as M};

    #[test]
    fn keys_are_written_as_people_write_them() {
        for (text, key, shown) in [
            ("ctrl+k", Key::ctrl('k'), "Ctrl+K"),
            ("CTRL+K", Key::ctrl('k'), "Ctrl+K"),
            ("ctrl+_", Key::ctrl('_'), "Ctrl+_"),
            ("ctrl++", Key::ctrl('+'), "Ctrl++"),
            ("+", Key::char('+'), "+"),
            ("opt+p", Key::new(KeyCode::Char('p'), M::ALT), "Alt+P"),
            ("meta+enter", Key::new(KeyCode::Enter, M::ALT), "Alt+Enter"),
            ("shift+tab", Key::plain(KeyCode::BackTab), "Shift+Tab"),
            ("K", Key::char('K'), "K"),
            ("shift+k", Key::char('K'), "K"),
            ("escape", Key::ESC, "Esc"),
            ("f12", Key::plain(KeyCode::F(12)), "F12"),
            ("pageup", Key::plain(KeyCode::PageUp), "PgUp"),
            ("space", Key::char(' '), "Space"),
        ] {
            assert_eq!(text.parse(), Ok(key), "{text}");
            assert_eq!(key.to_string(), shown);
        }
        for wrong in ["", "ctrl+", "hyper+k", "f25", "entr", "ctrl-k"] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong}");
        }
        let chord: KeySequence = "ctrl+x  ctrl+e".parse().unwrap();
        assert_eq!((chord.0.len(), chord.to_string()), (2, "Ctrl+X Ctrl+E".to_owned()));
    }

    #[test]
    fn the_same_key_of_different_terminals_is_one_key() {
        // Ctrl+_ arrives as 0x1F, which crossterm calls Ctrl+7; with enhanced keys as itself.
        assert_eq!(Key::new(KeyCode::Char('7'), M::CONTROL), Key::ctrl('_'));
        assert_eq!(Key::new(KeyCode::Char('_'), M::CONTROL), Key::ctrl('_'));
        assert_eq!(Key::new(KeyCode::Char('A'), M::SHIFT), Key::char('A'));
        assert_eq!(Key::new(KeyCode::Char('a'), M::SHIFT), Key::char('A'));
        assert_eq!(Key::new(KeyCode::Tab, M::SHIFT), Key::new(KeyCode::BackTab, M::SHIFT));
        assert_eq!(Key::new(KeyCode::Char('ß'), M::SHIFT), Key::char('ß'));
    }
}
