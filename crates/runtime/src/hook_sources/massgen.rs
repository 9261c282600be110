//! Hooks of a MassGen configuration, if this session has one (DEC-041, DEC-150).

use super::{LoadedSource, SourceContext};
use crate::failure::Failure;
use ona_api::environment;
use ona_dialects::LoadedHooks;
use ona_dialects::massgen::{self, MassgenConfigError, MassgenSource};
use ona_hookplane::{HookEnvironment, Timeouts};
use std::path::{Path, PathBuf};

pub(super) fn load(context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
    match configuration(context)? {
        Some(path) => hooks(&path, context).map(LoadedSource::from),
        None => Ok(LoadedSource::default()),
    }
}

/// The file that a flag, the environment or the settings name.
fn configuration(context: &SourceContext<'_>) -> Result<Option<PathBuf>, Failure> {
    let options = &context.launch.options;
    let variable = context.operators.non_empty(environment::ONA_MASSGEN_CONFIG);
    if let Some(path) = options.massgen_config.as_deref().or(variable) {
        return Ok(Some(context.launch.cwd.join(path)));
    }
    let path = match (&context.settings.massgen_config, &options.agent_id) {
        // Settings are about a project, regardless of the directory in it where a session starts.
        (Ok(Some(path)), _) => context.dirs.project.join(path),
        (Ok(None), None) => return Ok(None),
        (Ok(None), Some(id)) => {
            return Err(Failure::usage(format_args!(
                "--agent-id {id} names an agent of a MassGen configuration, but no such configuration is in use"
            ))
            .hint("ona --massgen-config PATH --agent-id ID ..."));
        }
        (Err(problem), _) => return Err(Failure::usage(problem)),
    };
    // A setting may come with the folder; only what the operator names may be a pipe.
    match ona_files::read_text(&path) {
        Ok(_) => Ok(Some(path)),
        Err(why) => Err(Failure::usage(MassgenConfigError::Unreadable { path, why })),
    }
}

/// The hooks of this configuration.
pub(super) fn hooks(path: &Path, context: &SourceContext<'_>) -> Result<LoadedHooks, Failure> {
    let dirs = context.dirs;
    let environment = HookEnvironment::new(context.operators.clone(), dirs.project.clone(), Timeouts::default());
    let source = MassgenSource {
        path,
        agent: context.launch.options.agent_id.as_deref(),
        cwd: &dirs.start,
        env: environment.lasting(&context.launch.database.path.to_string_lossy()),
        disabled: ona_dialects::switched_off(&context.settings.hooks),
        cancel: context.cancel,
    };
    massgen::load(&source).map_err(Failure::usage)
}
