//! The loop: which hooks run, in which order, with which input.

use crate::cause;
use crate::contract::{self, Contract, ExitTwo};
use crate::dialect::{FailureEffect, HookOutput, LogEntry, OnTimeout};
use crate::environment::HookEnvironment;
use crate::firing::{Base, Firing};
use crate::hook::{Hook, HookAction, SessionRegistration};
use crate::list::HookList;
use crate::outcome::HookOutcome;
use crate::pins::{ConfirmScriptChange, FilesOf, Pins, ScriptChange};
use crate::runner::{Exit, HookExecution, Runner};
use ona_api::{EventKind, EventName, HookRun, Ordinal, Redactor, Ruling, SkipReason, clock, text};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tracing::Instrument;

/// Called with every log entry as soon as its hook has run.
pub type OnLogEntry = Arc<dyn Fn(&LogEntry) + Send + Sync>;

/// A failure of a hook, the first time it fails in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure {
    /// What failed and why, in one line.
    pub text: String,
    /// The log of the hook's dialect has told people already.
    pub logged: bool,
}

/// Told when a hook fails for the first time, whether or not that blocks anything (DEC-181).
pub type OnFailure = Arc<dyn Fn(&HookFailure) + Send + Sync>;

/// The path of a session's transcript in a file, for dialects that know one.
pub type TranscriptOf = Arc<dyn Fn(&Base) -> Option<String> + Send + Sync>;

pub struct HookEngine {
    list: RwLock<Arc<HookList>>,
    environment: HookEnvironment,
    runner: Arc<dyn Runner>,
    redactor: Redactor,
    on_log: OnLogEntry,
    on_failure: OnFailure,
    /// Keys of hooks that have had their only run.
    spent: Arc<Mutex<HashSet<String>>>,
    /// Hooks whose failure was told.
    told: Arc<Mutex<HashSet<Ordinal>>>,
    transcript: Option<TranscriptOf>,
    /// Detached hooks that were noted as such: once is enough.
    noted: Arc<Mutex<HashSet<Ordinal>>>,
    /// Scripts as they were when the session began; nothing is compared without a session.
    pins: Arc<RwLock<Option<Arc<Pins>>>>,
    person: Arc<RwLock<Option<Arc<dyn ConfirmScriptChange>>>>,
}

impl HookEngine {
    pub fn new(list: HookList, environment: HookEnvironment, runner: Arc<dyn Runner>, redactor: Redactor) -> Self {
        Self {
            list: RwLock::new(Arc::new(list)),
            environment,
            runner,
            redactor,
            on_log: Arc::new(|_| ()),
            on_failure: Arc::new(|_| ()),
            spent: Arc::default(),
            told: Arc::default(),
            transcript: None,
            noted: Arc::default(),
            pins: Arc::default(),
            person: Arc::default(),
        }
    }

