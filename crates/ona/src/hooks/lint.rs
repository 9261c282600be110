//! `ona hooks lint`: guards that do not work, and hooks that load and yet cannot do what
//! they were written for.

use crate::output;
use ona_hook_tools::{HookBench, lint_findings};
use ona_runtime::{Failure, Launch, OpenProject, block_on, guards::Finding};
use serde_json::{Value, json};
use std::path::Path;
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, config: Option<&Path>, as_json: bool) -> Result<u8, Failure> {
    let open = launch.look()?;
    block_on(async {
        let bench = HookBench::new(launch, &open, config, &CancellationToken::new()).await?;
        let findings = lint_findings(launch, &open, &bench, config.is_some()).await;
        report(&open, bench.engine.list().len(), &findings, as_json);
        Ok(u8::from(!findings.is_empty()))
    })
}

fn report(open: &OpenProject, hooks: usize, findings: &[Finding], as_json: bool) {
    if as_json {
        let all: Vec<Value> =
            findings.iter().map(|one| json!({"rule": one.rule, "hook": one.place, "message": one.message})).collect();
        output::line(open.redactor.apply(&json!(all).to_string()));
        return;
    }
    for one in findings {
        let place = if one.place.is_empty() { String::new() } else { format!("\n  {}", one.place) };
        output::line(open.redactor.apply(&format!("{}: {}{place}", one.rule, one.message)));
    }
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    output::note(format_args!("{}, {}", counted(hooks, "hook"), counted(findings.len(), "finding")));
}
