//! Hooks in the front matter of a skill or an agent: written like those of a settings file,
//! active from when the skill is loaded or while the agent runs.

use crate::entries::flatten;
use crate::handler_spec::HandlerFactory;
use crate::read::{HookReader, Rejected};
use ona_api::digest::sha256_hex;
use ona_api::{SessionId, SkipReason};
use ona_hookplane::{Firing, Hook, SessionRegistration};
use ona_permissions::SessionDirs;
use ona_settings::Settings;
use serde_json::Value;
use std::sync::Arc;

/// The hooks of one file, and for whom they are read.
pub struct FrontMatter<'a> {
    pub hooks: &'a Value,
    /// Of the folder the file lies in (DEC-041).
    pub dialect: &'a str,
    /// `skill:careful`, `agent:reviewer`
    pub by: String,
    pub dir: String,
    pub session: SessionId,
    pub whom: HookScope,
    pub disabled: Option<SkipReason>,
}

/// Whose calls fire the hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookScope {
    /// The session and its subagents: a guard that a person asked for cannot be bypassed
    /// by a subagent.
    Everybody,
    /// Only the agent with this id.
    Agent(String),
    /// The session itself, without its subagents.
    Lead,
}

/// `once` counts in skills; in a subagent, `Stop` means its own end.
pub fn front_matter(
    front: &FrontMatter<'_>,
    kind: FrontMatterKind,
    settings: &Settings,
    place: &SessionDirs,
    make: HandlerFactory<'_>,
) -> (Vec<Hook>, Vec<Rejected>) {
    let mut reader = HookReader::new(settings, place, make);
    let (mut entries, misshapen) = flatten(front.hooks);
    let misshapen = misshapen.into_iter().map(|bad| Rejected { entry: bad.entry, why: bad.why.to_owned() });
    reader.rejected.extend(misshapen);
    for entry in &mut entries {
        // A file cannot set its own source or switch itself off.
        for key in ["source", "disabled"] {
            entry.handler.shift_remove(key);
            entry.tags.shift_remove(key);
        }
        if matches!(front.whom, HookScope::Agent(_))
            && kind == FrontMatterKind::Agent
            && entry.event.as_deref() == Some("Stop")
        {
            entry.event = Some("SubagentStop".into());
            // Stop has nothing to match; its successor would match the kind of agent.
            entry.matcher = None;
            entry.handler.shift_remove("matcher");
        }
    }
    reader.take(entries, front.dialect, |hook, entry| {
        hook.source.clone_from(&front.by);
        hook.disabled = front.disabled.or(hook.disabled);
        let once = kind == FrontMatterKind::Skill && entry.handler.get("once") == Some(&Value::Bool(true));
        hook.once = None;
        hook.registered = Some(SessionRegistration {
            by: front.by.clone(),
            session: front.session.clone(),
            dir: front.dir.clone(),
            once: once.then(|| key(hook, front)),
        });
        let inner = Arc::clone(&hook.applies);
        match front.whom.clone() {
            HookScope::Everybody => {}
            HookScope::Agent(id) => {
                hook.applies = Arc::new(move |firing, input| is_of(firing, &id) && inner(firing, input))
            }
            HookScope::Lead => {
                hook.applies = Arc::new(move |firing, input| firing.base.agent_id.is_none() && inner(firing, input));
            }
        }
    });
    (reader.hooks, reader.rejected)
}

/// The kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontMatterKind {
    Skill,
    Agent,
}

/// Returns whether an event belongs to the agent: one of its calls, its start, its end.
fn is_of(firing: &Firing, agent: &str) -> bool {
    firing.base.agent_id.as_deref() == Some(agent)
        || firing.fields.get("agent_id").and_then(Value::as_str) == Some(agent)
}

fn key(hook: &Hook, front: &FrontMatter<'_>) -> String {
    let parts = [&front.by, hook.event.as_str(), &hook.matcher, &hook.condition, hook.command()];
    let digest = sha256_hex(parts.join("\0").as_bytes());
    format!("hook_spent:{}:{}", front.session, &digest[..16])
}
