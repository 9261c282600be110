//! Which agents this run knows: built-in, of plugins, of the user, of the project, of `--agents`.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::plugin_folders::plugins;
use ona_instructions::{AgentOrigin, Agents};
use ona_trust::Trust;
use std::path::Path;

pub fn load(launch: &Launch, open: &OpenProject) -> Result<Agents, Failure> {
    let (home, project) = (launch.env.home(), &launch.project);
    let mut folders = Vec::new();
    for plugin in plugins(open) {
        let file = plugin.root.join("agents");
        folders.push(AgentOrigin { file, dialect: "claude", of_project: false, plugin: Some(plugin.name) });
    }
    // The user's, then those of the project from its root down to here: the nearest wins.
    let places = launch.cwd.ancestors().take_while(|place| place.starts_with(project) && *place != home);
    let mut places: Vec<_> = places.map(Path::to_owned).collect();
    places.push(home.clone());
    for base in places.iter().rev() {
        let of_project = *base != home;
        let folder = |name: &str, dialect| AgentOrigin {
            file: base.join(name).join("agents"),
            dialect,
            of_project,
            plugin: None,
        };
        if !launch.options.no_claude_settings {
            folders.push(folder(".claude", "claude"));
        }
        folders.push(folder(".ona", "sdlc"));
    }
    // Definitions of a folder count as its settings do.
    if open.merged.trust == Trust::Withheld {
        folders.retain(|folder| !folder.of_project);
    }
    if launch.options.bare {
        folders.retain(|folder| folder.plugin.is_some());
    }
    let flag = launch.options.agents.as_deref().map(|text| text_or_file(launch, text)).transpose()?;
    let agents = Agents::load(folders, flag.as_deref()).map_err(Failure::usage)?;
    for (file, why) in &agents.left_out {
        launch.note(format_args!("ona: ignoring {}: it {why}", file.display()));
    }
    Ok(agents)
}

/// JSON, or a file of it.
fn text_or_file(launch: &Launch, text: &str) -> Result<String, Failure> {
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(text.to_owned());
    }
    ona_files::read_named(&launch.cwd.join(text)).map_err(|why| {
        Failure::usage(format_args!("--agents is neither JSON nor a file that can be read: {text} {why}"))
    })
}
