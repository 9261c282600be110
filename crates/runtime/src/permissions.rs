//! What the rules of a run are made from: the settings row, the flags over it, the managed policy.
//!
//! Only gathering: how rules are parsed and what they decide is `ona-permissions`' matter.

use crate::failure::Failure;
use crate::findings;
use crate::guards::flags;
use crate::launch::{Launch, OpenProject};
use ona_api::mode::UnknownMode;
use ona_api::{LoggedEvent, Mode};
use ona_permissions::SessionDirs;
use ona_settings::{PermissionSettings, Settings};
use ona_trust::{SettingsScope, project_root};
use std::path::Path;

/// A mode by its name, or by the one the reference gives the default.
pub fn mode_named(name: &str) -> Result<Mode, UnknownMode> {
    if name == "manual" { Ok(Mode::Default) } else { name.parse() }
}

/// The row's permissions with this run's flags over them.
pub(crate) fn permissions(
    launch: &Launch,
    settings: &Settings,
) -> Result<(PermissionSettings, Vec<LoggedEvent>, Vec<String>), Failure> {
    let options = &launch.options;
    let unknown = &settings.permission_findings;
    let mut permissions = settings
        .permissions
        .clone()
        .map_err(|bad| Failure::usage(format_args!("the permissions in the settings cannot be used: {bad}")))?;
    let mode = match (&options.permission_mode, options.dangerously_skip_permissions) {
        (Some(mode), _) => Some(mode_named(mode).map_err(Failure::usage)?),
        (None, true) => Some(Mode::BypassPermissions),
        (None, false) => None,
    };
    if mode == Some(Mode::BypassPermissions) && permissions.disable_bypass {
        return Err(Failure::usage(
            "the settings do not allow the mode bypassPermissions (disableBypassPermissionsMode)",
        ));
    }
    if launch.agent_shell && (mode.is_some() || !options.allowed_tools.is_empty() || !options.add_dir.is_empty()) {
        launch.operator_only("permissions")?;
    }
    permissions.default_mode = mode.unwrap_or(permissions.default_mode);
    if permissions.managed_only {
        if !options.allowed_tools.is_empty() {
            launch.note("ona: ignoring --allowedTools: the managed policy is the only source of allow rules");
        }
    } else {
        permissions.allow.extend(flags::rules(&options.allowed_tools));
    }
    permissions.deny.extend(flags::rules(&options.disallowed_tools));
    permissions.additional_directories.extend(options.add_dir.iter().cloned());
    let strange = unknown.iter().map(ToString::to_string).collect();
    Ok((permissions, unknown.iter().map(findings::permission_setting).collect(), strange))
}

/// The deny and ask rules nobody below the policy may lift.
pub(crate) fn managed_rules(open: &OpenProject) -> Vec<String> {
    let managed = open.found.layers.iter().filter(|layer| layer.scope == SettingsScope::Managed);
    let permissions = managed.filter_map(|layer| layer.settings().permissions.ok());
    permissions.flat_map(|permissions| permissions.deny.into_iter().chain(permissions.ask)).collect()
}

/// The directories a session may work in without a rule.
pub(crate) fn session_dirs(launch: &Launch, permissions: &PermissionSettings, cwd: &Path) -> SessionDirs {
    let project = if cwd == launch.cwd { launch.project.clone() } else { project_root(cwd) };
    let mut place = SessionDirs { project, start: cwd.to_owned(), home: launch.env.home(), extra: Vec::new() };
    for text in &permissions.additional_directories {
        match place.directory(text) {
            Some(directory) => place.extra.push(directory),
            None => launch.note(format_args!("ona: {text:?} is too wide to be a working directory and is left out")),
        }
    }
    place
}
