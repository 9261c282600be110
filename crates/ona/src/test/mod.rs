//! `ona test`: the behavioural tests of a plan. One file per subcommand; this one
//! holds their command lines and what they share.

mod add;
mod generate;
mod lint;
mod progress;
mod report;
mod run;

use crate::output;
use clap::Subcommand;
use ona_runtime::{Failure, FailureKind, Launch, OpenProject, ids};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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

#[derive(Debug, clap::Args)]
pub(crate) struct Whose {
    /// The tests of the conversation of this project that was used last
    #[arg(long)]
    last: bool,
}

pub(crate) fn run(launch: &mut Launch, command: Command) -> Result<u8, Failure> {
    let whose = match &command {
        Command::Lint(_) => None,
        Command::Add(add) => Some(&add.whose),
        Command::Generate(generate) => Some(&generate.whose),
        Command::Run(run) => Some(&run.whose),
        Command::Report(report) => Some(&report.whose),
    };
    if whose.is_some_and(|whose| whose.last) {
        if launch.options.conversation.is_some() {
            return Err(Failure::usage("--last and --conversation name a conversation each"));
        }
        let store = launch.look_plain()?;
        let reader = store.reader().map_err(|error| launch.store_failure(error))?;
        launch.options.conversation = Some(ids::last_conversation(launch, reader)?.0);
    }
    match command {
        Command::Lint(lint) => lint::run(launch, &lint),
        Command::Add(add) => add::run(launch, &add),
        Command::Generate(generate) => generate::run(launch, &generate),
        Command::Run(run) => run::run(launch, &run),
        Command::Report(report) => report::run(launch, &report),
    }
}

/// What follows from entering the test phase (DEC-110): tests that are missing are written,
/// and all there are are run. A failure is reported and leaves the phase as it is.
pub(crate) fn entered(launch: &Launch, open: &OpenProject) {
    if let Err(failure) = generate::missing(launch, open) {
        output::note(&failure);
        if failure.kind == FailureKind::Interrupted {
            return;
        }
    }
    if let Err(failure) = run::all(launch, open) {
        output::note(failure);
    }
}
