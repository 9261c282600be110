//! Hooks that come with a session and not with its settings, after those of the
//! settings and of plugins and in the order of DEC-060: pi, massgen, omp.

use crate::failure::Failure;
use crate::launch::Launch;
use crate::pi_session::PiSession;
use ona_api::{Env, Group, LoggedEvent, environment};
use ona_dialects::LoadedHooks;
use ona_dialects::massgen;
use ona_dialects::pi::{self, PiContext, PiLayer};
use ona_hookplane::{HookEnvironment, Timeouts};
use ona_permissions::SessionDirs;
use ona_settings::{HookSettings, Settings};
use serde_json::json;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Hooks as one file has them, whichever dialect it is written in.
pub enum Written {
    Settings(Box<Settings>),
    Pi(Vec<pi::PiDefinition>),
    /// Where the configuration is.
    Massgen(PathBuf),
}

/// The hooks of `--hooks-config`, `PI_HOOKS_JSON` or gastown mode. The files that decide
/// about them, which the agent may not change.
pub(crate) fn pi(
    session: &PiSession,
    settings: &Settings,
    place: &SessionDirs,
    loaded: &mut LoadedHooks,
) -> Vec<PathBuf> {
    let mut guarded: Vec<_> = session.file.iter().cloned().collect();
    if let PiLayer::Hooks { source, definitions } = &session.layer {
        guarded.extend(pi_hooks(*source, definitions, settings, place, loaded));
    }
    guarded
}

/// Hooks of one such configuration, and the scripts they start.
pub(crate) fn pi_hooks(
    source: pi::PiSource,
    definitions: &[pi::PiDefinition],
    settings: &Settings,
    place: &SessionDirs,
    loaded: &mut LoadedHooks,
) -> Vec<PathBuf> {
    let words = |one: &pi::PiDefinition| json!({"command": one.command, "args": one.args});
    let commands: Vec<_> = definitions.iter().map(words).collect();
    let made = pi::hooks(source, definitions, &PiContext { settings, place });
    made.hooks.into_iter().for_each(|hook| loaded.list.push(hook));
    loaded.rejected.extend(made.rejected);
    loaded.unknown.extend(made.unknown);
    loaded.idle.extend(made.idle);
    ona_trust::hook_scripts(
        &HookSettings { entries: commands.into(), ..HookSettings::default() },
        &place.project,
        &place.home,
    )
}

/// What people are told about these hooks before the first of them could run.
pub(crate) fn announce(launch: &Launch, session: &PiSession) -> Group {
    let verbose = launch.options.verbose;
    let mut group = Group::default();
    if let Some(invalid) = session.invalid() {
        launch.note(invalid.warning());
        if verbose {
            launch.note(invalid.record());
        }
        group.log(LoggedEvent::HookConfigInvalid(invalid.record()));
    }
    if verbose && session.claude_off > 0 {
        let count = session.claude_off;
        launch.note(format_args!(
            "ona: {count} hook(s) of .claude files are off in this session (--claude-settings-hooks)"
        ));
    }
    if verbose
        && matches!(&session.layer, PiLayer::Hooks { source: pi::PiSource::GastownBuiltin, definitions } if definitions.is_empty())
    {
        launch.note("ona: gastown mode has no hooks here: neither gt nor bd was found");
    }
    group
}

/// The hooks of a MassGen configuration, if this session has one (DEC-041, DEC-150). The
/// files that decide about them, which the agent may not change.
pub(crate) fn massgen(
    launch: &Launch,
    settings: &Settings,
    host: &Env,
    place: &SessionDirs,
    cancel: &CancellationToken,
    loaded: &mut LoadedHooks,
) -> Result<Vec<PathBuf>, Failure> {
    let options = &launch.options;
    let named = options.massgen_config.as_deref().or(host.non_empty(environment::ONA_MASSGEN_CONFIG));
    let path = match (named, &settings.massgen_config) {
        (Some(path), _) => launch.cwd.join(path),
        // Settings are about a project, wherever in it somebody starts.
        (None, Ok(Some(path))) => place.project.join(path),
        (None, Ok(None)) => match &options.agent_id {
            None => return Ok(Vec::new()),
            Some(id) => {
                return Err(Failure::usage(format_args!(
                    "--agent-id {id} names an agent of a MassGen configuration, and there is none"
                ))
                .hint("ona --massgen-config PATH --agent-id ID ..."));
            }
        },
        (None, Err(problem)) => return Err(Failure::usage(problem)),
    };
    // A setting may come with the folder; only what the operator names may be a pipe.
    if named.is_none()
        && let Err(why) = ona_files::read_text(&path)
    {
        return Err(Failure::usage(massgen::MassgenConfigError::Unreadable { path, why }));
    }
    massgen_file(launch, &path, settings, host, place, cancel, loaded)
}

/// The hooks of this configuration.
pub(crate) fn massgen_file(
    launch: &Launch,
    path: &Path,
    settings: &Settings,
    host: &Env,
    place: &SessionDirs,
    cancel: &CancellationToken,
    loaded: &mut LoadedHooks,
) -> Result<Vec<PathBuf>, Failure> {
    let environment = HookEnvironment::new(host.clone(), place.project.clone(), Timeouts::default());
    let source = massgen::MassgenSource {
        path,
        agent: launch.options.agent_id.as_deref(),
        cwd: &place.start,
        env: environment.lasting(&launch.database.path.to_string_lossy()),
        disabled: ona_dialects::switched_off(&settings.hooks),
        cancel,
    };
    let found = massgen::load(&source).map_err(Failure::usage)?;
    loaded.rejected.extend(found.rejected);
    loaded.unknown.extend(found.unknown);
    found.hooks.into_iter().for_each(|hook| loaded.list.push(hook));
    Ok(found.files)
}
