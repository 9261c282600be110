//! The loop around the state: keys and events in, effects and frames out.
//!
//! One thread reads keys, one waits for signals, one runs the session; all of them put what they have
//! into one channel, and this thread takes it out. A key is painted at once. What streams in is
//! painted at most thirty times a second, and nothing at all happens while nothing arrives.

use super::{App, EditFor, Effect, Ended};
use crate::front::{EventSender, SessionEvent, SessionThread, StartChoices};
use crate::input::{KeyReader, Signal, Wake};
use crate::keys::Decoder;
use crate::screen::{Capabilities, Modes, Painter, PainterOptions, Restore, Size};
use crate::status_command::StatusCommand;
use crate::surroundings::Surroundings;
use ona_api::digest;
use ona_orchestration::set_mode;
use ona_process::TurnCancellation;
use ona_runtime::session_start::SetupTrigger;
use ona_runtime::{Failure, Launch};
use ona_tools::TaskKind;
use std::io::{self, Stdout, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Time between two frames of a reply that streams in.
const FRAME: Duration = Duration::from_millis(34);
/// Time between two looks at the output of a command.
const OUTPUT: Duration = Duration::from_millis(150);
const SECOND: Duration = Duration::from_secs(1);
/// How long the end waits for the colours of code.
const LAST_COLOURS: Duration = Duration::from_millis(500);

/// How a terminal is started.
#[derive(Debug, Default)]
pub struct TerminalOptions {
    /// The first prompt.
    pub prompt: Option<String>,
    /// Which Setup hooks run before the session (`--init`, `--maintenance`).
    pub setup: Option<SetupTrigger>,
    /// The modes that Shift+Tab goes through include the one that asks for nothing.
    pub may_bypass: bool,
    /// Only append, as screen readers need it.
    pub plain: bool,
}

/// How it was left.
#[derive(Debug, Default)]
pub struct TerminalEnd {
    /// The session to continue with `--resume`.
    pub session: Option<String>,
    /// By a signal.
    pub interrupted: bool,
}

/// Shows the screen until the person leaves.
pub fn run(launch: Launch, options: TerminalOptions, wakes: WakeChannel) -> Result<TerminalEnd, Failure> {
    let failed = |error: io::Error| Failure::refused(format_args!("the terminal cannot be used: {error}"));
    let found = Capabilities::of(&launch.env);
    let can = Capabilities { repaints: found.repaints && !options.plain, ..found };
    let restore = match can.repaints {
        true => Restore::enter(Modes { keyboard_flags: can.keyboard_flags }),
        false => Restore::plain(),
    };
    let restore = restore.map_err(failed)?;
    let painting = PainterOptions { size: size(), colours: can.colours, reflow: can.reflow };
    let painter = match can.repaints {
        true => Painter::new(io::stdout(), painting),
        false => Painter::plain(io::stdout(), painting),
    };
    let WakeChannel { sender, receiver } = wakes;
    let began = Instant::now();
    let colours_came = std::sync::Mutex::new(sender.clone());
    let nudge = std::sync::Arc::new(move || {
        let sender = colours_came.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The loop is gone only while the program ends.
        sender.send(Wake::Nudge).ok();
    });
    let surroundings = Surroundings::new(&launch, sender.clone());
    let status = StatusCommand::new(launch.env.clone(), launch.cwd.clone(), sender.clone());
    let app = App::new(nudge);
    let mut screen =
        Screen { app, painter, began, painted: None, restore, keys: None, surroundings, status, has_output: false };
    if !can.repaints {
        screen.app.set_plain();
    }
    screen.paint().map_err(failed)?;
    screen.read_keybindings();
    screen.keys = Some(KeyReader::start(sender.clone()).map_err(failed)?);
    let cancellation = TurnCancellation::new(CancellationToken::new());
    let choices = StartChoices { setup: options.setup, may_bypass: options.may_bypass };
    let thread = SessionThread::start(launch, cancellation, EventSender::new(sender), choices).map_err(failed)?;
    if let Some(prompt) = options.prompt {
        screen.app.begin_with(&prompt);
    }
    let interrupted = screen.turn(&receiver, &thread).map_err(failed)?;
    thread.join();
    let Ended { failure, session } = screen.app.ended.take().unwrap_or_default();
    screen.painter.leave(size()).map_err(failed)?;
    drop(screen);
    match failure {
        Some(failure) => Err(failure),
        None => Ok(TerminalEnd { session, interrupted }),
    }
}

/// The one channel of the loop. It is made before the launch, whose sentences arrive in it.
#[derive(Debug)]
pub struct WakeChannel {
    sender: Sender<Wake>,
    receiver: Receiver<Wake>,
}

impl Default for WakeChannel {
    fn default() -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        Self { sender, receiver }
    }
}

impl WakeChannel {
    /// Returns where sentences for people go.
    pub fn notes(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let events = EventSender::new(self.sender.clone());
        move |text: &str| events.send(SessionEvent::Note(text.to_owned()))
    }
}

