//! Permission updates that are meant to last (DEC-078): the scope's own file, the
//! effective row and the record of the import change together.

use crate::program::{Open, Program};
use ona_api::permission_update::{Destination, PermissionUpdate};
use ona_api::{Group, Row};
use ona_orchestration::Keep;
use ona_store::StoreError;
use ona_trust::{Anchors, Found, ImportRecord};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The row as it is stored, with secrets as placeholders.
struct Kept {
    row: String,
    record: Option<ImportRecord>,
    found: Found,
}

pub fn keeper(program: &Program, open: &Open) -> Result<Keep, StoreError> {
    let reader = open.store.reader()?;
    let kept = Mutex::new(Kept {
        row: reader.settings()?.map(|(json, _)| json).unwrap_or_else(|| "{}".into()),
        record: ImportRecord::load(|key| reader.meta(key).ok().flatten()),
        found: open.found.clone(),
    });
    let (env, project) = (program.env.clone(), program.project.clone());
    Ok(Arc::new(move |update| match update.destination() {
        Destination::Session | Destination::CliArg => Ok(Group::default()),
        Destination::UserSettings | Destination::ProjectSettings | Destination::LocalSettings => {
            let mirrored = ona_trust::mirror(update, &env, &project).map_err(|error| error.to_string())?;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.change_row(update, &project)?;
            if let (Some(mirrored), Some(record)) = (&mirrored, kept.record.clone()) {
                // Somebody else edited the file meanwhile: the next start imports it.
                kept.record = record.after(&mut kept.found, mirrored).or(Some(record));
            }
            kept.rows()
        }
    }))
}

impl Kept {
    fn change_row(&mut self, update: &PermissionUpdate, project: &Path) -> Result<(), String> {
        let anchors = Anchors { row: project, file: project };
        self.row = ona_trust::apply(&self.row, update, anchors).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn rows(&self) -> Result<Group, String> {
        let row = serde_json::from_str(&self.row).map_err(|error| error.to_string())?;
        let mut group = Group(vec![Row::Settings(row)]);
        for (key, value) in self.record.iter().flat_map(ImportRecord::rows) {
            group.push(Row::Meta { key: key.to_owned(), value });
        }
        Ok(group)
    }
}
