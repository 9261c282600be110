//! What enters a session's context unasked: the instructions of folders whose files are
//! read, and memories that fit a prompt.
//!
//! Both are attachment rows with a text, so that a resumed session has them and a summary
//! covers them like everything else. Each is given once; what was given before is read
//! off the rows (`given`). What a summary has covered may come again.

use crate::events::Events;
use crate::lifecycle::lifecycle;
use crate::loaded_context::loaded_context;
use crate::records::object;
use crate::session::Session;
use ona_api::row::Memory;
use ona_api::{Access, CallId, Entry, EventName, Group, Row};
use ona_hookplane::{Firing, HookEngine, HookOutcome};
use ona_instructions::skills::WaitingSkills;
use ona_instructions::{Instruction, Instructions};
use ona_store::{Reader, Store, StoreError};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Characters of a prompt that memories are looked for with.
const LOOKED_AT: usize = 4_000;

#[derive(Default)]
pub struct SessionContext {
    instructions: Option<Instructions>,
    memories: Recall,
    /// Skills that are announced with a file.
    skills: WaitingSkills,
}

/// Whether memories are looked for, and which were given.
#[derive(Default)]
enum Recall {
    #[default]
    Never,
    Except(HashSet<String>),
}

/// Whether prompts are answered with memories in mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryRecall {
    Enabled,
    /// `--bare`.
    Disabled,
}

impl SessionContext {
    /// Of a session that may have rows already.
    pub fn of(
        session: &Session,
        reader: &Reader,
        mut instructions: Instructions,
        memories: MemoryRecall,
    ) -> Result<Self, StoreError> {
        let given = loaded_context(reader, &session.place.session)?;
        instructions.mark_loaded(given.instructions);
        let memories = match memories {
            MemoryRecall::Enabled => Recall::Except(given.memories.into_iter().collect()),
            MemoryRecall::Disabled => Recall::Never,
        };
        Ok(Self { instructions: Some(instructions), memories, skills: WaitingSkills::default() })
    }

    /// Skills that are for some files only, from now on.
    pub fn wait_for_files(&mut self, skills: WaitingSkills) {
        self.skills = skills;
    }

    /// The conversation went back: what only rows behind that point brought may be brought again.
    pub fn went_back(&mut self, reader: &Reader, session: &ona_api::SessionId) -> Result<(), StoreError> {
        let given = loaded_context(reader, session)?;
        if let Some(instructions) = &mut self.instructions {
            instructions.forget_loaded();
            instructions.mark_loaded(given.instructions);
        }
        if let Recall::Except(memories) = &mut self.memories {
            *memories = given.memories.into_iter().collect();
        }
        Ok(())
    }

    fn after_reading(&mut self, file: &Path) -> Vec<Instruction> {
        self.instructions.as_mut().map(|instructions| instructions.after_reading(file)).unwrap_or_default()
    }

    /// What was not read of instructions since the last time, in words for the operator.
    pub(crate) fn left_out(&mut self) -> Vec<String> {
        self.instructions.as_mut().map(Instructions::take_skipped).unwrap_or_default()
    }

    /// Everything said so far was replaced by a summary.
    fn compacted(&mut self) -> Vec<(Instruction, bool)> {
        if let Recall::Except(given) = &mut self.memories {
            given.clear();
        }
        self.instructions.as_mut().map(Instructions::after_compaction).unwrap_or_default()
    }

    /// The memories a prompt calls up, as rows; their counters move in the same commit
    /// (DEC-021).
    pub(crate) fn recall(&mut self, reader: &Reader, prompt: &str, project: &Path) -> Result<Group, StoreError> {
        let mut group = Group::default();
        let Recall::Except(given) = &mut self.memories else { return Ok(group) };
        let (looked_at, _) = ona_api::text::head(prompt, LOOKED_AT);
        let found = reader.search_memories(looked_at, &project.to_string_lossy())?;
        let mut new = Vec::new();
        for stored in found {
            if given.insert(stored.memory.id.clone()) {
                group.push(remembered(&stored.memory));
                new.push(stored.memory.id);
            }
        }
        if !new.is_empty() {
            group.push(Row::MemoriesAccessed(new));
        }
        Ok(group)
    }
}

