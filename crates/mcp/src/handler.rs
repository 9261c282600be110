//! What a server may ask of us. Everything else is refused by the library.

use crate::context::ServerContext;
use crate::elicit::{ElicitAnswer, Elicitation};
use rmcp::ClientHandler;
use rmcp::model::{ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::watch;

/// What a server has said since somebody looked.
#[derive(Default)]
pub(crate) struct Inbox {
    /// Its tools are not those it had.
    pub stale: AtomicBool,
    /// Calls of hooks under way: nobody is asked anything for them, because hooks that
    /// would answer wait for the one that is running.
    pub unattended: AtomicUsize,
    /// Questions somebody is thinking about.
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

/// A question as long as it is open, also if whoever asked it is dropped.
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

    /// A question whose schema the library does not know is a question all the same.
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
        let roots: Vec<_> = self.around.roots.iter().map(root).collect();
        serde_json::from_value(json!({ "roots": roots })).map_err(unreadable)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.inbox.stale.store(true, Ordering::SeqCst);
    }
}
