//! From the text of one settings file to what of it counts.
//!
//! Everything that depends on one file alone happens here, while its text is at
//! hand and a notice can name a line. What depends on several files is `merge`.

use crate::discover::SettingsError;
use crate::layer::SettingsScope;
use crate::notice::{Notice, NoticeKind};
use crate::trust::Trust;
use crate::{confine, hooks, json_text, permissions, untrusted};
use ona_settings::keys;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A settings text with where it came from, collecting what is to be said about it.
pub(crate) struct SettingsSource<'a> {
    pub scope: SettingsScope,
    pub own: bool,
    pub file: Option<&'a Path>,
    pub text: &'a str,
    pub notices: Vec<Notice>,
    /// What is not used, because the folder is not trusted.
    pub unused: Vec<String>,
}

impl SettingsSource<'_> {
    /// `at` is the path of object keys the notice is about.
    pub(crate) fn note(&mut self, about: NoticeKind, at: &[&str], message: impl Into<String>) {
        let line = json_text::line_of(self.text, at);
        self.notices.push(Notice { about, file: self.file.map(Path::to_path_buf), line, message: message.into() });
    }

    /// Returns the file for an error message.
    pub(crate) fn origin(&self) -> String {
        self.file.map_or_else(|| "--settings".to_owned(), |file| file.display().to_string())
    }
}

/// What holds for all files of a session.
pub(crate) struct CleanContext<'a> {
    pub trust: Trust,
    pub home: &'a Path,
    pub project_root: &'a Path,
}

/// Names of another vendor's models, meaningless for our providers.
const VENDOR_MODEL_KEYS: [&str; 5] =
    ["model", "fallbackModel", "availableModels", "enforceAvailableModels", "modelOverrides"];

/// Keys whose value others look into.
const OBJECTS: [&str; 3] = [keys::ENV, keys::MCP_SERVERS, keys::PLUGINS];

/// Keys only a managed file may set; they limit the others.
const MANAGED_ONLY: [&str; 3] =
    [keys::ALLOW_MANAGED_HOOKS_ONLY, permissions::MANAGED_RULES_ONLY, keys::ALLOW_MANAGED_MCP_SERVERS_ONLY];

pub(crate) fn clean(
    source: &mut SettingsSource<'_>,
    mut value: Map<String, Value>,
    context: &CleanContext<'_>,
) -> Result<Value, SettingsError> {
    // Null says nothing: it cannot unset what another file says.
    value.retain(|key, value| key != keys::SCHEMA && !value.is_null());

    let withheld = source.scope.needs_trust() && context.trust == Trust::Withheld;
    if withheld {
        source.unused = untrusted::keep_restrictions(&mut value);
        if !source.unused.is_empty() {
            let message = format!("not used, because this folder is not trusted: {}", source.unused.join(", "));
            source.note(NoticeKind::Untrusted, &[], message);
        }
    }

    model_config(source, &value)?;
    unknown_keys(source, &value);
    sandbox(source, &value);
    guards(source, &mut value);
    for key in OBJECTS {
        if value.get(key).is_some_and(|value| !value.is_object()) {
            value.shift_remove(key);
            source.note(NoticeKind::BadValue, &[key], format!("`{key}` must be an object"));
        }
    }
    if !source.own {
        value.retain(|key, _| !VENDOR_MODEL_KEYS.contains(&key.as_str()));
    }
    managed_only(source, &mut value);
    if source.scope.is_confined() {
        confine::limit(source, &mut value);
    }
    if let Some(written) = value.shift_remove(keys::PERMISSIONS) {
        let kept = permissions::clean(source, written, anchor(source).as_deref());
        if !kept.is_empty() {
            value.insert(keys::PERMISSIONS.into(), kept.into());
        }
    }
    hooks::clean(source, &mut value, &label(source, context), withheld);
    Ok(value.into())
}

/// A file that puts anything but the two names into `model_config` is refused
/// whole, since the likeliest extra key is a credential (DEC-015).
fn model_config(source: &SettingsSource<'_>, value: &Map<String, Value>) -> Result<(), SettingsError> {
    let refused = |key: &str| SettingsError::ModelConfig { origin: source.origin(), key: key.to_owned() };
    match value.get(keys::MODEL_CONFIG) {
        None => Ok(()),
        Some(Value::Object(config)) => {
            match config.keys().find(|key| !["provider", "model_id"].contains(&key.as_str())) {
                Some(key) => Err(refused(key)),
                None => Ok(()),
            }
        }
        Some(_) => Err(SettingsError::ModelConfigShape { origin: source.origin() }),
    }
}

