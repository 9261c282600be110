//! Which skills and commands this run knows, and the desk at which they are loaded.

use crate::launch::{Launch, OpenProject};
use crate::plugin_folders::plugins;
use crate::runtime::Runtime;
use ona_api::environment;
use ona_instructions::skills::{SkillFolders, SkillScope, Skills, Visibility};
use ona_orchestration::{Operator, Session, SkillLoader, SkillPolicy};
use ona_settings::Settings;
use ona_trust::Trust;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that counts here: the user's, then the project's from the working directory up
/// to its root, then that of folders named with `--add-dir`.
pub fn load(launch: &Launch, open: &OpenProject) -> Skills {
    let mut skills = shelves(launch, open).read();
    for (name, wish) in &Settings::read(&open.merged.effective).skill_overrides {
        match wish.as_str().and_then(Visibility::from_text) {
            Some(visibility) => skills.show(name, visibility),
            None => launch.note(format_args!(
                "ona: skillOverrides.{name} must be on, name-only, user-invocable-only or off, not {wish}"
            )),
        }
    }
    skills
}

/// Returns the folders whose entries are skills, whether they exist or not.
pub(crate) fn folders(launch: &Launch, open: &OpenProject) -> Vec<PathBuf> {
    shelves(launch, open).0.iter().map(|shelf| shelf.folder.join("skills")).collect()
}

fn shelves(launch: &Launch, open: &OpenProject) -> SkillFolders {
    let options = &launch.options;
    let mut shelves = SkillFolders::default();
    if options.disable_slash_commands {
        return shelves;
    }
    let named =
        |name: &str| options.setting_sources.as_ref().is_none_or(|list| list.split(',').any(|one| one.trim() == name));
    let compatible = !options.no_claude_settings && launch.env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0");
    if !options.bare && named("user") {
        shelves.add_user(&launch.env.home(), claude_dir(launch).as_deref(), compatible);
    }
    // Plugins are the user's, who installed or named them.
    plugins(open).into_iter().for_each(|plugin| shelves.add_plugin(plugin));
    // What a folder brings counts as its settings do (DEC-058).
    let trusted = open.merged.trust != Trust::Withheld;
    if !options.bare && named("project") && trusted {
        let project: &Path = &launch.project;
        for place in launch.cwd.ancestors().take_while(|place| place.starts_with(project)) {
            shelves.add(place, SkillScope::Project, Some(project), compatible);
        }
    }
    if trusted {
        for place in options.add_dir.iter().map(|dir| launch.cwd.join(dir)) {
            shelves.add(&place, SkillScope::Project, Some(&place), compatible);
        }
    }
    shelves
}

/// The user's `.claude` under another name; a relative one would name another folder everywhere.
fn claude_dir(launch: &Launch) -> Option<PathBuf> {
    launch.env.non_empty(environment::CLAUDE_CONFIG_DIR).map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// `operator` answers for the commands a text asks for; `tell` is told what a person should know.
pub fn loader(
    open: &OpenProject,
    runtime: &Runtime,
    session: &Session,
    skills: &Arc<Skills>,
    operator: Arc<dyn Operator>,
    tell: Arc<dyn Fn(String) + Send + Sync>,
) -> SkillLoader {
    SkillLoader {
        skills: Arc::clone(skills),
        store: Arc::clone(&open.store),
        hooks: Arc::clone(&runtime.hooks),
        operator,
        parent: session.as_parent(),
        terms: SkillPolicy {
            project_may_allow: open.merged.trust == Trust::Trusted,
            no_shell: runtime.settings.skill_shell_disabled,
            effort: runtime.settings.effort_level.clone(),
        },
        registrar: Arc::clone(&runtime.registrar),
        tell,
        current_model: None,
    }
}
