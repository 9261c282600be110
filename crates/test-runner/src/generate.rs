//! Asks a model for tests, in separate sessions that know nothing but the prompt
//! (section 8.5.1, DEC-123).
//!
//! Every request is a new session with one user message, no tool and no hook. What is
//! written about the answers is written at the end, in one commit: a provider that fails
//! half way leaves the sessions as a record and no case.

use ona_api::model::{FailureClass, ModelFailure, Part, RequestParams};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::testing::{CaseStatus, Criterion, TestCase};
use ona_api::{
    ConversationId, Env, GeneratedTests, Group, LoggedEvent, Redactor, Row, SessionId, SessionOrigin, digest,
};
use ona_hookplane::{HookEngine, HookEnvironment, HookList, ProcessRunner, Timeouts};
use ona_orchestration::{
    CurrentModel, Events, History, Model, Operator, Pipeline, Profile, PromptSource, Session, Turn, TurnEnd, TurnEvent,
    builtin_tools,
};
use ona_store::{Store, StoreError, StoredPlan};
use ona_workflow::testgen::generate::{
    AGAIN, AGENT_TYPE, AT_ONCE, GeneratorPrompt, Leak, PublicText, Rejection, SYSTEM, TouchedSource, leak, prompt,
    scripts,
};
use ona_workflow::testgen::lint::{self, LintContext, LintRule};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// What to write tests for, and everything the generator may know.
pub struct GenerationRequest {
    pub conversation: ConversationId,
    pub plan: StoredPlan,
    pub criteria: Vec<Criterion>,
    /// Ids of the criteria that need a test.
    pub wanted: Vec<String>,
    pub contract: String,
    pub entry_points: Vec<String>,
    pub public: Vec<PublicText>,
    /// Paths of what the implementation touched, for the lint.
    pub touched: Vec<String>,
    /// The same with what is in them, for the last look before sending.
    pub sources: Vec<TouchedSource>,
    /// Ids of the cases that were accepted before.
    pub accepted: Vec<String>,
    /// Generated cases that a new one for the same criterion takes the place of.
    pub replaced: Vec<TestCase>,
    /// Rows that belong to the result.
    pub along: Group,
}

/// Everything the generator needs to ask the model.
pub struct TestGenerator {
    pub store: Arc<Store>,
    pub model: Arc<Model>,
    pub operator: Arc<dyn Operator>,
    pub redactor: Redactor,
    pub project: PathBuf,
    pub max_tokens: u32,
    pub cancel: CancellationToken,
    pub watch: GenerationWatcher,
}

/// Creates an empty session.
pub type NewSession<'a> = dyn FnMut(SessionKey) -> Result<Session, StoreError> + 'a;

pub type GenerationWatcher = Arc<dyn Fn(GenerationEvent) + Send + Sync>;

/// Reported while it runs.
#[derive(Clone, Debug)]
pub enum GenerationEvent {
    Asking { criteria: Vec<String>, attempt: usize },
    Accepted { criterion: String, title: String },
    Rejected { criterion: Option<String>, title: String, rules: Vec<LintRule> },
    Missing { criterion: String },
    Retrying { failure: ModelFailure },
}

/// The result. Everything in it is committed.
#[derive(Debug, Default)]
pub struct GenerationResult {
    pub accepted: Vec<TestCase>,
    pub rejected: Vec<TestCase>,
    pub sessions: Vec<SessionId>,
}

#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("nothing was sent: {piece} holds line {} of {}, which the implementation touched", .leak.line, .leak.path)]
    Isolation { piece: String, leak: Leak },
    #[error("no tests were written: {0}")]
    Model(ModelFailure),
    #[error("interrupted")]
    Interrupted,
}

