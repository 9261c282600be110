//! The messages while they are being built.
//!
//! A message of the user has three zones: results with their pictures, then what
//! was said, then the context of hooks as one part. Rows arrive in another order
//! (a hook speaks before the result is there, a person while a tool runs), so each
//! part is put where it belongs, next to the number of the row it came from. The
//! numbers are what makes `restart` possible: a summary replaces the parts up to a
//! row, and the rest is put together again.
//!
//! Whatever rows there are, the messages are sound: a call is answered in the
//! message after it, and nothing answers a call that is not in the message before.
//! Only the calls at the end may be open; `repair` answers those.
//!
//! What a row means is decided in `mapper`.

use crate::repair::INTERRUPTED;
use ona_api::CallId;
use ona_api::model::{Message, Part, Role};
use std::collections::HashMap;
use std::io;

#[derive(Debug, Default)]
pub(crate) struct Draft {
    messages: Vec<Message>,
    /// One beside each message.
    slots: Vec<Slot>,
    /// The newest call of each id.
    calls: HashMap<CallId, Call>,
    first_user: Option<usize>,
    /// The first message that changed since the last `settle`.
    changed: usize,
    weight: usize,
}

#[derive(Debug)]
enum Slot {
    Assistant { sequence: i64, origin: MessageOrigin },
    User(UserSlot),
}

#[derive(Debug, Default)]
struct UserSlot {
    /// The row of each part, but for the context, which is the last part.
    sequences: Vec<i64>,
    /// How many parts are results and their pictures.
    results: usize,
    context: Vec<HookText>,
}

/// What separates the contributions of two hooks.
const BETWEEN: &str = "\n\n";

/// One hook's text inside the joined context.
#[derive(Debug)]
struct HookText {
    sequence: i64,
    scope: ContextScope,
    end: usize,
}

/// Which message a hook's context belongs to (DEC-033).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextScope {
    /// The first one of the user: said when the session began.
    Session,
    /// The last one before the next call to the model.
    Turn,
}

/// Who made a message of the assistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageOrigin {
    /// A model, in an `assistant` row.
    Reply,
    /// No model: a `tool_use` row on its own (`--eval`).
    Lone,
}

#[derive(Debug)]
struct Call {
    /// The message that makes it; the one after it answers.
    message: usize,
    origin: MessageOrigin,
    answer: CallResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallResult {
    None,
    /// The history went on without one, so it is taken as interrupted until a
    /// row says otherwise.
    Assumed,
    Given,
}

/// Below every row, so that a summary always replaces what no row says.
const NO_ROW: i64 = i64::MIN;

/// Size that an image counts as: about 1,600 tokens, however many bytes it has.
const PICTURE_WEIGHT: usize = 6_400;

const EARLIER_RESULT: &str = "Result of an earlier call that is not shown:";
pub(crate) const TWICE: &str = "a second result for the same call was left out";
pub(crate) const ORPHAN: &str = "a result without its call was taken as text";
pub(crate) const SAME_ID: &str = "a second call with the same id was left out";

impl Draft {
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn changed(&self) -> usize {
        self.changed
    }

    pub(crate) fn settle(&mut self) {
        self.changed = self.messages.len();
    }

    pub(crate) fn approximate_size(&self) -> usize {
        self.weight
    }

    /// Something said by a person, or a picture beside it.
    pub(crate) fn say(&mut self, sequence: i64, part: Part) {
        let at = self.last_user();
        let end = self.slot(at).sequences.len();
        self.insert(at, end, sequence, part);
    }

    /// Adds the result of a call. `part` is a `ToolResult`.
    pub(crate) fn answer(&mut self, sequence: i64, id: &CallId, part: Part) -> Option<&'static str> {
        let Some(call) = self.calls.get_mut(id) else {
            if let Part::ToolResult { content, .. } = part {
                self.say(sequence, Part::Text(format!("{EARLIER_RESULT}\n{content}")));
            }
            return Some(ORPHAN);
        };
        let at = call.message + 1;
        match call.answer {
            CallResult::Given => return Some(TWICE),
            CallResult::None => {
                call.answer = CallResult::Given;
                self.give(at, sequence, part);
            }
            CallResult::Assumed => {
                call.answer = CallResult::Given;
                if let Some(index) = self.result(id) {
                    self.weight -= weight(&self.messages[at].parts[index]);
                    self.weight += weight(&part);
                    self.messages[at].parts[index] = part;
                    self.slot(at).sequences[index] = sequence;
                    self.touch(at);
                }
            }
        }
        None
    }

    /// A picture a call brought, beside its result; without one, beside the prompt.
    pub(crate) fn picture(&mut self, sequence: i64, call: Option<&CallId>, part: Part) {
        let Some((at, result)) = call.and_then(|id| Some((self.calls.get(id)?.message + 1, self.result(id)?))) else {
            return self.say(sequence, part);
        };
        let beside = |part: &&Part| matches!(part, Part::Picture { .. });
        let results = self.slot(at).results;
        let others = self.messages[at].parts[result + 1..results].iter().take_while(beside).count();
        self.insert(at, result + 1 + others, sequence, part);
        self.slot(at).results += 1;
    }

