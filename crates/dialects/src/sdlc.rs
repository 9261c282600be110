//! The dialect of the main specification: sections 5, 6, 11 and 12 by the letter.

use crate::output::{shallow_merge, trimmed, whole};
use crate::strict::{self, InvalidOutput};
use ona_api::{EventKind, EventName, Ruling};
use ona_hookplane::{Dialect, Exit, Firing, HookExecution, HookOutput, OnTimeout, Timeouts, contract};
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Debug)]
pub struct Sdlc;

impl Dialect for Sdlc {
    fn name(&self) -> &'static str {
        "sdlc"
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        Value::Object(firing.stdin(input))
    }

    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput {
        if ran.exit != Exit::Code(0) {
            return HookOutput::default();
        }
        let text = trimmed(&ran.stdout);
        if !text.starts_with('{') {
            let context = contract::of(event).plain_text_is_context && !text.is_empty();
            return HookOutput { context: context.then(|| whole(text.to_owned())), ..HookOutput::default() };
        }
        match strict::read(event, text) {
            Ok(sync) => {
                let mut output = sync.into_hook_output(event);
                if output.ruling == Some(Ruling::Deny) {
                    output.input = None;
                }
                output
            }
            Err(InvalidOutput::Async) => {
                unreadable(EventKind::HookAsyncRejected, "async:true is not valid control".into())
            }
            Err(InvalidOutput::Shape(why)) => unreadable(EventKind::HookOutputInvalid, why),
        }
    }

    fn updated(&self, current: &Value, update: Map<String, Value>) -> Value {
        shallow_merge(current, update)
    }

    fn timeout(&self, event: EventName, timeouts: &Timeouts) -> Duration {
        timeouts.of(event, contract::of(event).default_timeout)
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        OnTimeout::Block
    }

    fn truncated_answer_denies(&self) -> bool {
        true
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        ran.stderr.trim_end_matches('\n').to_owned()
    }
}

pub(crate) fn unreadable(kind: EventKind, why: String) -> HookOutput {
    HookOutput { notes: vec![(kind, why)], unreadable: true, ..HookOutput::default() }
}
