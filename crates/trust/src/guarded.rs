//! Files that decide what the agent may do, so that the permission floor can
//! keep the agent from changing them (I-14).

use crate::discovery::{DiscoveryOptions, FlagSettings};
use crate::files::{self, MANAGED_FILE, MANAGED_PARTS, MANAGED_VARIABLE};
use crate::hooks::flatten;
use crate::layer::SettingsScope;
use ona_api::shell_words;
use ona_api::{Env, environment};
use ona_settings::HookSettings;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Returns every settings file this start or another one in this folder could read,
/// whether it exists or not. `managed-settings.d` is listed as a folder.
pub fn guarded_files(how: &DiscoveryOptions, env: &Env) -> Vec<PathBuf> {
    let parts = how.managed_dir.join(MANAGED_PARTS);
    let mut files = BTreeSet::from([how.managed_dir.join(MANAGED_FILE), parts.clone()]);
    // A folder that cannot be listed is protected by its own name above.
    files.extend(files::parts(&parts).unwrap_or_default());
    files.extend(env.non_empty(MANAGED_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute()));
    files.extend(files::all(&how.project_root, env).into_iter().map(|candidate| candidate.path));
    files.insert(env.home().join(".claude/settings.json"));
    // What plugins run is part of the guards; the folder of copies stands for all that is in it.
    files.extend([crate::plugin_pins::installed_list(env), crate::plugin_pins::plugin_copies(env)]);
    files.extend(how.settings.as_ref().and_then(FlagSettings::file).map(Path::to_path_buf));
    with_targets(files)
}

/// Returns the settings files this start goes by, whether they exist or not, each with the `source` of ConfigChange.
/// A file that `--settings` names is not among them: no source stands for it.
pub fn settings_sources(how: &DiscoveryOptions, env: &Env) -> Vec<(PathBuf, &'static str)> {
    let name = |scope| match scope {
        SettingsScope::User | SettingsScope::Town => Some("user_settings"),
        SettingsScope::Project => Some("project_settings"),
        SettingsScope::Local => Some("local_settings"),
        SettingsScope::Managed => Some("policy_settings"),
        SettingsScope::Flag | SettingsScope::Seed => None,
    };
    let files = files::candidates(how, env).into_iter();
    let mut sources: Vec<_> = files.filter_map(|file| Some((file.path, name(file.scope)?))).collect();
    let policy = [how.managed_dir.join(MANAGED_FILE)].into_iter();
    let policy = policy.chain(files::parts(&how.managed_dir.join(MANAGED_PARTS)).unwrap_or_default());
    let policy = policy.chain(env.non_empty(MANAGED_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute()));
    sources.extend(policy.map(|path| (path, "policy_settings")));
    sources
}

/// What a shell of a hook reads before its command: `bash -lc` and `sh -lc` are login shells, and
/// their files read the others. A change of them could switch a guard off. The files of zsh are
/// listed because a login file may start it.
const STARTUP: [&str; 13] = [
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".bashrc",
    ".bash_aliases",
    ".bash_logout",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".shrc",
];
const SYSTEM_STARTUP: [&str; 6] =
    ["/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/environment", "/etc/zsh"];

/// Returns the start-up files of shells, whether they exist or not, and what `BASH_ENV`, `ENV` and `ZDOTDIR`
/// name in the environment of hooks.
pub fn startup_files(env: &Env) -> Vec<PathBuf> {
    let home = env.home();
    let mut files: BTreeSet<PathBuf> = STARTUP.iter().map(|name| home.join(name)).collect();
    files.extend(SYSTEM_STARTUP.map(PathBuf::from));
    let named = |variable| {
        let path = resolved(env.non_empty(variable)?, Path::new("/"), &home);
        path.is_absolute().then_some(path)
    };
    files.extend([environment::BASH_ENV, environment::ENV].into_iter().filter_map(named));
    if let Some(dir) = named(environment::ZDOTDIR) {
        files.extend(STARTUP.iter().filter(|name| name.starts_with(".z")).map(|name| dir.join(name)));
    }
    with_targets(files)
}

/// Programs whose first operand is the script to run.
const INTERPRETERS: [&str; 27] = [
    "bash", "sh", "dash", "zsh", "ksh", "fish", "env", "exec", "command", "nice", "nohup", "time", "timeout", "source",
    "python", "node", "bun", "bunx", "deno", "ruby", "perl", "php", "pwsh", "npx", "tsx", "uv", "run",
];

