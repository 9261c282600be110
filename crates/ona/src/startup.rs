//! Reads the process: environment, working directory, standard input. Nothing else in the
//! workspace does.

use crate::args::Options;
use crate::output;
use ona_api::Env;
use ona_api::environment::{self, Variable};
use ona_api::redact::SECRET_VARIABLES;
use ona_runtime::{Failure, FailureKind, Launch, Notices};
use std::io::Read;
use std::path::PathBuf;

/// Collects what the process was started with; `notices` takes sentences for people.
#[expect(clippy::disallowed_methods, reason = "this is the one place that looks at the process")]
pub(crate) fn launch(options: Options, notices: Notices) -> Result<Launch, Failure> {
    let env = Env::new(std::env::vars_os());
    #[expect(unsafe_code, reason = "the values are kept in `env` from here on")]
    // SAFETY: this is the only thread so far, and nothing reads credentials but from `env`.
    unsafe {
        ona_process::secrets::hide_environment(&SECRET_VARIABLES.map(Variable::name));
    }
    let named = || env.non_empty(environment::PWD).map(PathBuf::from);
    let cwd = std::env::current_dir().ok().or_else(named).unwrap_or_else(|| "/".into());
    let diagnostics = options.diagnostics.clone();
    let launch = Launch::new(env, cwd, options.into(), notices)?;
    // Later than `Launch`, which tells the redactor which values of the environment are secret.
    ona_diagnostics::start(&diagnostics, &launch.env, output::redactor(), output::diagnostic)?;
    Ok(launch)
}

/// Returns the argument, or the text of stdin for "-".
pub(crate) fn read_text(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format_args!("stdin could not be read as text: {error}")))?;
    Ok(text)
}

/// Returns the exit code of a failure (DEC-008).
pub(crate) fn exit_code(failure: &Failure) -> u8 {
    match failure.kind {
        FailureKind::Refused => 1,
        FailureKind::Usage => 2,
        FailureKind::Busy => 75,
        FailureKind::Interrupted => crate::interrupt::INTERRUPTED,
    }
}
