//! What becomes of the `effective` row at a start (DEC-012).
//!
//! A decision without I/O: the caller hands in the row and the record of the
//! last import, and writes what it gets back in one transaction.

use crate::discover::Found;
use crate::merge::Merged;
use crate::mirror::Mirrored;
use crate::trust::{Trust, path_text};
use serde_json::Value;

/// How a start treats a row that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `--eval`, `--transition`, `--fire-hook`, subcommands: only fill an empty database.
    FirstUseOnly,
    /// REPL and `-p`.
    AtStart,
    /// `--settings X` and `ona settings import`.
    Forced,
}

/// What the last import left in `schema_meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRecord {
    pub sha256: String,
    /// Top-level keys of the row that came from files.
    pub keys: Vec<String>,
    /// Whose files they were (DEC-025).
    pub project_root: String,
}

const SHA256: &str = "settings_import_sha256";
const KEYS: &str = "settings_import_keys";
const ROOT: &str = "settings_project_root";

impl ImportRecord {
    /// Reads the record from `schema_meta`. Without a readable digest and key
    /// list there is none, and the row counts as written by the operator.
    pub fn load(meta: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let keys = serde_json::from_str::<Vec<Value>>(&meta(KEYS)?).ok()?;
        let keys = keys.iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        Some(Self { sha256: meta(SHA256)?, keys, project_root: meta(ROOT).unwrap_or_default() })
    }

    /// The rows of `schema_meta` that hold the record.
    pub fn rows(&self) -> [(&'static str, String); 3] {
        let keys = Value::from(self.keys.clone()).to_string();
        [(SHA256, self.sha256.clone()), (KEYS, keys), (ROOT, self.project_root.clone())]
    }

    /// The record after a permission update was mirrored into a file (DEC-078).
    ///
    /// `None`: leave the record alone, and the next start imports. Either the
    /// file had been changed by somebody since the start, or another process has
    /// imported meanwhile.
    pub fn after(&self, found: &mut Found, mirrored: &Mirrored) -> Option<Self> {
        if self.sha256 != found.sha256 {
            return None;
        }
        found.rewritten(&mirrored.file, &mirrored.before, &mirrored.after)?;
        let mut keys = self.keys.clone();
        if !keys.iter().any(|key| key == "permissions") {
            keys.push("permissions".to_owned());
        }
        Some(Self { sha256: found.sha256.clone(), keys, project_root: self.project_root.clone() })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Import {
    /// There is no row yet.
    Insert { effective: Value, record: ImportRecord },
    /// The row stays as it is.
    Keep,
    /// The row and the record are replaced. `moved_from`: the row held the
    /// settings of another project, which is only allowed while nobody else uses
    /// the database (DEC-025).
    Replace { effective: Value, record: ImportRecord, moved_from: Option<String> },
    /// The row stays, but this process uses `effective` instead: trust is
    /// withheld, and the row was imported in another state. `--no-trust` holds in
    /// every form, and a short-lived `--eval` must not change a running session's row.
    Narrow { effective: Value },
}

pub fn import(row: Option<&Value>, record: Option<&ImportRecord>, merged: &Merged, how: How) -> Import {
    let project_root = path_text(&merged.project_root);
    let next = ImportRecord { sha256: merged.sha256.clone(), keys: merged.from_files.clone(), project_root };
    let Some(row) = row else {
        return Import::Insert { effective: merged.effective.clone(), record: next };
    };
    let unchanged = |record: &ImportRecord| record.sha256 == next.sha256 && record.project_root == next.project_root;
    match (how, record) {
        (How::FirstUseOnly, Some(record)) if merged.trust == Trust::Withheld && !unchanged(record) => {
            Import::Narrow { effective: laid_over(row, &record.keys, merged) }
        }
        // Without a record the operator wrote the row.
        (How::FirstUseOnly, _) | (How::AtStart, None) => Import::Keep,
        (How::AtStart, Some(record)) if unchanged(record) => Import::Keep,
        (How::AtStart | How::Forced, record) => {
            let previous = record.map(|record| record.keys.as_slice()).unwrap_or_default();
            let moved_from = record.map(|record| &record.project_root).filter(|root| **root != next.project_root);
            let effective = laid_over(row, previous, merged);
            Import::Replace { effective, moved_from: moved_from.cloned(), record: next }
        }
    }
}

/// The row without the keys of the previous import, with those of this one.
/// A key that only the seed still has goes back to the seed.
fn laid_over(row: &Value, previous: &[String], merged: &Merged) -> Value {
    // A row that is no object holds nothing worth keeping.
    let Some(mut effective) = row.as_object().cloned() else { return merged.effective.clone() };
    for key in previous.iter().chain(&merged.from_files) {
        match merged.effective.get(key) {
            Some(value) => drop(effective.insert(key.clone(), value.clone())),
            None => drop(effective.shift_remove(key)),
        }
    }
    effective.into()
}
