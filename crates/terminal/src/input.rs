//! Threads that wait for what the terminal and the system have to say.
//!
//! Keys are read only when there are some: the thread sleeps in `poll` beside a pipe that wakes it,
//! so that an editor or a suspended program can have the terminal for itself.

use crate::front::SessionEvent;
use crate::menus::FileIndex;
use crate::outside::PastedImage;
use crate::status_command::StatusOutput;
use crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// What wakes the loop.
#[derive(Debug)]
pub(crate) enum Wake {
    /// What could be read without waiting.
    Keys(Vec<Event>),
    Session(Box<SessionEvent>),
    Signal(Signal),
    /// Something that was waited for is there: draw again.
    Nudge,
    /// The files of the project, as far as they were found.
    Files(Arc<FileIndex>),
    /// What the user's status line command printed.
    StatusLine {
        generation: u64,
        output: StatusOutput,
    },
    /// An image from the clipboard, or why none was found.
    Image(Result<PastedImage, String>),
    /// The terminal is gone.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Resized,
    Continued,
    Terminated,
}

impl From<SessionEvent> for Wake {
    fn from(event: SessionEvent) -> Self {
        Self::Session(Box::new(event))
    }
}

/// Reads keys until the program ends.
#[derive(Debug)]
pub(crate) struct KeyReader {
    wake: Mutex<PipeWriter>,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// Another program has the terminal.
    closed: bool,
    /// The reader waits outside.
    outside: bool,
}

/// Another program has the terminal until this is dropped.
pub(crate) struct Paused(Arc<Gate>);

impl Drop for Paused {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).closed = false;
        self.0.changed.notify_all();
    }
}

impl KeyReader {
    pub(crate) fn start(sender: Sender<Wake>) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let gate = Arc::new(Gate::default());
        let inner = Arc::clone(&gate);
        let keys = sender.clone();
        std::thread::Builder::new().name("keys".into()).spawn(move || {
            read(&keys, woken, &inner);
            keys.send(Wake::Gone).ok();
        })?;
        listen_to_signals(sender, Arc::clone(&gate))?;
        Ok(Self { wake: Mutex::new(wake), gate })
    }

    /// Leaves the terminal to another program. When this returns, no key is read any more.
    pub(crate) fn pause(&self) -> Paused {
        let mut state = self.gate.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        let mut wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
        if wake.write_all(b"x").is_ok() {
            while !state.outside {
                state = self.gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        Paused(Arc::clone(&self.gate))
    }
}

impl Gate {
    fn is_closed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    fn wait_while_closed(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.closed {
            state.outside = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.outside = false;
    }
}

/// Reads until the terminal is gone or nobody listens.
fn read(sender: &Sender<Wake>, mut woken: PipeReader, gate: &Gate) {
    let stdin = io::stdin();
    loop {
        gate.wait_while_closed();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&woken, PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let (keys, pipe) = (watched[0].revents(), watched[1].revents());
        if pipe.contains(PollFlags::IN) {
            let mut byte = [0; 1];
            woken.read_exact(&mut byte).ok();
            continue;
        }
        if keys.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) && !keys.contains(PollFlags::IN) {
            return;
        }
        let mut batch = Vec::new();
        loop {
            match event::poll(Duration::ZERO) {
                Ok(true) => match event::read() {
                    Ok(event) => batch.push(event),
                    Err(_) => return,
                },
                Ok(false) => break,
                Err(_) => return,
            }
        }
        if !batch.is_empty() && sender.send(Wake::Keys(batch)).is_err() {
            return;
        }
    }
}

fn listen_to_signals(sender: Sender<Wake>, gate: Arc<Gate>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut resized, mut continued, mut terminated, mut hung_up, mut interrupted) = {
        let _context = runtime.enter();
        (
            signal(SignalKind::window_change())?,
            signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
        )
    };
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            loop {
                let received = tokio::select! {
                    _ = resized.recv() => Signal::Resized,
                    _ = continued.recv() => Signal::Continued,
                    _ = terminated.recv() => Signal::Terminated,
                    _ = hung_up.recv() => Signal::Terminated,
                    // Ctrl+C in a program that has the terminal is for that program.
                    _ = interrupted.recv() => match gate.is_closed() {
                        true => continue,
                        false => Signal::Terminated,
                    },
                };
                if sender.send(Wake::Signal(received)).is_err() {
                    return;
                }
            }
        });
    })?;
    Ok(())
}
