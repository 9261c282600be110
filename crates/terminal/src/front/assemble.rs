//! Opens the project and assembles the session, with the question of trust first.

use super::hooks::ReportingRunner;
use super::operator::TerminalOperator;
use super::person::Person;
use super::questions::{Question, Reply};
use super::{Backend, SessionEvent, SessionFacts};
use ona_api::permission_update::Behavior;
use ona_commands::{CommandScreen, FrontParts, SessionObserver, SessionParts};
use ona_hookplane::{HookFailure, OnFailure, Runner};
use ona_mcp::ServerTransport;
use ona_orchestration::{Events, Session};
use ona_runtime::session_choice::Begin;
use ona_runtime::session_start::ReadySession;
use ona_runtime::{Failure, Launch, OpenProject, Purpose, Runtime};
use std::sync::Arc;

/// Asks whether the folder is trusted, if that was never answered and anything of it would run.
/// Nothing of the folder has run before the answer. `None` if the person left instead.
pub(super) async fn ask_for_trust(backend: &Backend) -> Result<Option<bool>, Failure> {
    let Some(contents) = backend.launch.untrusted_contents()? else { return Ok(Some(false)) };
    let ask = super::TrustAsk {
        folder: backend.launch.project.to_string_lossy().into_owned(),
        listed: contents.into_iter().map(|(kind, files)| (kind, files.into_iter().collect())).collect(),
    };
    match backend.questions.ask(Question::Trust(ask), backend.cancellation.program()).await {
        Some(Reply::Trust(trusted)) => Ok(Some(trusted)),
        Some(Reply::Allow { .. } | Reply::Deny { .. } | Reply::Leave | Reply::Value(_) | Reply::Command(_)) | None => {
            Ok(None)
        }
    }
}

/// Assembles what a session is made of.
pub(super) async fn assemble<'a>(
    backend: &Backend,
    launch: &'a Launch,
    open: &'a OpenProject,
    begin: &Begin,
) -> Result<(SessionParts<'a>, Arc<dyn CommandScreen>), Failure> {
    let events = backend.events.clone();
    let reporting = |processes| -> Arc<dyn Runner> { Arc::new(ReportingRunner { processes, events: events.clone() }) };
    let failures = events.clone();
    let on_failure: OnFailure =
        Arc::new(move |failure: &HookFailure| failures.send(SessionEvent::Note(failure.text.clone())));
    let cancellation = backend.cancellation.clone();
    let runtime =
        Runtime::with_runner(launch, open, &launch.cwd, Purpose::Session, &cancellation, reporting, on_failure)?;
    let of_turn = events.clone();
    let turn_events: Events = Arc::new(move |event| of_turn.send(SessionEvent::Turn(Box::new(event))));
    let person = Arc::new(Person {
        questions: Arc::clone(&backend.questions),
        cancellation: cancellation.clone(),
        events: events.clone(),
    });
    let front = FrontParts {
        operator: Arc::new(TerminalOperator {
            questions: Arc::clone(&backend.questions),
            cancellation: cancellation.clone(),
            redactor: open.redactor.clone(),
            project: launch.project.clone(),
            hooks: Arc::clone(&runtime.hooks),
        }),
        events: turn_events,
        observer: Arc::new(Observer(events)),
        prompter: Some(Arc::clone(&person) as _),
        relay: None,
        screen: Some(Arc::clone(&person) as _),
        person: Some(Arc::clone(&person) as _),
        setup: None,
    };
    let starts = |definition: &ona_mcp::ServerDefinition| definition.endpoint != ServerTransport::Host;
    let parts = SessionParts::assemble(launch, open, runtime, cancellation, front, begin, starts).await?;
    Ok((parts, person))
}

struct Observer(super::EventSender);

impl SessionObserver for Observer {
    fn ready(&self, parts: &SessionParts<'_>, session: &Session, _: &str, ready: &ReadySession) {
        self.0.send(SessionEvent::Ready(Box::new(facts(parts, session, Some(ready.turn.current_model.clone())))));
    }

    fn entered(&self, _: &Session) {}

    fn note(&self, sentence: &str) {
        self.0.send(SessionEvent::Note(sentence.to_owned()));
    }
}

/// What the screen may know of a session.
pub(super) fn facts(
    parts: &SessionParts<'_>,
    session: &Session,
    model: Option<ona_orchestration::CurrentModel>,
) -> SessionFacts {
    let of_files = parts.skills.iter().filter(|skill| skill.by_user);
    let of_files = of_files.map(|skill| (skill.name.clone(), skill.description.clone()));
    let modules = session.modules.iter().flat_map(|modules| modules.emitter.commands());
    let of_modules = modules.map(|command| (command.name, command.description.unwrap_or_default()));
    SessionFacts {
        session: session.place.session.0.clone(),
        model,
        rules: parts.runtime.rules(),
        prices: parts.runtime.prices(),
        phase: ona_api::Phase::Idle,
        guards: guards(parts, session),
        folder: session.cx.cwd.to_string_lossy().into_owned(),
        project: parts.launch.project.to_string_lossy().into_owned(),
        title: title(parts, session),
        terminal: parts.runtime.settings.terminal.clone(),
        commands: of_files.chain(of_modules).collect(),
    }
}

/// What the session is called. A name that cannot be read is not shown.
fn title(parts: &SessionParts<'_>, session: &Session) -> Option<String> {
    parts.open.store.reader().and_then(|reader| reader.title(&session.place.session)).ok().flatten()
}

fn guards(parts: &SessionParts<'_>, session: &Session) -> Vec<String> {
    let hooks = parts.runtime.hooks.list().iter().filter(|hook| hook.disabled.is_none()).count();
    let denied = session.with_rules(|rules| rules.rules().list(Behavior::Deny).count());
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        many => Some(format!("{many} {what}s")),
    };
    counted(hooks, "hook").into_iter().chain(counted(denied, "deny rule")).collect()
}
