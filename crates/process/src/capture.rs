//! Keeps the first bytes of a stream and drains the rest.
//!
//! Draining matters: a child whose pipe is closed dies of SIGPIPE, and a guard
//! that printed too much would lose the exit code that blocks (DEC-055).

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub bytes: Vec<u8>,
    /// More came than was kept.
    pub truncated: bool,
}

/// A capture that is still being filled.
#[derive(Clone, Default)]
pub(crate) struct CaptureBuffer(Arc<Mutex<Captured>>);

impl CaptureBuffer {
    pub(crate) fn snapshot(&self) -> Captured {
        self.lock().clone()
    }

    /// Takes what is there; what still arrives is dropped.
    pub(crate) fn take(&self) -> Captured {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Captured> {
        // A panic while appending bytes leaves bytes, which is all we promise.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, bytes: &[u8], cap: usize) {
        let mut captured = self.lock();
        let room = cap.saturating_sub(captured.bytes.len());
        captured.bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
        captured.truncated |= bytes.len() > room;
    }
}

/// Reads until end of file, also after the output has stopped mattering.
pub(crate) fn capture(
    mut stream: impl AsyncRead + Unpin + Send + 'static,
    cap: usize,
) -> (CaptureBuffer, JoinHandle<()>) {
    let captured = CaptureBuffer::default();
    let sink = captured.clone();
    let reader = tokio::spawn(async move {
        let mut buffer = Vec::with_capacity(64 * 1024);
        loop {
            buffer.clear();
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(_) => sink.append(&buffer, cap),
            }
        }
    });
    (captured, reader)
}
