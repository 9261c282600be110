//! `ona settings show|import`.

use crate::args::Settings;
use crate::failure::Failure;
use crate::output;
use crate::program::{Program, Purpose};
use ona_trust::ImportMode;

pub fn run(program: &Program, command: &Settings) -> Result<u8, Failure> {
    match command {
        // As stored: secrets stay placeholders, and what the store would redact is redacted.
        Settings::Show => {
            let open = program.look()?;
            let mut row = program.effective_as_stored(&open, Purpose::Look)?;
            open.redactor.apply_to_json(&mut row);
            output::pretty(&row);
        }
        Settings::Import => {
            program.operator_only("settings")?;
            let open = program.open()?;
            program.import(&open, ImportMode::Forced, Purpose::Session)?;
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