pub async fn generate(
    generator: &TestGenerator,
    request: &GenerationRequest,
    new_session: &mut NewSession<'_>,
) -> Result<GenerationResult, GenerationError> {
    let mut generation =
        Generation { generator, request, written: GenerationResult::default(), rows: request.along.clone() };
    for batch in request.wanted.chunks(AT_ONCE) {
        generation.generate_batch(batch, new_session).await?;
    }
    let Generation { mut written, mut rows, .. } = generation;
    // A script has one id: what was accepted once is not made a rejected one by being repeated
    // where it was not asked for.
    let accepted: HashSet<String> = written.accepted.iter().map(|case| case.id.clone()).collect();
    written.rejected.retain(|case| !accepted.contains(&case.id));
    let covered = |criterion: &Option<String>| written.accepted.iter().any(|case| case.criterion == *criterion);
    for old in request.replaced.iter().filter(|old| covered(&old.criterion)) {
        rows.push(Row::TestCaseStatus { id: old.id.clone(), to: CaseStatus::Retired });
    }
    rows.0.extend(written.accepted.iter().chain(&written.rejected).cloned().map(Row::TestCase));
    generator.store.commit(&conversation_key(&request.conversation), rows).await?;
    Ok(written)
}

fn conversation_key(conversation: &ConversationId) -> SessionKey {
    SessionKey { conversation: conversation.clone(), session: "".into(), start: SequenceStart::Zero }
}

/// The work on one assignment.
struct Generation<'a> {
    generator: &'a TestGenerator,
    request: &'a GenerationRequest,
    written: GenerationResult,
    rows: Group,
}

