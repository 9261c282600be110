//! `ona`: flags, environment, wiring, exit codes. What the program does is in the crates below.

mod args;
mod audit;
mod auth;
mod config;
mod db;
mod doctor;
mod eval;
mod fire_hook;
mod flags;
mod hooks;
mod interrupt;
mod mcp;
mod memory;
mod operator;
mod options;
mod output;
mod plan;
mod plugin;
mod print;
mod project;
mod sandbox;
mod sessions;
mod settings;
mod startup;
mod terminal;
mod test;
mod transition;
mod worktree;

use args::{Command, Gastown, Job, Options, Task, Wrong};
use ona_demo::Tour;
use ona_process::{keeper, wall};
use ona_runtime::{Failure, gastown};
use ona_trust::BadFiles;
use std::process::ExitCode;

fn main() -> ExitCode {
    if keeper::is_keeper(std::env::args_os().next().as_deref()) {
        return keeper::serve();
    }
    if wall::is_check(std::env::args_os().next().as_deref()) {
        return wall::serve_check(std::env::args_os());
    }
    keeper::enable();
    let code = run_program();
    keeper::release();
    code
}

fn run_program() -> ExitCode {
    match args::parse(std::env::args_os().collect()).and_then(|(task, options)| run(task, options)) {
        Ok(code) => ExitCode::from(code),
        Err(Wrong::Failure(failure)) => {
            output::note(&failure);
            ExitCode::from(startup::exit_code(&failure))
        }
        // clap prints help, version and its own errors, with the right exit codes.
        Err(Wrong::Clap(error)) => error.exit(),
    }
}

/// Returns the exit code, or why nothing could be done.
fn run(task: Task, options: Options) -> Result<u8, Wrong> {
    match task {
        Task::Help { topic, json } => args::show_help(&topic, json),
        Task::Completions(shell) => {
            args::print_completions(shell);
            Ok(0)
        }
        Task::Man { topic, dir } => args::man(&topic, dir.as_deref()),
        Task::HookSchema => {
            output::pretty(&ona_hook_tools::hook_schema());
            Ok(0)
        }
        Task::ProtocolVersion => {
            output::line(format_args!("{} (ona {})", ona_headless::PROTOCOL, env!("CARGO_PKG_VERSION")));
            Ok(0)
        }
        Task::Job(job) => Ok(carry_out(job, options)?),
    }
}

fn carry_out(job: Job, options: Options) -> Result<u8, Failure> {
    if matches!(job, Job::Print { .. }) {
        options.reference.check(options.tools.as_deref())?;
    }
    if let Job::Terminal { prompt } = job {
        options.reference.check(options.tools.as_deref())?;
        return terminal::run(options, prompt);
    }
    let (print, yes, approve) = (options.headless(), options.yes, options.approve);
    let mut launch = startup::launch(options, output::notices())?;
    let _run = tracing::debug_span!("run", version = env!("CARGO_PKG_VERSION")).entered();
    if matches!(job, Job::Transition(_) | Job::Command(Command::Doctor { .. })) {
        launch.bad_files = BadFiles::Report;
    }
    // A call from a script has to be quick; it meets damage when it commits.
    launch.looks_at_first_pages = !matches!(job, Job::Eval(_));
    match job {
        Job::Terminal { .. } => unreachable!("shown above, because it has notices of its own"),
        Job::Print { flag, argument } => print::run(&launch, print, flag.as_deref(), argument.as_deref()),
        Job::Eval(text) => eval::run(&launch, &text, yes),
        Job::FireHook(text) => fire_hook::run(&launch, &text, yes),
        Job::Transition(phase) => transition::run(&launch, &phase, approve),
        Job::Command(command) => match command {
            Command::Demo { sdlc } => {
                let tour = if sdlc { Tour::Phases } else { Tour::Calls };
                ona_demo::run(&launch, tour, |text| output::line(text)).map(|()| 0)
            }
            Command::Status { json } => project::status(&launch, json),
            Command::Config(command) => config::run(&launch, &command),
            Command::Init => project::init(&launch),
            Command::Phase { to } => project::phase(&mut launch, to.as_deref()),
            Command::Conversations(command) => project::conversations(&launch, &command),
            Command::Auth(command) => auth::run(&launch, &command),
            Command::Doctor { json } => doctor::run(&launch, json),
            Command::Db(command) => db::run(&launch, &command),
            Command::Audit(command) => audit::run(&launch, &command),
            Command::Settings(command) => settings::run(&launch, &command),
            Command::Sessions(command) => sessions::run(&launch, &command),
            Command::Gastown(Gastown::Install { town }) => {
                for file in gastown::install(&launch, town.as_deref())? {
                    let what = if file.changed { "registered in" } else { "already in" };
                    output::line(format_args!("{what} {}", file.path.display()));
                }
                Ok(0)
            }
            Command::Plan(command) => plan::run(&launch, command),
            Command::Memory(command) => memory::run(&launch, command),
            Command::Plugin(command) => plugin::run(&launch, &command, yes),
            Command::Mcp(command) => mcp::run(&launch, command),
            Command::Sandbox(command) => sandbox::run(&launch, command),
            Command::Hooks(command) => hooks::run(&launch, command),
            Command::Worktree(command) => worktree::run(&launch, &command),
            Command::Test(command) => test::run(&mut launch, command),
        },
    }
}
