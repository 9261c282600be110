//! `ona sandbox status|exec`: the wall of the kernel, tried by hand.

use crate::args::Sandbox as Command;
use crate::output;
use ona_process::wall::run_in_foreground;
use ona_runtime::sandbox::{self, Limits};
use ona_runtime::{Failure, Launch};
use ona_sandbox::{Enforcement, FolderRights};
use std::os::unix::process::ExitStatusExt;

pub(crate) fn run(launch: &Launch, command: Command) -> Result<u8, Failure> {
    let state = sandbox::state(launch)?;
    match command {
        Command::Status { json } => {
            match json {
                true => output::json(&state.to_json()),
                false => output::line(&state),
            }
            Ok(u8::from(state.overall() != Enforcement::Enforced))
        }
        Command::Exec { workspace, no_network, command } => {
            if let Enforcement::Partial(reason) | Enforcement::Off(reason) = state.overall() {
                let what = format_args!("the command is not run, because the kernel would not keep it in: {reason}");
                return Err(Failure::refused(what).hint("ona sandbox status"));
            }
            let order = sandbox::order(launch, &state, Limits { workspace, no_network })?;
            let (program, args) = command.split_first().expect("clap asks for one");
            let rights = FolderRights::remember(&order.policy);
            let ended = run_in_foreground(program, args, &launch.cwd, &launch.env, &order).map_err(|error| {
                Failure::refused(format_args!("{} could not be started: {error}", program.to_string_lossy()))
            })?;
            for folder in rights.restore() {
                launch.note(format_args!(
                    "ona: the command changed the rights of {}, which holds part of ona's guards; they are as before again",
                    folder.display()
                ));
            }
            let by_signal = ended.signal().map(|signal| 128 + signal);
            Ok(ended.code().or(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
        }
    }
}
