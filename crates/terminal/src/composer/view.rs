//! What the composer looks like: what waits in the queue, the text, and below it the search, the menu or a hint.

use super::{Composer, InputMode, MARGIN, VimMode, graphemes};
use crate::screen::text_width;
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, View};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use std::ops::Range;

/// Queued inputs that show; the rest is counted.
const QUEUED: usize = 3;
/// Drivers look for this at the start of a line to see that input is accepted.
const PROMPT: &str = "❯ ";

impl Composer {
    /// Draws everything into at most `height` rows of the width that was set with [`Composer::resize`].
    pub fn view(&self, height: u16) -> View {
        let height = usize::from(height).max(1);
        let mut text = self.text_view(height);
        let below = self.below(height.saturating_sub(text.lines.len()));
        let room = height.saturating_sub(text.lines.len() + below.lines.len());
        let mut view = self.queue_view(room);
        view.stack(std::mem::take(&mut text));
        view.stack(below);
        view
    }

    fn width(&self) -> usize {
        self.buffer.rows().width() + usize::from(MARGIN) + 1
    }

    fn queue_view(&self, room: usize) -> View {
        let shown = self.queue.len().min(QUEUED).min(room);
        let mut view = View::default();
        for (index, waiting) in self.queue.iter().take(shown).enumerate() {
            let hidden = self.queue.len() - shown;
            let more = if index + 1 == shown && hidden > 0 { format!(" (+{hidden} more)") } else { String::new() };
            let text = format!("{}{}", waiting.mode.prefix(), waiting.shown.replace('\n', " ⏎ "));
            let room = self.width().saturating_sub(2 + text_width(&more));
            view.lines.push(Line::styled(format!("⋯ {}{more}", cut(&text, room)), theme::DIM));
        }
        view
    }

    fn text_view(&self, height: usize) -> View {
        let rows = self.buffer.rows();
        let visible = self.visible.min(height);
        // The room may be smaller than what was set; the row of the cursor shows in any case.
        let (row, column) = self.buffer.position();
        let top = self.top.max((row + 1).saturating_sub(visible));
        let last = rows.count().min(top + visible);
        let mut view = View::default();
        for shown in top..last {
            let sign = match self.mode {
                _ if shown > 0 => Span::raw("  "),
                InputMode::Prompt => Span::styled(PROMPT, theme::ACTION),
                InputMode::Shell => Span::styled("! ", theme::VOICE),
                InputMode::Memory => Span::styled("# ", theme::VOICE),
            };
            let mut spans = vec![sign];
            spans.extend(self.row(shown));
            if shown + 1 == rows.count() {
                spans.extend(self.ghost());
            }
            view.lines.push(Line::from(spans));
        }
        let column = column.min(rows.width()) + usize::from(MARGIN);
        view.cursor = Some(Cursor { column: column as u16, row: (row - top) as u16 });
        view
    }

    /// The characters of one row, folded pastes by their labels.
    fn row(&self, row: usize) -> Vec<Span<'static>> {
        let text = self.buffer.text();
        let range = self.buffer.rows().range(row, text);
        let marked = self.marked();
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut cells = 0;
        let mut at = range.start;
        while at < range.end {
            let end = graphemes::next(text, at);
            let grapheme = &text[at..end];
            let chip = grapheme.chars().next().and_then(|c| self.buffer.chips.label(c));
            cells += self.buffer.chips.width(grapheme);
            // A space that did not fit stands past the edge.
            if cells > self.buffer.rows().width() && chip.is_none() {
                break;
            }
            let mut style = if chip.is_some() { theme::ACTION } else { theme::TEXT };
            if marked.as_ref().is_some_and(|marked| marked.contains(&at)) {
                style = style.patch(theme::MATCH);
            }
            push(&mut spans, chip.unwrap_or(if grapheme == "\t" { "    " } else { grapheme }), style);
            at = end;
        }
        if let Some(chip_width) = cells.checked_sub(self.buffer.rows().width()).filter(|over| *over > 0) {
            // Only a label can be wider than a row.
            if let Some(last) = spans.last_mut() {
                let room = text_width(&last.content).saturating_sub(chip_width);
                last.content = cut(&last.content, room).into();
            }
        }
        spans
    }

    /// What is highlighted: what the search found, or what visual mode selected.
    fn marked(&self) -> Option<Range<usize>> {
        if let Some(search) = &self.search {
            let (_, range) = search.found(&self.history)?;
            let prefix = self.mode.prefix().len();
            return Some(range.start.saturating_sub(prefix)..range.end.saturating_sub(prefix));
        }
        self.vim.as_ref()?.selection(&self.buffer)
    }

    /// Dim text behind the cursor: the placeholder, or what the command's arguments are.
    fn ghost(&self) -> Option<Span<'static>> {
        let text = self.buffer.text();
        let room = self.buffer.rows().width();
        if text.is_empty() && self.mode == InputMode::Prompt && self.search.is_none() {
            return (!self.placeholder.is_empty()).then(|| Span::styled(cut(&self.placeholder, room), theme::DIM));
        }
        let name = text.strip_prefix('/')?.strip_suffix(' ')?;
        let command = self.command(name).filter(|command| self.menu.is_none() && !command.arguments.is_empty())?;
        let room = room.saturating_sub(text_width(text));
        Some(Span::styled(cut(&command.arguments, room), theme::DIM))
    }

    fn below(&self, room: usize) -> View {
        let line = |text: String, style: Style| View {
            lines: vec![Line::styled(cut(&text, self.width()), style)],
            cursor: None,
        };
        if room == 0 {
            return View::default();
        }
        if let Some(search) = &self.search {
            let state = if search.exhausted { "no older match for" } else { "search" };
            let query = visible_line(&search.query);
            return line(format!("  {state}: {query}  · Ctrl+R older · Enter send · Esc edit"), theme::DIM);
        }
        if let Some(menu) = &self.menu {
            return menu.view(self.width() as u16, room as u16);
        }
        if let Some(hint) = &self.hint {
            return line(format!("  {}", hint.text), theme::DIM);
        }
        if let Some(keys) = Some(self.chord.keys()).filter(|keys| !keys.is_empty()) {
            let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
            return line(format!("  {} …", keys.join(" ")), theme::DIM);
        }
        if let Some(mode) = self.vim_mode().filter(|mode| *mode != VimMode::Insert) {
            let name = match mode {
                VimMode::Normal => "NORMAL",
                VimMode::Visual => "VISUAL",
                VimMode::VisualLine => "VISUAL LINE",
                VimMode::Insert => "INSERT",
            };
            return line(format!("  -- {name} --"), theme::DIM);
        }
        View::default()
    }
}

/// Appends text to the last span if it looks the same.
fn push(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match spans.last_mut().filter(|last| last.style == style) {
        Some(last) => last.content.to_mut().push_str(text),
        None => spans.push(Span::styled(text.to_owned(), style)),
    }
}
