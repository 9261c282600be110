//! Reads the hooks of skills and agents for a session that is running (`SessionHookRegistry`).

use crate::hook_handlers;
use ona_api::SkipReason;
use ona_dialects::{FrontMatter, FrontMatterKind, HookScope, front_matter};
use ona_mcp::Servers;
use ona_orchestration::{BuildHooks, BuiltHooks, FrontMatterHooks, HookOwner, SharedJudgeDeps};
use ona_permissions::SessionDirs;
use ona_settings::{HookSettings, Settings};
use ona_trust::Trust;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn maker(
    settings: &Settings,
    place: &SessionDirs,
    judges: &Arc<SharedJudgeDeps>,
    servers: &Arc<Servers>,
    trust: Trust,
    startup: Vec<PathBuf>,
) -> BuildHooks {
    let (settings, place) = (settings.clone(), place.clone());
    let (judges, servers) = (Arc::clone(judges), Arc::clone(servers));
    Arc::new(move |front: &FrontMatterHooks, bearer: HookOwner<'_>| {
        let (kind, session, whom) = match bearer {
            HookOwner::Skill(session) => (FrontMatterKind::Skill, session, HookScope::Everybody),
            HookOwner::SkillOfAgent(session) => (FrontMatterKind::Skill, session, HookScope::Agent(session.0.clone())),
            HookOwner::Agent(session) => (FrontMatterKind::Agent, session, HookScope::Agent(session.0.clone())),
            HookOwner::Lead(session) => (FrontMatterKind::Agent, session, HookScope::Lead),
        };
        let dir = front.file.parent().unwrap_or(&front.file).to_string_lossy().into_owned();
        let read = FrontMatter {
            hooks: &front.hooks,
            dialect: &front.dialect,
            by: front.by.clone(),
            dir: dir.clone(),
            session: session.clone(),
            whom,
            disabled: disabled(&settings.hooks, front.of_project && trust == Trust::Withheld),
        };
        let (hooks, rejected) = front_matter(&read, kind, &settings, &place, &hook_handlers::maker(&judges, &servers));
        let problems = rejected.iter().map(|one| format!("a hook of {} is not used: {}", front.by, one.why)).collect();
        let mut files = scripts(&front.hooks, &dir, &place);
        files.extend(startup.iter().cloned());
        BuiltHooks { hooks, problems, files }
    })
}

/// What settings and trust say about hooks that no settings file holds.
fn disabled(settings: &HookSettings, untrusted: bool) -> Option<SkipReason> {
    if untrusted { Some(SkipReason::UntrustedWorkspace) } else { ona_dialects::switched_off(settings) }
}

/// The scripts these hooks start, which lie beside the file as a rule.
fn scripts(hooks: &Value, dir: &str, place: &SessionDirs) -> Vec<PathBuf> {
    let mut hooks = hooks.clone();
    fill(&mut hooks, dir);
    ona_trust::hook_scripts(&HookSettings { entries: hooks, ..HookSettings::default() }, &place.project, &place.home)
}

fn fill(value: &mut Value, dir: &str) {
    match value {
        Value::String(text) => *text = text.replace("${CLAUDE_SKILL_DIR}", dir).replace("$CLAUDE_SKILL_DIR", dir),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, dir)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, dir)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
