//! What was said and done last, in full: the page that Ctrl+O opens.
//!
//! The scrollback has every call folded to a few rows. Here the newest ones stand with all of their output
//! and with what each hook and rule did, on the alternate screen, so that nothing of it stays behind.

use crate::blocks::{CallBlock, CallState, HookSummary, call_block, indented, prompt};
use crate::keys::{Action, Context, Input, Keymap};
use crate::markdown::markdown;
use crate::screen::{Bottom, Size};
use crate::text::cut_line;
use crate::theme;
use ona_api::{ToolCall, ToolResult};
use ratatui_core::text::Line;
use std::collections::VecDeque;
use std::time::Duration;

/// Entries that are kept, and the bytes of their texts.
const ENTRIES: usize = 300;
const BYTES: usize = 2_000_000;

/// Something that was said or done.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Prompt(String),
    Reply(String),
    Call(Box<FinishedBlock>),
}

/// A call with everything that is known about it.
#[derive(Clone, Debug)]
pub(super) struct FinishedBlock {
    pub call: ToolCall,
    pub result: ToolResult,
    pub denied: Option<String>,
    pub took: Option<Duration>,
    pub hooks: Vec<HookSummary>,
    /// What each hook and rule did, a line each.
    pub account: Vec<String>,
}

impl FinishedBlock {
    pub(super) fn lines(&self, expanded: bool, expand_key: &str, width: u16) -> Vec<Line<'static>> {
        let state = match &self.denied {
            Some(reason) => CallState::Denied { reason, by: None },
            None => CallState::Finished { result: &self.result, took: self.took },
        };
        let block = CallBlock { call: &self.call, state, hooks: &self.hooks, expanded, expand_key };
        call_block(&block, width)
    }

    fn bytes(&self) -> usize {
        self.result.content.len() + self.call.input.to_string().len() + 200
    }
}

/// The newest entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// Counts changes.
    version: u64,
}

impl Transcript {
    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes += bytes(&entry);
        self.entries.push_back(entry);
        self.version += 1;
        while self.entries.len() > ENTRIES || self.bytes > BYTES && self.entries.len() > 1 {
            self.bytes -= self.entries.pop_front().map_or(0, |oldest| bytes(&oldest));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All of it as lines, and where prompts stand.
    pub(super) fn lines(&self, everything: bool, width: u16) -> (Vec<Line<'static>>, Vec<usize>) {
        let (mut lines, mut prompts) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match entry {
                Entry::Prompt(text) => {
                    prompts.push(lines.len());
                    lines.extend(prompt(text, width));
                }
                Entry::Reply(text) => lines.extend(markdown(text, width)),
                Entry::Call(call) => {
                    lines.extend(call.lines(everything, "", width));
                    if everything {
                        let account = call.account.iter().flat_map(|line| indented(line, theme::DIM, width));
                        lines.extend(account);
                    }
                }
            }
            lines.push(Line::default());
        }
        (lines, prompts)
    }
}

fn bytes(entry: &Entry) -> usize {
    match entry {
        Entry::Prompt(text) | Entry::Reply(text) => text.len() + 100,
        Entry::Call(call) => call.bytes(),
    }
}

/// The page while it is open.
#[derive(Clone, Debug)]
pub(super) struct TranscriptPage {
    everything: bool,
    /// The first row that shows; `None` for the end.
    top: Option<usize>,
    /// For which state of the transcript and which width the lines were made.
    made_for: (u64, u16),
    lines: Vec<Line<'static>>,
    prompts: Vec<usize>,
    rows: usize,
}

/// What is to be done about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageAnswer {
    Stays,
    Close,
    /// Write it into the scrollback.
    Dump,
    /// Open it in an editor.
    Edit,
}

impl TranscriptPage {
    pub(super) fn new(transcript: &Transcript, size: Size) -> Self {
        let mut page =
            Self { everything: true, top: None, made_for: (0, 0), lines: Vec::new(), prompts: Vec::new(), rows: 1 };
        page.make(transcript, size);
        page
    }

    fn make(&mut self, transcript: &Transcript, size: Size) {
        self.rows = usize::from(size.height).saturating_sub(2).max(1);
        if self.made_for != (transcript.version, size.width) {
            self.made_for = (transcript.version, size.width);
            (self.lines, self.prompts) = transcript.lines(self.everything, size.width);
        }
    }

