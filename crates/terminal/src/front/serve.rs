//! The loop of the session thread: lines, one after another, and what happens between them.

use super::assemble::{ask_for_trust, assemble, facts, title};
use super::meanwhile::Meanwhile;
use super::questions::{Question, Reply};
use super::{Backend, Request, SessionEvent, SessionFacts};
use crate::composer::{Image, ImageSource, InputMode, Submission};
use ona_api::{SessionId, SessionOrigin};
use ona_commands::{
    AfterAnswer, AnsweredBy, CommandQuestion, CommandReply, FirstRun, ScreenEntry, SessionRunner, first_run,
};
use ona_orchestration::{SessionEndReason, TurnOutcome, UserPrompt};
use ona_runtime::session_start::{Preparation, SessionError};
use ona_runtime::{Failure, Launch, OpenProject, block_on, session_choice};
use ona_store::{SessionLine, Store, StoreError};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// Prompts that the arrows and the search go back through.
const OLDER_PROMPTS: usize = 2_000;

/// How often files are looked at while no turn runs.
const IDLE_LOOK: Duration = Duration::from_secs(2);

/// Messages of a continued session that are shown: the last screens, whatever its length.
const LAST_MESSAGES: usize = 12;

/// Messages of a session that the list of sessions shows.
const PREVIEWED: usize = 4;

pub(super) fn run(mut backend: Backend) {
    let mut session = None;
    let end = block_on(serve(&mut backend, &mut session));
    backend.events.send(SessionEvent::Ended { failure: end.err(), session });
}

async fn serve(backend: &mut Backend, resumable: &mut Option<String>) -> Result<(), Failure> {
    let Some(trusted) = ask_for_trust(backend).await? else { return Ok(()) };
    let mut options = backend.launch.options.clone();
    options.trust |= trusted;
    let mut again = false;
    loop {
        if trusted || again {
            let Launch { env, cwd, notices, .. } = &backend.launch;
            backend.launch = Launch::new(env.clone(), cwd.clone(), options.clone(), notices.clone())?;
        }
        if !session(backend, resumable, again).await? {
            return Ok(());
        }
        // Everything is read anew, and the session goes on.
        again = true;
        options.resume.clone_from(resumable);
        (options.continue_newest, options.fork_session) = (false, false);
        (options.session_id, options.conversation) = (None, None);
    }
}

/// Runs one session, or several one after another; returns whether to begin anew with the last one.
async fn session(backend: &mut Backend, resumable: &mut Option<String>, again: bool) -> Result<bool, Failure> {
    let open = backend.launch.open()?;
    if !again {
        backend.events.send(older_prompts(&backend.launch, &open.store));
    }
    if backend.launch.options.resume.as_deref() == Some("") {
        match pick_session(backend, &open).await? {
            Some(id) => backend.launch.options.resume = Some(id),
            None => return Ok(false),
        }
    }
    let launch = &backend.launch;
    let begin = session_choice::begin(launch, &open.store)?;
    let _lock = launch.lock_session(&begin.place.session)?;
    let (mut parts, person) = assemble(backend, launch, &open, &begin).await?;
    parts.runtime.judge_flags(launch).await?;
    let events = backend.events.clone();
    let note = move |text: &str| events.send(SessionEvent::Note(text.to_owned()));
    let cancel = backend.cancellation.program();
    let wish = match again {
        true => FirstRun::Begin,
        false => first_run(launch, &open, &parts.runtime, &person, &note, cancel).await,
    };
    match wish {
        FirstRun::Begin => {}
        FirstRun::Model(model) => parts.overrides.model = Some(model),
        FirstRun::Leave => {
            parts.close().await;
            return Ok(false);
        }
    }
    let (tasks, servers) = (Arc::clone(&parts.runtime.tasks), Arc::clone(&parts.runtime.mcp.servers));
    let began = SessionRunner::begin(parts, begin, SessionOrigin::Terminal).await;
    let may_bypass = backend.choices.may_bypass;
    let ended = match began {
        Ok(mut runner) => {
            *resumable = Some(runner.session.place.session.0.clone());
            let Backend { inbox, events, .. } = backend;
            let mut lines =
                Lines { inbox, queue: VecDeque::new(), leaving: false, meanwhile: Meanwhile::of(&runner, events) };
            let ended = answer_lines(&mut runner, &mut lines, events, may_bypass, again).await;
            resumable.replace(runner.session.place.session.0.clone());
            ended
        }
        Err(error) => Err(error),
    };
    tasks.stop_all().await;
    servers.close().await;
    // Nothing that was started here outlives the program.
    ona_process::kill_all();
    ended.map_err(|error| failure(&backend.launch, error))
}

