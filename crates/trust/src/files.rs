//! Determines which settings files there could be, in the order in which their hooks run
//! (DEC-014). Only the managed folder is looked into; the rest are names.

use crate::discover::SettingsError;
use crate::discovery::{Compatible, DiscoveryOptions};
use crate::layer::SettingsScope;
use crate::notice::{Notice, NoticeKind};
use crate::read::is_absent;
use ona_api::{Env, Variable, environment};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const MANAGED_FILE: &str = "managed-settings.json";
pub(crate) const MANAGED_PARTS: &str = "managed-settings.d";

/// Names a managed file. See `managed`.
pub(crate) const MANAGED_VARIABLE: Variable = environment::ONA_MANAGED_SETTINGS;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CandidateFile {
    pub scope: SettingsScope,
    pub own: bool,
    pub path: PathBuf,
}

/// Returns the files below the managed ones and `--settings`, as far as the switches of this start go.
pub(crate) fn candidates(how: &DiscoveryOptions, env: &Env) -> Vec<CandidateFile> {
    let compatible = how.compatible != Compatible::Off && env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0");
    let wanted = |candidate: &CandidateFile| {
        let source = match candidate.scope {
            SettingsScope::User => how.sources.user,
            SettingsScope::Project => how.sources.project,
            SettingsScope::Local => how.sources.local,
            SettingsScope::Town | SettingsScope::Flag | SettingsScope::Managed | SettingsScope::Seed => true,
        };
        source && !how.bare && (candidate.own || compatible)
    };
    all(&how.project_root, env).into_iter().filter(wanted).collect()
}

/// Returns every file that some start in this folder could read, beside managed ones and `--settings`.
pub(crate) fn all(project_root: &Path, env: &Env) -> Vec<CandidateFile> {
    let home = env.home();
    let claude_home = claude_home(env);
    let at = |scope, own, path: PathBuf| CandidateFile { scope, own, path };
    let mut files = vec![
        at(SettingsScope::User, false, claude_home.join("settings.json")),
        at(SettingsScope::User, true, home.join(".ona/settings.json")),
        at(SettingsScope::Project, false, project_root.join(".claude/settings.json")),
        at(SettingsScope::Project, true, project_root.join(".ona/settings.json")),
        at(SettingsScope::Local, false, project_root.join(".claude/settings.local.json")),
        at(SettingsScope::Local, true, project_root.join(".ona/settings.local.json")),
    ];
    files.extend(town(project_root, env).into_iter().map(|path| at(SettingsScope::Town, false, path)));
    files
}

/// Returns the user's `.claude`.
pub(crate) fn claude_home(env: &Env) -> PathBuf {
    claude_dir(env).unwrap_or_else(|| env.home().join(".claude"))
}

/// Returns CLAUDE_CONFIG_DIR. A relative one would name another folder in every project, so it is ignored.
fn claude_dir(env: &Env) -> Option<PathBuf> {
    env.non_empty(environment::CLAUDE_CONFIG_DIR).map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// Gastown keeps the settings of a worker above its checkout. Outermost first,
/// so that the nearest wins.
fn town(project_root: &Path, env: &Env) -> Vec<PathBuf> {
    let town = env.non_empty(environment::GT_ROLE).and(env.non_empty(environment::GT_ROOT)).map(PathBuf::from);
    let Some(town) = town.filter(|town| town.is_absolute()) else { return Vec::new() };
    let town = fs::canonicalize(&town).unwrap_or(town);
    let above = project_root.ancestors().skip(1).take_while(|dir| dir.starts_with(&town));
    let mut files: Vec<_> = above.map(|dir| dir.join(".claude/settings.json")).collect();
    files.reverse();
    files
}

/// Returns the managed files that exist: `managed-settings.json`, then the parts in
/// `managed-settings.d` by name, of which the last wins.
///
/// ONA_MANAGED_SETTINGS may name one managed file on a host that has no policy
/// of its own. Where the host has one, the variable is ignored: a user who can set
/// a variable must not be able to outrank the administrator. A file it names
/// must be there, because a missing policy never means no policy (L-3).
pub(crate) fn managed(
    how: &DiscoveryOptions,
    env: &Env,
    notices: &mut Vec<Notice>,
) -> Result<Vec<PathBuf>, SettingsError> {
    let broken = |file: &Path, problem: String| SettingsError::Managed { file: file.to_path_buf(), problem };
    let base = how.managed_dir.join(MANAGED_FILE);
    let mut files = Vec::new();
    match fs::symlink_metadata(&base) {
        Ok(_) => files.push(base),
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(broken(&base, error.to_string())),
    }
    let dir = how.managed_dir.join(MANAGED_PARTS);
    files.extend(parts(&dir).map_err(|error| broken(&dir, error.to_string()))?);

    let Some(named) = env.non_empty(MANAGED_VARIABLE).map(PathBuf::from) else { return Ok(files) };
    if !files.is_empty() {
        let message = format!("{MANAGED_VARIABLE} is ignored, because this host has managed settings");
        notices.push(Notice { about: NoticeKind::Policy, file: None, line: None, message });
        return Ok(files);
    }
    if !named.is_absolute() {
        return Err(broken(&named, format!("{MANAGED_VARIABLE} must be an absolute path")));
    }
    match fs::symlink_metadata(&named) {
        Ok(_) => Ok(vec![named]),
        Err(error) => Err(broken(&named, error.to_string())),
    }
}

pub(crate) fn parts(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    files.retain(|path| {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !hidden && path.extension().is_some_and(|extension| extension == "json")
    });
    files.sort();
    Ok(files)
}
