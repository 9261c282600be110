//! `ona test`: the behavioural tests of a plan. One file per subcommand; this one
//! holds their command lines and what they share.

mod lint;
mod public_api;

use crate::failure::Failure;
use crate::program::Program;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say whether scripts are behavioural tests: exit 0 if all are, 1 with what is wrong
    Lint(lint::Lint),
}

pub fn run(program: &Program, command: Command) -> Result<u8, Failure> {
    match command {
        Command::Lint(lint) => lint::run(program, &lint),
    }
}
