//! What goes to the scrollback, in its order.
//!
//! A reply that streams hands out what is complete. What follows it waits until it is whole: code may
//! get its colours a moment after its text has ended.

use crate::markdown::{Reply, Wake};
use ratatui_core::text::Line;
use std::collections::VecDeque;

enum Piece {
    Lines(Vec<Line<'static>>),
    Reply(Box<Reply>),
}

pub(super) struct Output {
    pieces: VecDeque<Piece>,
    wake: Wake,
}

impl Output {
    pub(super) fn new(wake: Wake) -> Self {
        Self { pieces: VecDeque::new(), wake }
    }

    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.end_reply();
        self.pieces.push_back(Piece::Lines(lines.into_iter().collect()));
    }

    /// More of the reply that streams in.
    pub(super) fn reply(&mut self, text: &str) {
        if !matches!(self.pieces.back(), Some(Piece::Reply(reply)) if !reply.is_done()) {
            self.pieces.push_back(Piece::Lines(vec![Line::default()]));
            self.pieces.push_back(Piece::Reply(Box::new(Reply::new(self.wake.clone()))));
        }
        if let Some(Piece::Reply(reply)) = self.pieces.back_mut() {
            reply.push(text);
        }
    }

    pub(super) fn end_reply(&mut self) {
        if let Some(Piece::Reply(reply)) = self.pieces.back_mut() {
            reply.end();
        }
    }

    /// Takes what is complete.
    pub(super) fn take(&mut self, width: u16) -> Vec<Line<'static>> {
        let mut taken = Vec::new();
        while let Some(piece) = self.pieces.front_mut() {
            match piece {
                Piece::Lines(lines) => taken.append(lines),
                Piece::Reply(reply) => {
                    taken.append(&mut reply.finished(width));
                    if !reply.is_done() {
                        break;
                    }
                }
            }
            self.pieces.pop_front();
        }
        taken
    }

    /// The open part of the reply, at most so many rows of it.
    pub(super) fn tail(&self, width: u16, rows: usize) -> Vec<Line<'static>> {
        match self.pieces.front() {
            Some(Piece::Reply(reply)) => reply.tail(width, rows),
            Some(Piece::Lines(_)) | None => Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}
