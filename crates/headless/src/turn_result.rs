//! The message that ends a turn.

use super::messages::{Denial, ResultMessage, StreamMessage, Tokens};
use super::run_cost::RunCost;
use super::stream::stop_reason;
use super::translate::millis;
use ona_orchestration::{Activity, Model, TurnEnd, TurnEvent, TurnOutcome};
use std::time::{Duration, Instant};

/// What is counted while a turn runs, also for turns that are aborted.
pub(crate) struct TurnCounters {
    began: Instant,
    api: Duration,
    calls: u32,
    bill: RunCost,
    results: u32,
}

/// What a result repeats about the run.
pub(crate) struct ResultContext<'a> {
    pub conversation: &'a str,
    pub model: Option<&'a Model>,
}

impl TurnCounters {
    pub(crate) fn new(bill: RunCost) -> Self {
        Self { began: Instant::now(), api: Duration::ZERO, calls: 0, bill, results: 0 }
    }

    /// Begins a turn. Tokens are counted over the whole run.
    pub(crate) fn begin(&mut self) {
        (self.began, self.api, self.calls) = (Instant::now(), Duration::ZERO, 0);
    }

    pub(crate) fn count(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Requested { took } => self.api += *took,
            TurnEvent::Assistant { .. } => self.calls += 1,
            _ => {}
        }
    }

    pub(crate) fn result(&mut self, outcome: &TurnOutcome, setting: &ResultContext<'_>) -> StreamMessage {
        let told = ResultFields::of(outcome);
        let error = match &outcome.ended {
            TurnEnd::Failed(failure) | TurnEnd::Incomplete { failure, .. } => Some(failure),
            _ => None,
        };
        let (total_cost_usd, model_usage) = self.bill.add_turn(&outcome.spent, setting.model);
        let result = ResultMessage {
            subtype: told.subtype,
            is_error: told.is_error,
            duration_ms: millis(self.began.elapsed()),
            duration_api_ms: millis(self.api),
            num_turns: outcome.model_calls,
            result: told.text,
            errors: told.error.map(|error| vec![error]),
            stop_reason: outcome.stop.as_ref().map(|reason| stop_reason(reason).to_owned()),
            terminal_reason: told.terminal_reason,
            total_cost_usd,
            usage: Tokens::from(&outcome.usage),
            model_usage,
            permission_denials: outcome.denials.iter().map(Denial::from).collect(),
            error: error.map(|failure| failure.class.as_str()),
            api_error_status: error.and_then(|failure| failure.status),
            conversation_id: setting.conversation.to_owned(),
            result_index: self.results,
        };
        self.results += 1;
        StreamMessage::Result(Box::new(result))
    }

    /// The result of a run that was aborted because the database is full or gone.
    pub(crate) fn aborted(&mut self, why: String, setting: &ResultContext<'_>) -> StreamMessage {
        let outcome = TurnOutcome { model_calls: self.calls, ..TurnOutcome::nothing() };
        let mut message = self.result(&outcome, setting);
        if let StreamMessage::Result(result) = &mut message {
            result.subtype = "error_during_execution";
            result.is_error = true;
            result.terminal_reason = Some("turn_setup_failed");
            result.errors = Some(vec![why]);
        }
        message
    }
}

/// The end of a turn as clients of the reference expect it.
struct ResultFields {
    subtype: &'static str,
    is_error: bool,
    terminal_reason: Option<&'static str>,
    text: String,
    error: Option<String>,
}

