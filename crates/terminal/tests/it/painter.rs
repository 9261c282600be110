use ona_terminal::screen::{Bottom, Painter, PainterOptions, Reflow, Size};
use ratatui_core::text::Line;
use std::num::NonZeroU16;

fn at_least_one(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

struct Screen {
    painter: Painter<Vec<u8>>,
    seen: usize,
    terminal: vt100::Parser,
    size: Size,
}

impl Screen {
    /// A screen with some lines of a shell above.
    fn new(width: u16, height: u16, shell_lines: usize) -> Self {
        let size = Size { width, height };
        let mut terminal = vt100::Parser::new(at_least_one(height), at_least_one(width), 10_000);
        for number in 0..shell_lines {
            terminal.process(format!("shell {number}\r\n").as_bytes());
        }
        let options = PainterOptions { size, colours: true, reflow: Reflow::Never };
        Self { painter: Painter::new(Vec::new(), options), seen: 0, terminal, size }
    }

    fn paint(&mut self, finished: &[&str], bottom: &[&str], cursor: (u16, u16)) -> usize {
        let lines = |texts: &[&str]| texts.iter().map(|text| Line::from((*text).to_owned())).collect::<Vec<_>>();
        let bottom = Bottom { lines: lines(bottom), cursor: Some(cursor) };
        let bytes = self.painter.paint(self.size, &lines(finished), &bottom).expect("a vector takes everything");
        self.terminal.process(&self.painter.output()[self.seen..]);
        self.seen = self.painter.output().len();
        bytes
    }

    fn resize(&mut self, width: u16, height: u16) {
        self.size = Size { width, height };
        self.terminal.screen_mut().set_size(at_least_one(height), at_least_one(width));
    }

    /// Everything there is: scrollback and screen, without empty lines at the end.
    fn all(&mut self) -> Vec<String> {
        let screen = self.terminal.screen_mut();
        screen.set_scrollback(usize::MAX);
        let mut above = screen.scrollback();
        let mut lines = Vec::new();
        while above > 0 {
            screen.set_scrollback(above);
            lines.extend(screen.rows(0, u16::MAX).next());
            above -= 1;
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, u16::MAX));
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn cursor(&self) -> (u16, u16) {
        let (row, column) = self.terminal.screen().cursor_position();
        (column, row)
    }
}

#[test]
fn finished_lines_stand_above_the_bottom_in_the_order_they_came() {
    let mut screen = Screen::new(40, 8, 3);
    screen.paint(&["one"], &["status", "> "], (2, 1));
    assert_eq!(screen.all(), ["shell 0", "shell 1", "shell 2", "one", "status", ">"]);
    assert_eq!(screen.cursor(), (2, 5));
    screen.paint(&["two", "three", "four", "five"], &["status", "> a"], (3, 1));
    let rest = ["one", "two", "three", "four", "five", "status", "> a"];
    assert_eq!(screen.all(), [&["shell 0", "shell 1", "shell 2"][..], &rest].concat());
    assert_eq!(screen.cursor(), (3, 7));
    let many: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
    screen.paint(&many.iter().map(String::as_str).collect::<Vec<_>>(), &["status", "> a"], (3, 1));
    assert_eq!(screen.all().len(), 3 + 5 + 50 + 2);
    assert_eq!(screen.all()[7..10], ["five", "line 0", "line 1"]);
}

#[test]
fn what_becomes_finished_as_it_stands_costs_nothing() {
    let mut screen = Screen::new(40, 8, 0);
    screen.paint(&[], &["a tail", "of two lines", "status", "> "], (2, 3));
    let bytes = screen.paint(&["a tail", "of two lines"], &["status", "> "], (2, 1));
    assert_eq!(bytes, 0);
    screen.paint(&["next"], &["status", "> "], (2, 1));
    assert_eq!(screen.all(), ["a tail", "of two lines", "next", "status", ">"]);
}

#[test]
fn a_key_costs_a_few_bytes_and_an_unchanged_frame_none() {
    let mut screen = Screen::new(40, 8, 0);
    screen.paint(&[], &["status", "> hell"], (6, 1));
    assert_eq!(screen.paint(&[], &["status", "> hello"], (7, 1)), 1);
    assert_eq!(screen.paint(&[], &["status", "> hello"], (7, 1)), 0);
    assert_eq!(screen.all(), ["status", "> hello"]);
}

#[test]
fn keys_typed_before_the_first_frame_leave_no_trace() {
    let mut screen = Screen::new(40, 8, 1);
    screen.terminal.process(b"hello");
    screen.paint(&[], &["", "> hello"], (7, 1));
    assert_eq!(screen.all(), ["shell 0", "", "> hello"]);
}

#[test]
fn a_menu_that_closes_leaves_nothing_behind() {
    let mut screen = Screen::new(40, 6, 9);
    screen.paint(&[], &["status", "> /", "one", "two", "three"], (3, 1));
    screen.paint(&[], &["status", "> "], (2, 1));
    screen.paint(&["done"], &["status", "> "], (2, 1));
    assert_eq!(screen.all()[9..], ["done", "status", ">"]);
    assert_eq!(screen.all()[..9].len(), 9);
}

#[test]
fn a_terminal_that_cuts_its_rows_keeps_everything_above_when_it_gets_narrow() {
    let mut screen = Screen::new(40, 8, 12);
    screen.paint(&["done"], &["a tail that is wider than twenty", "status", "> "], (2, 2));
    screen.resize(20, 6);
    screen.paint(&[], &["a tail that is", "wider than twenty", "status", "> "], (2, 3));
    screen.resize(60, 9);
    screen.paint(&["a tail that is wider than twenty"], &["status", "> "], (2, 1));
    let all = screen.all();
    assert_eq!(all[12..], ["done", "a tail that is wider than twenty", "status", ">"]);
    assert_eq!((all[0].as_str(), all[11].as_str()), ("shell 0", "shell 11"));
}

#[test]
fn plain_mode_appends_what_is_new_and_never_moves_the_cursor() {
    let size = Size { width: 20, height: 8 };
    let mut painter = Painter::plain(Vec::new(), PainterOptions { size, colours: false, reflow: Reflow::All });
    let mut paint = |finished: &[&str], bottom: &[&str], row: u16| {
        let lines = |texts: &[&str]| texts.iter().map(|text| Line::from((*text).to_owned())).collect::<Vec<_>>();
        let before = painter.output().len();
        let bottom = Bottom { lines: lines(bottom), cursor: Some((0, row)) };
        painter.paint(size, &lines(finished), &bottom).expect("a vector takes everything");
        String::from_utf8_lossy(&painter.output()[before..]).into_owned()
    };
    assert_eq!(paint(&["ona"], &["────", "> ", "model"], 1), "ona\r\nmodel\r\n> ");
    assert_eq!(paint(&[], &["────", "> h", "model"], 1), "h");
    assert_eq!(paint(&[], &["────", "> hi", "model"], 1), "i");
    assert_eq!(paint(&[], &["────", "> h", "model"], 1), "\r\n> h");
    assert_eq!(paint(&["> h"], &["Thinking 1 s", "> ", "model"], 1), "\r\n> h\r\nThinking 1 s\r\n> ");
    assert_eq!(paint(&[], &["Thinking 2 s", "> ", "model"], 1), "");
    let long = "an answer that is longer than a row of the terminal";
    assert_eq!(paint(&[long], &["> ", "model"], 0), format!("\r\n{long}\r\n> "));
    assert_eq!(paint(&[], &["Allow it?", "1 yes", "> ", "model"], 2), "\r\nAllow it?\r\n1 yes\r\n> ");
}
