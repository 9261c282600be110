//! What the operator declared as the project's public interface (`sdlc.publicApi`).

use crate::failure::Failure;
use crate::launch::Launch;
use ona_settings::Settings;
use ona_trust::merge;

/// The programs a test may call beside `ona`.
///
/// From the effective row if there is one, else from what it would become; the
/// database is not made for this.
pub fn entry_points(launch: &Launch) -> Result<Vec<String>, Failure> {
    settings(launch)?.sdlc.public_api.map(|declared| declared.entry_points).map_err(Failure::usage)
}

fn settings(launch: &Launch) -> Result<Settings, Failure> {
    if launch.database.path.exists() {
        let failed = |error| launch.store_failure(error);
        let row = launch.open_plain()?.reader().and_then(|reader| reader.settings()).map_err(failed)?;
        if let Some((json, _)) = row {
            // A row that is not JSON is named by the commands that need it.
            return Ok(Settings::read(&serde_json::from_str(&json).unwrap_or_default()));
        }
    }
    Ok(Settings::read(&merge(&launch.discover()?, &launch.env).effective))
}
