//! Programs of the person's own that get the terminal, or something to keep: an editor, a clipboard.
//!
//! They are not children of the agent: they keep the terminal, their group and the person's environment,
//! and outlive the program if they want to.

use ona_api::Env;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Runs a program in the terminal and waits for it.
pub fn run_in_terminal(program: &Path, args: &[&str], env: &Env, cwd: &Path) -> io::Result<ExitStatus> {
    command(program, args, env).current_dir(cwd).status()
}

/// Gives a program a text on its stdin and waits until it has taken it. Whether it could do anything with it is
/// its exit status.
pub fn hand_over(program: &Path, args: &[&str], env: &Env, text: &[u8]) -> io::Result<ExitStatus> {
    let mut child =
        command(program, args, env).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text)?;
    }
    child.wait()
}

fn command(program: &Path, args: &[&str], env: &Env) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own programs keep the terminal, unlike all other children"
    )]
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env.iter());
    command
}
