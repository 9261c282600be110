//! What background tasks mean for a run: their ends are answered by the model, and a run that has
//! no more prompts waits for them, but not for ever.
//!
//! A run with a single prompt has one result, so it waits before it prints it. A driven run has
//! printed the result of its prompt; what tasks lead to later is a turn with a result of its own.
//! What the model is told is written in `orchestration/task_ends`.

use crate::input_queue::InputQueue;
use crate::run::Run;
use crate::translate::informational;
use crate::{messages::Level, turn_result::ResultContext};
use ona_commands::SessionRunner;
use ona_orchestration::{TurnEnd, TurnOutcome, UserPrompt};
use ona_store::StoreError;
use ona_tools::TaskKind;
use std::time::Duration;
use tokio::time::Instant;

/// How often files are looked at while no turn runs.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// How long a run without further prompts waits for agents.
const AGENTS: Duration = Duration::from_secs(600);

/// The same for commands: many of them are servers that never end.
const COMMANDS: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// The rest of the only turn there is: its result is about everything.
    pub(crate) async fn answer_task_ends(
        &self,
        runner: &mut SessionRunner<'_>,
        queue: &mut InputQueue,
        outcome: &mut TurnOutcome,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        while outcome.ended == TurnEnd::Done && self.task_ends_by(runner, began, queue).await {
            let more = queue.serve_while(runner.go_on()).await?;
            outcome.include(more);
        }
        // The result is the last message of a stream.
        self.report_left_running(runner, true);
        Ok(())
    }

    /// Returns the next prompt of the driving program. Tasks that end before it comes are answered
    /// with turns of their own, and hooks are notified of files that other programs change.
    pub(crate) async fn next_prompt(
        &self,
        runner: &mut SessionRunner<'_>,
        queue: &mut InputQueue,
    ) -> Result<Option<UserPrompt>, StoreError> {
        let mut over: Option<Instant> = None;
        loop {
            let ended = match over {
                Some(since) => self.task_ends_by(runner, since, queue).await,
                None => tokio::select! {
                    biased;
                    prompt = queue.next() => match prompt {
                        Some(prompt) => return Ok(Some(prompt)),
                        None => {
                            over = Some(Instant::now());
                            continue;
                        }
                    },
                    () = runner.parts.runtime.tasks.until_unknown_end() => true,
                    () = tokio::time::sleep(runner.next_look(IDLE_LOOK)) => {
                        queue.serve_while(runner.look_at_files()).await?;
                        continue;
                    }
                },
            };
            if !ended {
                return Ok(None);
            }
            self.event_printer.begin();
            let outcome = queue.serve_while(runner.go_on()).await?;
            if outcome.model_calls > 0 || outcome.ended != TurnEnd::Done {
                let model = runner.turn().map(|turn| turn.current_model.model());
                let conversation = &runner.session.place.conversation.0;
                self.event_printer.result(&outcome, &ResultContext { conversation, model: model.as_deref() });
            }
        }
    }

    /// Waits for a task to end that the model does not know of. Returns `false` if none runs, the
    /// program is to end, or the run has waited long enough since then.
    async fn task_ends_by(&self, runner: &SessionRunner<'_>, since: Instant, queue: &mut InputQueue) -> bool {
        let tasks = &runner.parts.runtime.tasks;
        let waiting = tasks.unknown();
        let Some(limit) = waiting.iter().map(|kind| limit(*kind)).max() else { return false };
        let ended = async {
            tokio::select! {
                biased;
                () = tasks.until_unknown_end() => true,
                () = runner.parts.cancellation.program().cancelled() => false,
                () = tokio::time::sleep_until(since + limit) => false,
            }
        };
        queue.serve_while(ended).await
    }

    /// Says which tasks the end of the run stops. `in_stream`: programs still read.
    pub(crate) fn report_left_running(&self, runner: &SessionRunner<'_>, in_stream: bool) {
        let running = runner.parts.runtime.tasks.running();
        if running.is_empty() {
            return;
        }
        let named: Vec<_> = running.iter().map(|task| format!("{} ({})", task.id, task.title)).collect();
        let text = format!("Background tasks were still running at the end and were stopped: {}.", named.join(", "));
        self.event_printer.printer.note(&format!("ona: {text}"));
        if in_stream {
            self.event_printer.send(&informational(text, Level::Warning));
        }
    }
}

fn limit(kind: TaskKind) -> Duration {
    match kind {
        TaskKind::Agent => AGENTS,
        TaskKind::Bash => COMMANDS,
    }
}
