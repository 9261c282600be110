//! The environments that children get: tools' children, the operator's hooks, a project's own.
//!
//! A repository can set variables in its settings. They reach what the repository configured, and of
//! what the operator configured only where they choose no program, library, place or server.
//! Which process gets which of these is decided in `runtime`.

use crate::launch::{Launch, OpenProject};
use ona_api::{Env, credentials, environment};
use ona_settings::Settings;
use ona_trust::SettingsScope;
use std::sync::Arc;

/// Takes the providers' credentials out of what tools' children get, unless the operator
/// wants them to have them. Returns the names of what was taken out.
pub(crate) fn withhold_credentials(launch: &Launch, env: &mut Env, settings: &Settings) -> Arc<[String]> {
    if let Some(problem) = &settings.pass_credentials.problem {
        launch.note(format_args!("ona: {problem}"));
    }
    if settings.pass_credentials.value {
        return Arc::default();
    }
    if let Some(number) =
        env.get(environment::CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR).and_then(|text| text.trim().parse().ok())
    {
        ona_process::secrets::withhold_descriptor(number);
    }
    credentials::remove_from(env).into()
}

/// Variables of a project that the operator's hooks and workers get as well: none of them
/// chooses a program, a library, a place or a server.
const HARMLESS: [&str; 14] = [
    "CI",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// What the operator's own hooks and workers have: a repository that could set variables for
/// them could replace a guard.
pub(crate) fn operator_environment(launch: &Launch, open: &OpenProject, settings: &Settings) -> Env {
    let of = |env: &[(String, String)], name: &str| {
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let layers: Vec<_> = open.found.layers.iter().map(|layer| (layer.scope, layer.settings().env)).collect();
    let (confined, others): (Vec<_>, Vec<_>) = layers.iter().partition(|(scope, _)| scope.is_confined());
    let from_files = Settings::read(&open.merged.secrets.restore(&open.merged.effective)).env;
    let mut env = launch.env.clone();
    for (name, value) in &settings.env {
        let is_above = |scope: &SettingsScope| matches!(scope, SettingsScope::Flag | SettingsScope::Managed);
        let above = others.iter().any(|(scope, env)| is_above(scope) && of(env, name).is_some());
        let imported = of(&from_files, name).as_ref() == Some(value);
        let of_folder = imported && !above && confined.iter().any(|(_, env)| of(env, name).is_some());
        if !of_folder || HARMLESS.contains(&name.as_str()) {
            env.set(name, value);
        } else if let Some(value) = others.iter().rev().find_map(|(_, env)| of(env, name)) {
            env.set(name, value);
        }
    }
    env
}

/// The process environment with the settings' `env` over it.
pub(crate) fn host_environment(launch: &Launch, settings: &Settings) -> Env {
    let mut env = launch.env.clone();
    for (name, value) in &settings.env {
        env.set(name, value);
    }
    env
}
