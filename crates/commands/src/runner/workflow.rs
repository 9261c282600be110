//! Commands of the workflow: the phase, the tests of a plan, their approval (DEC-102, DEC-110 to DEC-114).
//!
//! What is allowed is decided in `ona-workflow`; the rows of a step come from `ona-test-runner`.

use super::answers::Said;
use super::{SessionObserver, SessionRunner};
use ona_api::Phase;
use ona_runtime::Failure;
use ona_runtime::plan_tests::{RunWatcher, Subject, chosen_cases, run_tests};
use ona_test_runner::{PhaseError, PlanSelector, RunProgress, change_phase, report};
use ona_workflow::TransitionRefused;
use ona_workflow::commands::PhaseCommand;
use std::fmt::Write as _;

impl SessionRunner<'_> {
    fn test_subject(&self) -> Result<Subject, Failure> {
        Subject::of(self.parts.launch, self.parts.open, self.session.place.conversation.clone())
    }

    /// `/phase`: what it means and where it can go; `/phase NAME` goes there.
    pub(super) async fn phase_command(&mut self, rest: &str) -> Said {
        match ona_workflow::commands::phase(rest) {
            Err(bad) => Ok(Err(bad.to_string())),
            Ok(PhaseCommand::Go(to)) => self.go_to_phase(to, None).await,
            Ok(PhaseCommand::Show) => {
                let steps = match self.phase_steps() {
                    Ok(steps) => steps,
                    Err(failure) => return Ok(Self::failed(&failure)),
                };
                let mut text = self.phase_in_words()?;
                if !self.has_person() {
                    for (to, why) in &steps {
                        match why {
                            None => writeln!(text, "\n- `/phase {}` goes there", to.as_str()),
                            Some(why) => writeln!(text, "\n- {}: {why}", to.as_str()),
                        }
                        .unwrap_or_default();
                    }
                    return Ok(Ok(text));
                }
                let mut options: Vec<(&str, &str)> =
                    steps.iter().map(|(to, why)| (to.as_str(), why.as_deref().unwrap_or(""))).collect();
                options.push(("Stay here", ""));
                match self.choose("Phase", text, &options).await.and_then(|at| steps.get(at).map(|(to, _)| *to)) {
                    Some(Phase::Done) => self.verify("").await,
                    Some(to) => self.go_to_phase(to, None).await,
                    None => Ok(Ok(String::new())),
                }
            }
        }
    }

    /// The other phases, and why the conversation cannot go there now.
    fn phase_steps(&self) -> Result<Vec<(Phase, Option<String>)>, Failure> {
        let subject = self.test_subject()?;
        let failed = |error| self.parts.launch.store_failure(error);
        let reader = self.parts.open.store.reader().map_err(failed)?;
        let here = reader.phase(&subject.id).map_err(failed)?.unwrap_or(Phase::Idle);
        let mut steps = Vec::new();
        for to in Phase::ALL.into_iter().filter(|to| *to != here) {
            match change_phase(reader, &subject.id, &subject.project, to, None) {
                // It is shown and asked about on the way.
                Ok(_) | Err(PhaseError::Refused(TransitionRefused::NotApproved)) => steps.push((to, None)),
                Err(PhaseError::Refused(TransitionRefused::NoSuchTransition { .. })) if to == Phase::Idle => {}
                Err(PhaseError::Refused(why)) => steps.push((to, Some(why.to_string()))),
                Err(PhaseError::Store(error)) => return Err(failed(error)),
                Err(error @ PhaseError::NoConversation(_)) => return Err(Failure::usage(error)),
            }
        }
        Ok(steps)
    }

    async fn go_to_phase(&mut self, to: Phase, approved: Option<&str>) -> Said {
        let launch = self.parts.launch;
        let changed = launch.operator_only("the phase").and_then(|()| self.test_subject()).and_then(|subject| {
            let reader = self.parts.open.store.reader().map_err(|error| launch.store_failure(error))?;
            change_phase(reader, &subject.id, &subject.project, to, approved).map_err(|error| match error {
                PhaseError::Refused(TransitionRefused::NotApproved) => {
                    Failure::refused("done needs your approval of the test report").hint("/verify shows it and asks")
                }
                PhaseError::Refused(refusal) => Failure::refused(refusal),
                PhaseError::Store(error) => launch.store_failure(error),
                PhaseError::NoConversation(_) => Failure::usage(error),
            })
        });
        let change = match changed {
            Ok(change) => change,
            Err(failure) => return Ok(Self::failed(&failure)),
        };
        self.parts.open.store.commit(&self.session.place, change.rows).await?;
        match to {
            Phase::Planning => {
                self.session.rules.write().unwrap_or_else(std::sync::PoisonError::into_inner).begin_planning();
            }
            _ => self.session.follow_phase(&self.parts.open.store)?,
        }
        let mut text = format!("The phase is **{}** now; it was {}.", to.as_str(), change.from.as_str());
        if let Some(note) = change.note {
            write!(text, "\n\n{note}").unwrap_or_default();
        }
        if to == Phase::Test {
            text.push_str("\n\n`/tests run` runs the tests of the plan; `ona test generate` has missing ones written.");
        }
        Ok(Ok(text))
    }

    /// `/tests`: what the tests found; `/tests run [CASE...]` runs them first.
    pub(super) async fn tests(&mut self, rest: &str) -> Said {
        let mut words = rest.split_whitespace();
        match words.next() {
            None => {}
            Some("run") => {
                let ids: Vec<String> = words.map(str::to_owned).collect();
                if let Err(failure) = self.run_tests(&ids).await {
                    return Ok(Self::failed(&failure));
                }
            }
            Some(other) => return Ok(Err(format!("/tests does not know {other}; /tests run runs them"))),
        }
        let said = self.test_subject().and_then(|subject| {
            let tests = subject.tests(self.parts.launch, self.parts.open, PlanSelector::Reported)?;
            Ok(ona_workflow::commands::tests(&tests.record))
        });
        Ok(match said {
            Ok(lines) => Ok(format!("```\n{}\n```", lines.join("\n"))),
            Err(failure) => Self::failed(&failure),
        })
    }

    async fn run_tests(&self, ids: &[String]) -> Result<(), Failure> {
        let (launch, open) = (self.parts.launch, self.parts.open);
        launch.operator_only("test results")?;
        let subject = self.test_subject()?;
        let tests = subject.tests(launch, open, PlanSelector::Approved)?;
        let cases = chosen_cases(&tests, ids)?;
        if cases.is_empty() {
            return Err(Failure::refused("no tests to run").hint("ona test add FILE, or ona test generate"));
        }
        let watcher = Notes(std::sync::Arc::clone(&self.parts.observer));
        let ended = run_tests(launch, open, &subject, &tests, &cases, watcher, &self.session.cx.cancel).await?;
        if ended.project_changed {
            self.parts.observer.note("Files of the project changed while the tests ran, so the results do not count.");
        }
        Ok(())
    }

    /// `/verify`: shows the report and asks whether it is approved (DEC-114).
    pub(super) async fn verify(&mut self, rest: &str) -> Said {
        let launch = self.parts.launch;
        let approve = match rest {
            "" => false,
            "approve" => true,
            other => return Ok(Err(format!("/verify does not know {other}; /verify approve approves the report"))),
        };
        let shown = self.test_subject().and_then(|subject| {
            let reader = self.parts.open.store.reader().map_err(|error| launch.store_failure(error))?;
            report(reader, &subject.id, &subject.project, PlanSelector::Reported)
                .map_err(|error| launch.store_failure(error))
        });
        let shown = match shown {
            Ok(Some(shown)) => shown,
            Ok(None) => return Ok(Err("This conversation has no approved plan that tests could trace.".to_owned())),
            Err(failure) => return Ok(Self::failed(&failure)),
        };
        let text = format!("```\n{}\n```", shown.text().trim_end());
        let (to, title, yes) = match self.phase()? {
            Phase::Test => (Phase::Verify, "Go on to the phase verify?", "Yes, go to verify"),
            Phase::Verify => (Phase::Done, "Approve this report?", "Yes, the plan is done"),
            _ => return Ok(Ok(text)),
        };
        if !approve {
            if !self.has_person() {
                return Ok(Ok(format!("{text}\n\n`/verify approve` goes on to the phase {}.", to.as_str())));
            }
            if self.choose(title, text.clone(), &[(yes, ""), ("No, stay here", "")]).await != Some(0) {
                return Ok(Ok(String::new()));
            }
        }
        let sha256 = shown.sha256();
        let approved = (to == Phase::Done).then_some(sha256.as_str());
        self.go_to_phase(to, approved).await
    }

    fn phase_in_words(&self) -> Result<String, ona_runtime::session_start::SessionError> {
        let phase = self.phase()?;
        let means = match phase {
            Phase::Idle => "no plan is being worked on",
            Phase::Planning => "changes are closed until a plan is approved",
            Phase::Implement => "the approved plan is being implemented",
            Phase::Test => "the tests of the plan are written and run",
            Phase::Verify => "results are compared with the plan",
            Phase::Done => "the plan is done",
        };
        Ok(format!("The phase is **{}**: {means}.", phase.as_str()))
    }
}

/// Says how a run goes.
struct Notes(std::sync::Arc<dyn SessionObserver>);

impl RunWatcher for Notes {
    fn show(&mut self, progress: &RunProgress<'_>) {
        match progress {
            RunProgress::Begins { cases, .. } => self.0.note(&format!("Running {cases} tests.")),
            RunProgress::Started { .. } => {}
            RunProgress::Finished { case, run, .. } => {
                let result = if run.exit_code == Some(0) { "passed" } else { "failed" };
                self.0.note(&format!("{result}: {} {}", case.id, case.title));
            }
        }
    }

    fn tick(&mut self) {}

    fn end(&mut self) {}
}
