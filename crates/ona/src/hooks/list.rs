//! `ona hooks list`: the effective order, and what does not run.

use crate::output;
use ona_api::EventName;
use ona_hook_tools::{HookBench, HookListing, ListedHook};
use ona_runtime::table::{Table, TerminalStyle, Tone};
use ona_runtime::{Failure, Launch, block_on, guards};
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, event: Option<&str>, session: Option<&str>, as_json: bool) -> Result<u8, Failure> {
    let event = event.map(str::parse::<EventName>).transpose().map_err(Failure::usage)?;
    let open = launch.look()?;
    let bench = block_on(HookBench::new(launch, &open, None, &CancellationToken::new()))?;
    guards::mention(launch, &open, &bench.runtime);
    let listing = HookListing::new(launch, &open, &bench, event, session)?;
    if as_json {
        output::line(open.redactor.apply(&listing.to_json().to_string()));
        return Ok(0);
    }
    let mut shown = String::new();
    let style = output::terminal_style(&launch.env).filter(|_| !listing.hooks.is_empty());
    if let Some(style) = style {
        table(&listing, style).iter().for_each(|line| output::line(open.redactor.apply(line)));
    }
    for hook in listing.hooks.iter().filter(|_| style.is_none()) {
        shown.push_str(&lines(&hook.ordinal.to_string(), hook));
    }
    for hook in listing.on_demand.iter().filter(|_| style.is_none()) {
        shown.push_str(&lines("-", hook));
    }
    for (entry, why) in &listing.rejected {
        shown.push_str(&format!("  -  not used: {why}\n     {entry}\n"));
    }
    for one in &listing.modules {
        let state = match (&one.engine, &one.error) {
            (Some(engine), _) => format!("runs on {engine}"),
            (None, error) => format!("not loaded: {}", error.as_deref().unwrap_or_default()),
        };
        shown.push_str(&format!("  -  hook module ({}), {state}\n     {}\n", one.source.as_str(), one.path));
    }
    if shown.is_empty() && style.is_none() {
        output::note("No hooks.");
    } else if !shown.is_empty() {
        output::line(open.redactor.apply(shown.trim_end()));
    }
    Ok(0)
}

/// The hooks that run, in their order; what is skipped is dim.
fn table(listing: &HookListing, style: TerminalStyle) -> Vec<String> {
    let mut table = Table::new(["hook", "event", "matcher", "dialect", "runs", "source", "command"]);
    let hooks = listing.hooks.iter().map(|hook| (hook.ordinal.to_string(), hook));
    for (mark, hook) in hooks.chain(listing.on_demand.iter().map(|hook| ("-".to_owned(), hook))) {
        let tone = if hook.skipped.is_some() { Tone::Secondary } else { Tone::Plain };
        let runs = match (hook.skipped, hook.runs) {
            (Some(why), _) => format!("skipped: {why}"),
            (None, Some(runs)) => format!("{}, {:.0} ms", runs.count, runs.p50_ms),
            (None, None) => "0".to_owned(),
        };
        let matcher = match hook.condition.is_empty() {
            true => hook.matcher.to_string(),
            false => format!("{} if {}", hook.matcher, hook.condition),
        };
        let cells = [mark, hook.event.to_string(), matcher, hook.dialect.to_string(), runs, hook.source.to_string()];
        let cells = cells.into_iter().map(|text| (text, tone));
        table.row(cells.chain([(hook.command.to_string(), tone)]));
    }
    table.lines(style)
}

fn lines(mark: &str, hook: &ListedHook) -> String {
    let mut line = format!("{mark:>3}  {}", hook.event);
    if !hook.matcher.is_empty() {
        line.push_str(&format!(" {:?}", hook.matcher));
    }
    if !hook.condition.is_empty() {
        line.push_str(&format!(" if {:?}", hook.condition));
    }
    line.push_str(&format!("  {}  {}", hook.dialect, hook.source));
    if let Some(why) = hook.skipped {
        line.push_str(&format!("  skipped: {why}"));
    }
    if let Some(runs) = hook.runs {
        line.push_str(&format!("  {} runs, p50 {:.0} ms, p95 {:.0} ms", runs.count, runs.p50_ms, runs.p95_ms));
    }
    format!("{line}\n     {}\n", hook.command)
}
