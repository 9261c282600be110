//! Colours of code, off the thread that paints.
//!
//! Reading the grammars and using one for the first time takes a fraction of a second, which a key
//! must not wait for. So a block of code that streams in has a thread of its own: lines go in, and
//! come out with styles in the same order.

use crate::text::visible_line;
use crate::theme;
use ratatui_core::style::Style;
use ratatui_core::text::Span;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Lines longer than this are not looked at.
const LONG_LINE: usize = 2_000;

/// Called whenever something that was waited for is there: the screen can be drawn again.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The colours of one block of code, line by line.
pub(super) struct Highlighter {
    state: Option<(ParseState, ScopeStack)>,
}

impl Highlighter {
    pub(super) fn new(language: &str) -> Self {
        let state = syntax(language).map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
        Self { state }
    }

    /// Styles the next line, here and now.
    pub(super) fn line_now(&mut self, line: &str) -> Vec<Span<'static>> {
        let plain = || vec![Span::raw(visible_line(line))];
        let Some((parser, stack)) = &mut self.state else { return plain() };
        if line.len() > LONG_LINE {
            return plain();
        }
        let text = format!("{line}\n");
        let Ok(changes) = parser.parse_line(&text, syntaxes()) else {
            // A grammar that fails has no say on the rest either.
            self.state = None;
            return plain();
        };
        let mut spans = Vec::new();
        let mut start = 0;
        for (at, change) in changes {
            push(&mut spans, &line[start.min(line.len())..at.min(line.len())], stack);
            start = at;
            if stack.apply(&change).is_err() {
                self.state = None;
                return plain();
            }
        }
        push(&mut spans, &line[start.min(line.len())..], stack);
        spans
    }
}

fn push(spans: &mut Vec<Span<'static>>, text: &str, stack: &ScopeStack) {
    if text.is_empty() {
        return;
    }
    let style = style_of(stack);
    let text = visible_line(text);
    match spans.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(&text),
        _ => spans.push(Span::styled(text, style)),
    }
}

/// A block of code whose lines arrive one after another.
#[derive(Debug)]
pub(super) struct Code {
    lines: Option<Sender<String>>,
    done: Receiver<Vec<Span<'static>>>,
    /// Lines that need no colours.
    plain: VecDeque<Vec<Span<'static>>>,
}

impl Code {
    /// Without a language there is nothing to wait for.
    pub(super) fn new(language: &str, wake: Wake) -> Self {
        let (results, done) = channel();
        if language.is_empty() || language == "text" {
            return Self { lines: None, done, plain: VecDeque::new() };
        }
        let (lines, queue) = channel::<String>();
        let language = language.to_owned();
        std::thread::spawn(move || {
            let mut highlighter = Highlighter::new(&language);
            while let Ok(line) = queue.recv() {
                if results.send(highlighter.line_now(&line)).is_err() {
                    return;
                }
                wake();
            }
        });
        Self { lines: Some(lines), done, plain: VecDeque::new() }
    }

    pub(super) fn line(&mut self, line: &str) {
        let sent = self.lines.as_ref().is_some_and(|lines| lines.send(line.to_owned()).is_ok());
        if !sent {
            self.plain.push_back(vec![Span::raw(visible_line(line))]);
        }
    }

    /// The next line, if it is ready.
    pub(super) fn next(&mut self) -> Option<Vec<Span<'static>>> {
        self.done.try_recv().ok().or_else(|| self.plain.pop_front())
    }

    /// The next line as soon as it is ready; `None` if the thread has panicked.
    pub(super) fn wait(&mut self) -> Option<Vec<Span<'static>>> {
        if self.lines.is_none() {
            return self.next();
        }
        self.done.recv().ok()
    }
}

fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    let name = match language {
        "" | "text" | "plain" | "console" => return None,
        "shell" | "zsh" => "bash",
        "jsonc" | "json5" => "json",
        name => name,
    };
    syntaxes().find_syntax_by_token(name)
}

fn style_of(stack: &ScopeStack) -> Style {
    static STYLES: OnceLock<Vec<(Scope, Style)>> = OnceLock::new();
    let table = STYLES.get_or_init(|| {
        let named = [
            ("comment", theme::DIM),
            ("string", theme::CODE_STRING),
            ("keyword.operator", theme::TEXT),
            ("keyword", theme::CODE_KEYWORD),
            ("storage", theme::CODE_KEYWORD),
            ("constant", theme::CODE_CONSTANT),
            ("entity.name.function", theme::HEADING),
            ("entity.name.tag", theme::CODE_KEYWORD),
            ("markup.inserted", theme::ADDED),
            ("markup.deleted", theme::FAILED),
            ("markup.heading", theme::HEADING),
            ("meta.diff.header", theme::DIM),
        ];
        named.into_iter().filter_map(|(name, style)| Some((Scope::new(name).ok()?, style))).collect()
    });
    let found =
        stack.as_slice().iter().rev().find_map(|scope| table.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)));
    found.map_or(theme::TEXT, |(_, style)| *style)
}