/// Returns the scripts that the hooks of an effective row start, as far as they exist:
/// first words, and what an interpreter is given to run.
pub fn hook_scripts(settings: &HookSettings, project_root: &Path, home: &Path) -> Vec<PathBuf> {
    let of_plugins = settings.plugins.iter().map(|plugin| (&plugin.hooks, plugin.root.as_deref()));
    let mut scripts = BTreeSet::new();
    for (hooks, plugin) in std::iter::once((&settings.entries, None)).chain(of_plugins) {
        for hook in flatten(hooks).entries {
            let Some(command) = hook.entry.get("command").and_then(Value::as_str) else { continue };
            let placed = |word: &str| match plugin {
                Some(root) => word.replace("${CLAUDE_PLUGIN_ROOT}", root).replace("$CLAUDE_PLUGIN_ROOT", root),
                None => word.to_owned(),
            };
            let command = &placed(command);
            let args: Option<Vec<String>> = hook
                .entry
                .get("args")
                .and_then(Value::as_array)
                .map(|args| args.iter().filter_map(Value::as_str).map(placed).collect());
            let paths = command_scripts(command, args.as_deref(), project_root, home);
            scripts.extend(paths.into_iter().filter(|path| path.is_file()));
        }
    }
    with_targets(scripts)
}

/// Returns the files a command starts: programs written as paths, and what an interpreter is given to run,
/// whether they exist or not. `args`: of the form without a shell.
pub fn command_scripts(command: &str, args: Option<&[String]>, root: &Path, home: &Path) -> Vec<PathBuf> {
    let commands = match args {
        Some(args) => vec![std::iter::once(command.to_owned()).chain(args.iter().cloned()).collect()],
        None => shell_words::simple_commands(command),
    };
    commands.iter().flat_map(|words| started(words)).map(|word| resolved(word, root, home)).collect()
}

/// Returns the simple commands of one hook, word by word.
fn commands(hook: &Map<String, Value>, plugin: Option<&str>) -> Vec<Vec<String>> {
    let Some(command) = hook.get("command").and_then(Value::as_str) else { return Vec::new() };
    let placed = |word: &str| match plugin {
        Some(root) => word.replace("${CLAUDE_PLUGIN_ROOT}", root).replace("$CLAUDE_PLUGIN_ROOT", root),
        None => word.to_owned(),
    };
    let command = placed(command);
    match hook.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().filter_map(Value::as_str).map(placed);
            vec![std::iter::once(command).chain(args).collect()]
        }
        None => shell_words::simple_commands(&command),
    }
}

/// Returns whether a hook starts a program that lies in this folder.
///
/// A first word without a slash is looked up in PATH and is none. Other relative words are
/// taken from the folder, where hooks run; of those only files count, because `-c` text and
/// other operands of an interpreter look alike.
pub(crate) fn starts_below(hook: &Map<String, Value>, plugin: Option<&str>, root: &Path, home: &Path) -> bool {
    let below =
        |path: &Path| path.starts_with(root) || std::fs::canonicalize(path).is_ok_and(|real| real.starts_with(root));
    commands(hook, plugin).iter().any(|words| {
        started(words).into_iter().enumerate().any(|(index, word)| {
            let path = resolved(word, root, home);
            match word.contains('/') {
                true => below(&path),
                false => index > 0 && path.is_file(),
            }
        })
    })
}

/// Returns the program of a simple command, and through interpreters what it runs.
fn started(words: &[String]) -> Vec<&str> {
    let is_assignment =
        |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
    let operands = words.iter().map(String::as_str).filter(|word| !is_assignment(word) && !word.starts_with('-'));
    let mut started = Vec::new();
    for word in operands {
        started.push(word);
        let name = word.rsplit('/').next().unwrap_or(word);
        // `python3.12` is python, and the 5 of `timeout 5` stands for itself.
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !name.is_empty() && !INTERPRETERS.contains(&name) {
            break;
        }
    }
    started
}

fn resolved(word: &str, project_root: &Path, home: &Path) -> PathBuf {
    let below = |prefix: &str| word.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let root = below("$CLAUDE_PROJECT_DIR").or_else(|| below("${CLAUDE_PROJECT_DIR}"));
    let in_home = below("~").or_else(|| below("$HOME")).or_else(|| below("${HOME}"));
    let path = match (root, in_home) {
        (Some(rest), _) => project_root.join(rest.trim_start_matches('/')),
        (None, Some(rest)) => home.join(rest.trim_start_matches('/')),
        (None, None) => project_root.join(word),
    };
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Adds what links lead to: writing the target changes the guard as well.
fn with_targets(mut files: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let targets: Vec<_> = files.iter().filter_map(|file| std::fs::canonicalize(file).ok()).collect();
    files.extend(targets);
    files.into_iter().collect()
}
