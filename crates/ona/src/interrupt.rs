//! Ctrl-C and SIGTERM become a cancelled token; whoever runs a child ends it and
//! still commits its rows.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub const INTERRUPTED: u8 = 130;

/// Must be called inside a runtime.
pub fn on_signal(cancel: &CancellationToken) {
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        // Without a handler the default action ends the program, which is what was asked for.
        let Ok(mut stream) = signal(kind) else { continue };
        let cancel = cancel.clone();
        tokio::spawn(async move {
            stream.recv().await;
            cancel.cancel();
        });
    }
}
