//! Tries what a wall must prevent, and says which of it worked.
//!
//! It runs in a process of its own, which goes behind the wall by the same calls as any
//! child. So what it finds holds for children on this machine, whatever versions say.

use crate::policy::WallPolicy;
use crate::state::{Enforcement, Mechanism, State};
use crate::wall::Wall;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount_remount, unmount};
use rustix::process::{Pid, getppid, test_kill_process};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs;
use std::path::Path;

type Attempt<'a> = (&'static str, Box<dyn Fn() -> bool + 'a>);

/// Goes behind a wall that guards files in `folder`, which is empty, and returns what holds.
/// The calling process must have one thread, and is good for nothing else afterwards.
pub fn try_all(folder: &Path, mechanisms: &[Mechanism]) -> std::io::Result<State> {
    let (guarded, hidden, free) = (folder.join("in/guarded"), folder.join("hidden"), folder.join("free"));
    fs::create_dir(folder.join("in"))?;
    fs::create_dir(&free)?;
    fs::write(&guarded, "kept")?;
    fs::write(&hidden, "secret")?;
    let parent = getppid();
    let policy = WallPolicy {
        read_only: vec![guarded.clone()],
        hidden: vec![hidden.clone()],
        protected_processes: parent.map(|parent| parent.as_raw_nonzero().get()).into_iter().collect(),
        ..WallPolicy::default()
    };
    let mut state = State { mechanisms: Vec::new(), gaps: Vec::new() };
    let mut used = Vec::new();
    // In the order in which a child enters them: what comes first would be refused by the others.
    for mechanism in Mechanism::ALL {
        let condition = if !mechanisms.contains(&mechanism) {
            Enforcement::Off("not used".into())
        } else {
            used.push(mechanism);
            let wall = Wall::prepare(&policy, folder, &used).map_err(|error| error.to_string());
            match wall.and_then(|wall| wall.only(mechanism).enter().map_err(|error| error.to_string())) {
                Ok(()) => Enforcement::Enforced,
                Err(reason) => {
                    used.pop();
                    Enforcement::Off(reason)
                }
            }
        };
        state.mechanisms.push((mechanism, condition));
    }
    for (name, attempt) in attempts(folder, parent) {
        if attempt() {
            state.gaps.push(name.to_owned());
        }
    }
    // It would be a wall without a door.
    if fs::write(free.join("new"), "x").is_err() {
        state.gaps.push("(writing beside guarded files does not work)".to_owned());
    }
    Ok(state)
}

/// Each returns whether it worked.
fn attempts(folder: &Path, parent: Option<Pid>) -> Vec<Attempt<'_>> {
    let (inside, guarded, hidden) = (folder.join("in"), folder.join("in/guarded"), folder.join("hidden"));
    let other = folder.join("free/other");
    // Also where nothing is prevented, each finds the files as they were made.
    let written = move |path: &Path| fs::OpenOptions::new().write(true).open(path).is_ok();
    let process = parent.map(|parent| Path::new("/proc").join(parent.as_raw_nonzero().to_string()));
    let (of_parent, link) = (process.clone(), folder.join("free/link"));
    let (guarded_2, guarded_3, guarded_4, guarded_5) =
        (guarded.clone(), guarded.clone(), guarded.clone(), guarded.clone());
    let (inside_2, other_2) = (folder.join("in-2"), other.clone());
    vec![
        ("writing a guarded file", Box::new(move || written(&guarded))),
        ("reading a hidden file", Box::new(move || fs::read(&hidden).is_ok_and(|bytes| !bytes.is_empty()))),
        (
            "moving the folder of a guarded file",
            Box::new(move || fs::rename(&inside, &inside_2).and_then(|()| fs::rename(&inside_2, &inside)).is_ok()),
        ),
        (
            "a second name for a guarded file",
            Box::new(move || fs::hard_link(&guarded_2, &link).is_ok_and(|()| written(&link))),
        ),
        (
            "replacing a guarded file",
            Box::new(move || fs::write(&other, "kept").is_ok() && fs::rename(&other, &guarded_3).is_ok()),
        ),
        ("removing a mount", Box::new(move || unmount(&guarded_4, UnmountFlags::DETACH).is_ok())),
        ("making a mount writable", Box::new(move || mount_remount(&guarded_5, MountFlags::BIND, "").is_ok())),
        (
            "the memory of this program",
            Box::new(move || {
                of_parent.as_ref().is_some_and(|process| open(process.join("mem"), OFlags::RDWR, Mode::empty()).is_ok())
            }),
        ),
        (
            "the files of this program",
            Box::new(move || process.as_ref().is_some_and(|process| fs::read_dir(process.join("root")).is_ok())),
        ),
        ("a signal to this program", Box::new(move || parent.is_some_and(|parent| test_kill_process(parent).is_ok()))),
        (
            "removing a guarded file",
            Box::new(move || fs::remove_file(folder.join("in/guarded")).is_ok() && fs::write(&other_2, "").is_ok()),
        ),
        (
            "a namespace of its own",
            Box::new(|| {
                #[expect(unsafe_code, reason = "it is tried last, in a process that does nothing else")]
                // SAFETY: nothing depends on what stops being shared.
                let made = unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) };
                made != Err(Errno::PERM) && made.is_ok()
            }),
        ),
    ]
}
