//! What ends a run from outside: SIGINT, SIGTERM, SIGHUP, and a stdout nobody reads any more
//! (DEC-188).
//!
//! The first becomes a cancelled token: the code that runs a child ends it, hooks are notified and rows
//! are committed. A second signal kills every child and ends the program at once. Threads of
//! their own wait for both, because the runtime may be held up by a write to a full pipe.

use rustix::event::{PollFd, PollFlags, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub(crate) const INTERRUPTED: u8 = 130;
/// As a shell reports a writer that died of a closed pipe.
const BROKEN_PIPE: u8 = 141;

/// A signal that follows the first this closely is the same one: `timeout` signals its child
/// and then the whole group, and a terminal that goes away hangs up twice.
const SAME: Duration = Duration::from_millis(200);

/// The token that ends the run, and why it was cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    token: CancellationToken,
    /// The exit code of what came first; 0 while nothing did.
    code: Arc<AtomicU8>,
}

impl Interrupt {
    /// Waits for signals and for the end of stdout.
    pub(crate) fn listen() -> Self {
        let interrupt = Self { token: CancellationToken::new(), code: Arc::default() };
        let on_signal = interrupt.clone();
        listen_to_signals(move || on_signal.end(INTERRUPTED));
        let on_close = interrupt.clone();
        std::thread::spawn(move || {
            if wait_until_stdout_is_closed() {
                on_close.stdout_closed();
            }
        });
        interrupt
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Nobody reads stdout: the run ends.
    pub(crate) fn stdout_closed(&self) {
        self.end(BROKEN_PIPE);
    }

    /// Whether stdout ended the run.
    pub(crate) fn is_stdout_closed(&self) -> bool {
        self.exit_code() == Some(BROKEN_PIPE)
    }

    /// The exit code of an interrupted run.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        Some(self.code.load(Ordering::Acquire)).filter(|code| *code != 0)
    }

    fn end(&self, code: u8) {
        // The first reason stays.
        self.code.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire).ok();
        self.token.cancel();
    }
}

/// Cancels the token at the first signal, for commands that print a report at their end.
pub(crate) fn on_signal(cancel: &CancellationToken) {
    let cancel = cancel.clone();
    listen_to_signals(move || cancel.cancel());
}

/// Calls `first` at the first signal and ends the program at the second. The handlers are
/// installed when this returns.
fn listen_to_signals(first: impl Fn() + Send + 'static) {
    // Without a handler the default action ends the program, which is what was asked for.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    let (int, term, hup) = {
        let _context = runtime.enter();
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    };
    let (Ok(mut int), Ok(mut term), Ok(mut hup)) = (int, term, hup) else { return };
    std::thread::spawn(move || {
        runtime.block_on(async {
            next(&mut int, &mut term, &mut hup).await;
            let began = Instant::now();
            first();
            loop {
                next(&mut int, &mut term, &mut hup).await;
                if began.elapsed() >= SAME {
                    end_at_once();
                }
            }
        });
    });
}

async fn next(int: &mut Signal, term: &mut Signal, hup: &mut Signal) {
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        _ = hup.recv() => {}
    }
}

/// Rows that are committed stay; what runs is killed. Without a farewell the keeper of the
/// children kills also what has left their groups.
fn end_at_once() -> ! {
    ona_process::kill_all();
    std::process::exit(INTERRUPTED.into());
}

/// Returns whether the reader of stdout has gone. A file never closes: this waits for ever.
fn wait_until_stdout_is_closed() -> bool {
    let stdout = std::io::stdout();
    loop {
        // No event is asked for: errors and hang-ups are always reported.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        }
    }
}
