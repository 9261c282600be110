//! The next step of a turn, decided from the rows alone.
//!
//! `TurnState` keeps only what the decision needs, so it costs the same however long
//! the history is. The driver is a loop: get the step, do it, commit, push the rows that
//! were committed. To continue after a crash, push all rows, commit what `repair` returns
//! and push that too; without the repair `next` would run calls again that may have run.

use crate::record::{AttachmentRecord, Body, HookRecord, Record};
use ona_api::row::Block;
use ona_api::{CallId, ToolCall};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    AskModel,
    /// The calls of the newest reply that have no result, in declared order.
    RunTools(Vec<ToolCall>),
    End,
}

#[derive(Clone, Debug, Default)]
pub struct TurnState {
    /// Every call without a result, in declared order.
    open: OpenCalls,
    /// The newest reply.
    reply: Option<Reply>,
    /// Something was said since that reply.
    asked: bool,
    /// A hook ended the turn, and no prompt came since.
    stopped: bool,
    /// The newest row of the assistant: a reply or a lone call.
    newest: Option<i64>,
    last_sequence: Option<i64>,
    /// The row before the first prompt that no reply has followed; `None` inside if it is the first row.
    before_prompt: Option<Option<i64>>,
    /// A summary replaces the rows before it.
    collapsed: bool,
    /// The id of every call of the session; summaries replace rows, not ids.
    used: HashSet<CallId>,
}

#[derive(Clone, Debug)]
struct Open {
    call: ToolCall,
    /// The row that made the call.
    sequence: i64,
}

#[derive(Clone, Debug)]
struct Reply {
    sequence: i64,
    has_calls: bool,
    /// Calls whose `tool_use` rows say nothing new; none once a summary covers the reply.
    calls: HashSet<CallId>,
}

/// Calls in declared order, found by their ids: a reply may make thousands.
#[derive(Clone, Debug, Default)]
struct OpenCalls {
    by_position: BTreeMap<u64, Open>,
    /// Where the calls of an id are, in order.
    positions: HashMap<CallId, Vec<u64>>,
    next: u64,
}

impl OpenCalls {
    fn push(&mut self, call: ToolCall, sequence: i64) {
        self.positions.entry(call.id.clone()).or_default().push(self.next);
        self.by_position.insert(self.next, Open { call, sequence });
        self.next += 1;
    }

    /// Removes the newest call with this id.
    fn remove(&mut self, id: &CallId) {
        let Some(positions) = self.positions.get_mut(id) else { return };
        if let Some(newest) = positions.pop() {
            self.by_position.remove(&newest);
        }
        if positions.is_empty() {
            self.positions.remove(id);
        }
    }

    fn remove_up_to(&mut self, sequence: i64) {
        for open in std::mem::take(self).by_position.into_values().filter(|open| open.sequence > sequence) {
            self.push(open.call, open.sequence);
        }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &Open> {
        self.by_position.values()
    }
}

/// Returns the step for a whole session at once.
pub fn next<'a>(records: impl IntoIterator<Item = &'a Record>) -> Step {
    let mut state = TurnState::default();
    records.into_iter().for_each(|record| state.push(record));
    state.next()
}

impl TurnState {
    pub fn push(&mut self, record: &Record) {
        let sequence = record.sequence;
        let before = self.last_sequence.replace(sequence);
        match &record.body {
            Body::User { content, .. } => self.user(content, before),
            Body::Assistant { content, .. } => self.assistant(sequence, content),
            Body::ToolUse(call) => self.lone(sequence, call),
            Body::ToolResult { id, .. } => self.answered(id),
            Body::InternalHook(HookRecord { event, context: Some(_), .. }) if goes_on(event) => self.asked = true,
            Body::Attachment(AttachmentRecord::Message { wakes: true, .. }) => self.asked = true,
            Body::System { subtype, .. } if subtype == "hook_stopped" => self.stopped = true,
            Body::CollapseCommit { covers_to, .. } => {
                self.collapsed = true;
                self.covered(*covers_to);
            }
            Body::System { .. }
            | Body::Rewound { .. }
            | Body::Progress(_)
            | Body::Attachment(_)
            | Body::InternalHook(_)
            | Body::ContentReplacement
            | Body::FileHistorySnapshot
            | Body::AttributionSnapshot
            | Body::QueueOperation
            | Body::SpeculationAccept
            | Body::AiTitle(_) => {}
        }
    }

