//! `ona hooks`: for people who write hooks and people who have to live with them.

mod command;
mod explain;
mod import;
mod lint;
mod list;
mod replay;
mod test;

pub(crate) use command::Command;

use crate::output;
use command::Report;
use ona_runtime::{Failure, Launch, ids};

pub(crate) fn run(launch: &Launch, command: Command) -> Result<u8, Failure> {
    match command {
        Command::List { event, session, last, json } => {
            let session = match last {
                true => Some(last_session(launch)?),
                false => session,
            };
            list::run(launch, event.as_deref(), session.as_deref(), json)
        }
        Command::Types => {
            output::line(ona_modules::DECLARATIONS.trim_end());
            Ok(0)
        }
        Command::Explain { call, json } => explain::run(launch, call.as_deref(), json),
        Command::Test { fixtures, config, format, json } => {
            let format = if json { Report::Json } else { format };
            test::run(launch, &fixtures, config.as_deref(), format)
        }
        Command::Lint { config, json } => lint::run(launch, config.as_deref(), json),
        Command::Replay { session, config, json, .. } => {
            replay::run(launch, session.as_deref(), config.as_deref(), json)
        }
        Command::Import { from, file, write } => import::run(launch, from, file.as_deref(), write),
    }
}

fn last_session(launch: &Launch) -> Result<String, Failure> {
    let store = launch.look_plain()?;
    let reader = store.reader().map_err(|error| launch.store_failure(error))?;
    Ok(ids::last_session(launch, reader)?.0)
}
