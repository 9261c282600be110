//! From the text of one settings file to what of it counts.
//!
//! Everything that depends on one file alone happens here, while its text is at
//! hand and a notice can name a line. What depends on several files is `merge`.

use crate::discover::SettingsError;
use crate::layer::Scope;
use crate::notice::{About, Notice};
use crate::trust::Trust;
use crate::{confine, hooks, json_text, known, permissions, untrusted};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A settings text with where it came from, collecting what is to be said about it.
pub(crate) struct Page<'a> {
    pub scope: Scope,
    pub own: bool,
    pub file: Option<&'a Path>,
    pub text: &'a str,
    pub notices: Vec<Notice>,
    /// What is not used, because the folder is not trusted.
    pub unused: Vec<String>,
}

impl Page<'_> {
    /// `at` is the path of object keys the notice is about.
    pub fn note(&mut self, about: About, at: &[&str], message: impl Into<String>) {
        let line = json_text::line_of(self.text, at);
        self.notices.push(Notice { about, file: self.file.map(Path::to_path_buf), line, message: message.into() });
    }

    /// The file for an error message.
    pub fn origin(&self) -> String {
        self.file.map_or_else(|| "--settings".to_owned(), |file| file.display().to_string())
    }
}

/// What holds for all files of a session.
pub(crate) struct Terms<'a> {
    pub trust: Trust,
    pub home: &'a Path,
    pub project_root: &'a Path,
}

/// Names of another vendor's models, meaningless for our providers.
const VENDOR_MODEL_KEYS: [&str; 5] =
    ["model", "fallbackModel", "availableModels", "enforceAvailableModels", "modelOverrides"];

/// Keys whose value others look into.
const OBJECTS: [&str; 3] = ["env", "mcpServers", "plugins"];

pub(crate) const GUARDS: &str = "guards";
pub(crate) const FAIL_CLOSED: &str = "hooksFailClosed";

/// Keys only a managed file may set; they limit the others.
const MANAGED_ONLY: [&str; 3] =
    ["allowManagedHooksOnly", permissions::MANAGED_RULES_ONLY, "allowManagedMcpServersOnly"];

pub(crate) fn clean(
    page: &mut Page<'_>,
    mut value: Map<String, Value>,
    terms: &Terms<'_>,
) -> Result<Value, SettingsError> {
    // Null says nothing: it can not unset what another file says.
    value.retain(|key, value| key != "$schema" && !value.is_null());

    let withheld = page.scope.needs_trust() && terms.trust == Trust::Withheld;
    if withheld {
        page.unused = untrusted::keep_restrictions(&mut value);
        if !page.unused.is_empty() {
            let message = format!("not used, because this folder is not trusted: {}", page.unused.join(", "));
            page.note(About::Untrusted, &[], message);
        }
    }

    model_config(page, &value)?;
    unknown_keys(page, &value);
    sandbox(page, &value);
    guards(page, &mut value);
    for key in OBJECTS {
        if value.get(key).is_some_and(|value| !value.is_object()) {
            value.shift_remove(key);
            page.note(About::BadValue, &[key], format!("`{key}` must be an object"));
        }
    }
    if !page.own {
        value.retain(|key, _| !VENDOR_MODEL_KEYS.contains(&key.as_str()));
    }
    managed_only(page, &mut value);
    if page.scope.is_confined() {
        confine::limit(page, &mut value);
    }
    if let Some(written) = value.shift_remove("permissions") {
        let kept = permissions::clean(page, written, anchor(page).as_deref());
        if !kept.is_empty() {
            value.insert("permissions".into(), kept.into());
        }
    }
    hooks::clean(page, &mut value, &label(page, terms), withheld);
    Ok(value.into())
}

/// A file that puts anything but the two names into `model_config` is refused
/// whole, since the likeliest extra key is a credential (DEC-015).
fn model_config(page: &Page<'_>, value: &Map<String, Value>) -> Result<(), SettingsError> {
    let refused = |key: &str| SettingsError::ModelConfig { origin: page.origin(), key: key.to_owned() };
    match value.get("model_config") {
        None => Ok(()),
        Some(Value::Object(config)) => {
            match config.keys().find(|key| !["provider", "model_id"].contains(&key.as_str())) {
                Some(key) => Err(refused(key)),
                None => Ok(()),
            }
        }
        Some(_) => Err(SettingsError::ModelConfigShape { origin: page.origin() }),
    }
}