    /// The session begins: what hooks run is from now on what it is now (DEC-189).
    pub fn pin(&self, files_of: FilesOf) {
        let pins = Pins::new(files_of);
        self.list().iter().for_each(|hook| pins.add(hook));
        *self.pins.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pins));
    }

    /// Who is asked about scripts that changed. Without anybody they do not run.
    pub fn set_script_confirmer(&self, person: Arc<dyn ConfirmScriptChange>) {
        *self.person.write().unwrap_or_else(PoisonError::into_inner) = Some(person);
    }

    fn pins(&self) -> Option<Arc<Pins>> {
        self.pins.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The change because of which a hook may not run; a person is asked once about each.
    async fn refused_change(&self, hook: &Hook, chain: &mut Chain<'_>) -> Option<ScriptChange> {
        let pins = self.pins()?;
        pins.changed(hook)?;
        let _one = pins.asking.lock().await;
        // Each of its files may be another question.
        while let Some(change) = pins.changed(hook) {
            if pins.refuse(&change) {
                return Some(change);
            }
            let person = self.person.read().unwrap_or_else(PoisonError::into_inner).clone();
            let allowed = match person {
                Some(person) => person.may_run(&change).await,
                None => None,
            };
            match allowed.filter(|_| pins.accept(&change)) {
                Some(by) => {
                    let why = format!("{}; its new version is allowed by {by}", change.message());
                    chain.outcome.note(hook, EventKind::HookScriptChanged, why);
                }
                None => {
                    let why = format!("{}; it does not run", change.message());
                    chain.outcome.note(hook, EventKind::HookScriptChanged, why.clone());
                    // Where there is a call, its result says so.
                    if !chain.contract.denies_call() {
                        chain.outcome.messages.push((hook.ordinal, why));
                    }
                    return Some(change);
                }
            }
        }
        None
    }

    pub fn with_log_listener(self, on_log: OnLogEntry) -> Self {
        Self { on_log, ..self }
    }

    pub fn with_failure_listener(self, on_failure: OnFailure) -> Self {
        Self { on_failure, ..self }
    }

    pub fn with_transcript(self, transcript: Option<TranscriptOf>) -> Self {
        Self { transcript, ..self }
    }

    /// The list as it is now; a firing keeps to the one it began with.
    pub fn list(&self) -> Arc<HookList> {
        Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another list from the next firing on, for hooks that come and go with a session.
    pub fn set_list(&self, list: HookList) {
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
    }

    /// Adds hooks that came while the session runs, behind all others.
    pub fn register(&self, hooks: impl IntoIterator<Item = Hook>) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let list = Arc::make_mut(&mut list);
        hooks.into_iter().for_each(|hook| list.push(hook));
        if let Some(pins) = self.pins() {
            list.iter().for_each(|hook| pins.add(hook));
        }
    }

    /// Takes away hooks that were registered, from the next firing on.
    pub fn unregister(&self, which: impl Fn(&SessionRegistration) -> bool) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let goes = |hook: &Hook| hook.registered.as_ref().is_some_and(&which);
        if list.iter().any(goes) {
            *list = Arc::new(list.only(|hook| !goes(hook)));
        }
    }

    /// A hook has had its only run, in this process or in one before.
    pub fn mark_used(&self, key: String) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    }

    /// Whether a hook may run now: the key of one that runs a single time is taken first, so
    /// that two firings at once cannot both run it.
    fn claims(&self, key: Option<&String>) -> bool {
        key.is_none_or(|key| self.spent.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()))
    }

    /// The same engine with some of its hooks.
    pub fn only(&self, keep: impl Fn(&Hook) -> bool) -> Self {
        Self {
            list: RwLock::new(Arc::new(self.list().only(keep))),
            environment: self.environment.clone(),
            runner: Arc::clone(&self.runner),
            redactor: self.redactor.clone(),
            on_log: Arc::clone(&self.on_log),
            on_failure: Arc::clone(&self.on_failure),
            spent: Arc::clone(&self.spent),
            told: Arc::clone(&self.told),
            transcript: self.transcript.clone(),
            noted: Arc::clone(&self.noted),
            pins: Arc::clone(&self.pins),
            person: Arc::clone(&self.person),
        }
    }

    /// Whether any hook could run for this event; saves building a firing.
    pub fn listens_to(&self, event: EventName) -> bool {
        self.list().of(event).next().is_some()
    }

    /// Runs the matching hooks one after another, in ordinal order. Each sees the
    /// input as the one before left it. Writes nothing: the rows are returned.
    pub async fn fire(&self, firing: Firing) -> HookOutcome {
        self.fire_to(firing, |_| true).await
    }

    /// The same, to some of the hooks only.
    pub async fn fire_to(&self, firing: Firing, whom: impl Fn(&Hook) -> bool) -> HookOutcome {
        let list = self.list();
        let mut chain = Chain::new(&firing);
        let mut met: Vec<&Hook> = Vec::new();
        for hook in list.of(firing.event).filter(|hook| whom(hook)) {
            if !(hook.applies)(&firing, &chain.input) || met.iter().any(|other| hook.dialect.is_duplicate(other, hook))
            {
                continue;
            }
            met.push(hook);
            let stdin = self.stdin(hook, &firing, &chain.input);
            if let Some(skip) = self.skip(hook, &chain) {
                let why = skip.as_str();
                tracing::debug!(event = %firing.event, ordinal = %hook.ordinal, why, "hook skipped");
                chain.outcome.runs.push(HookRun { skipped: Some(skip), ..blank_row(hook, &firing, stdin) });
                continue;
            }
            if let Some(change) = self.refused_change(hook, &mut chain).await {
                if chain.contract.denies_call() {
                    chain.outcome.block(hook, &chain.contract, change.message());
                }
                chain
                    .outcome
                    .runs
                    .push(HookRun { skipped: Some(SkipReason::ScriptChanged), ..blank_row(hook, &firing, stdin) });
                continue;
            }
            let only_run = hook.once_key(&firing.base.session);
            if !self.claims(only_run.as_ref()) {
                continue;
            }
            chain.outcome.spent.extend(only_run);
            let timeout = hook.effective_timeout(&self.environment.timeouts);
            let began = Instant::now();
            let span = tracing::debug_span!("hook", event = %firing.event, ordinal = %hook.ordinal);
            let ran = self.runner.run(hook, &firing, stdin.clone(), timeout).instrument(span.clone()).await;
            span.in_scope(|| tracing::debug!(exit = ?ran.exit, dialect = hook.dialect.name(), "hook ended"));
            // A dialect with a log of its own knows what is news.
            let mut log = OwnLog::None;
            if let Some(entry) = hook.dialect.log(hook, &ran, began.elapsed()) {
                log = if entry.warnings.is_empty() { OwnLog::Silent } else { OwnLog::Told };
                (self.on_log)(&entry);
                chain.outcome.log.push((hook.ordinal, hook.dialect.name(), entry));
            }
            let exit_code =
                if hook.detached { self.record_detached(hook, &ran, &mut chain) } else { chain.judge(hook, &ran) };
            if let Some(why) = chain.failure.take().filter(|_| log != OwnLog::Silent) {
                self.tell(hook, &firing, &ran, &why, log == OwnLog::Told);
            }
            chain.outcome.runs.push(ran_row(hook, blank_row(hook, &firing, stdin), ran, exit_code));
        }
        self.check_post_hooks(&firing, &mut chain).await;
        chain.outcome
    }

    /// The first failure of a hook in a process is told at once: a guard that does not run
    /// guards nothing.
    fn tell(&self, hook: &Hook, firing: &Firing, ran: &HookExecution, why: &str, logged: bool) {
        if !self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(hook.ordinal) {
            return;
        }
        let command = hook.dialect.recorded(hook.command()).into_owned();
        let (command, cut) = text::head(command.lines().next().unwrap_or_default(), COMMAND);
        let dots = if cut { "…" } else { "" };
        let mut text = format!("{} hook error: {command}{dots}: {why}", firing.event);
        let first_line = ran.stderr.lines().map(str::trim).find(|line| !line.is_empty());
        if let Some(line) =
            first_line.map(|line| hook.dialect.recorded(line)).filter(|line| !why.contains(line.as_ref()))
        {
            text.push_str(&format!(": {line}"));
        }
        let cause = cause::probable(hook, ran, &firing.base.cwd).filter(|cause| !text.contains(cause.as_str()));
        if let Some(cause) = cause {
            text.push_str(&format!(" ({cause})"));
        }
        (self.on_failure)(&HookFailure { text: self.redactor.apply(&text).into_owned(), logged });
    }

    /// What a hook reads, without secrets.
    fn stdin(&self, hook: &Hook, firing: &Firing, input: &Value) -> String {
        let mut stdin = hook.dialect.stdin(firing, input);
        if let (Some(transcript), true, Value::Object(fields)) =
            (&self.transcript, hook.dialect.reads_transcripts(), &mut stdin)
        {
            fields.extend(transcript(&firing.base).map(|path| ("transcript_path".to_owned(), path.into())));
        }
        self.redactor.apply_to_json(&mut stdin);
        stdin.to_string()
    }

    /// A hook that could not run after the tool denies the call before it: later there
    /// would be nothing left to deny (DEC-153).
    async fn check_post_hooks(&self, firing: &Firing, chain: &mut Chain<'_>) {
        if firing.event != EventName::PreToolUse || self.environment.all_disabled || chain.outcome.is_denied() {
            return;
        }
        let list = self.list();
        for hook in list.of(EventName::PostToolUse) {
            if hook.disabled.is_some() || !(hook.applies)(firing, &chain.input) {
                continue;
            }
            if let Some(change) = self.refused_change(hook, chain).await {
                chain.outcome.ruling = Some((Ruling::Deny, hook.ordinal, change.message()));
                return;
            }
            let HookAction::Handler(handler) = &hook.action else { continue };
            if let Err(why) = handler.ready().await {
                chain.outcome.note(hook, EventKind::HookError, why.clone());
                chain.outcome.ruling = Some((Ruling::Deny, hook.ordinal, why));
                return;
            }
        }
    }

    /// A detached hook decides nothing, however it ended (DEC-047). The exit code to record.
    fn record_detached(&self, hook: &Hook, ran: &HookExecution, chain: &mut Chain<'_>) -> Option<i32> {
        if self.noted.lock().unwrap_or_else(PoisonError::into_inner).insert(hook.ordinal) {
            let why = "configured as asynchronous: it ran in its place and its result has no effect";
            chain.outcome.note(hook, EventKind::HookAsyncRejected, why.into());
        }
        match &ran.exit {
            Exit::Code(code @ (0 | 2)) => Some(*code),
            Exit::Code(code) => {
                chain.failure = Some(failed(*code));
                Some(*code)
            }
            Exit::NotStarted(why) => {
                chain.failure = Some(why.clone());
                None
            }
            Exit::TimedOut { .. } | Exit::Cancelled => None,
        }
    }

    fn skip(&self, hook: &Hook, chain: &Chain<'_>) -> Option<SkipReason> {
        if self.environment.all_disabled {
            return Some(SkipReason::AllHooksDisabled);
        }
        hook.disabled.or_else(|| chain.outcome.skips_rest(&chain.contract).then_some(SkipReason::PriorBlockOrDeny))
    }
}

