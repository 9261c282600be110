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

/// The newest output of both streams together, in the order in which it came, for who looks on.
#[derive(Clone, Default)]
pub(crate) struct RecentOutput(Arc<Mutex<Vec<u8>>>);

impl RecentOutput {
    /// Bytes that are kept, at least; what is older is dropped.
    const KEPT: usize = 8_192;

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let recent = self.lock();
        recent[recent.len().saturating_sub(Self::KEPT)..].to_vec()
    }

    fn append(&self, bytes: &[u8]) {
        let mut recent = self.lock();
        recent.extend_from_slice(&bytes[bytes.len().saturating_sub(Self::KEPT)..]);
        // Seldom, so that a byte is moved once.
        if recent.len() > 4 * Self::KEPT {
            let old = recent.len() - Self::KEPT;
            recent.drain(..old);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until end of file, also after the output has stopped mattering.
pub(crate) fn capture(
    mut stream: impl AsyncRead + Unpin + Send + 'static,
    cap: usize,
    recent: RecentOutput,
) -> (CaptureBuffer, JoinHandle<()>) {
    let captured = CaptureBuffer::default();
    let sink = captured.clone();
    let reader = tokio::spawn(async move {
        let mut buffer = Vec::with_capacity(64 * 1024);
        loop {
            buffer.clear();
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    recent.append(&buffer);
                    sink.append(&buffer, cap);
                }
            }
        }
    });
    (captured, reader)
}

#[cfg(test)]
mod tests {
    use super::RecentOutput;

    #[test]
    fn the_newest_output_is_kept() {
        let recent = RecentOutput::default();
        for number in 0..20_000 {
            recent.append(format!("{number}\n").as_bytes());
        }
        let text = String::from_utf8(recent.bytes()).unwrap();
        assert!(text.ends_with("19998\n19999\n") && text.len() == RecentOutput::KEPT, "{}", text.len());
        recent.append(&vec![b'x'; 100_000]);
        assert_eq!(recent.bytes(), vec![b'x'; RecentOutput::KEPT]);
    }
}
