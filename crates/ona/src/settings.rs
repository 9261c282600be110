//! `ona settings show|import`.

use crate::args::Settings;
use crate::output;
use ona_runtime::{Failure, Launch, Purpose};
use ona_trust::ImportMode;

pub(crate) fn run(launch: &Launch, command: &Settings) -> Result<u8, Failure> {
    match command {
        // As stored: secrets stay placeholders, and what the store would redact is redacted.
        Settings::Show => {
            let open = launch.look()?;
            let mut row = launch.effective_as_stored(&open, Purpose::Look)?;
            open.redactor.apply_to_json(&mut row);
            output::pretty(&row);
        }
        Settings::Import => {
            launch.operator_only("settings")?;
            let open = launch.open()?;
            launch.import(&open, ImportMode::Forced, Purpose::Session)?;
            for notice in &open.merged.notices {
                output::note(open.redactor.apply(&notice.to_string()));
            }
            let files: Vec<_> = open.found.layers.iter().filter_map(|layer| layer.file.as_ref()).collect();
            output::line(format_args!("Imported {} settings file(s).", files.len()));
            files.iter().for_each(|file| output::line(file.display()));
        }
    }
    Ok(0)
}
