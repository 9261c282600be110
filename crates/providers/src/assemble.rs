//! Folds deltas into a reply.
//!
//! Text and calls keep the order in which they began. What a server leaves out is put
//! right here, for both wires: a missing or repeated id, no input at all, an input
//! that is not JSON.

use crate::lone_surrogates;
use ona_api::CallId;
use ona_api::model::{Delta, EndReason, Part, Reply, Usage};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub struct Assembler {
    pieces: Vec<Piece>,
    /// Where in `pieces` the call with an index of the server is.
    calls: HashMap<usize, usize>,
    usage: Usage,
    end: Option<EndReason>,
    dropped: Vec<String>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Call { id: String, name: String, json: String },
}

/// The stream ended before the model did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply ended in the middle")]
pub struct IncompleteReply;

impl Assembler {
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => match self.pieces.last_mut() {
                Some(Piece::Text(so_far)) => so_far.push_str(text),
                _ => self.pieces.push(Piece::Text(text.clone())),
            },
            Delta::Call { index, id, name, json } => self.call(*index, id.as_deref(), name.as_deref(), json),
            Delta::Usage(usage) => self.usage.update(*usage),
            Delta::Dropped(kind) => self.dropped.push(kind.clone()),
            Delta::End(reason) => self.end = Some(reason.clone()),
        }
    }

    fn call(&mut self, wanted: usize, new_id: Option<&str>, new_name: Option<&str>, more: &str) {
        let at = *self.calls.entry(wanted).or_insert_with(|| {
            let (id, name, json) = Default::default();
            self.pieces.push(Piece::Call { id, name, json });
            self.pieces.len() - 1
        });
        if let Piece::Call { id, name, json } = &mut self.pieces[at] {
            for (kept, new) in [(id, new_id), (name, new_name)] {
                if kept.is_empty() {
                    new.unwrap_or_default().clone_into(kept);
                }
            }
            json.push_str(more);
        }
    }

    /// The model has said how it ended; nothing that could still come would change the reply.
    pub fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    pub fn finish(self) -> Result<Reply, IncompleteReply> {
        self.finish_with(&mut new_id)
    }

    /// `new_id` makes the ids the server left out.
    pub(crate) fn finish_with(self, new_id: &mut dyn FnMut() -> String) -> Result<Reply, IncompleteReply> {
        let end = self.end.ok_or(IncompleteReply)?;
        let mut ids: HashSet<String> = HashSet::new();
        let mut parts = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Text(text) if text.is_empty() => {}
                Piece::Text(text) => parts.push(Part::Text(text)),
                Piece::Call { id, name, json } => {
                    let id = if id.is_empty() || ids.contains(&id) { new_id() } else { id };
                    ids.insert(id.clone());
                    parts.push(Part::ToolUse { id: CallId(id), name, input: input(&json) });
                }
            }
        }
        // Servers say "stop" also when they stopped for a call.
        let end = if end == EndReason::EndTurn && !ids.is_empty() { EndReason::ToolUse } else { end };
        Ok(Reply { parts, usage: self.usage, end: Some(end), dropped: self.dropped })
    }

    /// Returns what was said until an interrupt. A call is left out: its input may be half.
    pub fn interrupted(self) -> Reply {
        let text = |piece| match piece {
            Piece::Text(text) if !text.is_empty() => Some(Part::Text(text)),
            Piece::Text(_) | Piece::Call { .. } => None,
        };
        let parts = self.pieces.into_iter().filter_map(text).collect();
        Reply { parts, usage: self.usage, end: None, dropped: self.dropped }
    }
}

fn new_id() -> String {
    format!("call_{}", CallId::random().0.replace('-', ""))
}

