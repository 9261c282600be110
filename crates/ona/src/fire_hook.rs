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
    let text = read_text(text)?;
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let operator = Arc::new(EvalOperator { agent_shell: launch.agent_shell, yes });
        output::line(fire_event(launch, &text, "fire-hook", operator, &cancel).await?);
        Ok(if cancel.is_cancelled() { interrupt::INTERRUPTED } else { 0 })
    })
}