impl Generation<'_> {
    /// Asks for tests of these criteria until each has one, or the attempts are used up.
    async fn generate_batch(
        &mut self,
        batch: &[String],
        new_session: &mut NewSession<'_>,
    ) -> Result<(), GenerationError> {
        let mut open = batch.to_vec();
        let mut reasons: Vec<Rejection> = Vec::new();
        for attempt in 0..=AGAIN {
            self.notify(GenerationEvent::Asking { criteria: open.clone(), attempt: attempt + 1 });
            let made = self.prompt(&open, &reasons);
            let text = self.generator.redactor.apply(&made.text).into_owned();
            self.check_isolation(&text, &made).await?;
            let (session, answer) =
                self.generator.request_answer(&self.request.conversation, &text, new_session).await?;
            let (accepted, rejected) = self.judge(&answer, &open, &session);

            reasons = reasons_for(&open, &accepted, &rejected);
            for missing in reasons.iter().filter(|reason| reason.rules.is_empty()) {
                self.notify(GenerationEvent::Missing { criterion: missing.criterion.clone() });
            }
            self.record(&session, attempt, &made, &text, &open, &accepted, &rejected);
            self.written.sessions.push(session);
            self.written.accepted.extend(accepted);
            open = reasons.iter().map(|reason| reason.criterion.clone()).collect();
            let last = open.is_empty() || attempt == AGAIN;
            if last {
                self.written.rejected.extend(rejected.into_iter().map(|(case, _)| case));
                break;
            }
        }
        Ok(())
    }

    fn prompt(&self, open: &[String], reasons: &[Rejection]) -> GeneratorPrompt {
        let GenerationRequest { contract, plan, criteria, entry_points, public, .. } = self.request;
        let wanted: Vec<&str> = open.iter().map(String::as_str).collect();
        prompt(contract, &plan.content, criteria, &wanted, entry_points, public, reasons)
    }

    /// The last isolation check before the prompt is sent.
    async fn check_isolation(&self, text: &str, made: &GeneratorPrompt) -> Result<(), GenerationError> {
        let sources = &self.request.sources;
        let Some(leak) = leak(text, &made.known, sources) else { return Ok(()) };
        let holds =
            |piece: &&PublicText| ona_workflow::testgen::generate::leak(&piece.text, &made.known, sources).is_some();
        let piece = self.request.public.iter().find(holds).map_or("the prompt".to_owned(), |piece| piece.name.clone());
        let mut group = Group::default();
        group.log(LoggedEvent::IsolationViolation {
            plan: self.request.plan.id,
            input: piece.clone(),
            path: leak.path.clone(),
            line: leak.line,
        });
        self.generator.store.commit(&conversation_key(&self.request.conversation), group).await?;
        Err(GenerationError::Isolation { piece, leak })
    }

    /// Judges every script of an answer and returns them as cases.
    fn judge(
        &self,
        answer: &str,
        open: &[String],
        session: &SessionId,
    ) -> (Vec<TestCase>, Vec<(TestCase, Vec<LintRule>)>) {
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        let context = LintContext { entry_points: &self.request.entry_points, touched: &self.request.touched };
        for script in scripts(answer).scripts {
            let lint::LintReport { findings, surfaces } = lint::examine(script.as_bytes(), &context);
            let header = lint::header(&script);
            let traced = header.as_ref().map(|header| &header.traces).filter(|id| open.contains(id));
            let mut rules: Vec<LintRule> = findings.iter().map(|finding| finding.rule).collect();
            let mut why: Vec<String> =
                findings.iter().map(|one| format!("line {}: {} {}", one.line, one.rule, one.message)).collect();
            if traced.is_none() && !rules.contains(&LintRule::L01) {
                rules.insert(0, LintRule::L01);
                why.insert(0, "L01 it names no criterion that was asked for".to_owned());
            }
            rules.sort();
            rules.dedup();
            let title = header.as_ref().map_or("(no title)".to_owned(), |header| header.title.clone());
            let name = format!("{}\0{}\0{script}", self.request.conversation, self.request.plan.id);
            let case = TestCase {
                id: format!("T-{}", &digest::sha256_hex(name.as_bytes())[..10]),
                plan: self.request.plan.id,
                criterion: traced.cloned(),
                title,
                script,
                surfaces: surfaces.iter().map(|surface| surface.as_str()).collect(),
                status: if rules.is_empty() { CaseStatus::Accepted } else { CaseStatus::Rejected },
                reject_reason: (!why.is_empty()).then(|| why.join("\n")),
                generator_session: Some(session.to_string()),
            };
            if !rules.is_empty() && self.is_accepted(&case.id, &accepted) {
                continue;
            }
            if rules.is_empty() {
                let criterion = case.criterion.clone().unwrap_or_default();
                self.notify(GenerationEvent::Accepted { criterion, title: case.title.clone() });
                accepted.push(case);
            } else {
                let (criterion, title) = (case.criterion.clone(), case.title.clone());
                self.notify(GenerationEvent::Rejected { criterion, title, rules: rules.clone() });
                rejected.push((case, rules));
            }
        }
        (accepted, rejected)
    }

    /// Returns whether a script was accepted before: in this answer, in this run or in an earlier one.
    fn is_accepted(&self, id: &String, in_answer: &[TestCase]) -> bool {
        let is_it = |case: &TestCase| case.id == *id;
        in_answer.iter().any(is_it) || self.written.accepted.iter().any(is_it) || self.request.accepted.contains(id)
    }

    #[expect(clippy::too_many_arguments, reason = "the whole result of one request, in one event")]
    fn record(
        &mut self,
        session: &SessionId,
        attempt: usize,
        made: &GeneratorPrompt,
        text: &str,
        open: &[String],
        accepted: &[TestCase],
        rejected: &[(TestCase, Vec<LintRule>)],
    ) {
        let mut inputs: Map<String, Value> =
            made.inputs.iter().map(|(name, sha256)| (name.clone(), sha256.clone().into())).collect();
        inputs.insert("system".into(), digest::sha256_hex(SYSTEM.as_bytes()).into());
        self.rows.log(LoggedEvent::TestGenerated(GeneratedTests {
            by: AGENT_TYPE,
            session: session.clone(),
            plan: self.request.plan.id,
            criteria: open.to_vec(),
            attempt: attempt + 1,
            inputs,
            prompt_sha256: digest::sha256_hex(text.as_bytes()),
            accepted: accepted.iter().map(|case| case.id.clone()).collect(),
            rejected: rejected.iter().map(|(case, _)| case.id.clone()).collect(),
        }));
        for (case, rules) in rejected {
            self.rows.log(LoggedEvent::TestRejected {
                case: case.id.clone(),
                session: session.clone(),
                plan: case.plan,
                criterion: case.criterion.clone(),
                attempt: attempt + 1,
                rules: rules.iter().map(ToString::to_string).collect(),
                script_sha256: digest::sha256_hex(case.script.as_bytes()),
            });
        }
    }

    fn notify(&self, what: GenerationEvent) {
        (self.generator.watch)(what);
    }
}

