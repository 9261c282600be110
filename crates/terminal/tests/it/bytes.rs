//! What a streamed reply costs: 2,000 tokens, 12.9 kB of text, 200 tokens a second, 30 frames a second.

use ona_terminal::blocks::{StatusLine, status_line, working};
use ona_terminal::markdown::{Reply, markdown};
use ona_terminal::screen::{Bottom, Painter, PainterOptions, Reflow, Size};
use ona_terminal::theme;
use ratatui_core::text::Line;
use std::sync::Arc;
use std::time::Duration;

const TEXT: usize = 12_900;
const TOKENS: usize = 2_000;
const FRAMES: usize = 300;

/// Paragraphs, lists, a heading and a table, as models write them.
fn reply() -> String {
    let part = "## What was found\n\nThe gate is `open` when **every** criterion has a test that passed after the last \
change of the project. Three places matter for that, and each of them was read before anything was changed, because \
the order of these checks is part of what was promised to those who use it.\n\n- `gate.rs` decides, and it is pure\n- \
`runs.rs` keeps what was run, with the digest of the script and of all files of the project\n- the report only shows \
what the two of them say\n\n| file | lines | what it does |\n|---|--:|---|\n| gate.rs | 120 | decides whether verify may start |\n\
| runs.rs | 311 | keeps runs |\n\n";
    part.chars().cycle().take(TEXT).collect()
}

/// All bytes of the reply, and the text that is left on the screen and above.
fn stream(width: u16) -> (usize, Vec<String>) {
    let size = Size { width, height: 40 };
    let text: Vec<char> = reply().chars().collect();
    let mut painter = Painter::new(Vec::new(), PainterOptions { size, colours: true, reflow: Reflow::All });
    let mut reply = Reply::new(Arc::new(|| {}));
    let status = StatusLine { model: "claude-sonnet-4-5".into(), context: Some(12), ..StatusLine::default() };
    let mut bytes = 0;
    let mut token = 0;
    for frame in 0..=FRAMES {
        let until = TOKENS * frame / FRAMES;
        while token < until {
            let part: String = text[TEXT * token / TOKENS..TEXT * (token + 1) / TOKENS].iter().collect();
            reply.push(&part);
            token += 1;
        }
        if frame == FRAMES {
            reply.end();
        }
        let finished = reply.finished(width);
        let mut lines = reply.tail(width, 12);
        lines.push(Line::default());
        lines.push(working("Writing", Duration::from_secs(frame as u64 / 30), "esc stops", width));
        lines.push(Line::styled("─".repeat(usize::from(width)), theme::DIM));
        lines.push(Line::styled("› ", theme::ACTION));
        lines.push(Line::styled("─".repeat(usize::from(width)), theme::DIM));
        lines.push(status_line(&status, width));
        let row = lines.len() as u16 - 3;
        bytes += painter
            .paint(size, &finished, &Bottom { lines, cursor: Some((2, row)) })
            .expect("a vector takes everything");
    }
    painter.leave(size).expect("a vector takes everything");
    let mut terminal = vt100::Parser::new(40.try_into().expect("rows"), width.try_into().expect("columns"), 10_000);
    terminal.process(painter.output());
    let screen = terminal.screen_mut();
    let mut rows = Vec::new();
    for above in (1..=screen.scrollback_len()).rev() {
        screen.set_scrollback(above);
        rows.extend(screen.rows(0, width).next());
    }
    screen.set_scrollback(0);
    rows.extend(screen.rows(0, width));
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    (bytes, rows)
}

#[test]
fn a_streamed_reply_costs_little_more_than_its_text() {
    for width in [80, 120] {
        let (bytes, rows) = stream(width);
        let expected: Vec<String> =
            markdown(&reply(), width).iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        assert_eq!(rows, expected, "{width}");
        assert!(bytes <= 37_000, "{bytes} bytes at {width} columns");
    }
}