fn remembered(memory: &Memory) -> Row {
    let content = memory.content.as_deref().unwrap_or_default();
    let text = format!("Remembered from earlier: {}\n{content}", memory.title);
    let fields = json!({"kind": "text", "source": "memory", "memory_id": memory.id, "text": text.trim_end()});
    Row::Transcript(Entry::Attachment { attachment: object(fields), call: None })
}

/// The files a call has read or changed, if it is of the kind that brings instructions in.
pub(crate) fn files(tool: &str, access: &[Access]) -> Vec<PathBuf> {
    if !matches!(tool, "Read" | "Edit" | "Write" | "NotebookEdit") {
        return Vec::new();
    }
    let file = |access: &Access| match access {
        Access::Read(path) | Access::Edit(path) => Some(path.clone()),
        Access::Search(_) | Access::Shell { .. } | Access::Fetch { .. } | Access::Plain => None,
    };
    access.iter().filter_map(file).collect()
}

/// The instructions a file brings in: what hooks said of each, and the row for the model.
pub(crate) async fn brought_in(
    hooks: &HookEngine,
    session: &mut Session,
    file: &Path,
    call: Option<&CallId>,
) -> Vec<(HookOutcome, Row)> {
    let mut brought = Vec::new();
    for one in session.context.after_reading(file) {
        // What may not be read is not sent by another way.
        if one.text.is_empty() || !(session.cx.may_show)(&one.path) {
            continue;
        }
        let firing = Firing::new(EventName::InstructionsLoaded, session.base(), loaded(&one));
        brought.push((hooks.fire(firing).await, instruction(&one, call)));
    }
    for text in session.context.skills.after_reading(file) {
        let mut fields = json!({"kind": "text", "source": "skill", "text": text});
        if let Some(call) = call {
            fields["tool_use_id"] = json!(call);
        }
        let row = Row::Transcript(Entry::Attachment { attachment: object(fields), call: call.cloned() });
        brought.push((HookOutcome::default(), row));
    }
    brought
}

/// After a compaction: the files of the start are read again, and one that has changed
/// since is told anew, because the system prompt holds what it was.
pub(crate) async fn compacted(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
) -> Result<(), StoreError> {
    for (one, changed) in session.context.compacted() {
        lifecycle(store, hooks, session, events, EventName::InstructionsLoaded, loaded(&one)).await?;
        if changed {
            store.commit(&session.place, Group(vec![instruction(&one, None)])).await?;
        }
    }
    Ok(())
}

fn instruction(one: &Instruction, call: Option<&CallId>) -> Row {
    let text = format!("Instructions from {}, which hold from here on:\n{}", one.path.display(), one.text);
    let mut fields = json!({
        "kind": "text", "source": "instructions", "path": one.path.to_string_lossy(),
        "memory_type": one.memory_type.as_str(), "load_reason": one.reason.as_str(), "text": text,
    });
    if let Some(call) = call {
        fields["tool_use_id"] = json!(call);
    }
    Row::Transcript(Entry::Attachment { attachment: object(fields), call: call.cloned() })
}

/// The fields of InstructionsLoaded.
pub fn loaded(one: &Instruction) -> Value {
    let mut fields = json!({
        "file_path": one.path.to_string_lossy(),
        "memory_type": one.memory_type.as_str(),
        "load_reason": one.reason.as_str(),
    });
    if !one.globs.is_empty() {
        fields["globs"] = json!(one.globs);
    }
    if let Some(trigger) = &one.trigger {
        fields["trigger_file_path"] = json!(trigger.to_string_lossy());
    }
    if let Some(parent) = &one.parent {
        fields["parent_file_path"] = json!(parent.to_string_lossy());
    }
    fields
}
