//! Changes to a source text, kept apart from it until all are known.
//!
//! Line numbers must survive, because messages of a module name them: what is taken
//! away leaves its line breaks behind unless the grammar forbids them there.

use oxc_span::Span;

#[derive(Clone, Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

#[derive(Clone, Debug)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edits {
    /// Puts `text` in place of a span.
    pub(super) fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.0.push(Edit { start: span.start as usize, end: span.end as usize, text: text.into() });
    }

    pub(super) fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(Span::new(at, at), text);
    }

    /// Blanks a span, line breaks kept.
    pub(super) fn blank(&mut self, source: &str, span: Span) {
        self.replace(span, blanked(text_of(source, span)));
    }

    /// Blanks a whole statement or class element. The semicolon keeps the lines around
    /// it from being read as one.
    pub(super) fn blank_whole(&mut self, source: &str, span: Span) {
        let mut text = blanked(text_of(source, span));
        if text.starts_with(' ') {
            text.replace_range(0..1, ";");
        }
        self.replace(span, text);
    }

    /// Replaces a span by one line and the breaks the span had.
    pub(super) fn rewrite(&mut self, source: &str, span: Span, text: &str) {
        self.replace(span, format!("{text}{}", breaks(text_of(source, span))));
    }

    /// Returns whether a span lies within something that is replaced already.
    pub(super) fn covers(&self, span: Span) -> bool {
        self.0
            .iter()
            .any(|edit| edit.start <= span.start as usize && span.end as usize <= edit.end && edit.start != edit.end)
    }

    /// Returns the text with all changes made. Of two changes that overlap the outer one wins.
    pub(super) fn apply(&self, source: &str) -> String {
        let mut edits: Vec<_> = self.0.iter().collect();
        // An insertion at a position precedes a replacement that begins there.
        edits.sort_by_key(|edit| (edit.start, edit.start != edit.end, std::cmp::Reverse(edit.end)));
        let mut out = String::with_capacity(source.len() + 64);
        let mut at = 0;
        for edit in edits {
            if edit.start < at {
                continue;
            }
            out.push_str(&source[at..edit.start]);
            out.push_str(&edit.text);
            at = edit.end;
        }
        out.push_str(&source[at..]);
        out
    }
}

pub(super) fn text_of(source: &str, span: Span) -> &str {
    &source[span.start as usize..span.end as usize]
}

pub(super) fn breaks(text: &str) -> String {
    "\n".repeat(text.matches('\n').count())
}

fn blanked(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}
