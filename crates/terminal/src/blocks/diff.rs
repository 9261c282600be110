//! Changes of a file: line numbers, removed and added lines, and in them the words that differ.

use crate::text::{hard_wrap, visible_line};
use crate::theme;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Span};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Larger texts are compared by lines alone.
const LARGE: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    Same {
        number: usize,
        text: String,
    },
    Removed {
        number: usize,
        text: String,
    },
    Added {
        number: usize,
        text: String,
    },
    /// Lines that are not shown lie between.
    Gap,
}

impl DiffRow {
    pub(super) fn is_added(&self) -> bool {
        matches!(self, Self::Added { .. })
    }

    pub(super) fn is_removed(&self) -> bool {
        matches!(self, Self::Removed { .. })
    }
}

/// What turns `old` into `new`, both starting at a line of their file.
pub fn diff_texts(old: &str, new: &str, first_line: usize) -> Vec<DiffRow> {
    let diff = TextDiff::from_lines(old, new);
    let mut rows = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            rows.push(DiffRow::Gap);
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let text = change.value().trim_end_matches(['\n', '\r']).to_owned();
            let number = |index: Option<usize>| index.unwrap_or(0) + first_line;
            rows.push(match change.tag() {
                ChangeTag::Equal => DiffRow::Same { number: number(change.new_index()), text },
                ChangeTag::Delete => DiffRow::Removed { number: number(change.old_index()), text },
                ChangeTag::Insert => DiffRow::Added { number: number(change.new_index()), text },
            });
        }
    }
    rows
}

/// The rows of a `structuredPatch`, as the tools that edit files report it.
pub fn patch_rows(patch: &Value) -> Vec<DiffRow> {
    let mut rows = Vec::new();
    for hunk in patch.as_array().into_iter().flatten() {
        if !rows.is_empty() {
            rows.push(DiffRow::Gap);
        }
        let start = |key: &str| hunk[key].as_u64().unwrap_or(1) as usize;
        let (mut old, mut new) = (start("oldStart"), start("newStart"));
        for line in hunk["lines"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let text = line.get(1..).unwrap_or_default().to_owned();
            match line.as_bytes().first() {
                Some(b'-') => {
                    rows.push(DiffRow::Removed { number: old, text });
                    old += 1;
                }
                Some(b'+') => {
                    rows.push(DiffRow::Added { number: new, text });
                    new += 1;
                }
                // "\ No newline at end of file"
                Some(b'\\') => {}
                _ => {
                    rows.push(DiffRow::Same { number: new, text });
                    old += 1;
                    new += 1;
                }
            }
        }
    }
    rows
}

/// The rows as lines: `  12 - text`. Words that differ between a removed line and the added one
/// that takes its place are underlined and bold.
pub fn diff_rows(rows: &[DiffRow], width: u16) -> Vec<Line<'static>> {
    let digits = rows.iter().filter_map(number_of).max().unwrap_or(0).to_string().len().max(2);
    let mut lines = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let removed = rows[at..].iter().take_while(|row| row.is_removed()).count();
        let added = rows[at + removed..].iter().take_while(|row| row.is_added()).count();
        if removed + added == 0 {
            lines.extend(match &rows[at] {
                DiffRow::Gap => vec![Line::styled(format!("  {:>digits$}", "⋮"), theme::DIM)],
                row => line(row, digits, &[Span::styled(visible_line(text_of(row)), theme::DIM)], width),
            });
            at += 1;
            continue;
        }
        let (old, new) = (&rows[at..at + removed], &rows[at + removed..at + removed + added]);
        // Lines that took the place of as many others are compared word by word.
        let pairs = removed == added && removed + added <= LARGE;
        for (index, row) in old.iter().enumerate() {
            let spans = match pairs {
                true => words(text_of(row), text_of(&new[index]), ChangeTag::Delete),
                false => vec![Span::styled(visible_line(text_of(row)), theme::FAILED)],
            };
            lines.extend(line(row, digits, &spans, width));
        }
        for (index, row) in new.iter().enumerate() {
            let spans = match pairs {
                true => words(text_of(&old[index]), text_of(row), ChangeTag::Insert),
                false => vec![Span::styled(visible_line(text_of(row)), theme::ADDED)],
            };
            lines.extend(line(row, digits, &spans, width));
        }
        at += removed + added;
    }
    lines
}

fn words(old: &str, new: &str, side: ChangeTag) -> Vec<Span<'static>> {
    let style = if side == ChangeTag::Delete { theme::FAILED } else { theme::ADDED };
    let diff = TextDiff::from_words(old, new);
    // Lines that have little in common are easier to read without marks.
    let alike = diff.ratio() > 0.4;
    let changes = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Equal || change.tag() == side);
    let mut spans: Vec<Span<'static>> = Vec::new();
    for change in changes {
        let marked = alike && change.tag() == side && !change.value().trim().is_empty();
        let style = if marked { style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { style };
        let text = visible_line(change.value());
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&text),
            _ => spans.push(Span::styled(text, style)),
        }
    }
    spans
}

fn line(row: &DiffRow, digits: usize, text: &[Span<'static>], width: u16) -> Vec<Line<'static>> {
    let (sign, style) = match row {
        DiffRow::Removed { .. } => ("-", theme::FAILED),
        DiffRow::Added { .. } => ("+", theme::ADDED),
        DiffRow::Same { .. } | DiffRow::Gap => (" ", Style::new()),
    };
    let number = number_of(row).unwrap_or(0);
    let first = [Span::styled(format!("  {number:>digits$} "), theme::DIM), Span::styled(format!("{sign} "), style)];
    let rest = [Span::raw(" ".repeat(digits + 5))];
    hard_wrap(text, width, &first, &rest)
}

fn number_of(row: &DiffRow) -> Option<usize> {
    match row {
        DiffRow::Same { number, .. } | DiffRow::Removed { number, .. } | DiffRow::Added { number, .. } => Some(*number),
        DiffRow::Gap => None,
    }
}

fn text_of(row: &DiffRow) -> &str {
    match row {
        DiffRow::Same { text, .. } | DiffRow::Removed { text, .. } | DiffRow::Added { text, .. } => text,
        DiffRow::Gap => "",
    }
}
