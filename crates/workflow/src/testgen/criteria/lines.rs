//! Markdown, as far as a list of criteria needs it: what each line is.
//!
//! Code fences and comments are known here, so that nothing inside them is taken
//! for a heading or a list item. Two kinds of lines count as headings that Markdown
//! does not know: a line of bold text, and a short line that ends in a colon.

use super::title;

/// Levels below those of real headings.
pub(super) const BOLD: u8 = 7;
pub(super) const COLON: u8 = 8;

/// Longer than this, a line with a colon is a sentence.
const LONGEST_COLON: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownLine<'a> {
    Blank,
    /// A thematic break.
    Rule,
    Heading {
        level: u8,
        text: &'a str,
        /// What stands behind the colon on the same line.
        rest: Option<&'a str>,
    },
    Item {
        indent: usize,
        /// Column at which its text begins.
        edge: usize,
        text: &'a str,
        /// With its marker.
        whole: &'a str,
    },
    Text {
        indent: usize,
        text: &'a str,
    },
    /// A line of a fenced block, or one of its fences.
    Code {
        indent: usize,
        text: &'a str,
    },
}

pub(super) fn scan(markdown: &str) -> Vec<MarkdownLine<'_>> {
    let mut lines: Vec<MarkdownLine<'_>> = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    for raw in markdown.trim_start_matches('\u{feff}').lines() {
        let indent = indentation(raw);
        let text = raw.trim();
        if let Some(open) = &fence {
            lines.push(MarkdownLine::Code { indent: open.indent, text });
            if open.is_closed_by(text) {
                fence = None;
            }
            continue;
        }
        let Some(text) = without_comments(text, &mut in_comment) else { continue };
        fence = Fence::opened_by(indent, text);
        if fence.is_some() {
            lines.push(MarkdownLine::Code { indent, text });
        } else if let Some(level) = underline(text).filter(|_| indent < 4)
            && let Some(heading) = underlined(&mut lines, level)
        {
            lines.push(heading);
        } else {
            let line = classify(indent, text, lines.last());
            lines.push(line);
        }
    }
    lines
}

struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
}

impl Fence {
    fn opened_by(indent: usize, text: &str) -> Option<Self> {
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = text.bytes().take_while(|byte| *byte == mark).count();
        // A line with three ticks at both ends is inline code.
        let inline = mark == b'`' && text[length..].contains('`');
        (length >= 3 && !inline).then_some(Self { mark, length, indent })
    }

    fn is_closed_by(&self, text: &str) -> bool {
        text.len() >= self.length && text.bytes().all(|byte| byte == self.mark)
    }
}

/// Returns the line without `<!-- -->`; None if nothing but comment is left of it.
fn without_comments<'a>(text: &'a str, inside: &mut bool) -> Option<&'a str> {
    if *inside {
        let (_, after) = text.split_once("-->")?;
        *inside = false;
        let after = after.trim();
        return (!after.is_empty()).then_some(after);
    }
    let Some((before, comment)) = text.split_once("<!--") else { return Some(text) };
    let before = before.trim_end();
    match comment.split_once("-->") {
        // What stands behind a comment within a line is rare; the front part is the line.
        Some((_, after)) if before.is_empty() && !after.trim().is_empty() => Some(after.trim()),
        Some(_) => (!before.is_empty()).then_some(before),
        None => {
            *inside = true;
            (!before.is_empty()).then_some(before)
        }
    }
}

/// Returns the level a line of `===` or `---` gives to what stands above it.
fn underline(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [] => None,
        bytes if bytes.iter().all(|byte| *byte == b'=') => Some(1),
        bytes if bytes.iter().all(|byte| *byte == b'-') => Some(2),
        _ => None,
    }
}

/// Makes a heading of the one-line paragraph above, if there is one.
fn underlined<'a>(lines: &mut Vec<MarkdownLine<'a>>, level: u8) -> Option<MarkdownLine<'a>> {
    let mut above = lines.iter().rev().skip(1);
    let starts = !matches!(above.next(), Some(MarkdownLine::Text { .. } | MarkdownLine::Item { .. }));
    let text = match lines.last()? {
        MarkdownLine::Text { indent, text } if *indent < 4 && starts => *text,
        MarkdownLine::Heading { level: BOLD | COLON, text, rest: None } => text,
        _ => return None,
    };
    lines.pop();
    Some(MarkdownLine::Heading { level, text, rest: None })
}

fn classify<'a>(indent: usize, text: &'a str, above: Option<&MarkdownLine<'_>>) -> MarkdownLine<'a> {
    if text.is_empty() {
        return MarkdownLine::Blank;
    }
    if is_rule(text) {
        return MarkdownLine::Rule;
    }
    if let Some(item) = item(indent, text) {
        return item;
    }
    if indent < 4
        && let Some(heading) =
            heading(text, matches!(above, Some(MarkdownLine::Text { .. } | MarkdownLine::Item { .. })))
    {
        return heading;
    }
    MarkdownLine::Text { indent, text }
}

fn heading(text: &str, in_paragraph: bool) -> Option<MarkdownLine<'_>> {
    let marks = text.bytes().take_while(|byte| *byte == b'#').count();
    let after = &text[marks..];
    if (1..=6).contains(&marks) && (after.is_empty() || after.starts_with([' ', '\t'])) {
        let body = after.trim();
        let bare = body.trim_end_matches('#');
        let text = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { body };
        return Some(MarkdownLine::Heading { level: u8::try_from(marks).expect("at most six"), text, rest: None });
    }
    if let Some(text) = title::bold(text) {
        return Some(MarkdownLine::Heading { level: BOLD, text, rest: None });
    }
    if let Some((text, rest)) = title::before_colon(text) {
        return Some(MarkdownLine::Heading { level: COLON, text, rest: Some(rest) });
    }
    let text = text.strip_suffix(':').filter(|text| text.chars().count() <= LONGEST_COLON)?;
    (!in_paragraph || title::is_criteria(text)).then_some(MarkdownLine::Heading { level: COLON, text, rest: None })
}

fn item(indent: usize, text: &str) -> Option<MarkdownLine<'_>> {
    let marker = match text.as_bytes().first()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 9 || !text[digits..].starts_with(['.', ')']) {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    let after = &text[marker..];
    if !after.is_empty() && !after.starts_with([' ', '\t']) {
        return None;
    }
    Some(MarkdownLine::Item { indent, edge: indent + marker + 1, text: after.trim(), whole: text })
}

fn is_rule(text: &str) -> bool {
    let marks: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    marks.len() >= 3 && matches!(marks[0], b'-' | b'*' | b'_') && marks.iter().all(|mark| *mark == marks[0])
}

/// Columns before the text; a tab reaches to the next multiple of four.
fn indentation(raw: &str) -> usize {
    raw.chars()
        .take_while(|c| c.is_whitespace())
        .fold(0, |column, c| if c == '\t' { column / 4 * 4 + 4 } else { column + 1 })
}
