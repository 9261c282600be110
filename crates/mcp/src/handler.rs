//! Requests of a server that are answered. The library refuses all others.

use crate::context::ServerContext;
use crate::elicit::{ElicitAnswer, Elicitation};
use rmcp::ClientHandler;
use rmcp::model::{ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::watch;

/// What a server has sent and was not handled yet.
#[derive(Default)]
pub(crate) struct Inbox {
    /// The list of tools has changed.
    pub stale: AtomicBool,
    /// Number of running calls that were made by hooks. Elicitations are declined for them,
    /// because the hooks that would answer wait for the running one.
    pub unattended: AtomicUsize,
    /// Number of open elicitations.
    pub open: watch::Sender<usize>,
}

pub(crate) struct McpClientHandler {
    pub server: String,
    pub inbox: Arc<Inbox>,
    pub around: Arc<ServerContext>,
}

impl McpClientHandler {
    async fn answer(&self, params: &Value) -> Value {
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

fn unreadable(error: serde_json::Error) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None)
}

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let config = json!({
            "protocolVersion": rmcp::model::ProtocolVersion::default(),
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": false}},
            "clientInfo": {"name": "ona", "version": env!("CARGO_PKG_VERSION")},
        });
        serde_json::from_value(config).expect("the constant has the shape of the protocol")
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(request).map_err(unreadable)?;
        serde_json::from_value(self.answer(&params).await).map_err(unreadable)
    }

    /// An elicitation whose schema the library does not know is handled as well.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "elicitation/create" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        Ok(CustomResult::new(self.answer(&request.params.unwrap_or_default()).await))
    }

    #[expect(deprecated, reason = "servers still ask for roots")]
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        let root = |path: &std::path::PathBuf| json!({"uri": format!("file://{}", path.display())});
        let roots: Vec<_> = self.around.place().roots.iter().map(root).collect();
        serde_json::from_value(json!({ "roots": roots })).map_err(unreadable)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.inbox.stale.store(true, Ordering::SeqCst);
    }
}
