//! What every transport carries: JSON-RPC messages, in both directions.
//!
//! A transport is a task with two queues. It knows how messages travel and nothing of what they
//! mean; `peer` gives answers to those who wait for them.

use crate::connection::McpCallError;
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The longest message that is read.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;

/// What a transport reports.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Value),
    /// The request with this id gets no answer.
    Failed {
        id: u64,
        why: McpCallError,
    },
    /// Nothing can be exchanged any more.
    Closed(String),
}

/// Our side of a transport. Dropping it ends the transport.
pub(crate) struct Wire {
    pub outgoing: UnboundedSender<Value>,
    pub incoming: UnboundedReceiver<Incoming>,
    pub ending: WireEnding,
}

pub(crate) struct WireEnding {
    ending: DropGuard,
    task: JoinHandle<()>,
}

/// The transport's side.
pub(crate) struct WireTask {
    pub outgoing: UnboundedReceiver<Value>,
    pub incoming: UnboundedSender<Incoming>,
    /// Nobody needs the transport any more.
    pub ending: CancellationToken,
}

impl Wire {
    pub(crate) fn spawn<T: Future<Output = ()> + Send + 'static>(run: impl FnOnce(WireTask) -> T) -> Self {
        let (outgoing, sent) = mpsc::unbounded_channel();
        let (received, incoming) = mpsc::unbounded_channel();
        let ending = CancellationToken::new();
        let task = tokio::spawn(run(WireTask { outgoing: sent, incoming: received, ending: ending.clone() }));
        Self { outgoing, incoming, ending: WireEnding { ending: ending.drop_guard(), task } }
    }

    /// One message per line over a pair of streams.
    pub(crate) fn lines(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self::spawn(move |task| async move {
            let WireTask { mut outgoing, incoming, ending } = task;
            let closed = CancellationToken::new();
            let reading = tokio::spawn(read_lines(reader, incoming, closed.clone()));
            let mut writer = writer;
            loop {
                let message = tokio::select! {
                    message = outgoing.recv() => message,
                    () = ending.cancelled() => None,
                    () = closed.cancelled() => None,
                };
                let Some(message) = message else { break };
                let line = format!("{message}\n");
                let written = async {
                    writer.write_all(line.as_bytes()).await?;
                    writer.flush().await
                };
                tokio::select! {
                    // The reader notices the end of the other side as well, with its cause.
                    written = written => if written.is_err() { break },
                    () = ending.cancelled() => break,
                }
            }
            drop(writer);
            if ending.is_cancelled() {
                reading.abort();
            }
        })
    }
}

impl WireEnding {
    /// Ends the transport; what has not ended after `grace` is left to itself.
    pub(crate) async fn end(self, grace: Duration) {
        self.ending.disarm().cancel();
        tokio::time::timeout(grace, self.task).await.ok();
    }
}

async fn read_lines(reader: impl AsyncRead + Unpin, incoming: UnboundedSender<Incoming>, closed: CancellationToken) {
    let _closed = closed.drop_guard();
    let mut reader = BufReader::new(reader);
    let why = loop {
        let mut line = Vec::new();
        match (&mut reader).take(LONGEST as u64).read_until(b'\n', &mut line).await {
            Ok(0) => break String::new(),
            Ok(LONGEST..) if !line.ends_with(b"\n") => break format!("a message of more than {LONGEST} bytes"),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
        // Servers print other things, too.
        match serde_json::from_slice(&line) {
            Ok(message) => {
                if incoming.send(Incoming::Message(message)).is_err() {
                    return;
                }
            }
            Err(error) => tracing::debug!(%error, bytes = line.len(), "a line that is not JSON is ignored"),
        }
    };
    // The run may have ended.
    incoming.send(Incoming::Closed(why)).ok();
}
