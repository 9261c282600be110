//! The hooks of a project in the order they run, and what does not run: a value that fronts show.

use crate::bench::HookBench;
use ona_api::{EventName, environment};
use ona_hookplane::Hook;
use ona_modules::ListedModule;
use ona_runtime::{Failure, Launch, OpenProject, at, ids};
use ona_store::HookTimes;
use serde_json::{Value, json};

/// Everything that is configured.
pub struct HookListing {
    pub hooks: Vec<ListedHook>,
    /// Hooks that skills and agents bring when they are used.
    pub on_demand: Vec<ListedHook>,
    /// Entries of settings that are not hooks: the entry, and why.
    pub rejected: Vec<(String, String)>,
    pub modules: Vec<ListedModule>,
}

/// One hook, with what is known of its runs.
pub struct ListedHook {
    pub ordinal: u32,
    pub event: EventName,
    pub matcher: String,
    pub condition: String,
    pub command: String,
    pub dialect: &'static str,
    pub source: String,
    /// Why it does not run.
    pub skipped: Option<&'static str>,
    pub timeout_ms: Option<u64>,
    pub fail_closed: bool,
    /// Whether its output can decide anything.
    pub decides: bool,
    pub runs: Option<RunTimes>,
}

/// How many runs are recorded, and how many milliseconds half and nearly all of them took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTimes {
    pub count: usize,
    pub p50_ms: f64,
    pub p95_ms: f64,
}

impl HookListing {
    /// Lists the hooks of one event, or of all; with the hooks that `session` was given.
    pub fn new(
        launch: &Launch,
        open: &OpenProject,
        bench: &HookBench,
        event: Option<EventName>,
        session: Option<&str>,
    ) -> Result<Self, Failure> {
        let failed = |error| launch.store_failure(error);
        let reader = open.store.reader().map_err(failed)?;
        if let Some(session) = session {
            let session = ids::session(launch, reader, session)?;
            let conversation = ids::conversation_of(launch, reader, &session)?;
            bench.runtime.registrar.enter(&at(&conversation, session.as_str())).map_err(failed)?;
        }
        let times = reader.hook_times().map_err(failed)?;
        let all_off = bench.runtime.host.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1");
        let wanted = |hook: &&Hook| event.is_none_or(|event| hook.event == event);
        let list = bench.engine.list();
        let listed = |hook: &Hook| ListedHook::new(hook, all_off, &times);
        let rejected = bench.sources().iter().flat_map(|source| &source.loaded.rejected);
        Ok(Self {
            hooks: list.iter().filter(wanted).map(listed).collect(),
            on_demand: bench.runtime.on_demand_hooks(launch, open)?.iter().filter(wanted).map(listed).collect(),
            rejected: rejected.map(|one| (one.entry.to_string(), one.why.to_string())).collect(),
            modules: bench.sources().iter().flat_map(|source| source.modules.iter().cloned()).collect(),
        })
    }

    pub fn to_json(&self) -> Value {
        let all = |hooks: &[ListedHook]| hooks.iter().map(ListedHook::to_json).collect::<Vec<_>>();
        let rejected: Vec<_> = self.rejected.iter().map(|(entry, why)| json!({"entry": entry, "why": why})).collect();
        let modules: Vec<_> = self.modules.iter().map(ListedModule::to_json).collect();
        json!({"hooks": all(&self.hooks), "rejected": rejected, "modules": modules, "on_demand": all(&self.on_demand)})
    }
}

impl ListedHook {
    fn new(hook: &Hook, all_off: bool, times: &[HookTimes]) -> Self {
        Self {
            ordinal: hook.ordinal.0,
            event: hook.event,
            matcher: hook.matcher.clone(),
            condition: hook.condition.clone(),
            command: hook.command().to_owned(),
            dialect: hook.dialect.name(),
            source: hook.source.to_string(),
            skipped: if all_off { Some("all_hooks_disabled") } else { hook.disabled.map(|skip| skip.as_str()) },
            timeout_ms: hook.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            fail_closed: hook.fail_closed,
            decides: !hook.detached,
            runs: run_times(hook, times),
        }
    }

    fn to_json(&self) -> Value {
        let mut described = json!({
            "ordinal": self.ordinal,
            "event": self.event.as_str(),
            "matcher": self.matcher,
            "if": self.condition,
            "command": self.command,
            "dialect": self.dialect,
            "source": self.source,
            "active": self.skipped.is_none(),
            "skipped": self.skipped,
            "timeout_ms": self.timeout_ms,
            "fail_closed": self.fail_closed,
            "decides": self.decides,
        });
        if let Some(runs) = self.runs {
            described["runs"] = json!({"count": runs.count, "p50_ms": runs.p50_ms, "p95_ms": runs.p95_ms});
        }
        described
    }
}

fn run_times(hook: &Hook, times: &[HookTimes]) -> Option<RunTimes> {
    // Rows have the command as its dialect records it.
    let command = hook.dialect.recorded(hook.command());
    let of = |one: &&HookTimes| one.event == hook.event.as_str() && one.command == command;
    let known = &times.iter().find(of)?.milliseconds;
    let at = |percent: usize| known[(known.len() * percent).div_ceil(100).clamp(1, known.len()) - 1];
    Some(RunTimes { count: known.len(), p50_ms: at(50), p95_ms: at(95) })
}
