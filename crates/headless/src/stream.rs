//! A reply as it arrives, as events of the Messages API (`--include-partial-messages`).
//!
//! Every provider's pieces become the same events, so that a program that puts them together
//! gets the message that is sent whole at its end. A credential may be spread over several
//! pieces, so the end of a piece that could be the beginning of one waits for the next, or
//! for the end of its block. A reply that breaks off never ends, and what waited is not printed.

use super::messages::Tokens;
use ona_api::Redactor;
use ona_api::model::{Delta, EndReason, Usage};
use ona_api::redact::RedactedStream;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct ReplyEvents {
    id: String,
    model: String,
    begun: bool,
    /// Number of blocks begun, and what the open one is.
    blocks: usize,
    open: Option<Open>,
    usage: Usage,
    /// The text of the open block.
    text: RedactedStream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Text,
    Call(usize),
}

impl ReplyEvents {
    pub(crate) fn new(id: String, model: String, redactor: &Redactor) -> Self {
        let (usage, text) = (Usage::default(), redactor.stream());
        Self { id, model, begun: false, blocks: 0, open: None, usage, text }
    }

    pub(crate) fn push(&mut self, delta: &Delta) -> Vec<Value> {
        let mut events = Vec::new();
        match delta {
            Delta::Usage(usage) => self.usage.update(*usage),
            Delta::Dropped(_) => {}
            Delta::Text(text) => {
                self.open(Open::Text, json!({"type": "text", "text": ""}), &mut events);
                let shown = self.text.push(text);
                self.tell(Open::Text, shown, &mut events);
            }
            Delta::Call { index, id, name, json } => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                self.open(Open::Call(*index), block, &mut events);
                let shown = self.text.push(json);
                self.tell(Open::Call(*index), shown, &mut events);
            }
            Delta::End(reason) => {
                self.begin(&mut events);
                self.close(&mut events);
                let delta = json!({"stop_reason": stop_reason(reason), "stop_sequence": null});
                events.push(json!({"type": "message_delta", "delta": delta, "usage": Tokens::from(&self.usage)}));
                events.push(json!({"type": "message_stop"}));
            }
        }
        events
    }

    fn begin(&mut self, events: &mut Vec<Value>) {
        if !std::mem::replace(&mut self.begun, true) {
            let message = json!({
                "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": Tokens::from(&self.usage),
            });
            events.push(json!({"type": "message_start", "message": message}));
        }
    }

    fn open(&mut self, kind: Open, block: Value, events: &mut Vec<Value>) {
        self.begin(events);
        if self.open == Some(kind) {
            return;
        }
        self.close(events);
        self.open = Some(kind);
        self.blocks += 1;
        events.push(json!({"type": "content_block_start", "index": self.blocks - 1, "content_block": block}));
    }

    fn close(&mut self, events: &mut Vec<Value>) {
        if let Some(open) = self.open.take() {
            let rest = self.text.finish();
            self.tell(open, rest, events);
            events.push(json!({"type": "content_block_stop", "index": self.blocks - 1}));
        }
    }

    /// A piece of the newest block; an empty one is not reported.
    fn tell(&self, kind: Open, text: String, events: &mut Vec<Value>) {
        if text.is_empty() {
            return;
        }
        let delta = match kind {
            Open::Text => json!({"type": "text_delta", "text": text}),
            Open::Call(_) => json!({"type": "input_json_delta", "partial_json": text}),
        };
        events.push(json!({"type": "content_block_delta", "index": self.blocks - 1, "delta": delta}));
    }
}

pub(crate) fn stop_reason(reason: &EndReason) -> &str {
    match reason {
        EndReason::EndTurn => "end_turn",
        EndReason::ToolUse => "tool_use",
        EndReason::MaxTokens => "max_tokens",
        EndReason::Refusal(_) => "refusal",
        EndReason::Other(other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_blocks_that_begin_and_end() {
        let mut stream = ReplyEvents::new("msg_1".into(), "m".into(), &Redactor::default());
        let call = |id: Option<&str>, json: &str| Delta::Call {
            index: 0,
            id: id.map(Into::into),
            name: id.map(|_| "Read".into()),
            json: json.into(),
        };
        let deltas = [
            Delta::Usage(Usage { input_tokens: 3, ..Usage::default() }),
            Delta::Text("b".into()),
            Delta::Text("c".into()),
            call(Some("c1"), ""),
            call(None, "{}"),
            Delta::Usage(Usage { output_tokens: 5, ..Usage::default() }),
            Delta::End(EndReason::ToolUse),
        ];
        let events: Vec<Value> = deltas.iter().flat_map(|delta| stream.push(delta)).collect();
        let told: Vec<_> =
            events.iter().map(|event| (event["type"].as_str().unwrap(), event["index"].as_u64())).collect();
        assert_eq!(
            told,
            [
                ("message_start", None),
                ("content_block_start", Some(0)),
                ("content_block_delta", Some(0)),
                ("content_block_delta", Some(0)),
                ("content_block_stop", Some(0)),
                ("content_block_start", Some(1)),
                ("content_block_delta", Some(1)),
                ("content_block_stop", Some(1)),
                ("message_delta", None),
                ("message_stop", None),
            ]
        );
        assert_eq!(events[5]["content_block"], json!({"type": "tool_use", "id": "c1", "name": "Read", "input": {}}));
        assert_eq!(events[8]["usage"]["output_tokens"], 5);
    }
}
