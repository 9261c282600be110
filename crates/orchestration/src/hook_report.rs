//! What the hooks of one event made of a call, in the few words a screen has room for.
//!
//! The rows have everything; this is for showing.

use ona_api::row::HookRun;
use ona_api::{EventName, Ruling};
use ona_hookplane::HookOutcome;
use std::time::Duration;

/// The hooks of one event of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReport {
    pub event: EventName,
    /// How many ran; those that were skipped are not counted.
    pub ran: usize,
    pub took: Duration,
    /// Why it was denied or blocked.
    pub denied: Vec<String>,
    /// Why a person has to be asked.
    pub asked: Vec<String>,
    /// How many changed the input or the result, or added text.
    pub changed: usize,
    /// What went wrong with hooks that could not do their work.
    pub failed: Vec<String>,
}

impl HookReport {
    /// Returns `None` if no hook ran.
    pub(crate) fn of(event: EventName, outcome: &HookOutcome) -> Option<HookReport> {
        let ran: Vec<&HookRun> = outcome.runs.iter().filter(|run| run.skipped.is_none()).collect();
        let mut report = HookReport {
            event,
            ran: ran.len(),
            took: ran.iter().map(|run| took(run)).sum(),
            denied: outcome.blocks.iter().map(|(_, why)| why.clone()).collect(),
            asked: Vec::new(),
            changed: usize::from(outcome.input.is_some())
                + usize::from(outcome.result.is_some())
                + outcome.injected.len()
                + outcome.context.len(),
            failed: ran.iter().filter_map(|run| failure(run)).collect(),
        };
        match &outcome.ruling {
            Some((Ruling::Deny, _, why)) if report.denied.is_empty() => report.denied.push(why.clone()),
            Some((Ruling::Ask, _, why)) => report.asked.push(why.clone()),
            _ => {}
        }
        (report.ran > 0).then_some(report)
    }
}

/// Exit code 2 is an answer; everything else but 0 is a failure.
fn failure(run: &HookRun) -> Option<String> {
    let first = run.stderr.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    match run.exit_code {
        Some(0 | 2) => None,
        Some(code) => Some(first.map_or_else(|| format!("exit code {code}"), str::to_owned)),
        None => Some(first.unwrap_or("it did not end by itself").to_owned()),
    }
}

/// The time between the two stamps of a row, which have milliseconds and are less than a day apart.
fn took(run: &HookRun) -> Duration {
    let end = run.completed_at.as_deref().and_then(of_day);
    let (Some(start), Some(end)) = (of_day(&run.started_at), end) else { return Duration::ZERO };
    const DAY: u64 = 86_400_000;
    Duration::from_millis((end + DAY - start) % DAY)
}

/// Milliseconds of the day in `2026-01-02T03:04:05.678Z`.
fn of_day(stamp: &str) -> Option<u64> {
    let time = stamp.split_once('T')?.1.trim_end_matches('Z');
    let (clock, millis) = time.split_once('.').unwrap_or((time, "0"));
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<u64>().ok()?;
    }
    Some(seconds * 1_000 + millis.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::Ordinal;
    use ona_api::row::SkipReason;

    fn run(exit_code: Option<i32>, stderr: &str, times: (&str, &str), skipped: Option<SkipReason>) -> HookRun {
        HookRun {
            event: EventName::PreToolUse,
            ordinal: Ordinal(1),
            matcher: String::new(),
            command: "guard".into(),
            call: None,
            tool: None,
            input_json: String::new(),
            exit_code,
            stdout: None,
            stderr: Some(stderr.into()),
            started_at: times.0.into(),
            completed_at: Some(times.1.into()),
            skipped,
        }
    }

    #[test]
    fn a_report_counts_what_ran_and_says_what_was_decided() {
        let at = ("2026-01-02T23:59:59.990Z", "2026-01-03T00:00:00.002Z");
        let outcome = HookOutcome {
            runs: vec![
                run(Some(0), "", at, None),
                run(Some(2), "no force push", at, None),
                run(Some(1), "\nboom\nmore", at, None),
                run(None, "", at, Some(SkipReason::PriorBlockOrDeny)),
            ],
            blocks: vec![(Ordinal(2), "no force push".into())],
            ..HookOutcome::default()
        };
        let report = HookReport::of(EventName::PreToolUse, &outcome).unwrap();
        assert_eq!((report.ran, report.took), (3, Duration::from_millis(36)));
        assert_eq!((report.denied, report.failed), (vec!["no force push".to_owned()], vec!["boom".to_owned()]));
        assert_eq!(HookReport::of(EventName::PreToolUse, &HookOutcome::default()), None);
    }

    #[test]
    fn a_ruling_that_is_not_an_exit_code_counts() {
        let at = ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05.007Z");
        for (ruling, denied, asked) in [(Ruling::Deny, 1, 0), (Ruling::Ask, 0, 1), (Ruling::Allow, 0, 0)] {
            let outcome = HookOutcome {
                runs: vec![run(Some(0), "", at, None)],
                ruling: Some((ruling, Ordinal(1), "because".into())),
                ..HookOutcome::default()
            };
            let report = HookReport::of(EventName::PreToolUse, &outcome).unwrap();
            assert_eq!((report.denied.len(), report.asked.len()), (denied, asked), "{ruling:?}");
        }
    }
}