    pub(crate) fn exit_code(&mut self, id: &CallId, code: i32) {
        let Some(index) = self.result(id) else { return };
        let at = self.calls[id].message + 1;
        if let Part::ToolResult { exit_code, .. } = &mut self.messages[at].parts[index] {
            *exit_code = Some(code);
            self.touch(at);
        }
    }

    /// Adds a reply of the model: texts and calls in the order they were declared.
    pub(crate) fn reply(&mut self, sequence: i64, parts: Vec<Part>) -> Option<&'static str> {
        self.assistant(sequence, MessageOrigin::Reply, parts)
    }

    /// A `tool_use` row; nothing if a reply made the call.
    pub(crate) fn lone(&mut self, sequence: i64, id: &CallId, part: Part) {
        let made = |call: &Call| call.origin == MessageOrigin::Reply || call.answer == CallResult::None;
        if self.calls.get(id).is_some_and(made) {
            return;
        }
        self.assistant(sequence, MessageOrigin::Lone, vec![part]);
    }

    pub(crate) fn context(&mut self, sequence: i64, scope: ContextScope, text: &str) {
        let at = match (scope, self.first_user) {
            (ContextScope::Session, Some(first)) => first,
            (ContextScope::Session, None) | (ContextScope::Turn, _) => self.last_user(),
        };
        self.touch(at);
        let parts = &mut self.messages[at].parts;
        let (start, end) = match parts.last_mut() {
            Some(Part::HookContext(joined)) => {
                let start = joined.len();
                joined.push_str(BETWEEN);
                joined.push_str(text);
                (start, joined.len())
            }
            _ => {
                parts.push(Part::HookContext(text.to_owned()));
                (0, text.len())
            }
        };
        self.weight += end - start;
        self.slot(at).context.push(HookText { sequence, scope, end });
    }

    /// Puts a summary in the place of every part up to a row.
    pub(crate) fn restart(&mut self, covers_to: i64, summary: String) {
        let mut pieces = std::mem::take(self).into_pieces();
        pieces.retain(|(sequence, _)| *sequence > covers_to);
        // Results may precede earlier text; rows are added in the order they were written.
        pieces.sort_by_key(|(sequence, _)| *sequence);
        self.say(covers_to, Part::Text(summary));
        for (sequence, piece) in pieces {
            match piece {
                RowPart::Said(part) => self.say(sequence, part),
                RowPart::Result(id, part) => {
                    self.answer(sequence, &id, part);
                }
                RowPart::Picture(id, part) => self.picture(sequence, Some(&id), part),
                RowPart::Assistant(origin, parts) => {
                    self.assistant(sequence, origin, parts);
                }
                RowPart::Context(scope, text) => self.context(sequence, scope, &text),
            }
        }
    }

    fn assistant(&mut self, sequence: i64, origin: MessageOrigin, mut parts: Vec<Part>) -> Option<&'static str> {
        if parts.is_empty() {
            return None;
        }
        // No model was called before a lone call, so the context gathered so far moves on.
        let context = match origin {
            MessageOrigin::Lone => self.lift_context(),
            MessageOrigin::Reply => Vec::new(),
        };
        self.assume_answers();
        let message = self.messages.len();
        let declared = parts.len();
        parts.retain(|part| match part {
            Part::ToolUse { id, .. } => {
                let call = Call { message, origin, answer: CallResult::None };
                self.calls.insert(id.clone(), call).is_none_or(|older| older.message != message)
            }
            _ => true,
        });
        let complaint = (parts.len() < declared).then_some(SAME_ID);
        self.weight += parts.iter().map(weight).sum::<usize>();
        self.messages.push(Message { role: Role::Assistant, parts });
        self.slots.push(Slot::Assistant { sequence, origin });
        for (sequence, text) in context {
            self.context(sequence, ContextScope::Turn, &text);
        }
        complaint
    }

    /// Before the assistant speaks again, its open calls get the answer a repair
    /// would give them: no provider takes a history with a hole in it.
    fn assume_answers(&mut self) {
        let last = match (self.slots.last(), self.slots.len()) {
            (Some(Slot::Assistant { .. }), len) => len - 1,
            (Some(Slot::User(_)), len) if len > 1 => len - 2,
            _ => return,
        };
        let calls = self.messages[last].parts.iter();
        let open: Vec<CallId> = calls
            .filter_map(|part| match part {
                Part::ToolUse { id, .. } => Some(id),
                _ => None,
            })
            .filter(|id| self.calls.get(id).is_some_and(|call| call.answer == CallResult::None))
            .cloned()
            .collect();
        for id in open {
            if let Some(call) = self.calls.get_mut(&id) {
                call.answer = CallResult::Assumed;
            }
            let part = Part::ToolResult { id, content: INTERRUPTED.into(), is_error: true, exit_code: None };
            self.give(last + 1, NO_ROW, part);
        }
    }

    /// Puts a result behind the results that are there.
    fn give(&mut self, at: usize, sequence: i64, part: Part) {
        if at == self.messages.len() {
            self.last_user();
        }
        let end = self.slot(at).results;
        self.insert(at, end, sequence, part);
        self.slot(at).results += 1;
    }

    /// Returns the part that answers a call. Asked about new results, so it looks from the end.
    fn result(&self, id: &CallId) -> Option<usize> {
        let call = self.calls.get(id).filter(|call| call.answer != CallResult::None)?;
        let answers = |part: &Part| matches!(part, Part::ToolResult { id: answered, .. } if answered == id);
        self.messages[call.message + 1].parts.iter().rposition(answers)
    }

    /// Returns the message of the user at the end; a new one if the assistant spoke last.
    fn last_user(&mut self) -> usize {
        if !matches!(self.slots.last(), Some(Slot::User(_))) {
            self.first_user.get_or_insert(self.messages.len());
            self.messages.push(Message { role: Role::User, parts: Vec::new() });
            self.slots.push(Slot::User(UserSlot::default()));
        }
        self.messages.len() - 1
    }

    fn slot(&mut self, at: usize) -> &mut UserSlot {
        match &mut self.slots[at] {
            Slot::User(slot) => slot,
            Slot::Assistant { .. } => unreachable!("calls are answered before the assistant speaks again"),
        }
    }

    fn insert(&mut self, at: usize, index: usize, sequence: i64, part: Part) {
        self.touch(at);
        self.weight += weight(&part);
        self.messages[at].parts.insert(index, part);
        self.slot(at).sequences.insert(index, sequence);
    }

    fn touch(&mut self, at: usize) {
        self.changed = self.changed.min(at);
    }

    /// Takes the turn's context out of the message at the end, and the message
    /// too if it held nothing else.
    fn lift_context(&mut self) -> Vec<(i64, String)> {
        let Some(Slot::User(slot)) = self.slots.last_mut() else { return Vec::new() };
        if !slot.context.iter().any(|said| said.scope == ContextScope::Turn) {
            return Vec::new();
        }
        let at = self.messages.len() - 1;
        let said = std::mem::take(&mut slot.context);
        let joined = self.messages[at].parts.pop();
        self.weight -= joined.as_ref().map_or(0, weight);
        self.touch(at);
        let mut lifted = Vec::new();
        for (sequence, scope, text) in texts(said, joined) {
            match scope {
                ContextScope::Turn => lifted.push((sequence, text)),
                ContextScope::Session => self.context(sequence, scope, &text),
            }
        }
        if self.messages[at].parts.is_empty() {
            self.messages.pop();
            self.slots.pop();
            self.first_user = self.first_user.filter(|first| *first != at);
        }
        lifted
    }

    /// Returns every part with the row it came from, in no order that matters.
    fn into_pieces(self) -> Vec<(i64, RowPart)> {
        let mut pieces = Vec::new();
        for (message, slot) in self.messages.into_iter().zip(self.slots) {
            let mut slot = match slot {
                Slot::Assistant { sequence, origin } => {
                    pieces.push((sequence, RowPart::Assistant(origin, message.parts)));
                    continue;
                }
                Slot::User(slot) => slot,
            };
            let mut parts = message.parts;
            if !slot.context.is_empty() {
                let said = std::mem::take(&mut slot.context);
                let context = texts(said, parts.pop());
                pieces.extend(context.map(|(sequence, scope, text)| (sequence, RowPart::Context(scope, text))));
            }
            let mut answered = None;
            for (index, (part, sequence)) in parts.into_iter().zip(slot.sequences).enumerate() {
                let piece = match (&part, &answered) {
                    (Part::ToolResult { id, .. }, _) => {
                        answered = Some(id.clone());
                        RowPart::Result(id.clone(), part)
                    }
                    (_, Some(id)) if index < slot.results => RowPart::Picture(id.clone(), part),
                    _ => RowPart::Said(part),
                };
                pieces.push((sequence, piece));
            }
        }
        pieces
    }
}

/// What one row has put into the draft.
enum RowPart {
    Said(Part),
    Result(CallId, Part),
    /// Beside the result of this call.
    Picture(CallId, Part),
    Assistant(MessageOrigin, Vec<Part>),
    Context(ContextScope, String),
}

/// Returns the joined context as the single texts it was made of.
fn texts(said: Vec<HookText>, joined: Option<Part>) -> impl Iterator<Item = (i64, ContextScope, String)> {
    let joined = match joined {
        Some(Part::HookContext(joined)) => joined,
        _ => String::new(),
    };
    let mut start = 0;
    said.into_iter().map(move |said| {
        let text = joined[start..said.end].to_owned();
        start = said.end + BETWEEN.len();
        (said.sequence, said.scope, text)
    })
}

/// About how many bytes a part is on the wire.
fn weight(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::HookContext(text) => text.len(),
        Part::ToolResult { content, .. } => content.len(),
        Part::ToolUse { name, input, .. } => {
            let mut counted = Counted(0);
            serde_json::to_writer(&mut counted, input).expect("counting cannot fail, and a value is JSON");
            name.len() + counted.0
        }
        Part::Picture { .. } => PICTURE_WEIGHT,
    }
}

struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
