//! Hooks in the front matter of skills and agents, for a session that is running (`SessionHookRegistry`).

use crate::failure::Failure;
use crate::hook_handlers;
use crate::launch::{Launch, OpenProject};
use crate::runtime::Runtime;
use crate::{agents, skills};
use ona_api::{SessionId, SkipReason};
use ona_dialects::{FrontMatter, FrontMatterKind, HookScope, front_matter};
use ona_hookplane::Hook;
use ona_mcp::Servers;
use ona_orchestration::{
    BuildHooks, BuiltHooks, FrontMatterHooks, HookOwner, SharedJudgeDeps, front_hooks, hooks_of_agent,
};
use ona_permissions::SessionDirs;
use ona_settings::{HookSettings, Settings};
use ona_trust::Trust;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Returns the hooks that skills and agents of this directory would add to a session.
pub(super) fn on_demand(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Result<Vec<Hook>, Failure> {
    let no_session = SessionId::from("");
    let build = &runtime.registrar.make;
    let skills = skills::load(launch, open);
    let skills = skills.iter().filter_map(front_hooks).map(|front| build(&front, HookOwner::Skill(&no_session)));
    let agents = agents::load(launch, open)?;
    let agents = agents.iter().filter_map(hooks_of_agent).map(|front| build(&front, HookOwner::Agent(&no_session)));
    Ok(skills.chain(agents).flat_map(|built| built.hooks).collect())
}

/// Returns the function that reads such hooks when a skill is loaded or an agent starts.
pub(crate) fn hook_builder(
    settings: &Settings,
    dirs: &SessionDirs,
    judges: &Arc<SharedJudgeDeps>,
    servers: &Arc<Servers>,
    trust: Trust,
    startup: Vec<PathBuf>,
) -> BuildHooks {
    let (settings, dirs) = (settings.clone(), dirs.clone());
    let (judges, servers) = (Arc::clone(judges), Arc::clone(servers));
    Arc::new(move |front: &FrontMatterHooks, owner: HookOwner<'_>| {
        let (kind, session, whom) = match owner {
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
        let (hooks, rejected) = front_matter(&read, kind, &settings, &dirs, &hook_handlers::factory(&judges, &servers));
        let problems = rejected.iter().map(|one| format!("a hook of {} is not used: {}", front.by, one.why)).collect();
        let mut files = scripts(&front.hooks, &dir, &dirs);
        files.extend(startup.iter().cloned());
        BuiltHooks { hooks, problems, files }
    })
}

/// Why hooks that no settings file holds may not run, as settings and trust say.
fn disabled(settings: &HookSettings, untrusted: bool) -> Option<SkipReason> {
    if untrusted { Some(SkipReason::UntrustedWorkspace) } else { ona_dialects::switched_off(settings) }
}

/// The scripts these hooks start, which lie beside the file as a rule.
fn scripts(hooks: &Value, dir: &str, dirs: &SessionDirs) -> Vec<PathBuf> {
    let mut hooks = hooks.clone();
    fill(&mut hooks, dir);
    ona_trust::hook_scripts(&HookSettings { entries: hooks, ..HookSettings::default() }, &dirs.project, &dirs.home)
}

fn fill(value: &mut Value, dir: &str) {
    match value {
        Value::String(text) => *text = text.replace("${CLAUDE_SKILL_DIR}", dir).replace("$CLAUDE_SKILL_DIR", dir),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, dir)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, dir)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
