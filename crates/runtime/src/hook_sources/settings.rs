//! Hooks of settings files and of plugins, both from the frozen settings row.

use super::{LoadedSource, SourceContext};
use crate::failure::Failure;
use ona_dialects::LoadedHooks;
use ona_hookplane::Hook;
use ona_settings::HookSettings;
use std::path::Path;

pub(super) fn settings(context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
    let (settings, dirs) = (context.settings, context.dirs);
    let entries = HookSettings { entries: settings.hooks.entries.clone(), ..HookSettings::default() };
    let files = ona_trust::hook_scripts(&entries, &dirs.project, &dirs.home);
    Ok(LoadedHooks { files, ..ona_dialects::settings_hooks(settings, dirs, context.handlers) }.into())
}

pub(super) fn plugins(context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
    let (settings, dirs) = (context.settings, context.dirs);
    let plugins = HookSettings { plugins: settings.hooks.plugins.clone(), ..HookSettings::default() };
    let files = ona_trust::hook_scripts(&plugins, &dirs.project, &dirs.home);
    let loaded = ona_dialects::plugin_hooks(settings, dirs, context.handlers);
    make_data_folders(context, &loaded.hooks);
    Ok(LoadedHooks { files, ..loaded }.into())
}

/// Makes the folders in which plugins keep their data: they exist when the first hook runs.
fn make_data_folders(context: &SourceContext<'_>, hooks: &[Hook]) {
    let active = hooks.iter().filter(|hook| hook.disabled.is_none());
    let folders = active.filter_map(|hook| hook.plugin.as_ref()).map(|plugin| Path::new(&plugin.data));
    for folder in folders.filter(|folder| folder.is_absolute() && !folder.exists()) {
        if let Err(error) = std::fs::create_dir_all(folder) {
            let folder = folder.display();
            context.launch.note(format_args!("ona: the data folder of a plugin cannot be made: {error}: {folder}"));
        }
    }
}
