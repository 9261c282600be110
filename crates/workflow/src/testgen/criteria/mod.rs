//! What a plan promises: its success criteria, read out of its Markdown by a fixed
//! grammar (DEC-120), because the coverage gate must be computable without a model.
//!
//! A section begins at a heading that says "success criteria" or "acceptance
//! criteria" and ends at the next heading of the same or a higher level. Its top-level
//! list items are the criteria; without a list, its paragraphs are. `lines` knows
//! Markdown, `title` knows which heading counts and which word is an id.

mod lines;
mod title;

use lines::MarkdownLine;
pub use ona_api::testing::Criterion;
use std::collections::BTreeSet;

/// Returns the criteria of a plan, in order, each with an id of its own.
pub fn parse(markdown: &str) -> Vec<Criterion> {
    let mut texts = Vec::new();
    let mut open: Option<Section<'_>> = None;
    for line in lines::scan(markdown) {
        if open.as_ref().is_some_and(|section| section.ends_at(&line)) {
            texts.extend(open.take().map(Section::texts).unwrap_or_default());
        }
        match &mut open {
            Some(section) => section.lines.push(line),
            None => open = Section::begin(&line),
        }
    }
    texts.extend(open.map(Section::texts).unwrap_or_default());
    named(texts)
}

/// A criteria section while it is read.
struct Section<'a> {
    level: u8,
    /// Where the list item stands that is its heading, if one is.
    item: Option<usize>,
    /// Lines indented this far stand at its left edge.
    edge: usize,
    lines: Vec<MarkdownLine<'a>>,
}

impl<'a> Section<'a> {
    fn begin(line: &MarkdownLine<'a>) -> Option<Self> {
        match line {
            MarkdownLine::Heading { level, text, rest } if title::is_criteria(text) => {
                let rest = rest.map(|text| MarkdownLine::Text { indent: 0, text });
                Some(Self { level: *level, item: None, edge: 0, lines: rest.into_iter().collect() })
            }
            MarkdownLine::Item { indent, edge, text, .. } if title::is_heading(text) => {
                Some(Self { level: lines::COLON, item: Some(*indent), edge: *edge, lines: Vec::new() })
            }
            _ => None,
        }
    }

    fn ends_at(&self, line: &MarkdownLine<'_>) -> bool {
        match line {
            MarkdownLine::Heading { level, .. } => *level <= self.level,
            MarkdownLine::Item { indent, .. } => self.item.is_some_and(|own| *indent <= own),
            MarkdownLine::Blank | MarkdownLine::Rule | MarkdownLine::Text { .. } | MarkdownLine::Code { .. } => false,
        }
    }

    fn texts(self) -> Vec<String> {
        let items = self.items();
        if items.is_empty() { self.paragraphs() } else { items }
    }

    /// Returns the top-level list items, each with everything that belongs to it.
    fn items(&self) -> Vec<String> {
        let mut items: Vec<Vec<&str>> = Vec::new();
        // The indentation of the item that may still go on.
        let mut current: Option<usize> = None;
        let mut after_blank = false;
        for line in &self.lines {
            let inside = |indent: usize| current.is_some_and(|base| indent >= base + 2);
            let belongs = match line {
                MarkdownLine::Item { indent, whole, .. } if inside(*indent) => Some(*whole),
                // Four columns and no list to belong to: a code block that looks like one.
                MarkdownLine::Item { indent, .. } if current.is_none() && *indent >= self.edge + 4 => None,
                MarkdownLine::Item { indent, text, .. } => {
                    items.push(vec![text]);
                    current = Some(*indent);
                    None
                }
                MarkdownLine::Text { indent, text } if inside(*indent) || (current.is_some() && !after_blank) => {
                    Some(*text)
                }
                MarkdownLine::Code { indent, text } if inside(*indent) => Some(*text),
                MarkdownLine::Blank => None,
                MarkdownLine::Text { .. }
                | MarkdownLine::Code { .. }
                | MarkdownLine::Heading { .. }
                | MarkdownLine::Rule => {
                    current = None;
                    None
                }
            };
            if let (Some(text), Some(item)) = (belongs, items.last_mut()) {
                item.push(text);
            }
            after_blank = matches!(line, MarkdownLine::Blank);
        }
        items.iter().map(|lines| title::without_box(lines.join("\n").trim())).filter(|text| !text.is_empty()).collect()
    }

    fn paragraphs(&self) -> Vec<String> {
        let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
        for line in &self.lines {
            match line {
                MarkdownLine::Text { indent, text } => {
                    let paragraph = paragraphs.last_mut().expect("there is always one");
                    if !paragraph.is_empty() || *indent < self.edge + 4 {
                        paragraph.push(text);
                    }
                }
                _ => paragraphs.push(Vec::new()),
            }
        }
        paragraphs.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect()
    }
}

/// Gives every text an id: its own if it has one nobody had before it, else the
/// next free `SC-n`.
fn named(texts: Vec<String>) -> Vec<Criterion> {
    let split: Vec<_> = texts.iter().map(|text| title::id(text)).collect();
    let own: BTreeSet<&str> = split.iter().flatten().map(|(id, _)| *id).collect();
    let mut free = (1..).map(|n| format!("SC-{n}")).filter(|id| !own.contains(id.as_str()));
    let mut used = BTreeSet::new();
    let mut criteria = Vec::with_capacity(texts.len());
    for (text, split) in texts.iter().zip(&split) {
        criteria.push(match split {
            Some((id, rest)) if used.insert(*id) => Criterion { id: (*id).to_owned(), text: rest.clone() },
            // A second use of an id would hide the first; the text keeps it.
            _ => Criterion { id: free.next().expect("numbers do not end"), text: text.clone() },
        });
    }
    criteria
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corpus of plans, each with what is read out of it.
    const CORPUS: &str = include_str!("../../../tests/corpus/criteria.md");

    #[test]
    fn the_corpus_is_read_as_it_says() {
        let blocks: Vec<_> = CORPUS.split("`````").collect();
        for case in blocks.chunks_exact(4) {
            let [name, plan, _, expected] = case else { unreachable!("chunks of four") };
            let found: String = parse(plan.strip_prefix("plan\n").unwrap())
                .iter()
                .map(|criterion| format!("{} | {}\n", criterion.id, criterion.text.replace('\n', " / ")))
                .collect();
            assert_eq!(found, expected.strip_prefix("criteria\n").unwrap(), "{}", name.trim());
        }
        assert!(blocks.len() > 4 * 25, "{}", blocks.len());
    }

    #[test]
    fn line_ends_of_windows_change_nothing() {
        let plan = "Intro\n\n## Success criteria\n\n- one\n  more\n- two\n\n## Next\n- three\n";
        assert_eq!(parse(plan), parse(&plan.replace('\n', "\r\n")));
    }
}
