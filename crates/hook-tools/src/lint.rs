//! What is wrong with hooks: guards that do not work, and hooks that load and yet cannot do what
//! they were written for (`ona hooks lint`).

use crate::bench::HookBench;
use ona_dialects::lint::{self, MatcherReach};
use ona_hookplane::Hook;
use ona_runtime::guards::{self, Finding, ProgramContext};
use ona_runtime::{Launch, OpenProject};
use std::time::Duration;

/// Longer than this, and the agent seems to hang.
const LONG: Duration = Duration::from_secs(60);

/// What is wrong with the effective hooks, or with those of another configuration.
pub async fn lint_findings(launch: &Launch, open: &OpenProject, bench: &HookBench, other: bool) -> Vec<Finding> {
    let list = bench.engine.list();
    let hooks: Vec<_> = list.iter().collect();
    let context = ProgramContext::of(launch, &bench.runtime);
    let mut findings: Vec<_> = match other {
        // What is wrong with matchers and fields is said below, of every hook.
        false => {
            let below = ["idle-matcher", guards::SLIP, guards::UNKNOWN_FIELD];
            let all = guards::findings(launch, open, &bench.runtime);
            all.into_iter().filter(|one| !below.contains(&one.rule)).collect()
        }
        true => bench.sources().iter().flat_map(|source| &source.loaded.rejected).map(guards::of_rejected).collect(),
    };
    let unknown = bench.sources().iter().flat_map(|source| &source.loaded.unknown);
    findings.extend(unknown.map(guards::of_field));
    let gastown = bench.runtime.settings.gastown_mode;
    for (index, hook) in hooks.iter().enumerate() {
        findings.extend(judged(hook, &hooks[..index], gastown));
        // The list above leaves out hooks that are switched off; their authors still want to know.
        if other || hook.disabled.is_some() {
            findings.extend(guards::of_hook(hook, &context).into_iter().filter(|one| one.rule != guards::SLIP));
        }
    }
    findings.extend(guards::tried(&bench.runtime, hooks).await);
    findings
}

/// Hooks that start and yet do not do what they were written for.
fn judged(hook: &Hook, before: &[&Hook], gastown: bool) -> Vec<Finding> {
    let found = |rule, message: String| Finding::of_hook(rule, hook, message);
    let reach = MatcherReach::of(hook);
    let mut findings = Vec::new();
    if lint::is_a_rule(&hook.matcher) {
        // In gastown mode it is tried as that rule (DEC-044).
        findings.extend((!gastown).then(|| {
            found("rule-as-matcher", "a matcher is tried on the tool's name alone; move the rule to \"if\"".into())
        }));
    } else if reach.is_nowhere() {
        let plain = || format!("the matcher {:?} fits nothing this event can have", hook.matcher);
        findings.push(found(guards::SLIP, reach.likely_typo().unwrap_or_else(plain)));
    }
    let twin = |other: &&&Hook| {
        other.event == hook.event
            && other.action == hook.action
            && other.condition == hook.condition
            && other.dialect.name() == hook.dialect.name()
            && MatcherReach::of(other).covers(&reach)
    };
    if let Some(other) = before.iter().find(twin) {
        findings
            .push(found("shadowed", format!("hook {} already does the same wherever this one matches", other.ordinal)));
    }
    if let Some(timeout) = hook.timeout.filter(|timeout| *timeout > LONG) {
        findings.push(found(
            "long-timeout",
            format!("the agent may stand still for {} s while this runs", timeout.as_secs()),
        ));
    }
    findings
}
