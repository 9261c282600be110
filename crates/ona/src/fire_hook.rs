//! `ona --fire-hook`: runs the hooks of any event and prints the result.

use crate::interrupt;
use crate::operator::EvalOperator;
use crate::output;
use crate::startup::read_text;
use ona_hook_tools::fire_event;
use ona_runtime::{Failure, Launch, block_on};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) fn run(launch: &Launch, text: &str, yes: bool) -> Result<u8, Failure> {
    let (described, code) = fire(launch, &read_text(text)?, "fire-hook", yes)?;
    output::line(described);
    Ok(code)
}

/// Returns what the hooks did and the exit code.
pub(crate) fn fire(launch: &Launch, text: &str, conversation: &str, yes: bool) -> Result<(String, u8), Failure> {
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let operator = Arc::new(EvalOperator { agent_shell: launch.agent_shell, yes });
        let described = fire_event(launch, text, conversation, operator, &cancel).await?;
        Ok((described, if cancel.is_cancelled() { interrupt::INTERRUPTED } else { 0 }))
    })
}
