//! `ona test`: the behavioural tests of a plan. One file per subcommand; this one
//! holds their command lines and what they share.

mod add;
mod generate;
mod lint;
mod progress;
mod public_api;
mod report;
mod run;
pub mod subject;

use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::program::{Open, Program};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check that scripts are behavioural tests: exit 0 if all are, 1 with the findings
    Lint(lint::Lint),
    /// Add your own script to the tests of a plan
    Add(add::Add),
    /// Let a model write tests of a plan, from the plan and public interfaces alone
    Generate(generate::Generate),
    /// Run the tests of a plan
    Run(run::Run),
    /// Show the results of the tests
    Report(report::Report),
}

pub fn run(program: &Program, command: Command) -> Result<u8, Failure> {
    match command {
        Command::Lint(lint) => lint::run(program, &lint),
        Command::Add(add) => add::run(program, &add),
        Command::Generate(generate) => generate::run(program, &generate),
        Command::Run(run) => run::run(program, &run),
        Command::Report(report) => report::run(program, &report),
    }
}

/// What follows from entering the test phase (DEC-110): tests that are missing are written,
/// and all there are are run. A failure is reported and leaves the phase as it is.
pub fn entered(program: &Program, open: &Open) {
    if let Err(failure) = generate::missing(program, open) {
        output::note(&failure);
        if failure.code == interrupt::INTERRUPTED {
            return;
        }
    }
    if let Err(failure) = run::all(program, open) {
        output::note(failure);
    }
}
