//! Which output styles this run knows, and which one it uses.

use crate::launch::{Launch, OpenProject};
use crate::plugin_folders::plugins;
use ona_instructions::{DEFAULT_STYLE, OutputStyle, OutputStyles, StyleFolder};
use ona_settings::Settings;
use ona_trust::Trust;
use std::path::Path;

/// Built-in styles, those of plugins, of the user and of a trusted project, from its root down to here.
pub fn load(launch: &Launch, open: &OpenProject) -> OutputStyles {
    let (options, home) = (&launch.options, launch.env.home());
    let mut folders: Vec<_> = plugins(open)
        .into_iter()
        .map(|plugin| StyleFolder { path: plugin.root.join("output-styles"), plugin: Some(plugin.name) })
        .collect();
    let mut places = Vec::new();
    if !options.bare {
        places.push(home.clone());
        let here = launch.cwd.ancestors().take_while(|place| place.starts_with(&launch.project) && *place != home);
        let mut here: Vec<_> = here.map(Path::to_owned).collect();
        here.reverse();
        places.extend(here.into_iter().filter(|_| open.merged.trust != Trust::Withheld));
    }
    for place in places {
        if !options.no_claude_settings {
            folders.push(StyleFolder { path: place.join(".claude/output-styles"), plugin: None });
        }
        folders.push(StyleFolder { path: place.join(".ona/output-styles"), plugin: None });
    }
    let styles = OutputStyles::load(folders);
    for (file, why) in &styles.left_out {
        launch.note(format_args!("ona: ignoring {}: it {why}", file.display()));
    }
    styles
}

/// The style of the setting `outputStyle`; one that is not known is named, and the default counts.
pub fn chosen(launch: &Launch, settings: &Settings, styles: &OutputStyles) -> Option<OutputStyle> {
    let wanted = settings.output_style.as_deref().unwrap_or(DEFAULT_STYLE);
    let found = styles.get(wanted).cloned();
    if found.is_none() {
        let known: Vec<_> = styles.iter().map(|style| style.name.as_str()).collect();
        launch.note(format_args!(
            "ona: the output style {wanted:?} does not exist, the default is used; the styles are {}",
            known.join(", ")
        ));
    }
    found
}
