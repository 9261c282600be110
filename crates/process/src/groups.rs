//! The process groups of all children that run, for a program that has to end at once.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

static GROUPS: Mutex<Groups> = Mutex::new(Groups { running: BTreeSet::new(), ended: false });

struct Groups {
    running: BTreeSet<i32>,
    /// Nothing may be started any more.
    ended: bool,
}

/// A child's place in the list, given up when the child was waited for.
#[derive(Debug)]
pub(crate) struct GroupRegistration(i32);

pub(crate) fn register(group: Pid) -> GroupRegistration {
    let id = group.as_raw_nonzero().get();
    let mut groups = groups();
    groups.running.insert(id);
    if groups.ended {
        kill(id);
    }
    GroupRegistration(id)
}

impl Drop for GroupRegistration {
    fn drop(&mut self) {
        groups().running.remove(&self.0);
    }
}

/// Kills every child with its group. A child started after this call is killed as well.
pub fn kill_all() {
    let mut groups = groups();
    groups.ended = true;
    groups.running.iter().copied().for_each(kill);
}

fn kill(id: i32) {
    if let Some(group) = Pid::from_raw(id) {
        // Already gone is what we want.
        kill_process_group(group, Signal::KILL).ok();
    }
}

fn groups() -> MutexGuard<'static, Groups> {
    // Every update is one insertion or removal, so a panic elsewhere leaves a whole set.
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
