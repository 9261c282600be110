use super::*;
use crate::screen::line_width;
use crate::theme;
use proptest::prelude::*;
use ratatui_core::style::Modifier;
use std::sync::mpsc::channel;

fn text_of(lines: &[Line<'static>]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn shown(text: &str, width: u16) -> String {
    text_of(&markdown(text, width))
}

/// All that a reply hands out when its text comes in these parts.
fn streamed(parts: &[&str], width: u16) -> Vec<Line<'static>> {
    let (wake, woken) = channel();
    let mut reply = Reply::new(Arc::new(move || wake.send(()).unwrap_or_default()));
    let mut lines = Vec::new();
    for part in parts {
        reply.push(part);
        reply.tail(width, 10);
        lines.extend(reply.finished(width));
    }
    reply.end();
    loop {
        lines.extend(reply.finished(width));
        if reply.is_done() {
            return lines;
        }
        woken.recv().expect("code comes back");
    }
}

const EVERYTHING: &str = "\
# Title
Some *text* with `code`, **bold** and a [link](http://x.y/z).

- one
- two
  - nested
    more

  para
1. first
1. second

> a quote
> of two

```rust
fn main() { // hi
    println!(\"x {}\", 1);
}
```

| a | b |
|---|--:|
| one | 12 |
| two three | 3 |

---
- [ ] todo
- [x] ~~done~~

Setext
======
last <b>x</b>";

#[test]
fn each_kind_of_block_is_drawn() {
    let expected = "\
Title

Some text with code, bold and a link
(http://x.y/z).

• one
• two
  ◦ nested
    more

  para
1. first
2. second

│ a quote
│ of two

  fn main() { // hi
      println!(\"x {}\", 1);
  }

a         │  b
──────────┼───
one       │ 12
two three │  3

────────────────────────────────────────

• [ ] todo
• [x] done

Setext

last <b>x</b>";
    assert_eq!(shown(EVERYTHING, 40), expected);
}

#[test]
fn styles_say_what_markdown_says() {
    let style = |text: &str, of: &str| {
        let lines = markdown(text, 80);
        let mut spans = lines.iter().flat_map(|line| &line.spans);
        spans.find(|span| span.content.contains(of)).unwrap_or_else(|| panic!("{of} in {text:?}")).style
    };
    assert_eq!(style("## a", "a"), theme::HEADING);
    assert_eq!(style("x **a** y", "a"), theme::TEXT.add_modifier(Modifier::BOLD));
    assert_eq!(style("x *a* y", "a"), theme::TEXT.add_modifier(Modifier::ITALIC));
    assert_eq!(style("x `a` y", "a"), theme::CODE);
    assert_eq!(style("```rust\nlet a = \"b\"; // c\n```", "let"), theme::CODE_KEYWORD);
    assert_eq!(style("```rust\nlet a = \"b\"; // c\n```", "\"b\""), theme::CODE_STRING);
    assert_eq!(style("```rust\nlet a = \"b\"; // c\n```", "// c"), theme::DIM);
    assert_eq!(style("- x\n\n  ```py\n  def a(): pass\n  ```", "def"), theme::CODE_KEYWORD);
}

#[test]
fn a_table_wraps_its_cells_and_becomes_records_where_it_is_narrow() {
    let table = "| name | what it does |\n|:-:|---|\n| 漢字 | shows `wide` characters in a column |\n| b | x |";
    let expected = "\
name │ what it does
─────┼───────────────────
漢字 │ shows wide
     │ characters in a
     │ column
 b   │ x";
    assert_eq!(shown(table, 25), expected);
    let expected = "\
name: 漢字
what it does:
  shows wide
  characters in
  a column

name: b
what it does: x";
    assert_eq!(shown(table, 15), expected);
}

#[test]
fn what_is_not_closed_is_shown_as_it_would_end() {
    let mut reply = Reply::new(Arc::new(|| {}));
    reply.push("One para\n\nTwo **bo");
    assert_eq!(text_of(&reply.finished(40)), "One para");
    assert_eq!(text_of(&reply.tail(40, 5)), "\nTwo **bo");
    reply.push("ld**\n\n```\nco");
    assert_eq!(text_of(&reply.finished(40)), "\nTwo bold\n");
    assert_eq!(text_of(&reply.tail(40, 5)), "  co");
    reply.push("de\nmore");
    assert_eq!(text_of(&reply.finished(40)), "  code");
    assert_eq!(text_of(&reply.tail(40, 5)), "  more");
    reply.end();
    assert_eq!(text_of(&reply.finished(40)), "  more");
    assert!(reply.is_done());
}

#[test]
fn a_stream_hands_out_what_the_whole_text_looks_like() {
    let parts: Vec<String> = EVERYTHING.chars().map(String::from).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(streamed(&parts, 40), markdown(EVERYTHING, 40));
}

#[test]
fn the_work_for_a_long_reply_grows_with_its_length() {
    // Each is one block to Markdown. Drawn again as a whole for every part, they would take minutes.
    let list = "- an item of a list\n".repeat(8_000);
    let code = format!("```\n{}```\n", "some code\n".repeat(8_000));
    let line = "word ".repeat(32_000);
    for text in [list, code, line] {
        let parts: Vec<&str> =
            text.as_bytes().chunks(97).map(|part| std::str::from_utf8(part).expect("plain")).collect();
        let start = std::time::Instant::now();
        assert!(streamed(&parts, 80).len() > 2_000);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}

/// Fragments that make blocks, hostile ones among them.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "word ",
        "two words\n",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "  ",
        "    ",
        "```",
        "```rust\n",
        "~~~\n",
        "> ",
        "# ",
        "| a | b |\n",
        "|---|---|\n",
        "---\n",
        "===\n",
        "**",
        "*",
        "`",
        "[x](",
        ")",
        "fn main() {}\n",
        "漢字",
        "👨\u{200d}👩\u{200d}👧",
        "e\u{301}",
        "\x1b[2J",
        "\x1b]52;c;eA==\x07",
        "\u{9b}31m",
        "\u{202e}",
        "\r",
        "\t",
        "\x08",
        "\0",
        "<b>",
        "&amp;",
        "\\",
        "~~",
    ]);
    prop::collection::vec(fragment, 0..60).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn however_a_stream_is_cut_the_lines_are_the_same(text in fragments(), cuts in prop::collection::vec(0_usize..400, 0..20)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| floor(&text, at)).collect();
        cuts.sort_unstable();
        let mut parts = Vec::new();
        let mut start = 0;
        for cut in cuts {
            parts.push(&text[start..cut]);
            start = cut;
        }
        parts.push(&text[start..]);
        let lines = streamed(&parts, 30);
        prop_assert_eq!(&lines, &markdown(&text, 30));
        for line in &lines {
            let shown = line.to_string();
            prop_assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{:?}", shown);
            prop_assert!(line_width(line) <= 30, "{:?}", shown);
        }
    }
}
