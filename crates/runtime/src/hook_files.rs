//! Which files a hook runs, for the pins of a session (DEC-189).
//!
//! Of a command: programs written as a path, and the script an interpreter is given. Of hooks
//! that are not a command: the module with what it imports, the Python file of a function. A
//! program that is found by its bare name in PATH is not a script of ours to watch.

use ona_api::environment;
use ona_hookplane::{FilesOf, Hook, HookAction};
use ona_permissions::SessionDirs;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn files_of(place: &SessionDirs) -> FilesOf {
    let place = place.clone();
    Arc::new(move |hook| match &hook.action {
        HookAction::Handler(handler) => match handler.action() {
            Some(action) => of_command(hook, action, &place),
            None => handler.files(),
        },
        action @ (HookAction::Shell { .. } | HookAction::Exec { .. }) => of_command(hook, action, &place),
    })
}

fn of_command(hook: &Hook, action: &HookAction, place: &SessionDirs) -> Vec<PathBuf> {
    let placed = |word: &str| {
        let mut word = word.to_owned();
        let plugin = hook.plugin.as_ref().map(|plugin| (environment::CLAUDE_PLUGIN_ROOT, plugin.root.as_str()));
        let skill = hook.registered.as_ref().map(|registered| (environment::CLAUDE_SKILL_DIR, registered.dir.as_str()));
        for (name, value) in plugin.into_iter().chain(skill) {
            word = word.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
        }
        word
    };
    let (command, args) = match action {
        HookAction::Shell { command, .. } => (placed(command), None),
        HookAction::Exec { program, args } => {
            (placed(program), Some(args.iter().map(|word| placed(word)).collect::<Vec<_>>()))
        }
        HookAction::Handler(_) => return Vec::new(),
    };
    let mut files = Vec::new();
    // A hook runs in the session's directory; guards are looked for from the project's root.
    for root in [&place.project, &place.start] {
        for path in ona_trust::command_scripts(&command, args.as_deref(), root, &place.home) {
            // A word without a folder is a program of PATH unless it is a file here.
            let is_path = path.is_file() || path.parent() != Some(root);
            if is_path && !path.is_dir() && !files.contains(&path) {
                files.push(path);
            }
        }
    }
    files
}
