//! `ona hooks test`: fixtures run through the real chain, without a model and without rows.

use super::command::Report;
use crate::interrupt;
use crate::output;
use ona_hook_tools::{FixtureResult, HookBench, Trial, load_fixtures, report};
use ona_runtime::{Failure, Launch, block_on, guards};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, paths: &[PathBuf], config: Option<&Path>, format: Report) -> Result<u8, Failure> {
    let fixtures = load_fixtures(paths)?;
    let open = launch.look()?;
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let mut bench = HookBench::new(launch, &open, config, &cancel).await?;
        bench.is_trusted(launch, &open, config)?;
        guards::mention(launch, &open, &bench.runtime);
        let person = Arc::default();
        let mut tried = Vec::new();
        for fixture in &fixtures {
            if cancel.is_cancelled() {
                return Ok(interrupt::INTERRUPTED);
            }
            let mut session = bench.session(&open, launch)?;
            let began = Instant::now();
            let differences = match &fixture.tried {
                Trial::Event(event) => event.differences(&bench.fire(&mut session, &event.asked).await?),
                Trial::Module(module) => module.differences(&bench, &mut session, &person).await?,
            };
            tried.push(FixtureResult { name: fixture.name.clone(), differences, took: began.elapsed() });
            bench.runtime.keep(session);
        }
        bench.close().await;
        let text = match format {
            Report::Tap => report::tap(&tried),
            Report::Junit => report::junit(&tried),
            Report::Json => report::json(&tried).to_string(),
        };
        output::line(open.redactor.apply(text.trim_end()));
        let failed = tried.iter().filter(|one| !one.differences.is_empty()).count();
        output::note(format_args!("{} passed, {failed} failed", tried.len() - failed));
        Ok(u8::from(failed > 0))
    })
}
