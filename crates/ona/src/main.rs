//! `ona`: flags, environment, wiring, exit codes. What the program does is in the crates below.

mod agent_shell;
mod agents;
mod args;
mod db;
mod demo;
mod diagnostics;
mod doctor;
mod eval;
mod failure;
mod findings;
mod fire_hook;
mod flags;
mod front_hooks;
mod gastown;
mod guards;
mod headless;
mod hook_files;
mod hook_modules;
mod hook_schema;
mod hooks;
mod interrupt;
mod keeper;
mod mcp;
mod memory;
mod operator;
mod output;
mod pi_session;
mod plan;
mod program;
mod session_hooks;
mod sessions;
mod settings;
mod skills;
mod staff;
mod test;
mod transition;
mod trusting;
mod whereabouts;
mod workplace;
mod workshop;
mod worktree;

use args::{Command, Job, Options, Task, Wrong};
use demo::Tour;
use failure::Failure;
use ona_trust::BadFiles;
use program::Program;
use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse(std::env::args_os().collect()).and_then(|(task, options)| run(task, options)) {
        Ok(code) => ExitCode::from(code),
        Err(Wrong::Failure(failure)) => {
            output::note(&failure);
            ExitCode::from(failure.code)
        }
        // clap prints help, version and its own errors, with the right exit codes.
        Err(Wrong::Clap(error)) => error.exit(),
    }
}

/// Returns the exit code, or why nothing could be done.
fn run(task: Task, options: Options) -> Result<u8, Wrong> {
    match task {
        Task::Nothing => {
            output::note(args::short_help());
            let what = "say what to do: -p PROMPT, --eval, --fire-hook, --transition, --hook-schema or a command";
            Err(Failure::usage(what).into())
        }
        Task::Help { topic, json } => args::show_help(&topic, json),
        Task::HookSchema => {
            output::pretty(&hook_schema::schema());
            Ok(0)
        }
        Task::ProtocolVersion => {
            output::line(format_args!("{} (ona {})", headless::PROTOCOL, env!("CARGO_PKG_VERSION")));
            Ok(0)
        }
        Task::Job(job) => Ok(carry_out(job, options)?),
    }
}

fn carry_out(job: Job, options: Options) -> Result<u8, Failure> {
    if matches!(job, Job::Print { .. }) {
        options.reference.check()?;
    }
    let mut program = Program::begin(options)?;
    let _run = tracing::debug_span!("run", version = env!("CARGO_PKG_VERSION")).entered();
    if matches!(job, Job::Transition(_) | Job::Command(Command::Doctor { .. })) {
        program.bad_files = BadFiles::Report;
    }
    match job {
        Job::Print { flag, argument } => headless::run(&program, flag.as_deref(), argument.as_deref()),
        Job::Eval(text) => eval::run(&program, &text),
        Job::FireHook(text) => fire_hook::run(&program, &text),
        Job::Transition(phase) => transition::run(&program, &phase),
        Job::Command(command) => match command {
            Command::Demo { sdlc } => demo::run(&program, if sdlc { Tour::Phases } else { Tour::Calls }),
            Command::Doctor { json } => doctor::run(&program, json),
            Command::Db(command) => db::run(&program, &command),
            Command::Settings(command) => settings::run(&program, &command),
            Command::Sessions(command) => sessions::run(&program, &command),
            Command::Gastown(command) => gastown::run(&program, &command),
            Command::Plan(command) => plan::run(&program, command),
            Command::Memory(command) => memory::run(&program, command),
            Command::Mcp(command) => mcp::run(&program, &command),
            Command::Hooks(command) => hooks::run(&program, command),
            Command::Test(command) => test::run(&program, command),
        },
    }
}
