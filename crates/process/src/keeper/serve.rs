//! The keeper's own process: starts children, tells how they ended, and kills what is left
//! when the program has died.
//!
//! One thread does everything: the kernel ties a child's death signal to the thread that
//! started it.

use super::NAME;
use super::message::{KeeperNote, KeeperRequest, receive};
use super::tree::descendants;
use crate::spawn::{ChildSpec, OnDeath, prepared};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use std::collections::HashMap;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::signal::unix::{SignalKind, signal};

/// How long it tries to end what does not end: processes of another user, or stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns whether this process was started as a keeper; `name` is its argument zero.
pub fn is_keeper(name: Option<&std::ffi::OsStr>) -> bool {
    name.is_some_and(|name| name == NAME)
}

/// Is the keeper until the program says farewell or dies. Standard input is the socket to it.
pub fn serve() -> ExitCode {
    // A name for people; nothing depends on it.
    rustix::thread::set_name(c"agent-children").ok();
    debug_assert_eq!(NAME, "agent-children");
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads it: the program finds the socket closed and starts another.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut children = Children::default();
    let farewell = runtime.block_on(children.serve(control));
    // Whatever went wrong, nobody asks for children any more.
    if !farewell.unwrap_or(false) {
        end_descendants();
    }
    Ok(())
}

/// The children that were asked for and still run, with the socket of each.
#[derive(Default)]
struct Children(HashMap<Pid, UnixStream>);

impl Children {
    /// Returns whether the program said farewell.
    async fn serve(&mut self, control: UnixStream) -> io::Result<bool> {
        control.set_nonblocking(true)?;
        let arrived = tokio::net::UnixStream::from_std(control.try_clone()?)?;
        let mut ended = signal(SignalKind::child())?;
        loop {
            tokio::select! {
                _ = ended.recv() => self.collect(),
                ready = arrived.readable() => match ready.and_then(|()| arrived.try_io(Interest::READABLE, || receive(&control))) {
                    Ok(Some(KeeperRequest::Start { spec, streams, notes })) => self.start(&spec, streams, notes),
                    Ok(Some(KeeperRequest::Farewell)) => break,
                    Ok(None) => return Ok(false),
                    // Woken without need.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                },
            }
        }
        // Those that were asked for would be ended by the end of this thread.
        while !self.0.is_empty() {
            ended.recv().await;
            self.collect();
        }
        Ok(true)
    }

    fn start(&mut self, spec: &ChildSpec, streams: [OwnedFd; 3], mut notes: UnixStream) {
        let [stdin, stdout, stderr] = streams;
        let started = prepared(spec, OnDeath::Kill)
            .and_then(|mut command| command.stdin(stdin).stdout(stdout).stderr(stderr).spawn());
        // Dropping the child leaves it alone; it is waited for with all others.
        let note = match started {
            Ok(child) => KeeperNote::Started { id: child.id().cast_signed() },
            Err(error) => {
                KeeperNote::Failed { error: error.raw_os_error().unwrap_or(rustix::io::Errno::INVAL.raw_os_error()) }
            }
        };
        // A program that died in the meantime has closed the other socket as well.
        notes.write_all(&note.to_bytes()).ok();
        if let KeeperNote::Started { id } = note
            && let Some(id) = Pid::from_raw(id)
        {
            self.0.insert(id, notes);
        }
    }

    /// Takes note of every child that ended, also of orphans that were given to us.
    fn collect(&mut self) {
        while let Ok(Some((id, status))) = wait(WaitOptions::NOHANG) {
            if let Some(mut notes) = self.0.remove(&id) {
                // The program may have dropped the child.
                notes.write_all(&KeeperNote::Ended { status: status.as_raw() }.to_bytes()).ok();
            }
        }
    }
}

/// Kills everything below this process until the kernel says that nothing is left.
fn end_descendants() {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    while began.elapsed() < PATIENCE {
        for id in descendants(getpid().as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw) {
            // Gone in the meantime is what we want; of another user is not ours to end.
            kill_process(id, Signal::KILL).ok();
        }
        // A process that forked while it was killed has left its child to us: look again.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}
