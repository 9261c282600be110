//! What stands between the library and the transports: the order of announcements, why a connection ended.
//!
//! The library runs the handler of each announcement as a task of its own, so that two of them
//! change places and the last step of a call is told after its result. They are noted here instead, as
//! they come. The library is not told why a transport ended; the inbox is.

use super::OnProgress;
use super::handler::McpClientHandler;
use super::legacy::EventStream;
use super::lines::Lines;
use super::socket::Socket;
use super::streamable::StreamableTransport;
use crate::connection::McpCallError;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions, GetMeta, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::sync::Arc;

/// How messages travel to one server.
pub(crate) enum ServerLink {
    Lines(Lines),
    EventStream(Box<EventStream>),
    Streamable(StreamableTransport),
    Socket(Box<Socket>),
}

pub(super) struct Watched {
    pub link: ServerLink,
    pub handler: Arc<McpClientHandler>,
}

/// Who hears of the progress of a request. It stays on this side.
#[derive(Clone)]
struct Listener(OnProgress);

/// Returns a request with its listener.
pub(super) fn listened(mut request: ClientRequest, progress: Option<OnProgress>) -> ClientRequest {
    if let Some(progress) = progress {
        request.extensions_mut().insert(Listener(progress));
    }
    request
}

impl Transport<RoleClient> for Watched {
    type Error = McpCallError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), McpCallError>> + Send + 'static {
        // The token is known from here on, and no answer can come before.
        if let ClientJsonRpcMessage::Request(sent) = &message
            && let Some(Listener(listener)) = sent.request.extensions().get()
            && let Some(token) = sent.request.get_meta().get_progress_token()
        {
            self.handler.inbox.listen(token, Arc::clone(listener));
        }
        let sending: BoxFuture<'static, Result<(), McpCallError>> = match &mut self.link {
            ServerLink::Lines(link) => link.send(message).boxed(),
            ServerLink::EventStream(link) => link.send(message).boxed(),
            ServerLink::Socket(link) => link.send(message).boxed(),
            ServerLink::Streamable(link) => {
                let sending = link.send(message);
                async move { sending.await.map_err(McpCallError::from) }.boxed()
            }
        };
        sending
    }

    /// Nothing is lost if the library stops waiting: whatever follows a message is done at once.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let received = match &mut self.link {
            ServerLink::Lines(link) => link.receive().await,
            ServerLink::EventStream(link) => link.receive().await,
            ServerLink::Streamable(link) => link.receive().await,
            ServerLink::Socket(link) => link.receive().await,
        };
        let inbox = &self.handler.inbox;
        match &received {
            Some(ServerJsonRpcMessage::Notification(announced)) => {
                inbox.note(&self.handler.server, &announced.notification);
            }
            Some(_) => {}
            None => inbox.close(match &self.link {
                ServerLink::Lines(link) => link.why_closed(),
                ServerLink::EventStream(_) => "the server closed the stream".into(),
                ServerLink::Streamable(_) => String::new(),
                ServerLink::Socket(link) => link.why_closed(),
            }),
        }
        received
    }

    async fn close(&mut self) -> Result<(), McpCallError> {
        match &mut self.link {
            ServerLink::Lines(link) => link.close().await,
            ServerLink::EventStream(link) => link.close().await,
            ServerLink::Socket(link) => link.close().await,
            ServerLink::Streamable(link) => Ok(link.close().await?),
        }
    }
}
