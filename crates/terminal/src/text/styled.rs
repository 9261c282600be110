//! Text in which programs of the user set colours: their status line, texts of hook modules.
//!
//! Colours and other styles count, within the 16 colours; every other sequence is dropped, and what is
//! left is as harmless as any text from outside.

use super::clean::{sequence_length, visible_line};
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

/// One line with the styles that its SGR sequences ask for.
pub fn styled_line(text: &str) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut style = Style::new();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find('\x1b').unwrap_or(rest.len());
        let (words, after) = rest.split_at(plain);
        if !words.is_empty() {
            spans.push(Span::styled(visible_line(words), style));
        }
        if after.is_empty() {
            break;
        }
        // An escape that begins nothing whole is dropped alone.
        let length = sequence_length(after).max(1);
        if let Some(codes) = after[..length].strip_prefix("\x1b[").and_then(|codes| codes.strip_suffix('m')) {
            style = applied(style, codes);
        }
        rest = &after[length..];
    }
    Line::from(spans)
}

fn applied(mut style: Style, codes: &str) -> Style {
    let mut codes = codes.split([';', ':']).map(|code| code.parse::<u8>().unwrap_or(0));
    while let Some(code) = codes.next() {
        style = match code {
            0 => Style::new(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            22 => style.remove_modifier(Modifier::BOLD | Modifier::DIM),
            23 => style.remove_modifier(Modifier::ITALIC),
            24 => style.remove_modifier(Modifier::UNDERLINED),
            27 => style.remove_modifier(Modifier::REVERSED),
            30..=37 => style.fg(COLOURS[usize::from(code - 30)]),
            90..=97 => style.fg(COLOURS[usize::from(code - 90) + 8]),
            39 => Style { fg: None, ..style },
            // Foregrounds beyond the 16 colours come as near as those have one; backgrounds are not set.
            38 => match palette(&mut codes) {
                Some(colour) => style.fg(colour),
                None => style,
            },
            48 | 58 => {
                palette(&mut codes);
                style
            }
            _ => style,
        };
    }
    style
}

const COLOURS: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

/// `5;n` or `2;r;g;b`.
fn palette(codes: &mut impl Iterator<Item = u8>) -> Option<Color> {
    match codes.next()? {
        5 => match codes.next()? {
            index @ 0..=15 => Some(COLOURS[usize::from(index)]),
            grey @ 232..=255 => Some(if grey < 244 { Color::DarkGray } else { Color::Gray }),
            index => {
                let level = |shift: u8| u8::from((index - 16) / shift % 6 > 2);
                Some(nearest(level(36), level(6), level(1)))
            }
        },
        2 => {
            let mut level = || codes.next().map(|value| u8::from(value > 127));
            Some(nearest(level()?, level()?, level()?))
        }
        _ => None,
    }
}

fn nearest(red: u8, green: u8, blue: u8) -> Color {
    COLOURS[usize::from(red + 2 * green + 4 * blue)]
}

#[cfg(test)]
mod tests {
    use super::styled_line;
    use ratatui_core::style::{Color, Modifier, Style};

    #[test]
    fn styles_count_and_nothing_else_does() {
        let line = styled_line("a\x1b[1;32mok\x1b[m \x1b]52;c;ZXZpbA==\x07b\x1b[2J\x1b[38;5;196mred\x1b[39m.\x1b");
        let spans: Vec<_> = line.spans.iter().map(|span| (span.content.as_ref(), span.style)).collect();
        let plain = Style::new();
        let red = plain.fg(Color::Red);
        assert_eq!(
            spans,
            [
                ("a", plain),
                ("ok", plain.add_modifier(Modifier::BOLD).fg(Color::Green)),
                (" ", plain),
                ("b", plain),
                ("red", red),
                (".", plain),
            ]
        );
        assert_eq!(styled_line("x\x07y\x1b[38;2;10;200;20mz").to_string(), "x␇yz");
    }
}
