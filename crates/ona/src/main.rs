//! `ona`: flags, environment, wiring, exit codes. What the program does is in the crates below.

mod agent_shell;
mod agents;
mod args;
mod db;
mod demo;
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

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use demo::Tour;
use failure::Failure;
use ona_trust::BadFiles;
use program::Program;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        // clap prints help, version and usage errors itself, with the right exit codes.
        Err(error) => match flags::refusal(&error) {
            Some(failure) => return fail(&failure),
            None => error.exit(),
        },
    };
    match run(args) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    output::note(failure);
    ExitCode::from(failure.code)
}

/// The exit code, or why there was nothing to do it with.
fn run(args: Args) -> Result<u8, Failure> {
    if args.action.hook_schema {
        output::pretty(&hook_schema::schema());
        return Ok(0);
    }
    if args.protocol_version {
        output::line(format_args!("{} (ona {})", headless::PROTOCOL, env!("CARGO_PKG_VERSION")));
        return Ok(0);
    }
    let printing = args.action.print.is_some() || args.options.streams_in() || args.options.init_only;
    if printing && args.command.is_some() {
        return Err(Failure::usage("-p and a command exclude each other")
            .hint("a prompt that is the name of a command goes right after the flag: ona -p 'PROMPT'"));
    }
    if printing {
        args.options.reference.check()?;
    }
    let mut program = Program::begin(args.options)?;
    if args.action.transition.is_some() || matches!(args.command, Some(Command::Doctor { .. })) {
        program.bad_files = BadFiles::Report;
    }
    if printing {
        return headless::run(&program, args.action.print.as_deref(), args.prompt.as_deref());
    }
    if let Some(text) = &args.action.eval {
        return eval::run(&program, text);
    }
    if let Some(text) = &args.action.fire_hook {
        return fire_hook::run(&program, text);
    }
    if let Some(phase) = &args.action.transition {
        return transition::run(&program, phase);
    }
    match args.command {
        Some(Command::Demo { sdlc }) => demo::run(&program, if sdlc { Tour::Phases } else { Tour::Calls }),
        Some(Command::Doctor { json }) => doctor::run(&program, json),
        Some(Command::Db(command)) => db::run(&program, &command),
        Some(Command::Settings(command)) => settings::run(&program, &command),
        Some(Command::Sessions(command)) => sessions::run(&program, &command),
        Some(Command::Gastown(command)) => gastown::run(&program, &command),
        Some(Command::Plan(command)) => plan::run(&program, command),
        Some(Command::Memory(command)) => memory::run(&program, command),
        Some(Command::Mcp(command)) => mcp::run(&program, &command),
        Some(Command::Hooks(command)) => hooks::run(&program, command),
        Some(Command::Test(command)) => test::run(&program, command),
        None => {
            output::note(Args::command().render_help());
            Err(Failure::usage(
                "say what to do: a command, or one of -p, --eval, --fire-hook, --transition, --hook-schema",
            ))
        }
    }
}
