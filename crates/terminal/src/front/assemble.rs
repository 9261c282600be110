//! Opens the project and assembles the session, with the question of trust first.

use super::hooks::HookListener;
use super::operator::TerminalOperator;
use super::person::Person;
use super::questions::{Question, Reply};
use super::waiting::ComposerQueue;
use super::{Backend, SessionEvent, SessionFacts, StatusLineFacts};
use ona_api::permission_update::Behavior;
use ona_commands::{CommandScreen, FrontParts, SessionObserver, SessionParts};
use ona_hookplane::{HookFailure, ObservedRunner, OnFailure, Runner};
use ona_mcp::ServerTransport;
use ona_orchestration::{Events, Session};
use ona_runtime::session_choice::Begin;
use ona_runtime::session_start::ReadySession;
use ona_runtime::{Failure, Launch, OpenProject, Purpose, Runtime};
use std::sync::{Arc, OnceLock};

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
    let reporting = |processes| -> Arc<dyn Runner> {
        Arc::new(ObservedRunner { processes, observer: HookListener(events.clone()) })
    };
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
        emitter: OnceLock::new(),
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
        waiting: Some(Arc::new(ComposerQueue::new(events.clone()))),
        observer: Arc::new(Observer { events, may_bypass: backend.choices.may_bypass }),
        prompter: Some(Arc::clone(&person) as _),
        relay: None,
        screen: Some(Arc::clone(&person) as _),
        person: Some(Arc::clone(&person) as _),
        setup: backend.choices.setup,
    };
    let starts = |definition: &ona_mcp::ServerDefinition| definition.endpoint != ServerTransport::Host;
    let parts = SessionParts::assemble(launch, open, runtime, cancellation, front, begin, starts).await?;
    if let Some(modules) = &parts.runtime.modules {
        // Set once: this is the only place.
        person.emitter.set((Arc::clone(&modules.emitter), tokio::runtime::Handle::current())).ok();
    }
    Ok((parts, person))
}

struct Observer {
    events: super::EventSender,
    may_bypass: bool,
}

impl SessionObserver for Observer {
    fn ready(&self, parts: &SessionParts<'_>, session: &Session, _: &str, ready: &ReadySession) {
        let model = Some(ready.turn.current_model.clone());
        let facts = SessionFacts { may_bypass: self.may_bypass, ..facts(parts, session, model) };
        self.events.send(SessionEvent::Ready(Box::new(facts)));
    }

    fn entered(&self, _: &Session) {}

    fn note(&self, sentence: &str) {
        self.events.send(SessionEvent::Note(sentence.to_owned()));
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
    let shortcuts = session.modules.iter().flat_map(|modules| modules.emitter.shortcuts());
    SessionFacts {
        session: session.place.session.0.clone(),
        model,
        rules: parts.runtime.rules(),
        prices: parts.runtime.prices(),
        phase: ona_api::Phase::Idle,
        guards: guards(parts, session),
        folder: session.cx.cwd.to_string_lossy().into_owned(),
        title: title(parts, session),
        terminal: parts.runtime.settings.terminal.clone(),
        tasks: Arc::clone(&parts.runtime.tasks),
        redactor: parts.open.redactor.clone(),
        shortcuts: shortcuts.map(|one| (one.key, one.description.unwrap_or_default())).collect(),
        may_bypass: false,
        status_line: status_line(parts, session),
        commands: of_files.chain(of_modules).collect(),
    }
}

/// What the session is called. A name that cannot be read is not shown.
pub(super) fn title(parts: &SessionParts<'_>, session: &Session) -> Option<String> {
    parts.open.store.reader().and_then(|reader| reader.title(&session.place.session)).ok().flatten()
}

/// What the user's own status line is told; it is not run while hooks are switched off as a whole.
fn status_line(parts: &SessionParts<'_>, session: &Session) -> StatusLineFacts {
    let settings = &parts.runtime.settings;
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    StatusLineFacts {
        settings: settings.status_line.value.clone().filter(|_| !settings.hooks.all_disabled),
        conversation: session.place.conversation.0.clone(),
        project: text(&parts.launch.project),
        added: session.cx.extra.iter().map(|dir| text(dir)).collect(),
        worktree: parts.worktree_path().map(text),
        output_style: parts.style_name().to_owned(),
        agent: session.agent_type.clone(),
    }
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
