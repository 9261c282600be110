//! The colours a theme makes of the styles.
//!
//! Styles are written once, in `theme`, in the colours of the terminal; a palette replaces them when a frame
//! is painted. Only the 16 colours are used, so that the terminal's own theme has the last word.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Line;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// As the terminal has them.
    #[default]
    Auto,
    /// Lighter ones, for a dark background.
    Dark,
    /// Darker ones, for a light background.
    Light,
    /// For terminals that cannot show dim text: grey instead.
    Sixteen,
    /// None; modifiers stay.
    Plain,
}

impl Palette {
    /// Returns the palette of a theme. Names of the compatible product count as what comes closest.
    pub fn named(name: &str) -> Option<Palette> {
        Some(match name {
            "auto" => Palette::Auto,
            "dark" | "dark-daltonized" => Palette::Dark,
            "light" | "light-daltonized" => Palette::Light,
            "16" | "dark-ansi" | "light-ansi" => Palette::Sixteen,
            "plain" => Palette::Plain,
            _ => return None,
        })
    }

    pub fn apply(self, lines: &mut [Line<'static>]) {
        if self == Palette::Auto {
            return;
        }
        for line in lines {
            line.style = self.style(line.style);
            for span in &mut line.spans {
                span.style = self.style(span.style);
            }
        }
    }

    fn style(self, style: Style) -> Style {
        let colour = |colour: Color| match (self, colour) {
            (Palette::Dark, Color::Cyan) => Color::LightCyan,
            (Palette::Dark, Color::Green) => Color::LightGreen,
            (Palette::Dark, Color::Red) => Color::LightRed,
            (Palette::Dark, Color::Magenta) => Color::LightMagenta,
            (Palette::Light, Color::Cyan) => Color::Blue,
            (_, other) => other,
        };
        let mut style = style;
        style.fg = style.fg.filter(|_| self != Palette::Plain).map(colour);
        if self == Palette::Sixteen && style.add_modifier.contains(Modifier::DIM) {
            style.add_modifier.remove(Modifier::DIM);
            style.fg = style.fg.or(Some(Color::DarkGray));
        }
        style
    }
}

#[cfg(test)]
mod tests {
    use super::Palette;
    use crate::theme;
    use ratatui_core::style::{Color, Modifier, Style};

    #[test]
    fn a_theme_is_a_choice_of_colours() {
        let action = |name: &str| Palette::named(name).map(|palette| palette.style(theme::ACTION).fg);
        for (name, colour) in [
            ("auto", Some(Some(Color::Cyan))),
            ("dark", Some(Some(Color::LightCyan))),
            ("light", Some(Some(Color::Blue))),
            ("light-ansi", Some(Some(Color::Cyan))),
            ("plain", Some(None)),
            ("pink", None),
        ] {
            assert_eq!(action(name), colour, "{name}");
        }
        assert_eq!(Palette::Sixteen.style(theme::DIM), Style::new().fg(Color::DarkGray));
        assert!(Palette::Plain.style(theme::SELECTED).add_modifier.contains(Modifier::BOLD));
    }
}
