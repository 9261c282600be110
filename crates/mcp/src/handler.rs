//! What a server asks and announces.
//!
//! It may ask for roots and put questions to the person; everything else is refused with the
//! error of JSON-RPC, sampling included: no server gets to use the model of this program.

use crate::context::ServerContext;
use crate::elicit::{ElicitAnswer, Elicitation};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::watch;

const METHOD_NOT_FOUND: i64 = -32601;

/// What a server has sent and was not handled yet.
#[derive(Default)]
pub(crate) struct Inbox {
    /// The list of tools has changed.
    pub stale_tools: AtomicBool,
    /// The list of prompts has changed.
    pub stale_prompts: AtomicBool,
    /// Number of running calls that were made by hooks. Elicitations are declined for them,
    /// because the hooks that would answer wait for the running one.
    pub unattended: AtomicUsize,
    /// Number of open elicitations.
    pub open: watch::Sender<usize>,
}

pub(crate) struct McpClientHandler {
    pub server: String,
    pub inbox: Inbox,
    pub around: Arc<ServerContext>,
}

impl McpClientHandler {
    /// Returns the answer to a request of the server, or the code and the words of an error.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        match method {
            "ping" => Ok(json!({})),
            "roots/list" => {
                let root = |path: &std::path::PathBuf| json!({"uri": file_uri(path), "name": name(path)});
                Ok(json!({"roots": self.around.roots().iter().map(root).collect::<Vec<_>>()}))
            }
            "elicitation/create" => Ok(self.elicit(&params).await),
            "sampling/createMessage" => Err((
                METHOD_NOT_FOUND,
                "sampling is not offered: this client does not run its model for servers".into(),
            )),
            other => Err((METHOD_NOT_FOUND, format!("this client does not know the method {other}"))),
        }
    }

    pub(crate) fn notification(&self, method: &str) {
        match method {
            "notifications/tools/list_changed" => self.inbox.stale_tools.store(true, Ordering::SeqCst),
            "notifications/prompts/list_changed" => self.inbox.stale_prompts.store(true, Ordering::SeqCst),
            // Resources are asked for anew each time.
            other => tracing::debug!(server = self.server, notification = other, "received"),
        }
    }

    async fn elicit(&self, params: &Value) -> Value {
        if self.inbox.unattended.load(Ordering::SeqCst) > 0 {
            return ElicitAnswer::declined().result();
        }
        let _open = Thinking::begin(&self.inbox.open);
        self.around.answer(Elicitation::read(&self.server, params)).await.result()
    }
}

/// Counts an open elicitation until dropped.
struct Thinking<'a>(&'a watch::Sender<usize>);

impl<'a> Thinking<'a> {
    fn begin(open: &'a watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open)
    }
}

impl Drop for Thinking<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns a path as a URI; what a URI cannot hold is percent-encoded.
fn file_uri(path: &std::path::Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_path_is_a_uri() {
        for (path, uri) in [("/a/b.c-d", "file:///a/b.c-d"), ("/a b/ü#?", "file:///a%20b/%C3%BC%23%3F")] {
            assert_eq!(file_uri(Path::new(path)), uri);
        }
    }
}
