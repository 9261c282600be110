//! What all file tools share: how a refusal is worded, and how a file is opened
//! without blocking on a pipe or waking a device.

use crate::Cx;
use crate::fingerprint::Fingerprint;
use ona_api::ToolResult;
use ona_api::tool::Seen;
use rustix::fs::OFlags;
use serde_json::json;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Why a call could not be carried out, in words for the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub String);

impl<T: Into<String>> From<T> for Refused {
    fn from(words: T) -> Self {
        Self(words.into())
    }
}

pub(crate) type Outcome = Result<ToolResult, Refused>;

/// Runs file work off the async threads. A panic there is the host's failure.
pub(crate) async fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> ToolResult {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(result)) => result,
        Ok(Err(Refused(words))) => ToolResult::rejected(words),
        Err(_) => ToolResult::internal("the tool stopped unexpectedly"),
    }
}

/// The result of a call that somebody stopped.
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
pub(crate) fn io_refusal(path: &Path, what: &io::Error) -> Refused {
    let path = path.display();
    Refused(match what.kind() {
        ErrorKind::NotFound => format!("{path} does not exist."),
        ErrorKind::PermissionDenied => format!("{path}: permission denied."),
        ErrorKind::NotADirectory => format!("{path}: a part of the path is not a directory."),
        ErrorKind::InvalidInput => format!("{path}: not a valid path."),
        _ => format!("{path}: {what}."),
    })
}

/// Opens a regular file for reading. Anything else is refused before it is
/// opened, and again afterwards in case it was swapped in between.
pub(crate) fn open_regular(path: &Path) -> Result<(File, Metadata), Refused> {
    let refusal = |error| io_refusal(path, &error);
    regular(path, std::fs::metadata(path).map_err(refusal)?.file_type())?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(refusal)?;
    let metadata = file.metadata().map_err(refusal)?;
    regular(path, metadata.file_type())?;
    Ok((file, metadata))
}

/// Refuses what is not a regular file, in words that say what it is.
pub(crate) fn regular(path: &Path, kind: FileType) -> Result<(), Refused> {
    let path = path.display();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(format!("{path} is a directory, not a file. List it with Glob, or with `ls` in Bash.").into());
    }
    let what = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(format!("{path} is {what}, not a regular file.").into())
}

/// The whole file, unless it is larger than `limit`.
pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>, Refused> {
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| io_refusal(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(format!("{} is larger than {limit} bytes.", path.display()).into());
    }
    Ok(bytes)
}

/// Refuses when the session knows the file in another state than the given one.
pub(crate) fn unchanged(path: &Path, fingerprint: &str, cx: &Cx) -> Result<(), Refused> {
    match cx.seen.get(path) {
        Some(known) if known != fingerprint => Err(format!(
            "{} has changed on disk since this session last read or wrote it. Read it again first.",
            path.display()
        )
        .into()),
        _ => Ok(()),
    }
}

pub(crate) fn seen(path: &Path, bytes: &[u8]) -> Vec<Seen> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.update(bytes);
    vec![Seen { path: path.into(), sha256: fingerprint.finish() }]
}

/// Lines as `Read` counts them: an unterminated last line counts.
pub(crate) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// `1 line`, `2 lines`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