fn unknown_keys(source: &mut SettingsSource<'_>, value: &Map<String, Value>) {
    // Files in the compatible place belong to another program as well.
    if !source.own {
        return;
    }
    for key in value.keys().filter(|key| !keys::is_known(key)) {
        source.note(NoticeKind::UnknownKey, &[key], keys::unknown(key));
    }
}

/// An operator who asks for a sandbox must not believe that there is one.
fn sandbox(source: &mut SettingsSource<'_>, value: &Map<String, Value>) {
    // A folder may not say anything about it in the first place.
    let wanted = value.get(keys::SANDBOX).filter(|_| !source.scope.is_confined());
    if wanted.is_some_and(|wanted| wanted["enabled"] != Value::Bool(false)) {
        source.note(NoticeKind::NoEffect, &[keys::SANDBOX], "`sandbox` has no effect: this build has no sandbox");
    }
}

/// How guards that do not work are treated (DEC-181). A word that cannot be read counts
/// as the strict one: the start then stops and names it.
fn guards(source: &mut SettingsSource<'_>, value: &mut Map<String, Value>) {
    if let Some(said) = value.get_mut(keys::GUARDS).filter(|said| *said != "warn" && *said != "strict") {
        *said = "strict".into();
        source.note(
            NoticeKind::BadValue,
            &[keys::GUARDS],
            format!("`{}` must be \"warn\" or \"strict\"", keys::GUARDS),
        );
    }
    if let Some(said) = value.get_mut(keys::HOOKS_FAIL_CLOSED).filter(|said| !said.is_boolean()) {
        *said = true.into();
        source.note(
            NoticeKind::BadValue,
            &[keys::HOOKS_FAIL_CLOSED],
            format!("`{}` must be true or false; read as true", keys::HOOKS_FAIL_CLOSED),
        );
    }
}

fn managed_only(source: &mut SettingsSource<'_>, value: &mut Map<String, Value>) {
    for key in MANAGED_ONLY {
        let Some(said) = value.get(key) else { continue };
        match source.scope {
            SettingsScope::Managed if said.is_boolean() => {}
            SettingsScope::Managed => {
                source.note(NoticeKind::BadValue, &[key], format!("`{key}` must be true or false"))
            }
            _ => {
                source.note(NoticeKind::Scope, &[key], format!("`{key}` counts in managed settings only"));
                value.shift_remove(key);
            }
        }
    }
    // The reference writes it at the top, Appendix E under `permissions`.
    if value.shift_remove(permissions::MANAGED_RULES_ONLY) == Some(Value::Bool(true))
        && let Some(rules) = value.entry(keys::PERMISSIONS).or_insert_with(|| Map::new().into()).as_object_mut()
    {
        rules.insert(permissions::MANAGED_RULES_ONLY.into(), true.into());
    }
}

/// Returns what `/x` in a path rule of this file means, where it is not the project root.
///
/// The row anchors `/` at the project root (DEC-072), so rules of files that
/// stand elsewhere are written out when they are read.
fn anchor(source: &SettingsSource<'_>) -> Option<PathBuf> {
    let dir = source.file?.parent()?;
    match source.scope {
        SettingsScope::User | SettingsScope::Flag => Some(dir.to_path_buf()),
        SettingsScope::Town => Some(dir.parent()?.to_path_buf()),
        SettingsScope::Seed | SettingsScope::Project | SettingsScope::Local | SettingsScope::Managed => None,
    }
}

/// `user:~/.claude/settings.json`, `project:.ona/settings.json`, `flag:--settings`.
fn label(source: &SettingsSource<'_>, context: &CleanContext<'_>) -> String {
    let scope = source.scope.as_str();
    let Some(file) = source.file else { return format!("{scope}:--settings") };
    let in_project = matches!(source.scope, SettingsScope::Project | SettingsScope::Local);
    if in_project && let Ok(below) = file.strip_prefix(context.project_root) {
        return format!("{scope}:{}", below.display());
    }
    match file.strip_prefix(context.home) {
        Ok(below) if context.home != Path::new("/") => format!("{scope}:~/{}", below.display()),
        _ => format!("{scope}:{}", file.display()),
    }
}