fn unknown_keys(page: &mut Page<'_>, value: &Map<String, Value>) {
    // Files in the compatible place belong to another program as well.
    if !page.own {
        return;
    }
    for key in value.keys().filter(|key| !known::is_known(key)) {
        page.note(About::UnknownKey, &[key], known::unknown(key));
    }
}

/// Whoever asks for a sandbox must not believe to have one.
fn sandbox(page: &mut Page<'_>, value: &Map<String, Value>) {
    // A folder may not say anything about it in the first place.
    let wanted = value.get("sandbox").filter(|_| !page.scope.is_confined());
    if wanted.is_some_and(|wanted| wanted["enabled"] != Value::Bool(false)) {
        page.note(About::NoEffect, &["sandbox"], "`sandbox` has no effect: this build has no sandbox");
    }
}

/// How guards that do not work are treated (DEC-181). A word that cannot be read counts
/// as the strict one: the start then stops and names it.
fn guards(page: &mut Page<'_>, value: &mut Map<String, Value>) {
    if let Some(said) = value.get_mut(GUARDS).filter(|said| *said != "warn" && *said != "strict") {
        *said = "strict".into();
        page.note(About::BadValue, &[GUARDS], format!("`{GUARDS}` must be \"warn\" or \"strict\""));
    }
    if let Some(said) = value.get_mut(FAIL_CLOSED).filter(|said| !said.is_boolean()) {
        *said = true.into();
        page.note(About::BadValue, &[FAIL_CLOSED], format!("`{FAIL_CLOSED}` must be true or false; read as true"));
    }
}

fn managed_only(page: &mut Page<'_>, value: &mut Map<String, Value>) {
    for key in MANAGED_ONLY {
        let Some(said) = value.get(key) else { continue };
        match page.scope {
            Scope::Managed if said.is_boolean() => {}
            Scope::Managed => page.note(About::BadValue, &[key], format!("`{key}` must be true or false")),
            _ => {
                page.note(About::Scope, &[key], format!("`{key}` counts in managed settings only"));
                value.shift_remove(key);
            }
        }
    }
    // The reference writes it at the top, Appendix E under `permissions`.
    if value.shift_remove(permissions::MANAGED_RULES_ONLY) == Some(Value::Bool(true))
        && let Some(rules) = value.entry("permissions").or_insert_with(|| Map::new().into()).as_object_mut()
    {
        rules.insert(permissions::MANAGED_RULES_ONLY.into(), true.into());
    }
}

/// What `/x` in a path rule of this file means, where it is not the project root.
///
/// The row anchors `/` at the project root (DEC-072), so rules of files that
/// stand elsewhere are written out when they are read.
fn anchor(page: &Page<'_>) -> Option<PathBuf> {
    let dir = page.file?.parent()?;
    match page.scope {
        Scope::User | Scope::Flag => Some(dir.to_path_buf()),
        Scope::Town => Some(dir.parent()?.to_path_buf()),
        Scope::Seed | Scope::Project | Scope::Local | Scope::Managed => None,
    }
}

/// `user:~/.claude/settings.json`, `project:.ona/settings.json`, `flag:--settings`.
fn label(page: &Page<'_>, terms: &Terms<'_>) -> String {
    let scope = page.scope.as_str();
    let Some(file) = page.file else { return format!("{scope}:--settings") };
    let in_project = matches!(page.scope, Scope::Project | Scope::Local);
    if in_project && let Ok(below) = file.strip_prefix(terms.project_root) {
        return format!("{scope}:{}", below.display());
    }
    match file.strip_prefix(terms.home) {
        Ok(below) if terms.home != Path::new("/") => format!("{scope}:~/{}", below.display()),
        _ => format!("{scope}:{}", file.display()),
    }
}
