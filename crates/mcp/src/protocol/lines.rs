//! One message per line over a pair of streams.
//!
//! Not the library's: it drops a line that is too long and lets its request wait, and answers a line that is JSON
//! but no message, as programs that log JSON print it.

use super::incoming;
use crate::connection::McpCallError;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// The longest message that is read.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

pub(crate) struct Lines {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The line so far.
    line: Vec<u8>,
    ready: VecDeque<ServerJsonRpcMessage>,
    writer: Arc<Mutex<Option<Writer>>>,
    closed: Option<String>,
}

impl Lines {
    pub(crate) fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: BufReader::new(Box::new(reader)),
            line: Vec::new(),
            ready: VecDeque::new(),
            writer: Arc::new(Mutex::new(Some(Box::new(writer)))),
            closed: None,
        }
    }

    /// Returns why nothing more comes; empty if the other side has ended.
    pub(super) fn why_closed(&self) -> String {
        self.closed.clone().unwrap_or_default()
    }

    /// Reads on, up to the end of a line. An error ends the transport.
    async fn read_line(&mut self) -> Result<(), String> {
        loop {
            let read = self.reader.fill_buf().await.map_err(|error| error.to_string())?;
            if read.is_empty() {
                return if self.line.is_empty() { Err(String::new()) } else { Ok(()) };
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |end| end + 1);
            self.line.extend_from_slice(&read[..taken]);
            self.reader.consume(taken);
            if self.line.len() > LONGEST {
                return Err(format!("a message of more than {LONGEST} bytes"));
            }
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = McpCallError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), McpCallError>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&message).map_err(|error| McpCallError::NotTaken(error.to_string()))?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let Some(writer) = writer.as_mut() else { return Err(McpCallError::Lost(String::new())) };
            let written = async {
                writer.write_all(&line).await?;
                writer.flush().await
            };
            if let Err(error) = written.await {
                // The reader notices the end of the other side as well, with its cause.
                tracing::debug!(%error, "a message was not written");
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.closed.is_some() {
                return None;
            }
            match self.read_line().await {
                Ok(()) => {
                    self.ready.extend(incoming::messages(&self.line));
                    self.line.clear();
                }
                Err(why) => self.closed = Some(why),
            }
        }
    }

    async fn close(&mut self) -> Result<(), McpCallError> {
        // A write that is under way keeps it; the process is ended all the same.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn lines_are_messages_and_the_rest_is_ignored() {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let (reader, writer) = tokio::io::split(ours);
        let mut lines = Lines::new(reader, writer);
        let text = "starting\n{\"level\":\"info\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n{\"id\":2,\"result\":{}}";
        theirs.write_all(text.as_bytes()).await.unwrap();
        theirs.shutdown().await.unwrap();
        let mut got = Vec::new();
        while let Some(message) = lines.receive().await {
            got.push(serde_json::to_value(message).unwrap()["id"].clone());
        }
        assert_eq!((got, lines.why_closed().as_str()), (vec![1.into(), 2.into()], ""));
        lines.close().await.unwrap();
        drop(lines);
        // Nobody was answered who did not ask.
        let mut answered = String::new();
        theirs.read_to_string(&mut answered).await.unwrap();
        assert_eq!(answered, "");
    }

    #[tokio::test]
    async fn a_line_without_end_ends_the_transport() {
        let mut lines = Lines::new(tokio::io::repeat(b'x'), tokio::io::sink());
        assert!(lines.receive().await.is_none());
        assert_eq!(lines.why_closed(), "a message of more than 67108864 bytes");
    }
}