struct Screen {
    app: App,
    painter: Painter<Stdout>,
    began: Instant,
    painted: Option<Instant>,
    restore: Restore,
    keys: Option<KeyReader>,
    surroundings: Surroundings,
    status: StatusCommand,
    /// A command runs whose output is shown.
    has_output: bool,
}

impl Screen {
    /// Takes the user's own keys, and says what of them does not count.
    fn read_keybindings(&mut self) {
        let problems = match self.surroundings.keybindings() {
            None => return,
            Some(Ok(found)) => {
                self.app.keymap = found.keymap;
                found.problems
            }
            Some(Err(why)) => vec![why],
        };
        for problem in problems {
            self.app.hear(SessionEvent::Note(format!("keybindings: {problem}")), self.began.elapsed());
        }
    }

    /// Runs until the session thread has ended; returns whether a signal ended it.
    fn turn(&mut self, wakes: &Receiver<Wake>, thread: &SessionThread) -> io::Result<bool> {
        let mut decoder = Decoder::default();
        let (mut interrupted, mut dirty) = (false, false);
        while self.app.ended.is_none() {
            let wake = match self.wait(dirty) {
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => wakes.recv_timeout(wait),
            };
            let mut urgent = false;
            match wake {
                Err(RecvTimeoutError::Timeout) => urgent = true,
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(wake) => {
                    for wake in std::iter::once(wake).chain(wakes.try_iter()) {
                        match wake {
                            Wake::Keys(events) => {
                                urgent = true;
                                for input in decoder.decode(events, self.began.elapsed()) {
                                    let effects = self.app.update(&input);
                                    self.perform(effects, thread)?;
                                }
                            }
                            Wake::Session(event) => {
                                let effects = self.app.hear(*event, self.began.elapsed());
                                self.perform(effects, thread)?;
                            }
                            Wake::Nudge => {}
                            Wake::StatusLine { generation, output } => {
                                if self.status.is_current(generation) {
                                    self.app.own_status(output);
                                }
                            }
                            Wake::Image(Ok(image)) => self.app.composer.insert_image(image.media_type, image.data),
                            Wake::Image(Err(why)) => self.app.composer.show_hint(&why, self.began.elapsed()),
                            Wake::Files(files) => self.app.composer.set_sources(|sources| sources.set_files(files)),
                            Wake::Signal(Signal::Resized) => urgent = true,
                            Wake::Signal(Signal::Continued) => {
                                self.restore.take_over()?;
                                urgent = true;
                            }
                            Wake::Signal(Signal::Terminated) | Wake::Gone => {
                                interrupted = true;
                                thread.cancellation.program().cancel();
                            }
                        }
                    }
                    dirty = true;
                }
            }
            if urgent || self.wait(dirty).is_some_and(|wait| wait.is_zero()) {
                self.paint()?;
                dirty = false;
            }
        }
        // What ends the program does not wait for colours.
        let deadline = Instant::now() + LAST_COLOURS;
        while self.app.is_unfinished() && Instant::now() < deadline {
            self.paint()?;
            wakes.recv_timeout(FRAME).ok();
        }
        self.paint()?;
        Ok(interrupted)
    }

    /// How long nothing has to be painted; `None` for as long as nothing arrives.
    fn wait(&self, dirty: bool) -> Option<Duration> {
        let since = self.painted.map_or(Duration::MAX, |painted| painted.elapsed());
        let hint = self.app.composer.deadline().map(|at| at.saturating_sub(self.began.elapsed()));
        let status = self.status.deadline().map(|at| at.saturating_sub(self.began.elapsed()));
        let next = match (dirty, self.app.is_counting()) {
            (true, _) => Some(FRAME.saturating_sub(since)),
            (false, true) if self.has_output => Some(OUTPUT.saturating_sub(since)),
            (false, true) => Some(SECOND.saturating_sub(since)),
            (false, false) => None,
        };
        [next, hint, status].into_iter().flatten().min()
    }

