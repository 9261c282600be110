//! The keys of visual mode.

use super::super::buffer::Buffer;
use super::command::{indent, join, step, swap_case};
use super::motion::{self, Span};
use super::{Awaiting, Operator, Vim, VimMode, VimOutcome, object};

impl Vim {
    pub(super) fn visual_key(&mut self, c: char, buffer: &mut Buffer) -> VimOutcome {
        if let Awaiting::Object { around } = self.awaiting {
            self.forget_keys();
            if let Some(range) =
                object::span(buffer.text(), buffer.cursor(), c, around).filter(|range| !range.is_empty())
            {
                self.anchor = range.start;
                buffer.move_to(super::graphemes::previous(buffer.text(), range.end));
            }
            return VimOutcome::Changed;
        }
        if self.awaiting == Awaiting::Replace {
            self.forget_keys();
            self.replace_selection(buffer, |text| text.chars().map(|old| if old == '\n' { old } else { c }).collect());
            return VimOutcome::Changed;
        }
        if self.awaiting != Awaiting::Command {
            return self.awaited_key(c, buffer);
        }
        if self.count_key(c) || self.find_key(c) {
            return VimOutcome::Changed;
        }
        if matches!(c, 'j' | 'k') {
            return self.vertical(c, buffer);
        }
        let Some(selection) = self.selection(buffer) else { return VimOutcome::Unclaimed };
        let span = if self.mode == VimMode::VisualLine { Span::Lines } else { Span::Exclusive };
        let mode = self.mode;
        match c {
            'i' | 'a' => {
                self.awaiting = Awaiting::Object { around: c == 'a' };
                return VimOutcome::Changed;
            }
            'r' => {
                self.awaiting = Awaiting::Replace;
                return VimOutcome::Changed;
            }
            'g' => {
                self.awaiting = Awaiting::AfterG;
                return VimOutcome::Changed;
            }
            'o' => {
                let at = buffer.cursor();
                buffer.move_to(self.anchor);
                self.anchor = at;
            }
            'v' => self.mode = if mode == VimMode::Visual { VimMode::Normal } else { VimMode::Visual },
            'V' => self.mode = if mode == VimMode::VisualLine { VimMode::Normal } else { VimMode::VisualLine },
            'd' | 'x' | 'y' | 'c' | 's' => {
                self.mode = VimMode::Normal;
                let operator = match c {
                    'y' => Operator::Yank,
                    'c' | 's' => Operator::Change,
                    _ => Operator::Delete,
                };
                let start = selection.start;
                self.operate(operator, selection, span, buffer);
                if operator == Operator::Yank {
                    buffer.move_to(start);
                }
            }
            'p' => {
                self.mode = VimMode::Normal;
                let register = self.register.clone();
                step(buffer, selection, &register.text);
                buffer.move_to(super::graphemes::previous(buffer.text(), buffer.cursor()));
            }
            '~' => self.replace_selection(buffer, swap_case),
            'u' => self.replace_selection(buffer, str::to_lowercase),
            'U' => self.replace_selection(buffer, str::to_uppercase),
            '>' | '<' => {
                self.mode = VimMode::Normal;
                indent(c == '>', motion::lines(buffer.text(), selection), buffer);
            }
            'J' => {
                self.mode = VimMode::Normal;
                let joints = buffer.text()[selection.clone()].matches('\n').count().max(1);
                join(selection, joints, buffer);
            }
            _ => {
                if let Some((to, _)) = self.motion(c, buffer) {
                    buffer.move_to(to);
                }
            }
        }
        self.forget_keys();
        VimOutcome::Changed
    }

    fn replace_selection(&mut self, buffer: &mut Buffer, change: impl Fn(&str) -> String) {
        if let Some(range) = self.selection(buffer) {
            let changed = change(&buffer.text()[range.clone()]);
            step(buffer, range.clone(), &changed);
            buffer.move_to(range.start);
        }
        self.mode = VimMode::Normal;
    }
}