/// Lets the person choose a session of this project (`--resume` without an id). `None` if they closed the list.
async fn pick_session(backend: &Backend, open: &OpenProject) -> Result<Option<String>, Failure> {
    let launch = &backend.launch;
    let project = launch.project.to_string_lossy();
    let sessions = open.store.reader().and_then(|reader| reader.sessions(None));
    let sessions = sessions.map_err(|error| launch.store_failure(error))?;
    let sessions: Vec<_> = sessions
        .into_iter()
        .filter(|line| line.project_dir == project && line.parent.is_none() && line.entries > 0)
        .collect();
    let entry = |line: &SessionLine| {
        let words = line.title.as_deref().or(line.first_user_text.as_deref()).unwrap_or("(nothing said yet)");
        ScreenEntry {
            label: words.lines().next().unwrap_or_default().to_owned(),
            detail: format!("{} · {} rows", line.last_entry_at.as_deref().unwrap_or(&line.started_at), line.entries),
            page: line.first_user_text.clone().unwrap_or_default(),
            actions: Vec::new(),
        }
    };
    let question = CommandQuestion::Pick {
        title: "Continue a session".to_owned(),
        empty: "This project has no session yet; Esc leaves".to_owned(),
        entries: sessions.iter().map(entry).collect(),
        at: 0,
    };
    let reply = backend.questions.ask(Question::Command(question), backend.cancellation.program()).await;
    Ok(match reply {
        Some(Reply::Command(CommandReply::Chosen(at))) => sessions.get(at).map(|line| line.id.0.clone()),
        _ => None,
    })
}

/// Reads what the arrows walk through. The session does not need it.
fn older_prompts(launch: &Launch, store: &Store) -> SessionEvent {
    let project = launch.project.to_string_lossy();
    match store.reader().and_then(|reader| reader.newest_prompts(&project, OLDER_PROMPTS)) {
        Ok(prompts) => SessionEvent::OlderPrompts(prompts),
        Err(error) => SessionEvent::Note(format!("older prompts cannot be read: {error}")),
    }
}

/// Lines that wait, and whether more will come.
struct Lines<'a> {
    inbox: &'a mut tokio::sync::mpsc::UnboundedReceiver<Request>,
    queue: VecDeque<Next>,
    leaving: bool,
    meanwhile: Meanwhile,
}

impl Lines<'_> {
    async fn take(&mut self, request: Option<Request>) -> Result<(), StoreError> {
        match request {
            Some(Request::Line(line)) => self.queue.push_back(Next::Line(Box::new(line))),
            Some(Request::Sessions) => self.queue.push_back(Next::Sessions),
            Some(Request::Preview(id)) => self.queue.push_back(Next::Preview(id)),
            Some(Request::RewindPoints) => self.queue.push_back(Next::RewindPoints),
            Some(Request::ModelChanged) => self.queue.push_back(Next::ModelChanged),
            Some(Request::Shortcut(key)) => self.queue.push_back(Next::Shortcut(key)),
            Some(Request::Queue(texts)) => self.meanwhile.keep_queue(&texts).await?,
            Some(Request::Leave) | None => self.leaving = true,
        }
        Ok(())
    }

    /// Does the work and takes what arrives in the meantime.
    async fn while_working<T, E: From<StoreError>>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                request = self.inbox.recv(), if !self.leaving => self.take(request).await?,
            }
        }
    }
}

enum Next {
    Line(Box<Submission>),
    Sessions,
    Preview(String),
    RewindPoints,
    ModelChanged,
    Shortcut(String),
    TaskEnded,
    Look,
    Leave,
}