    /// Skips a row that has been replaced.
    pub fn skip(&mut self, record: &Record) {
        self.last_sequence = Some(record.sequence);
        // Its ids stay in use: hook and permission rows still name those calls.
        match &record.body {
            Body::Assistant { content, .. } => self.used.extend(content.iter().filter_map(|block| match block {
                Block::ToolUse { id, .. } => Some(id.clone()),
                Block::Text(_) | Block::ToolResult { .. } => None,
            })),
            Body::ToolUse(call) => {
                self.used.insert(call.id.clone());
            }
            _ => {}
        }
    }

    pub fn next(&self) -> Step {
        if self.stopped {
            return Step::End;
        }
        match self.to_run() {
            calls if !calls.is_empty() => Step::RunTools(calls),
            _ if self.asked || self.reply.as_ref().is_some_and(|reply| reply.has_calls) => Step::AskModel,
            _ => Step::End,
        }
    }

    /// Returns every call without a result, in declared order, also those of `--eval`.
    pub fn open(&self) -> impl Iterator<Item = &ToolCall> {
        self.open.iter().map(|open| &open.call)
    }

    /// Returns the number of the newest row: where `Reader::history` continues, and what a
    /// summary of everything covers.
    pub fn last_sequence(&self) -> Option<i64> {
        self.last_sequence
    }

    /// Returns the number of the newest row that a summary may cover without the prompt that waits for
    /// its first reply.
    pub fn last_before_prompt(&self) -> Option<i64> {
        self.before_prompt.unwrap_or(self.last_sequence)
    }

    /// Returns whether the conversation begins with a summary.
    pub fn is_collapsed(&self) -> bool {
        self.collapsed
    }

    /// Returns whether the session has had a call with this id.
    pub fn has_used(&self, id: &CallId) -> bool {
        self.used.contains(id)
    }

    /// Returns the open calls of the newest reply only. A call whose result was deleted
    /// long ago must not run now, nor one that was made with `--eval`.
    fn to_run(&self) -> Vec<ToolCall> {
        let newest = self.reply.as_ref().map(|reply| reply.sequence);
        self.open.iter().filter(|open| Some(open.sequence) == newest).map(|open| open.call.clone()).collect()
    }

    fn user(&mut self, content: &[Block], before: Option<i64>) {
        let mut only_results = !content.is_empty();
        for block in content {
            match block {
                Block::ToolResult { id, .. } => self.answered(id),
                Block::Text(_) | Block::ToolUse { .. } => only_results = false,
            }
        }
        // A prompt without words is a picture that follows.
        if !only_results {
            self.asked = true;
            self.stopped = false;
            self.before_prompt.get_or_insert(before);
        }
    }

    fn assistant(&mut self, sequence: i64, content: &[Block]) {
        let mut calls = HashSet::new();
        for block in content {
            let Block::ToolUse { id, name, input } = block else { continue };
            if calls.insert(id.clone()) {
                self.used.insert(id.clone());
                self.open.push(ToolCall { id: id.clone(), name: name.clone(), input: input.clone() }, sequence);
            }
        }
        self.reply = Some(Reply { sequence, has_calls: !calls.is_empty(), calls });
        self.newest = Some(sequence);
        self.asked = false;
        self.before_prompt = None;
    }

    fn lone(&mut self, sequence: i64, call: &ToolCall) {
        let replied = self.reply.as_ref().is_some_and(|reply| reply.calls.contains(&call.id));
        let repeated = self
            .open
            .iter()
            .next_back()
            .is_some_and(|open| open.call.id == call.id && Some(open.sequence) == self.newest);
        if !replied && !repeated {
            self.used.insert(call.id.clone());
            self.open.push(call.clone(), sequence);
            self.newest = Some(sequence);
        }
    }

    fn covered(&mut self, to: i64) {
        self.open.remove_up_to(to);
        if let Some(reply) = self.reply.as_mut().filter(|reply| reply.sequence <= to) {
            reply.calls.clear();
        }
    }

    fn answered(&mut self, id: &CallId) {
        self.open.remove(id);
    }
}

/// Events whose hook, by speaking, keeps the agent from stopping (DEC-049, DEC-050).
fn goes_on(event: &str) -> bool {
    matches!(event, "Stop" | "SubagentStop" | "TeammateIdle")
}