impl ResultFields {
    fn of(outcome: &TurnOutcome) -> Self {
        let so_far = outcome.text.clone();
        let told = |subtype, is_error, terminal_reason, text, error: Option<&str>| Self {
            subtype,
            is_error,
            terminal_reason,
            text,
            error: error.map(str::to_owned),
        };
        match &outcome.ended {
            TurnEnd::Done => told("success", false, Some("completed"), so_far, None),
            TurnEnd::Stopped { .. } => told("success", false, Some("hook_stopped"), so_far, None),
            TurnEnd::Blocked { message } => told("success", true, None, message.clone(), None),
            TurnEnd::MaxTurns => told("error_max_turns", true, Some("max_turns"), so_far, Some(MAX_TURNS)),
            TurnEnd::NeverStopped { message } => {
                told("error_during_execution", true, Some("stop_hook_prevented"), so_far, Some(message))
            }
            TurnEnd::Failed(failure) => told("success", true, Some("api_error"), failure.message.clone(), None),
            TurnEnd::Incomplete { failure, text } => {
                let gap = if text.is_empty() { "" } else { "\n\n" };
                told("success", true, Some("api_error"), format!("{text}{gap}{}", failure.message), None)
            }
            TurnEnd::Interrupted(Activity::Asking) => {
                told("error_during_execution", true, Some("aborted_streaming"), so_far, Some(INTERRUPTED))
            }
            TurnEnd::Interrupted(Activity::Tools) => {
                told("error_during_execution", true, Some("aborted_tools"), so_far, Some(INTERRUPTED))
            }
        }
    }
}

const MAX_TURNS: &str = "the limit of --max-turns was reached";
const INTERRUPTED: &str = "interrupted";

/// What people read at the end of a turn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FinalWords {
    pub text: Option<String>,
    /// Why the text is missing or not whole.
    pub problem: Option<String>,
}

impl FinalWords {
    pub(crate) fn of(outcome: &TurnOutcome) -> Self {
        if let TurnEnd::Incomplete { failure, text } = &outcome.ended {
            let text = (!text.is_empty()).then(|| text.clone());
            return Self { text, problem: Some(failure.message.clone()) };
        }
        let told = ResultFields::of(outcome);
        match (told.is_error, told.error) {
            (false, _) => Self { text: Some(told.text), problem: None },
            (true, error) => Self { text: None, problem: Some(error.unwrap_or(told.text)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::model::{FailureClass, ModelFailure};
    use ona_transcript::Prices;

    #[test]
    fn every_end_has_its_words() {
        let failed = TurnEnd::Failed(ModelFailure {
            class: FailureClass::RateLimit,
            message: "slow down".into(),
            transient: true,
            retry_after: None,
            status: Some(429),
        });
        let failure = ModelFailure {
            class: FailureClass::Unknown,
            message: "it ended early".into(),
            transient: false,
            retry_after: None,
            status: None,
        };
        let incomplete = TurnEnd::Incomplete { failure, text: "half".into() };
        let words = FinalWords::of(&TurnOutcome { ended: incomplete.clone(), ..TurnOutcome::nothing() });
        assert_eq!((words.text.as_deref(), words.problem.as_deref()), (Some("half"), Some("it ended early")));
        let never = TurnEnd::NeverStopped { message: "Stop hooks blocked".into() };
        let ends = [
            (TurnEnd::Done, "success", false, Some("completed")),
            (TurnEnd::Stopped { reason: "r".into() }, "success", false, Some("hook_stopped")),
            (TurnEnd::Blocked { message: "no".into() }, "success", true, None),
            (TurnEnd::MaxTurns, "error_max_turns", true, Some("max_turns")),
            (never, "error_during_execution", true, Some("stop_hook_prevented")),
            (failed, "success", true, Some("api_error")),
            (incomplete, "success", true, Some("api_error")),
            (TurnEnd::Interrupted(Activity::Asking), "error_during_execution", true, Some("aborted_streaming")),
            (TurnEnd::Interrupted(Activity::Tools), "error_during_execution", true, Some("aborted_tools")),
        ];
        let setting = ResultContext { conversation: "c", model: None };
        let mut tally = TurnCounters::new(RunCost::new(
            Prices::with(&serde_json::Value::Null).0,
            ona_settings::ModelInfo::default(),
        ));
        for (index, (ended, subtype, is_error, reason)) in ends.into_iter().enumerate() {
            let StreamMessage::Result(result) =
                tally.result(&TurnOutcome { ended, ..TurnOutcome::nothing() }, &setting)
            else {
                unreachable!()
            };
            assert_eq!((result.subtype, result.is_error, result.terminal_reason), (subtype, is_error, reason));
            assert_eq!((result.errors.is_some(), result.result_index as usize), (subtype.starts_with("error"), index));
        }
    }
}