/// Returns which criteria to ask for again, and why: those with a rejected case, and those with none at all.
fn reasons_for(open: &[String], accepted: &[TestCase], rejected: &[(TestCase, Vec<LintRule>)]) -> Vec<Rejection> {
    let of = |id: &String| {
        let mut rules: Vec<LintRule> = rejected
            .iter()
            .filter(|(case, _)| case.criterion.as_ref() == Some(id))
            .flat_map(|(_, rules)| rules.iter().copied())
            .collect();
        rules.sort();
        rules.dedup();
        let covered = accepted.iter().any(|case| case.criterion.as_ref() == Some(id));
        (!rules.is_empty() || !covered).then(|| Rejection { criterion: id.clone(), rules })
    };
    open.iter().filter_map(of).collect()
}

impl TestGenerator {
    /// Sends one message in a session of its own and returns the answer's text.
    async fn request_answer(
        &self,
        conversation: &ConversationId,
        text: &str,
        new_session: &mut NewSession<'_>,
    ) -> Result<(SessionId, String), GenerationError> {
        let id = SessionId::random();
        let place = SessionKey { conversation: conversation.clone(), session: id.clone(), start: SequenceStart::Zero };
        let mut opening = Group::default();
        opening.push(Row::Session);
        opening.log(LoggedEvent::SessionCreated(SessionOrigin::TestGeneration { agent_type: AGENT_TYPE }));
        self.store.commit(&place, opening).await?;
        let mut session = new_session(place)?;
        session.agent_id = Some(id.to_string());
        session.agent_type = Some(AGENT_TYPE.to_owned());

        let answer = Arc::new(Mutex::new(String::new()));
        let turn = Turn {
            pipeline: self.bare_pipeline(),
            current_model: CurrentModel::new(Arc::clone(&self.model)),
            asking: RequestParams {
                model: self.model.choice.wire_model.clone(),
                system: SYSTEM.to_owned(),
                tools: Vec::new(),
                max_tokens: self.max_tokens,
            },
            prompt_source: PromptSource::Agent(Box::new(session.base())),
            events: listen(&answer, &self.watch),
            cancel: self.cancel.clone(),
            max_turns: Some(1),
            waiting: None,
        };
        let mut history = History::load(&self.store, &id, self.model.wire())?;
        let outcome = turn.run(&mut session, &mut history, text).await?;
        match outcome.ended {
            TurnEnd::Interrupted(_) => return Err(GenerationError::Interrupted),
            // What is whole in an answer that was cut off counts; the rest is asked for again.
            TurnEnd::Incomplete { failure, .. } if failure.class == FailureClass::MaxOutputTokens => {}
            TurnEnd::Failed(failure) | TurnEnd::Incomplete { failure, .. } => {
                return Err(GenerationError::Model(failure));
            }
            TurnEnd::Done
            | TurnEnd::MaxTurns
            | TurnEnd::NeverStopped { .. }
            | TurnEnd::Stopped { .. }
            | TurnEnd::Blocked { .. } => {}
        }
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((id, answer))
    }

    /// No tool to look around with, no hook to bring in what it knows.
    fn bare_pipeline(&self) -> Pipeline {
        let timeouts = Timeouts::from_env(&Env::default()).0;
        let environment = HookEnvironment::new(Env::default(), self.project.clone(), timeouts);
        let runner = Arc::new(ProcessRunner::new(environment.clone(), self.cancel.clone()));
        let hooks = HookEngine::new(HookList::default(), environment, runner, self.redactor.clone());
        Pipeline::new(&self.store, builtin_tools(Profile::TestGenerator), &Arc::new(hooks), &self.operator)
    }
}

/// Keeps the text of replies and passes on that a request is repeated.
fn listen(answer: &Arc<Mutex<String>>, watch: &GenerationWatcher) -> Events {
    let (answer, watch) = (Arc::clone(answer), Arc::clone(watch));
    Arc::new(move |event| match event {
        TurnEvent::Assistant { parts, .. } => {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
            for part in parts {
                if let Part::Text(text) = part {
                    answer.push_str(&text);
                    answer.push('\n');
                }
            }
        }
        TurnEvent::Retrying { failure, .. } => watch(GenerationEvent::Retrying { failure }),
        // The rest is about tools, tasks and waiting, of which this session has none.
        _ => {}
    })
}
