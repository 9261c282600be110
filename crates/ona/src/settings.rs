//! `ona settings show|import`.

use crate::args::Settings;
use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use ona_trust::How;
use serde_json::Value;

pub fn run(program: &Program, command: &Settings) -> Result<u8, Failure> {
    let open = program.open()?;
    match command {
        // As stored: secrets stay placeholders.
        Settings::Show => {
            program.effective(&open, How::FirstUseOnly)?;
            let row = open.store.reader().and_then(|reader| reader.settings());
            let (json, _) = row.map_err(|error| program.store_failure(error))?.unwrap_or_default();
            let value: Value = serde_json::from_str(&json).unwrap_or_default();
            output::pretty(&value);
        }
        Settings::Import => {
            program.operator_only("settings")?;
            program.import(&open, How::Forced)?;
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
