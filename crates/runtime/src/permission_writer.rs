//! Permission updates that are meant to last (DEC-078): the scope's own file, the
//! effective row and the record of the import change together.

use crate::launch::{Launch, OpenProject};
use ona_api::permission_update::{Destination, PermissionUpdate};
use ona_api::{Group, Row};
use ona_orchestration::PersistUpdate;
use ona_store::{Store, StoreError};
use ona_trust::{DiscoveredSettings, ImportRecord, MirroredFile, RuleAnchors};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn persist_update(launch: &Launch, open: &OpenProject) -> PersistUpdate {
    let (env, project) = (launch.env.clone(), launch.project.clone());
    let writer = Mutex::new(PermissionWriter {
        store: Arc::clone(&open.store),
        project: project.clone(),
        found: open.found.clone(),
        ahead: None,
    });
    Arc::new(move |update| match update.destination() {
        Destination::Session | Destination::CliArg => Ok(Group::default()),
        Destination::UserSettings | Destination::ProjectSettings | Destination::LocalSettings => {
            let mirrored = ona_trust::mirror(update, &env, &project).map_err(|error| error.to_string())?;
            writer.lock().unwrap_or_else(PoisonError::into_inner).change(update, mirrored.as_ref())
        }
    })
}

struct PermissionWriter {
    store: Arc<Store>,
    project: PathBuf,
    found: DiscoveredSettings,
    /// Several updates may be made before the first is committed.
    ahead: Option<Ahead>,
}

/// What was handed out to be committed, made from the row `from`.
struct Ahead {
    from: String,
    row: String,
    record: Option<ImportRecord>,
}

impl PermissionWriter {
    /// The rows of one update. The row is read anew each time: an operator may have changed it.
    fn change(&mut self, update: &PermissionUpdate, mirrored: Option<&MirroredFile>) -> Result<Group, String> {
        let (stored, record) = self.stored().map_err(|error| error.to_string())?;
        let (row, record) = match self.ahead.take() {
            Some(ahead) if ahead.from == stored => (ahead.row, ahead.record),
            _ => (stored.clone(), record),
        };
        let anchors = RuleAnchors { row: &self.project, file: &self.project };
        let row = ona_trust::apply(&row, update, anchors).map_err(|error| error.to_string())?;
        // Another program edited the file in the meantime: the next start imports it.
        let found = &mut self.found;
        let after = |record: ImportRecord| mirrored.and_then(|file| record.after(found, file)).unwrap_or(record);
        let record = record.map(after);
        let mut group = Group(vec![Row::Settings(serde_json::from_str(&row).map_err(|error| error.to_string())?)]);
        for (key, value) in record.iter().flat_map(ImportRecord::rows) {
            group.push(Row::Meta { key: key.to_owned(), value });
        }
        self.ahead = Some(Ahead { from: stored, row, record });
        Ok(group)
    }

    /// The row as it is stored, with secrets as placeholders, and the record of its import.
    fn stored(&self) -> Result<(String, Option<ImportRecord>), StoreError> {
        let reader = self.store.reader()?;
        let row = reader.settings_row()?.map_or_else(|| "{}".to_owned(), |row| row.json);
        Ok((row, ImportRecord::load(|key| reader.meta(key))?))
    }
}