    fn perform(&mut self, effects: Vec<Effect>, thread: &SessionThread) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    // A thread that has ended says so by itself.
                    thread.requests.send(request).ok();
                }
                Effect::Reply(id, reply) => thread.questions.reply(id, reply),
                Effect::Interrupt => thread.cancellation.cancel_turn(),
                Effect::HandOver(reply, lines) => match reply.send(lines.clone()) {
                    Ok(()) => lines.iter().for_each(|line| self.app.taken_along(line)),
                    // The turn has ended meanwhile; they are its successor's.
                    Err(lines) => self.app.composer.give_back(lines),
                },
                Effect::ToBackground(call) => {
                    let tasks = self.app.session.as_ref().map(|session| &session.tasks);
                    if !tasks.is_some_and(|tasks| tasks.send_to_background(&call)) {
                        self.say("The command has ended already.");
                    }
                }
                Effect::StopAgents => {
                    let Some(session) = &self.app.session else { continue };
                    let agents = session.tasks.running().into_iter().filter(|task| task.kind == TaskKind::Agent);
                    let stopped = agents.filter(|task| session.tasks.stop(&task.id)).count();
                    if stopped == 0 {
                        self.say("No agent works in the background.");
                    }
                }
                Effect::Edit(text, purpose) => self.edit(&text, purpose)?,
                Effect::PasteImage => self.surroundings.paste_image(),
                Effect::SetMode(mode) => {
                    if let Some(session) = &self.app.session
                        && let Err(why) = set_mode(&session.rules, mode)
                    {
                        self.app.hear(SessionEvent::Note(why), self.began.elapsed());
                    }
                }
                Effect::Suspend => self.suspend()?,
                Effect::Redraw => {
                    self.painter.leave(size())?;
                }
                Effect::WantFiles => {
                    if let Err(why) = self.surroundings.want_files(self.began.elapsed()) {
                        self.app.composer.show_hint(&why, self.began.elapsed());
                    }
                }
                Effect::Copy(text) => {
                    // The terminal's own clipboard, also of a machine far away (OSC 52).
                    let mut out = io::stdout().lock();
                    out.write_all(format!("\x1b]52;c;{}\x07", digest::base64(text.as_bytes())).as_bytes())?;
                    out.flush()?;
                    self.surroundings.copy_to_clipboard(&text);
                    let lines = text.lines().count();
                    let words = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
                    self.app.hear(SessionEvent::Note(format!("Copied {words}.")), self.began.elapsed());
                }
                Effect::EditFile(file) => self.edit_file(&file)?,
                Effect::CheckImages(images) => {
                    for image in self.surroundings.missing_images(&images) {
                        self.app.composer.reject_image(&image);
                    }
                }
                Effect::ListFolder { folder, typed } => {
                    let entries = self.surroundings.list_folder(&folder);
                    self.app.composer.offer_paths(&typed, &entries);
                }
            }
        }
        Ok(())
    }

    fn paint(&mut self) -> io::Result<()> {
        let (size, now) = (size(), self.began.elapsed());
        self.app.composer.expire(now);
        self.app.resize(size.width);
        self.has_output = self.app.look_at_output();
        if let (Some(settings), Some(facts)) = (self.app.status_settings(), self.app.status_facts(now)) {
            self.status.look(&settings, &facts, now);
        }
        if let Some(mut page) = self.app.page(size) {
            self.app.palette.apply(&mut page.lines);
            self.painter.overlay(size, Some(&page))?;
            self.painted = Some(Instant::now());
            return Ok(());
        }
        self.painter.overlay(size, None)?;
        let mut finished = self.app.take_finished();
        let mut bottom = self.app.bottom(size, now);
        self.app.palette.apply(&mut finished);
        self.app.palette.apply(&mut bottom.lines);
        self.painter.paint(size, &finished, &bottom)?;
        self.painter.title(self.app.title(), self.app.name())?;
        self.painted = Some(Instant::now());
        Ok(())
    }

    /// Leaves the terminal to the user's editor with a file of theirs.
    fn edit_file(&mut self, file: &std::path::Path) -> io::Result<()> {
        let edited = self.with_terminal_lent(|screen| screen.surroundings.edit_file(file))?;
        match edited {
            Ok(()) => self.say(&format!("Closed {}", file.display())),
            Err(why) => self.say(&format!("{} was not edited: {why}", file.display())),
        }
        // What of it counts at once.
        if file.file_name().is_some_and(|name| name == "keybindings.json") {
            self.read_keybindings();
        }
        self.paint()
    }

    /// The same with a text.
    fn edit(&mut self, text: &str, purpose: EditFor) -> io::Result<()> {
        let edited = self.with_terminal_lent(|screen| screen.surroundings.edit(text))?;
        match (edited, purpose) {
            (Ok(text), EditFor::Composer) => self.app.composer.set_text(&text),
            (Ok(_), EditFor::Nothing) => {}
            (Err(why), _) => self.say(&why),
        }
        self.paint()
    }

    fn with_terminal_lent<T>(&mut self, work: impl FnOnce(&Self) -> T) -> io::Result<T> {
        self.painter.overlay(size(), None)?;
        self.painter.leave(size())?;
        let paused = self.keys.as_ref().map(KeyReader::pause);
        self.restore.lend()?;
        let done = work(self);
        self.restore.take_over()?;
        drop(paused);
        Ok(done)
    }

    fn say(&mut self, sentence: &str) {
        self.app.hear(SessionEvent::Note(sentence.to_owned()), self.began.elapsed());
    }

    /// Leaves the terminal to the shell until it continues us.
    fn suspend(&mut self) -> io::Result<()> {
        self.painter.leave(size())?;
        let paused = self.keys.as_ref().map(KeyReader::pause);
        self.restore.suspend()?;
        drop(paused);
        self.paint()
    }
}

fn size() -> Size {
    let (width, height) = crossterm::terminal::size().unwrap_or((80, 24));
    Size { width: width.max(1), height: height.max(1) }
}
