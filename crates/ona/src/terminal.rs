//! `ona` and `ona "prompt"`: the interactive terminal, or stdin without one.

use crate::args::Options;
use crate::{interrupt, output, print, startup};
use ona_runtime::{Failure, Notices};
use ona_terminal::{TerminalEnd, TerminalOptions, WakeChannel};
use std::io::{IsTerminal, stdin, stdout};

pub(crate) fn run(options: Options, prompt: Option<String>) -> Result<u8, Failure> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        let print = options.headless();
        let launch = startup::launch(options, output::notices())?;
        return print::run(&launch, print, None, prompt.as_deref());
    }
    let (plain, print) = (options.plain, options.headless());
    let wakes = WakeChannel::default();
    let launch = startup::launch(options, Notices::new(output::redactor(), wakes.notes()))?;
    let may_bypass = print.may_bypass(&launch)?;
    let chosen = TerminalOptions { prompt, setup: print.setup(), may_bypass, plain };
    let TerminalEnd { session, interrupted } = ona_terminal::run(launch, chosen, wakes)?;
    if let Some(session) = session {
        output::line(format_args!("Continue this session: ona --resume {session}"));
    }
    Ok(if interrupted { interrupt::INTERRUPTED } else { 0 })
}
