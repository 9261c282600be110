//! `ona hooks replay`: today's hooks over the calls of a recorded session.
//!
//! Only what hooks decide is compared: whether the call is denied, and with what input
//! it would run. Nothing is executed but the hooks themselves, and no row is written.

use crate::interrupt;
use crate::output;
use ona_hook_tools::{HookBench, difference_text, replay_call};
use ona_runtime::{Failure, Launch, block_on, guards, ids};
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// How often a person is told how far it is.
const PROGRESS: usize = 100;

pub(super) fn run(launch: &Launch, session: Option<&str>, config: Option<&Path>, as_json: bool) -> Result<u8, Failure> {
    let open = launch.look()?;
    let failed = |error| launch.store_failure(error);
    let reader = open.store.reader().map_err(failed)?;
    let recorded = ids::session_or_last(launch, reader, session)?;
    let mut recorded = reader.calls(&recorded).map_err(failed)?;
    let all = recorded.count();
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let mut bench = HookBench::new(launch, &open, config, &cancel).await?;
        bench.is_trusted(launch, &open, config)?;
        guards::mention(launch, &open, &bench.runtime);
        let mut session = bench.session(&open, launch)?;
        let (mut number, mut different) = (0, Vec::new());
        loop {
            let calls = recorded.next_part().map_err(failed)?;
            if calls.is_empty() {
                break;
            }
            for call in &calls {
                if cancel.is_cancelled() {
                    return Ok(interrupt::INTERRUPTED);
                }
                if number > 0 && number % PROGRESS == 0 && std::io::stderr().is_terminal() {
                    output::note(format_args!("{number} of {all} calls"));
                }
                number += 1;
                different.extend(replay_call(&bench, &mut session, call).await?);
            }
        }
        bench.close().await;
        let count = different.len();
        if as_json {
            let report = json!({"calls": all, "different": different});
            output::line(open.redactor.apply(&report.to_string()));
        } else {
            for one in &different {
                output::line(open.redactor.apply(&difference_text(one)));
            }
            output::note(format_args!("{count} of {all} calls would be decided differently"));
        }
        Ok(u8::from(count > 0))
    })
}
