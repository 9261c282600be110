//! Servers that run inside the program that drives this one.
//!
//! Each message to such a server is a request to that program, and its response is the
//! server's. The library sees an ordinary pipe.

use ona_tools::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Forwards one JSON-RPC message to a server and returns its response.
pub trait MessageRelay: Send + Sync {
    fn relay<'a>(&'a self, server: &'a str, message: Value) -> BoxFuture<'a, Result<Value, String>>;
}

/// Size of the pipe's buffer.
const ROOM: usize = 64 * 1024;

/// Returns the end of a pipe that leads to a server of that program. The pipe is served
/// until this end is dropped.
pub(crate) fn pipe(relay: Arc<dyn MessageRelay>, server: String) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(ROOM);
    tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(theirs);
        let writer = Arc::new(tokio::sync::Mutex::new(writer));
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let (relay, server, writer) = (Arc::clone(&relay), server.clone(), Arc::clone(&writer));
            // Several calls may be open at once; they do not wait for each other.
            tokio::spawn(async move {
                let Some(answer) = forward(&*relay, &server, message).await else { return };
                // The other end is closed, so nothing waits for it.
                writer.lock().await.write_all(format!("{answer}\n").as_bytes()).await.ok();
            });
        }
    });
    ours
}

async fn forward(relay: &dyn MessageRelay, server: &str, message: Value) -> Option<Value> {
    let id = message.get("id").cloned();
    let answer = relay.relay(server, message).await;
    // A notification has no answer, whatever came back.
    let id = id?;
    Some(match answer {
        Ok(mut answer) if answer.get("result").is_some() || answer.get("error").is_some() => {
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = id;
            answer
        }
        Ok(_) => {
            serde_json::json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "the server gave no answer"}})
        }
        Err(why) => serde_json::json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": why}}),
    })
}
