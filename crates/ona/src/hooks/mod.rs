//! `ona hooks`: for people who write hooks and people who have to live with them.

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

use crate::args::Hooks;
use crate::failure::Failure;
use crate::output;
use crate::program::Program;

pub fn run(program: &Program, command: Hooks) -> Result<u8, Failure> {
    match command {
        Hooks::List { event, session, json } => list::run(program, event.as_deref(), session.as_deref(), json),
        Hooks::Types => {
            output::line(ona_modules::DECLARATIONS.trim_end());
            Ok(0)
        }
        Hooks::Explain { call, json } => explain::run(program, &call, json),
        Hooks::Test { fixtures, config, format } => test::run(program, &fixtures, config.as_deref(), format),
        Hooks::Lint { config, json } => lint::run(program, config.as_deref(), json),
        Hooks::Replay { session, config, json } => replay::run(program, &session, config.as_deref(), json),
        Hooks::Import { from, file, write } => import::run(program, from, file.as_deref(), write),
    }
}
