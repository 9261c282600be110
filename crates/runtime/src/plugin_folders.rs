//! The folders of the plugins that are loaded: skills, agents and styles are read in them.

use crate::launch::OpenProject;
use ona_instructions::skills::Plugin;
use std::path::PathBuf;

/// Plugins are the user's, who installed or named them; the settings layers have them.
pub(crate) fn plugins(open: &OpenProject) -> Vec<Plugin> {
    let plugin = |(id, plugin): (&String, &serde_json::Value)| {
        let folder = |key: &str| plugin[key].as_str().map(PathBuf::from).filter(|path| path.is_absolute());
        let name = id.split('@').next().unwrap_or(id).to_owned();
        Some(Plugin { name, root: folder("root")?, data: folder("data")? })
    };
    open.merged.effective["plugins"].as_object().into_iter().flatten().filter_map(plugin).collect()
}
