//! Draws the Markdown of one piece: what pulldown-cmark finds in it, as wrapped lines.

use super::highlight::Highlighter;
use super::table;
use crate::text::{hard_wrap, visible, visible_line, wrap};
use crate::theme;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Span};

pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// The lines of a piece of Markdown. Each starts with `rest`, the first with `first`, which is the
/// marker of an item if it is not empty.
pub(super) fn draw(text: &str, width: u16, first: Vec<Span<'static>>, rest: Vec<Span<'static>>) -> Vec<Line<'static>> {
    let mut writer = Writer {
        width,
        depth: usize::from(!first.is_empty()),
        first: Some(first),
        prefix: rest,
        lines: Vec::new(),
        spans: Vec::new(),
        styles: vec![theme::TEXT],
        lists: Vec::new(),
        link: None,
        code: None,
        table: None,
        gap: false,
    };
    let clean = visible(text);
    for event in Parser::new_ext(&clean, options()) {
        writer.event(event);
    }
    writer.flush();
    // An item without text is a marker by itself.
    if let Some(first) = writer.first.take()
        && !first.is_empty()
    {
        writer.lines.push(Line::from(first));
    }
    writer.lines
}

struct Writer {
    width: u16,
    /// How many lists are around all of it.
    depth: usize,
    /// The start of the next line, if it is not the usual one: the marker of an item.
    first: Option<Vec<Span<'static>>>,
    prefix: Vec<Span<'static>>,
    lines: Vec<Line<'static>>,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The next number of each open list, or none for bullets.
    lists: Vec<Option<u64>>,
    /// Where the open link goes, and where its text starts.
    link: Option<(String, usize)>,
    code: Option<(Highlighter, String)>,
    table: Option<table::Table>,
    /// An empty line goes before the next block.
    gap: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text, self.style()),
            },
            Event::Code(text) => self.text(&text, self.style().patch(theme::CODE)),
            Event::Html(text) | Event::InlineHtml(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(text.trim_end_matches('\n'), self.style());
                if text.ends_with('\n') {
                    self.flush();
                }
            }
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => self.text(" ", self.style()),
            Event::SoftBreak | Event::HardBreak => self.flush(),
            Event::Rule => {
                let used: usize = self.prefix.iter().map(|span| crate::screen::text_width(&span.content)).sum();
                let width = usize::from(self.width).saturating_sub(used).min(40);
                self.spans.push(Span::styled("─".repeat(width), theme::DIM));
                self.flush();
            }
            Event::TaskListMarker(done) => {
                let mark = if done { Span::styled("[x] ", theme::ADDED) } else { Span::raw("[ ] ") };
                self.spans.push(mark);
            }
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]"), self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.separate(),
            Tag::Heading { level, .. } => {
                self.separate();
                let style = match level {
                    HeadingLevel::H1 => theme::HEADING.add_modifier(Modifier::UNDERLINED),
                    _ => theme::HEADING,
                };
                self.styles.push(self.style().patch(style));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.separate();
                self.prefix.push(Span::styled("│ ", theme::DIM));
                self.styles.push(self.style().patch(theme::DIM));
                self.first = None;
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.separate();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((Highlighter::new(&language), String::new()));
            }
            Tag::List(start) => {
                self.flush();
                self.lists.push(start);
            }
            Tag::Item => {
                self.flush();
                let depth = self.depth + self.lists.len();
                let (mark, width) = item_mark(self.lists.last_mut().and_then(Option::as_mut), depth);
                let mut first = self.first.take().unwrap_or_else(|| self.prefix.clone());
                first.push(mark);
                self.first = Some(first);
                self.prefix.push(Span::raw(" ".repeat(width)));
                self.gap = false;
            }
            Tag::Emphasis => self.styles.push(self.style().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(self.style().add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.styles.push(self.style().add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.spans.len()));
                self.styles.push(self.style().patch(theme::ACTION).add_modifier(Modifier::UNDERLINED));
            }
            Tag::Image { dest_url, .. } => {
                self.text("image: ", self.style().patch(theme::DIM));
                self.link = Some((dest_url.into_string(), self.spans.len()));
                self.styles.push(self.style());
            }
            Tag::Table(columns) => {
                self.flush();
                self.separate();
                self.table = Some(table::Table::new(columns));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            Tag::TableCell
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.prefix.pop();
                self.styles.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                if let Some((mut highlighter, code)) = self.code.take() {
                    for line in code.lines() {
                        self.code_line(highlighter.line_now(line));
                    }
                }
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if let Some(first) = self.first.take() {
                    self.lines.push(Line::from(first));
                }
                self.prefix.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some((target, start)) = self.link.take() {
                    let shown: String =
                        self.spans[start.min(self.spans.len())..].iter().map(|span| &*span.content).collect();
                    let target = visible_line(&target);
                    if !target.is_empty() && shown.trim_start_matches("mailto:") != target {
                        self.text(&format!(" ({target})"), self.style().patch(theme::DIM));
                    }
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let used: usize = self.prefix.iter().map(|span| crate::screen::text_width(&span.content)).sum();
                    for line in table.lines(usize::from(self.width).saturating_sub(used)) {
                        let mut spans = self.line_start();
                        spans.extend(line.spans);
                        self.lines.push(Line::from(spans));
                    }
                }
                self.gap = true;
            }
            TagEnd::HtmlBlock => {
                self.flush();
                self.gap = true;
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(theme::TEXT)
    }

    fn text(&mut self, text: &str, style: Style) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.flush();
            }
            if !line.is_empty() {
                self.spans.push(Span::styled(line.to_owned(), style));
            }
        }
    }

    /// Puts an empty line between two blocks of the same piece.
    fn separate(&mut self) {
        if std::mem::take(&mut self.gap) && self.first.is_none() {
            let mut line = Line::from(self.prefix.clone());
            // Blanks at the end of a line would be copied along.
            while line.spans.last().is_some_and(|span| span.content.trim().is_empty()) {
                line.spans.pop();
            }
            self.lines.push(line);
        }
    }

    fn line_start(&mut self) -> Vec<Span<'static>> {
        self.first.take().unwrap_or_else(|| self.prefix.clone())
    }

    fn flush(&mut self) {
        if self.spans.is_empty() || self.table.is_some() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let first = self.line_start();
        self.lines.extend(wrap(&spans, self.width, &first, &self.prefix));
    }

    fn code_line(&mut self, spans: Vec<Span<'static>>) {
        let indent = Span::raw("  ");
        let mut first = self.line_start();
        first.push(indent.clone());
        let mut rest = self.prefix.clone();
        rest.push(indent);
        self.lines.extend(hard_wrap(&spans, self.width, &first, &rest));
    }
}

/// The marker of an item at a depth from 1, and its columns. Numbers count on.
pub(super) fn item_mark(number: Option<&mut u64>, depth: usize) -> (Span<'static>, usize) {
    match number {
        Some(number) => {
            let mark = format!("{number}. ");
            *number += 1;
            let width = mark.len();
            (Span::styled(mark, theme::DIM), width)
        }
        None => (Span::styled(if depth % 2 == 1 { "• " } else { "◦ " }, theme::DIM), 2),
    }
}