    pub(super) fn input(&mut self, input: &Input, keys: &Keymap) -> PageAnswer {
        let Input::Key(press) = input else { return PageAnswer::Stays };
        if keys.action(Context::Global, press.key) == Some(Action::Interrupt) {
            return PageAnswer::Close;
        }
        let last = self.lines.len().saturating_sub(self.rows);
        let top = self.top.unwrap_or(last).min(last);
        let moved =
            match keys.action(Context::Transcript, press.key).or_else(|| keys.action(Context::Scroll, press.key)) {
                Some(Action::LeaveTranscript) => return PageAnswer::Close,
                Some(Action::DumpTranscript) => return PageAnswer::Dump,
                Some(Action::EditTranscript) => return PageAnswer::Edit,
                Some(Action::ShowAll) => {
                    self.everything = !self.everything;
                    self.made_for = (0, 0);
                    return PageAnswer::Stays;
                }
                Some(Action::PreviousPrompt) => self.prompts.iter().rev().copied().find(|at| *at < top).unwrap_or(0),
                Some(Action::NextPrompt) => self.prompts.iter().copied().find(|at| *at > top).unwrap_or(last),
                Some(Action::ScrollUp) => top.saturating_sub(1),
                Some(Action::ScrollDown) => top + 1,
                Some(Action::PageUp) => top.saturating_sub(self.rows.saturating_sub(1).max(1)),
                Some(Action::PageDown) => top + self.rows.saturating_sub(1).max(1),
                Some(Action::ScrollTop) => 0,
                Some(Action::ScrollBottom) => last,
                _ => return PageAnswer::Stays,
            };
        self.top = (moved < last).then_some(moved);
        PageAnswer::Stays
    }

    pub(super) fn view(&mut self, transcript: &Transcript, size: Size) -> Bottom {
        self.make(transcript, size);
        let last = self.lines.len().saturating_sub(self.rows);
        let top = self.top.unwrap_or(last).min(last);
        let mut lines: Vec<_> = self.lines.iter().skip(top).take(self.rows).cloned().collect();
        lines.resize(self.rows, Line::default());
        lines.push(Line::styled("─".repeat(usize::from(size.width)), theme::DIM));
        let seen = (top + self.rows).min(self.lines.len());
        let what = if self.everything { "summary" } else { "everything" };
        let hints = format!(
            " {seen} of {} rows · q close · ↑↓ PgUp PgDn scroll · {{ }} prompts · Ctrl+E {what} · [ to the scrollback · v editor",
            self.lines.len()
        );
        lines.push(cut_line(Line::styled(hints, theme::DIM), usize::from(size.width)));
        Bottom { cursor: None, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{KeySequence, Press};
    use ona_api::CallId;
    use serde_json::json;

    fn transcript() -> Transcript {
        let mut transcript = Transcript::default();
        for number in 1..=3 {
            transcript.push(Entry::Prompt(format!("prompt {number}")));
            let content: String = (1..=20).map(|line| format!("{number}-{line}\n")).collect();
            transcript.push(Entry::Call(Box::new(FinishedBlock {
                call: ToolCall { id: CallId::from("c"), name: "Bash".into(), input: json!({"command": "seq"}) },
                result: ToolResult::success(content),
                denied: None,
                took: None,
                hooks: Vec::new(),
                account: vec!["PreToolUse hook 1 exit 0: guard".into()],
            })));
        }
        transcript
    }

    fn press(page: &mut TranscriptPage, key: &str) -> PageAnswer {
        let sequence: KeySequence = key.parse().unwrap();
        page.input(&Input::Key(Press { key: sequence.0[0], at: Duration::ZERO }), &Keymap::default())
    }

    fn shown(page: &mut TranscriptPage, transcript: &Transcript) -> Vec<String> {
        let size = Size { width: 60, height: 12 };
        page.view(transcript, size).lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_end_shows_first_and_keys_move() {
        let transcript = transcript();
        let mut page = TranscriptPage::new(&transcript, Size { width: 60, height: 12 });
        let rows = shown(&mut page, &transcript);
        assert_eq!(rows.len(), 12);
        assert!(rows.contains(&"  3-20".to_owned()) && rows.contains(&"  PreToolUse hook 1 exit 0: guard".to_owned()));
        assert_eq!(press(&mut page, "{"), PageAnswer::Stays);
        assert_eq!(shown(&mut page, &transcript)[0], "› prompt 3");
        press(&mut page, "{");
        assert_eq!(shown(&mut page, &transcript)[0], "› prompt 2");
        press(&mut page, "home");
        assert_eq!(shown(&mut page, &transcript)[0], "› prompt 1");
        press(&mut page, "end");
        assert!(shown(&mut page, &transcript).contains(&"  3-20".to_owned()));
    }

    #[test]
    fn the_summary_is_shorter_and_the_page_closes() {
        let transcript = transcript();
        let mut page = TranscriptPage::new(&transcript, Size { width: 60, height: 12 });
        let all = page.lines.len();
        press(&mut page, "ctrl+e");
        shown(&mut page, &transcript);
        assert!(page.lines.len() < all, "{} rows are folded", page.lines.len());
        for (key, answer) in [("q", PageAnswer::Close), ("ctrl+o", PageAnswer::Close), ("ctrl+c", PageAnswer::Close)] {
            assert_eq!(press(&mut page, key), answer, "{key}");
        }
        assert_eq!((press(&mut page, "["), press(&mut page, "v")), (PageAnswer::Dump, PageAnswer::Edit));
    }

    #[test]
    fn old_entries_go() {
        let mut transcript = Transcript::default();
        for _ in 0..10 {
            transcript.push(Entry::Reply("x".repeat(BYTES / 4)));
        }
        assert!(transcript.bytes <= BYTES && transcript.entries.len() == 3);
        for _ in 0..2 * ENTRIES {
            transcript.push(Entry::Prompt("x".into()));
        }
        assert_eq!(transcript.entries.len(), ENTRIES);
    }
}