/// Input that is not a JSON object is kept as text, for the tool to reject (DEC-090).
fn input(text: &str) -> Value {
    match lone_surrogates::parse(text) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(Value::Null) => json!({}),
        _ if text.trim().is_empty() => json!({}),
        _ => json!({"_raw": text}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: usize, id: Option<&str>, name: Option<&str>, json: &str) -> Delta {
        Delta::Call { index, id: id.map(str::to_owned), name: name.map(str::to_owned), json: json.into() }
    }

    fn fold(deltas: &[Delta]) -> Result<Reply, IncompleteReply> {
        let mut assembler = Assembler::default();
        deltas.iter().for_each(|delta| assembler.push(delta));
        let mut made = 0;
        assembler.finish_with(&mut || {
            made += 1;
            format!("made-{made}")
        })
    }

    fn used(id: &str, name: &str, input: Value) -> Part {
        Part::ToolUse { id: id.into(), name: name.into(), input }
    }

    #[test]
    fn text_and_interleaved_calls_keep_the_order_in_which_they_began() {
        let reply = fold(&[
            Delta::Text("Look".into()),
            Delta::Text("ing".into()),
            call(0, Some("a"), Some("Read"), ""),
            call(1, Some("b"), Some("Glob"), "{\"pat"),
            call(0, None, None, "{\"file_path\":"),
            call(1, None, None, "tern\":\"*\"}"),
            call(0, None, None, "\"x\"}"),
            Delta::Text("after".into()),
            Delta::End(EndReason::ToolUse),
        ])
        .unwrap();
        assert_eq!(
            reply.parts,
            [
                Part::Text("Looking".into()),
                used("a", "Read", json!({"file_path": "x"})),
                used("b", "Glob", json!({"pattern": "*"})),
                Part::Text("after".into()),
            ]
        );
    }

    #[test]
    fn missing_and_repeated_ids_are_replaced() {
        let reply = fold(&[
            call(0, None, Some("A"), ""),
            call(1, Some("x"), Some("B"), ""),
            call(2, Some("x"), Some("C"), ""),
            call(3, Some(""), Some("D"), ""),
            Delta::End(EndReason::EndTurn),
        ])
        .unwrap();
        let none = || json!({});
        assert_eq!(
            reply.parts,
            [
                used("made-1", "A", none()),
                used("x", "B", none()),
                used("made-2", "C", none()),
                used("made-3", "D", none())
            ]
        );
        assert_eq!(reply.end, Some(EndReason::ToolUse));
    }

    #[test]
    fn a_made_id_fits_every_provider() {
        let id = new_id();
        assert_eq!(id.len(), 37);
        assert_eq!(crate::wire_text::call_id(&id), id);
    }

    #[test]
    fn an_input_is_an_object_or_raw_text() {
        for (text, expected) in [
            ("{\"a\":1}", json!({"a": 1})),
            ("", json!({})),
            ("  \n", json!({})),
            ("null", json!({})),
            ("{\"a\":", json!({"_raw": "{\"a\":"})),
            ("[1]", json!({"_raw": "[1]"})),
            ("\"x\"", json!({"_raw": "\"x\""})),
            ("{} {}", json!({"_raw": "{} {}"})),
            (r#"{"a":"\ud83d"}"#, json!({"a": "\u{fffd}"})),
        ] {
            assert_eq!(input(text), expected, "{text}");
        }
    }

    #[test]
    fn later_usage_replaces_what_it_names_and_drops_are_noted() {
        let usage = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        let reply = fold(&[
            Delta::Usage(usage(10, 1)),
            Delta::Dropped("thinking".into()),
            Delta::Text(String::new()),
            Delta::Usage(usage(0, 7)),
            Delta::End(EndReason::MaxTokens),
        ])
        .unwrap();
        let expected = Reply {
            parts: vec![],
            usage: usage(10, 7),
            end: Some(EndReason::MaxTokens),
            dropped: vec!["thinking".into()],
        };
        assert_eq!(reply, expected);
    }

    #[test]
    fn a_reply_without_an_end_is_an_error_but_its_text_can_be_kept() {
        assert_eq!(fold(&[Delta::Text("half".into())]), Err(IncompleteReply));
        let mut assembler = Assembler::default();
        assembler.push(&Delta::Text("half".into()));
        assembler.push(&call(0, Some("a"), Some("Bash"), "{\"command\":\"rm"));
        assert_eq!(assembler.interrupted().parts, [Part::Text("half".into())]);
    }
}
