//! `ona hooks explain [CALL_ID]`: every hook, gate and rule consulted about one recorded
//! call, what each was given and what it said. Read off the rows; nothing runs.

use crate::output;
use ona_hook_tools::{explanation_json, explanation_text};
use ona_runtime::{Failure, Launch, ids};

pub(super) fn run(launch: &Launch, call: Option<&str>, as_json: bool) -> Result<u8, Failure> {
    let store = launch.look_plain()?;
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let id = ids::call(launch, reader, call)?;
    let sessions = reader.sessions_of_call(&id).map_err(failed)?;
    let unknown =
        || Failure::usage(format_args!("call {id} does not exist in this database")).hint("ona sessions list");
    let session = sessions.first().ok_or_else(unknown)?;
    if sessions.len() > 1 {
        output::note(format_args!("{} sessions have a call {id}; this is the newest.", sessions.len()));
    }
    let call = reader.call(session, &id).map_err(failed)?.ok_or_else(unknown)?;
    let runs = reader.hook_runs(session, &id).map_err(failed)?;
    if as_json {
        output::json(&explanation_json(&call, &runs));
    } else {
        output::line(explanation_text(&call, &runs).trim_end());
    }
    Ok(0)
}