/// Characters of a command in a line about its failure.
const COMMAND: usize = 80;

/// What the log of a hook's dialect has said about a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnLog {
    /// The dialect has none.
    None,
    Silent,
    Told,
}

/// What a firing has come to so far.
struct Chain<'a> {
    firing: &'a Firing,
    contract: Contract,
    input: Value,
    outcome: HookOutcome,
    /// Why the hook that ran last failed.
    failure: Option<String>,
}

impl<'a> Chain<'a> {
    fn new(firing: &'a Firing) -> Self {
        let (contract, input) = (contract::of(firing.event), firing.input());
        Self { firing, contract, input, outcome: HookOutcome::default(), failure: None }
    }

    /// Folds one run into the outcome; returns the exit code to record.
    fn judge(&mut self, hook: &Hook, ran: &HookExecution) -> Option<i32> {
        match &ran.exit {
            Exit::Code(code) => {
                self.judge_exit(hook, ran, *code);
                Some(*code)
            }
            Exit::TimedOut { after } => {
                let why = timed_out(*after);
                let counts = self.contract.timeout_blocks;
                if counts && hook.dialect.on_timeout(self.firing.event) == OnTimeout::Block {
                    let message = hook.dialect.failure_message(ran).unwrap_or(why);
                    self.outcome.block(hook, &self.contract, message);
                    return Some(2);
                }
                (self.fail(hook, ran, why) && counts).then_some(2)
            }
            // A handler that is not a process: it answered, and too much to be kept.
            Exit::NotStarted(_) if self.is_cut_off(hook, ran) => {
                self.outcome.block(hook, &self.contract, CUT_OFF.to_owned());
                None
            }
            Exit::NotStarted(why) => {
                self.fail(hook, ran, why.clone());
                None
            }
            // A guard that was cut short has not said yes.
            Exit::Cancelled if self.contract.denies_call() || self.contract.exit_two == ExitTwo::RejectPrompt => {
                self.outcome.block(hook, &self.contract, INTERRUPTED.to_owned());
                None
            }
            Exit::Cancelled => {
                self.fail(hook, ran, INTERRUPTED.to_owned());
                None
            }
        }
    }

