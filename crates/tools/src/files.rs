//! What all file tools share: how a refusal is worded, and what a session has seen.

use crate::ToolContext;
use crate::fingerprint::Fingerprint;
use ona_api::ToolResult;
use ona_api::tool::FileState;
use serde_json::json;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Why a call could not be carried out, in words for the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolRefusal(pub String);

impl<T: Into<String>> From<T> for ToolRefusal {
    fn from(words: T) -> Self {
        Self(words.into())
    }
}

pub(crate) type FileResult = Result<ToolResult, ToolRefusal>;

/// Runs file work off the async threads. A panic there is the host's failure.
pub(crate) async fn blocking(work: impl FnOnce() -> FileResult + Send + 'static) -> ToolResult {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(result)) => result,
        Ok(Err(ToolRefusal(words))) => ToolResult::rejected(words),
        Err(_) => ToolResult::internal("the tool stopped unexpectedly"),
    }
}

/// Returns the result of a call that was stopped.
pub(crate) fn interrupted() -> ToolResult {
    ToolResult::rejected("Interrupted.").data(json!({"is_interrupt": true}))
}

/// A source that fails once the call has been cancelled, so that an endless
/// file can be left.
pub(crate) struct UntilCancelled<'a, R>(pub R, pub &'a CancellationToken);

impl<R: Read> Read for UntilCancelled<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        self.0.read(buffer)
    }
}

/// `what` happened to `path`.
pub(crate) fn io_refusal(path: &Path, what: &io::Error) -> ToolRefusal {
    let path = path.display();
    ToolRefusal(match what.kind() {
        ErrorKind::NotFound => format!("{path} does not exist."),
        ErrorKind::PermissionDenied => format!("{path}: permission denied."),
        ErrorKind::NotADirectory => format!("{path}: a part of the path is not a directory."),
        ErrorKind::InvalidInput => format!("{path}: not a valid path."),
        _ => format!("{path}: {what}."),
    })
}

/// Refuses when the session knows the file in another state than the given one.
pub(crate) fn unchanged(path: &Path, fingerprint: &str, cx: &ToolContext) -> Result<(), ToolRefusal> {
    match cx.seen.get(path) {
        Some(known) if known != fingerprint => Err(format!(
            "{} has changed on disk since this session last read or wrote it. Read it again first.",
            path.display()
        )
        .into()),
        _ => Ok(()),
    }
}

pub(crate) fn seen(path: &Path, bytes: &[u8]) -> Vec<FileState> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.update(bytes);
    vec![FileState { path: path.into(), sha256: fingerprint.finish() }]
}

/// Lines as `Read` counts them: an unterminated last line counts.
pub(crate) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
