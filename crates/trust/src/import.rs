//! Decides what happens to the `effective` row at a start (DEC-012, DEC-180).
//!
//! A decision without I/O: the caller hands in the row and the record of the
//! last import, and writes what it gets back in one transaction.

use crate::discover::DiscoveredSettings;
use crate::merge::Merged;
use crate::mirror::MirroredFile;
use crate::trust::{TRUSTED, Trust, path_text};
use serde_json::Value;

/// How a start treats a row that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// The agent's own shell: settings are what the operator's process made them.
    AsItStands,
    /// Every other start: the row follows the files (DEC-180).
    Follow,
    /// `--settings X` and `ona settings import`.
    Forced,
}

/// The `effective` row as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredSettings<'a> {
    pub value: &'a Value,
    /// As the program left it: its digest is the recorded one. Otherwise an operator wrote it.
    pub is_ours: bool,
}

/// What the last import left in `schema_meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRecord {
    pub sha256: String,
    /// Top-level keys of the row that came from files.
    pub keys: Vec<String>,
    /// Whose files they were (DEC-025).
    pub project_root: String,
    /// Whether that folder was trusted.
    pub trust: Trust,
}

const SHA256: &str = "settings_import_sha256";
const KEYS: &str = "settings_import_keys";
const ROOT: &str = "settings_project_root";
const TRUST: &str = "settings_import_trust";

impl ImportRecord {
    /// Reads the record from `schema_meta`. Without a readable digest and key
    /// list it does not exist, and the row counts as written by the operator.
    /// A value that cannot be read is an error: it must not look like a missing record.
    pub fn load<E>(meta: impl Fn(&str) -> Result<Option<String>, E>) -> Result<Option<Self>, E> {
        let (sha256, keys, root, trust) = (meta(SHA256)?, meta(KEYS)?, meta(ROOT)?, meta(TRUST)?);
        let parsed = keys.and_then(|text| {
            let keys = serde_json::from_str::<Vec<Value>>(&text).ok()?;
            keys.iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<_>>()
        });
        let trust = if trust.as_deref() == Some(TRUSTED) { Trust::Trusted } else { Trust::Withheld };
        Ok(sha256.zip(parsed).map(|(sha256, keys)| Self {
            sha256,
            keys,
            project_root: root.unwrap_or_default(),
            trust,
        }))
    }

    /// Returns the rows of `schema_meta` that hold the record.
    pub fn rows(&self) -> [(&'static str, String); 4] {
        let keys = Value::from(self.keys.clone()).to_string();
        let trust = match self.trust {
            Trust::Trusted => TRUSTED,
            Trust::Withheld => "untrusted",
        };
        [(SHA256, self.sha256.clone()), (KEYS, keys), (ROOT, self.project_root.clone()), (TRUST, trust.to_owned())]
    }

    /// Returns the record after a permission update was mirrored into a file (DEC-078).
    ///
    /// `None`: leave the record alone, and the next start imports. Either the
    /// file was changed since the start, or another process has
    /// imported meanwhile.
    pub fn after(&self, found: &mut DiscoveredSettings, mirrored: &MirroredFile) -> Option<Self> {
        if self.sha256 != found.sha256 {
            return None;
        }
        found.rewritten(&mirrored.file, &mirrored.before, &mirrored.after)?;
        let mut keys = self.keys.clone();
        if !keys.iter().any(|key| key == "permissions") {
            keys.push("permissions".to_owned());
        }
        Some(Self { sha256: found.sha256.clone(), keys, project_root: self.project_root.clone(), trust: self.trust })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ImportAction {
    /// The row does not exist yet.
    Insert { effective: Value, record: ImportRecord },
    /// The row stays as it is: the files say what they said.
    Keep,
    /// The row stays as it is, whatever the files say: an operator wrote it.
    Operators,
    /// The row and the record are replaced. `moved_from`: the row held the
    /// settings of another project, which is only allowed while no other process uses
    /// the database (DEC-025).
    Replace { effective: Value, record: ImportRecord, moved_from: Option<String> },
}

pub fn import(
    row: Option<StoredSettings<'_>>,
    record: Option<&ImportRecord>,
    merged: &Merged,
    how: ImportMode,
) -> ImportAction {
    let project_root = path_text(&merged.project_root);
    let next = ImportRecord {
        sha256: merged.sha256.clone(),
        keys: merged.from_files.clone(),
        project_root,
        trust: merged.trust,
    };
    let Some(row) = row else {
        return ImportAction::Insert { effective: merged.effective.clone(), record: next };
    };
    let unchanged = |record: &ImportRecord| record.sha256 == next.sha256 && record.project_root == next.project_root;
    match (how, record) {
        (ImportMode::AsItStands, _) => ImportAction::Keep,
        (ImportMode::Follow, None) => ImportAction::Operators,
        (ImportMode::Follow, _) if !row.is_ours => ImportAction::Operators,
        (ImportMode::Follow, Some(record)) if unchanged(record) => ImportAction::Keep,
        (ImportMode::Follow | ImportMode::Forced, record) => {
            let previous = record.map(|record| record.keys.as_slice()).unwrap_or_default();
            let moved_from = record.map(|record| &record.project_root).filter(|root| **root != next.project_root);
            let effective = replace_imported_keys(row.value, previous, merged);
            ImportAction::Replace { effective, moved_from: moved_from.cloned(), record: next }
        }
    }
}

/// Returns the settings for a process that may not replace the row, because another one uses it:
/// the row, but nothing that needs a trust it does not have.
pub fn beside(row: &Value, record: Option<&ImportRecord>, merged: &Merged) -> Value {
    match record {
        Some(record) if merged.trust == Trust::Withheld && record.trust == Trust::Trusted => {
            replace_imported_keys(row, &record.keys, merged)
        }
        _ => row.clone(),
    }
}

/// Returns the row without the keys of the previous import, with those of this one.
/// A key that only the seed still has goes back to the seed.
fn replace_imported_keys(row: &Value, previous: &[String], merged: &Merged) -> Value {
    // A row that is not an object holds nothing worth keeping.
    let Some(mut effective) = row.as_object().cloned() else { return merged.effective.clone() };
    for key in previous.iter().chain(&merged.from_files) {
        match merged.effective.get(key) {
            Some(value) => drop(effective.insert(key.clone(), value.clone())),
            None => drop(effective.shift_remove(key)),
        }
    }
    effective.into()
}