async fn answer_lines(
    runner: &mut SessionRunner<'_>,
    lines: &mut Lines<'_>,
    events: &super::EventSender,
    may_bypass: bool,
    again: bool,
) -> Result<bool, SessionError> {
    let mut end = LineEnd::Leave(SessionEndReason::PromptInputExit);
    if let Preparation::Refused(outcome) = &runner.ready {
        let facts = SessionFacts { may_bypass, ..facts(&runner.parts, &runner.session, None) };
        events.send(SessionEvent::Ready(Box::new(facts)));
        answered(events, TurnOutcome::clone(outcome), AnsweredBy::Nobody);
    }
    events.send(SessionEvent::Phase(runner.phase()?));
    let messages = runner.last_messages(LAST_MESSAGES);
    if !messages.is_empty() && !again {
        events.send(SessionEvent::History(messages));
    }
    lines.meanwhile.restore_queue()?;
    loop {
        match next(runner, lines).await? {
            Next::Line(line) => {
                events.send(SessionEvent::Began);
                lines.meanwhile = Meanwhile::of(runner, events);
                if line.mode == InputMode::Prompt && !is_builtin(&line.text) {
                    lines.meanwhile.follow_plan_mode().await?;
                }
                let before = runner.session.place.session.clone();
                let answer = match line.mode {
                    InputMode::Prompt => lines.while_working(runner.answer(prompt(&line, events))).await?,
                    InputMode::Memory => {
                        lines.while_working(runner.answer(format!("/memory {}", line.text).as_str().into())).await?
                    }
                    InputMode::Shell => lines.while_working(runner.run_shell(&line.text)).await?,
                };
                events.send(SessionEvent::Phase(runner.phase()?));
                if runner.session.place.session != before {
                    events.send(SessionEvent::History(runner.last_messages(LAST_MESSAGES)));
                    lines.meanwhile = Meanwhile::of(runner, events);
                }
                events.send(SessionEvent::Name(title(&runner.parts, &runner.session)));
                answered(events, answer.outcome, answer.by);
                match runner.take_after() {
                    None => {}
                    Some(AfterAnswer::Restart) => {
                        end = LineEnd::Restart;
                        break;
                    }
                    Some(AfterAnswer::Leave(reason)) => {
                        end = LineEnd::Leave(reason);
                        break;
                    }
                }
            }
            Next::Sessions => events.send(SessionEvent::Sessions(runner.sessions()?)),
            Next::Preview(id) => {
                // Only the newest wish counts.
                let newer = lines.queue.iter().any(|next| matches!(next, Next::Preview(_)));
                if !newer {
                    let messages = runner.messages_of(&SessionId(id.clone()), PREVIEWED)?;
                    events.send(SessionEvent::SessionPreview { session: id, messages });
                }
            }
            Next::RewindPoints => events.send(SessionEvent::RewindPoints(runner.rewind_points()?)),
            Next::ModelChanged => runner.model_changed().await?,
            Next::Shortcut(key) => {
                if let Some(why) = lines.while_working(runner.press_shortcut(&key)).await? {
                    events.send(SessionEvent::Note(format!("The shortcut {key}: {why}")));
                }
            }
            Next::TaskEnded => {
                events.send(SessionEvent::Began);
                let outcome = lines.while_working(runner.go_on()).await?;
                answered(events, outcome, AnsweredBy::Model);
            }
            Next::Look => runner.look_at_files().await?,
            Next::Leave => break,
        }
    }
    let sender = events.clone();
    let told: ona_orchestration::Events = Arc::new(move |event| sender.send(SessionEvent::Turn(Box::new(event))));
    let is_cancelled = runner.parts.cancellation.program().is_cancelled();
    let (reason, restart) = match end {
        LineEnd::Leave(_) if is_cancelled => (SessionEndReason::Other, false),
        LineEnd::Leave(reason) => (reason, false),
        LineEnd::Restart => (SessionEndReason::Resume, !is_cancelled),
    };
    runner.finish(&told, reason).await?;
    Ok(restart)
}

/// Why no more lines are answered.
enum LineEnd {
    Leave(SessionEndReason),
    Restart,
}

/// What a built-in command asks is not a prompt of the person.
fn is_builtin(text: &str) -> bool {
    ona_commands::slash_command(text).is_some_and(|(name, _)| ona_commands::find(name).is_some())
}

async fn next(runner: &SessionRunner<'_>, lines: &mut Lines<'_>) -> Result<Next, SessionError> {
    let program = runner.parts.cancellation.program().clone();
    loop {
        if program.is_cancelled() {
            return Ok(Next::Leave);
        }
        if let Some(next) = lines.queue.pop_front() {
            return Ok(next);
        }
        if lines.leaving {
            return Ok(Next::Leave);
        }
        tokio::select! {
            biased;
            () = program.cancelled() => {}
            request = lines.inbox.recv() => lines.take(request).await?,
            () = runner.parts.runtime.tasks.until_unknown_end() => return Ok(Next::TaskEnded),
            () = tokio::time::sleep(runner.next_look(IDLE_LOOK)) => return Ok(Next::Look),
        }
    }
}

fn answered(events: &super::EventSender, outcome: TurnOutcome, by: AnsweredBy) {
    events.send(SessionEvent::Answered { outcome: Box::new(outcome), by });
}

fn failure(launch: &Launch, error: SessionError) -> Failure {
    match error {
        SessionError::Failed(failure) => failure,
        SessionError::Store(error) => launch.store_failure(error),
    }
}

/// Images that cannot be read are named and left out.
pub(super) fn prompt(line: &Submission, events: &super::EventSender) -> UserPrompt {
    let read = |image: &Image| match &image.source {
        ImageSource::Data { data, .. } => Some(data.to_vec()),
        ImageSource::File(path) => match std::fs::read(path) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                events.send(SessionEvent::Note(format!("{} is left out: {error}", path.display())));
                None
            }
        },
    };
    let pictures = line.images.iter().filter_map(read).collect();
    UserPrompt { pictures, ..line.text.as_str().into() }
}
