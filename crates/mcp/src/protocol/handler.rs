//! What a server asks and announces.
//!
//! It may ask for roots and put questions to the person; everything else is refused with the
//! error of JSON-RPC, sampling included: no server gets to use the model of this program.

#![expect(deprecated, reason = "a later version of the protocol has no roots, sampling and logs; servers of today do")]

use super::{CallProgress, OnProgress, versions};
use crate::context::ServerContext;
use crate::elicit::{ElicitAnswer, Elicitation};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, CustomRequest, CustomResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, ListRootsResult, ProgressToken, ProtocolVersion, ServerNotification,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

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
    /// Who hears of the progress of running calls.
    listeners: Mutex<HashMap<ProgressToken, OnProgress>>,
    /// Why nothing can be exchanged any more.
    closed: Mutex<Option<String>>,
}

impl Inbox {
    pub(super) fn listen(&self, token: ProgressToken, listener: OnProgress) {
        // Every change is one insertion or removal.
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).insert(token, listener);
    }

    pub(super) fn forget_listener(&self, token: &ProgressToken) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    /// Takes note of what a server announces.
    pub(super) fn note(&self, server: &str, announced: &ServerNotification) {
        match announced {
            ServerNotification::ToolListChangedNotification(_) => self.stale_tools.store(true, Ordering::SeqCst),
            ServerNotification::PromptListChangedNotification(_) => self.stale_prompts.store(true, Ordering::SeqCst),
            ServerNotification::ProgressNotification(told) => {
                let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
                let listener = listener_of(&listeners, &told.params.progress_token);
                drop(listeners);
                if let Some(listener) = listener {
                    listener(CallProgress::of(&told.params));
                }
            }
            ServerNotification::LoggingMessageNotification(told) => {
                let (level, logger) = (&told.params.level, told.params.logger.as_deref().unwrap_or_default());
                tracing::debug!(server, ?level, logger, data = %told.params.data, "the server logs");
            }
            // Resources are asked for anew each time.
            _ => tracing::debug!(server, "an announcement without effect"),
        }
    }

    pub(super) fn close(&self, why: String) {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(super) fn closed(&self) -> Option<String> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Some servers return tokens as strings.
fn listener_of(listeners: &HashMap<ProgressToken, OnProgress>, token: &ProgressToken) -> Option<OnProgress> {
    let number = || match &token.0 {
        rmcp::model::NumberOrString::String(text) => {
            Some(ProgressToken(rmcp::model::NumberOrString::Number(text.parse().ok()?)))
        }
        rmcp::model::NumberOrString::Number(_) => None,
    };
    listeners.get(token).or_else(|| listeners.get(&number()?)).cloned()
}

pub(crate) struct McpClientHandler {
    pub server: String,
    pub inbox: Inbox,
    pub around: Arc<ServerContext>,
    /// What is proposed in the handshake.
    pub version: ProtocolVersion,
}

fn unknown(words: impl Into<String>) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, words.into(), None)
}

fn no_sampling() -> ErrorData {
    unknown("sampling is not offered: this client does not run its model for servers")
}

fn unreadable(error: serde_json::Error) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None)
}

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        debug_assert!(versions().contains(&self.version));
        let config = json!({
            "protocolVersion": self.version,
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}},
            "clientInfo": {"name": "ona", "version": env!("CARGO_PKG_VERSION")},
        });
        serde_json::from_value(config).expect("the constant has the shape of the protocol")
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let root = |path: &std::path::PathBuf| json!({"uri": file_uri(path), "name": name(path)});
        let roots: Vec<_> = self.around.roots().iter().map(root).collect();
        serde_json::from_value(json!({ "roots": roots })).map_err(unreadable)
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(asked).map_err(unreadable)?;
        serde_json::from_value(self.elicit(&params).await).map_err(unreadable)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(no_sampling())
    }

    /// Also requests that the library knows with other parameters.
    async fn on_custom_request(
        &self,
        asked: CustomRequest,
        cx: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let answered = match asked.method.as_str() {
            "ping" => json!({}),
            "roots/list" => serde_json::to_value(self.list_roots(cx).await?).map_err(unreadable)?,
            "elicitation/create" => self.elicit(&asked.params.unwrap_or_default()).await,
            "sampling/createMessage" => return Err(no_sampling()),
            other => return Err(unknown(format!("this client does not know the method {other}"))),
        };
        Ok(CustomResult::new(answered))
    }
}

impl McpClientHandler {
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