    /// Whether an answer about a call was too long to be read. It may have been a no.
    fn is_cut_off(&self, hook: &Hook, ran: &HookExecution) -> bool {
        ran.truncated && self.contract.denies_call() && hook.dialect.truncated_answer_denies()
    }

    fn judge_exit(&mut self, hook: &Hook, ran: &HookExecution, code: i32) {
        let mut output = hook.dialect.parse_output(self.firing.event, ran);
        if let Some(update) = output.input.take() {
            self.input = hook.dialect.updated(&self.input, update);
            self.outcome.input = Some(self.input.clone());
        }
        output.stop = output.stop.or_else(|| ran.ends_turn.clone());
        let unreadable = output.unreadable || ran.truncated;
        let wrong = |kind: &EventKind| matches!(kind, EventKind::HookError | EventKind::HookOutputInvalid);
        self.failure = output.notes.iter().find(|(kind, _)| wrong(kind)).map(|(_, why)| why.clone());
        self.outcome.absorb(hook, output);
        self.outcome.failed |= unreadable && self.contract.exit_two == ExitTwo::FailCreation;
        match code {
            _ if !hook.dialect.uses_exit_codes() => {}
            0 if ran.stdout.trim_start().starts_with('{') && self.is_cut_off(hook, ran) => {
                self.outcome.block(hook, &self.contract, CUT_OFF.to_owned());
            }
            0 if unreadable && hook.fail_closed => {
                self.fail(hook, ran, "[SDLC] hook output could not be read".to_owned());
            }
            0 => {}
            code if hook.dialect.ignores_exit_code(self.firing.event, code) => {}
            2 if hook.dialect.exit_two_blocks() => {
                self.outcome.block(hook, &self.contract, hook.dialect.block_message(ran))
            }
            other => {
                self.fail(hook, ran, failed(other));
            }
        }
    }

