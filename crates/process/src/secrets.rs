//! Keeps credentials this process was started with out of reach of its children.
//!
//! What a child gets in its environment is decided by its caller. Two ways around that
//! are closed here: the environment this process was started with, which every program
//! of the same user can read in `/proc/PID/environ`, and a descriptor on which a parent
//! handed over a token.

use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

/// The descriptor that children of the agent do not get; none if negative.
static WITHHELD: AtomicI32 = AtomicI32::new(-1);

/// Children of the agent are started without this descriptor from now on.
pub fn withhold_descriptor(number: RawFd) {
    // 0, 1 and 2 are replaced in every child.
    if number > 2 {
        WITHHELD.store(number, Ordering::Relaxed);
    }
}

/// Has the descriptor closed when the calling process becomes another program. Async-signal-safe.
pub(crate) fn close_descriptor_on_exec() {
    let number = WITHHELD.load(Ordering::Relaxed);
    if number < 0 {
        return;
    }
    #[expect(unsafe_code, reason = "the number comes from a variable")]
    // SAFETY: only a flag is set, and a number that is not open is an error without effect.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    // A descriptor that is not open cannot be inherited either.
    rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC).ok();
}

/// Overwrites the values of these variables where the system keeps the environment this
/// process was started with.
///
/// # Safety
/// No other thread may run, and these variables must not be read afterwards.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the environment is memory of the process")]
pub unsafe fn hide_environment(names: &[&str]) {
    use std::ffi::{CStr, c_char};
    unsafe extern "C" {
        static environ: *const *mut c_char;
    }
    // SAFETY: `environ` ends with a null pointer, its entries are NUL-terminated strings in
    // memory of this process, and by contract nobody else uses them now.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            let value = names.iter().find_map(|name| text.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
            if let Some(length) = value.map(<[u8]>::len) {
                let start = text.len() - length;
                (*entry).add(start).write_bytes(0, length);
            }
            entry = entry.add(1);
        }
    }
}

/// # Safety
/// As on Linux.
#[cfg(not(target_os = "linux"))]
#[expect(unsafe_code, reason = "the same signature as on Linux")]
pub unsafe fn hide_environment(_: &[&str]) {}
