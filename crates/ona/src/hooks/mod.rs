//! `ona hooks`: for people who write hooks and people who have to live with them.

mod command;
mod explain;
mod fixture;
mod import;
mod lint;
mod list;
mod module_fixture;
mod person;
mod replay;
mod report;
mod stand;
mod test;

pub use command::Command;

use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use command::Report;

pub fn run(program: &Program, command: Command) -> Result<u8, Failure> {
    match command {
        Command::List { event, session, json } => list::run(program, event.as_deref(), session.as_deref(), json),
        Command::Types => {
            output::line(ona_modules::DECLARATIONS.trim_end());
            Ok(0)
        }
        Command::Explain { call, json } => explain::run(program, &call, json),
        Command::Test { fixtures, config, format, json } => {
            let format = if json { Report::Json } else { format };
            test::run(program, &fixtures, config.as_deref(), format)
        }
        Command::Lint { config, json } => lint::run(program, config.as_deref(), json),
        Command::Replay { session, config, json } => replay::run(program, &session, config.as_deref(), json),
        Command::Import { from, file, write } => import::run(program, from, file.as_deref(), write),
    }
}