    /// A failure blocks only where the hook asked for it, or the event requires it.
    /// Whether this one did.
    fn fail(&mut self, hook: &Hook, ran: &HookExecution, why: String) -> bool {
        self.outcome.failed |= self.contract.exit_two == ExitTwo::FailCreation;
        let failing = hook.dialect.failing(hook, self.firing.event, ran, why);
        if ran.exit != Exit::Cancelled {
            let (FailureEffect::Block(why) | FailureEffect::Deny(why) | FailureEffect::Pass(why)) = &failing;
            self.failure = Some(why.clone());
        }
        match failing {
            FailureEffect::Block(message) => {
                self.outcome.block(hook, &self.contract, message);
                true
            }
            FailureEffect::Deny(reason) => {
                self.outcome.note(hook, EventKind::HookError, reason.clone());
                self.outcome.absorb(hook, HookOutput { ruling: Some(Ruling::Deny), reason, ..HookOutput::default() });
                true
            }
            FailureEffect::Pass(why) => {
                self.outcome.note(hook, EventKind::HookError, why);
                false
            }
        }
    }
}

const CUT_OFF: &str = "[SDLC] hook answer is longer than 4194304 bytes and was cut off";
const INTERRUPTED: &str = "[SDLC] hook interrupted";

fn failed(code: i32) -> String {
    format!("[SDLC] hook failed with exit code {code}")
}

fn timed_out(after: Duration) -> String {
    format!("[SDLC] hook timed out after {} ms", after.as_millis())
}

/// The row of a hook that has not run.
fn blank_row(hook: &Hook, firing: &Firing, input_json: String) -> HookRun {
    HookRun {
        event: firing.event,
        ordinal: hook.ordinal,
        matcher: hook.matcher.clone(),
        command: hook.dialect.recorded(hook.command()).into_owned(),
        call: firing.call.clone(),
        tool: firing.tool().map(str::to_owned),
        input_json,
        exit_code: None,
        stdout: None,
        stderr: None,
        started_at: clock::utc_millis(clock::now()),
        completed_at: None,
        skipped: None,
    }
}

fn ran_row(hook: &Hook, blank: HookRun, ran: HookExecution, exit_code: Option<i32>) -> HookRun {
    let explanation = match &ran.exit {
        Exit::Code(_) => None,
        Exit::TimedOut { after } => Some(timed_out(*after)),
        Exit::NotStarted(why) => Some(why.clone()),
        Exit::Cancelled => Some(INTERRUPTED.to_owned()),
    };
    let recorded = |text: &str| hook.dialect.recorded(text).into_owned();
    let mut stderr = recorded(&ran.stderr);
    if let Some(explanation) = explanation {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&explanation);
    }
    HookRun {
        exit_code,
        stdout: Some(recorded(&ran.stdout)),
        stderr: Some(stderr),
        started_at: ran.started_at,
        completed_at: Some(ran.completed_at),
        ..blank
    }
}
