//! `ona hooks list`: the effective order, and what does not run.

use crate::output;
use ona_api::{EventName, SessionId, environment};
use ona_hook_tools::HookBench;
use ona_hookplane::Hook;
use ona_modules::ListedModule;
use ona_runtime::{Failure, Launch, at, block_on, guards};
use ona_store::HookTimes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, event: Option<&str>, session: Option<&str>, as_json: bool) -> Result<u8, Failure> {
    let event = event.map(str::parse::<EventName>).transpose().map_err(Failure::usage)?;
    let open = launch.look()?;
    let bench = block_on(HookBench::new(launch, &open, None, &CancellationToken::new()))?;
    guards::mention(launch, &open, &bench.runtime);
    let reader = open.store.reader().map_err(|error| launch.store_failure(error))?;
    if let Some(session) = session {
        let id = SessionId::from(session);
        let conversation = reader.conversation_of(&id).map_err(|error| launch.store_failure(error))?;
        let conversation = conversation.ok_or_else(|| {
            Failure::refused(format_args!("session {session} does not exist in this database"))
                .hint("ona sessions list")
        })?;
        let place = at(&conversation, session);
        bench.runtime.registrar.enter(&place).map_err(|error| launch.store_failure(error))?;
    }
    let on_demand = bench.runtime.on_demand_hooks(launch, &open)?;
    let on_demand: Vec<_> = on_demand.iter().filter(|hook| event.is_none_or(|event| hook.event == event)).collect();
    let times = reader.hook_times().map_err(|error| launch.store_failure(error))?;
    let all_off = bench.runtime.host.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1");
    let list = bench.engine.list();
    let listed: Vec<_> = list.iter().filter(|hook| event.is_none_or(|event| hook.event == event)).collect();
    let rejected = bench.sources().iter().flat_map(|source| &source.loaded.rejected);
    let modules = bench.sources().iter().flat_map(|source| &source.modules);
    if as_json {
        let hooks: Vec<_> = listed.iter().map(|hook| described(hook, all_off, &times)).collect();
        let rejected: Vec<_> = rejected.map(|one| json!({"entry": one.entry, "why": one.why})).collect();
        let modules: Vec<_> = modules.map(ListedModule::to_json).collect();
        let on_demand: Vec<_> = on_demand.iter().map(|hook| described(hook, all_off, &times)).collect();
        let listed = json!({"hooks": hooks, "rejected": rejected, "modules": modules, "on_demand": on_demand});
        output::line(open.redactor.apply(&listed.to_string()));
        return Ok(0);
    }
    let mut shown = String::new();
    for hook in &listed {
        shown.push_str(&line(hook, all_off, &times));
    }
    for hook in &on_demand {
        shown.push_str(&line(hook, all_off, &times).replacen("  0", "  -", 1));
    }
    for one in rejected {
        shown.push_str(&format!("  -  not used: {}\n     {}\n", one.why, one.entry));
    }
    for one in modules {
        let state = match (&one.engine, &one.error) {
            (Some(engine), _) => format!("runs on {engine}"),
            (None, error) => format!("not loaded: {}", error.as_deref().unwrap_or_default()),
        };
        shown.push_str(&format!("  -  hook module ({}), {state}\n     {}\n", one.source.as_str(), one.path));
    }
    if shown.is_empty() {
        output::note("No hooks.");
    } else {
        output::line(open.redactor.apply(shown.trim_end()));
    }
    Ok(0)
}

fn line(hook: &Hook, all_off: bool, times: &[HookTimes]) -> String {
    let mut line = format!("{:>3}  {}", hook.ordinal.0, hook.event);
    if !hook.matcher.is_empty() {
        line.push_str(&format!(" {:?}", hook.matcher));
    }
    if !hook.condition.is_empty() {
        line.push_str(&format!(" if {:?}", hook.condition));
    }
    line.push_str(&format!("  {}  {}", hook.dialect.name(), hook.source));
    if let Some(why) = skipped(hook, all_off) {
        line.push_str(&format!("  skipped: {why}"));
    }
    if let Some((runs, half, most)) = percentiles(hook, times) {
        line.push_str(&format!("  {runs} runs, p50 {half:.0} ms, p95 {most:.0} ms"));
    }
    format!("{line}\n     {}\n", hook.command())
}

fn described(hook: &Hook, all_off: bool, times: &[HookTimes]) -> Value {
    let mut described = json!({
        "ordinal": hook.ordinal,
        "event": hook.event.as_str(),
        "matcher": hook.matcher,
        "if": hook.condition,
        "command": hook.command(),
        "dialect": hook.dialect.name(),
        "source": hook.source,
        "active": skipped(hook, all_off).is_none(),
        "skipped": skipped(hook, all_off),
        "timeout_ms": hook.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        "fail_closed": hook.fail_closed,
        "decides": !hook.detached,
    });
    if let Some((runs, half, most)) = percentiles(hook, times) {
        described["runs"] = json!({"count": runs, "p50_ms": half, "p95_ms": most});
    }
    described
}

fn skipped(hook: &Hook, all_off: bool) -> Option<&'static str> {
    if all_off { Some("all_hooks_disabled") } else { hook.disabled.map(|skip| skip.as_str()) }
}

/// How many of its runs are known, and how long half and nearly all of them took.
fn percentiles(hook: &Hook, times: &[HookTimes]) -> Option<(usize, f64, f64)> {
    // Rows have the command as its dialect records it.
    let command = hook.dialect.recorded(hook.command());
    let of = |one: &&HookTimes| one.event == hook.event.as_str() && one.command == command;
    let known = &times.iter().find(of)?.milliseconds;
    let at = |percent: usize| known[(known.len() * percent).div_ceil(100).clamp(1, known.len()) - 1];
    Some((known.len(), at(50), at(95)))
}
