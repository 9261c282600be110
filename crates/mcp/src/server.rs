//! One server during a run: its connection and its tools.

use crate::connection::{ConnectError, McpCallError, McpConnection};
use crate::context::ServerContext;
use crate::definition::ServerDefinition;
use crate::reply::McpReply;
use crate::schema;
use crate::slug::{Slug, tool_name};
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Longer texts of a server are cut.
const DESCRIPTION: usize = 2048;
/// The most a tool may ask for with `anthropic/maxResultSizeChars`.
const LARGEST_RESULT: usize = 500_000;

pub struct McpServer {
    pub definition: ServerDefinition,
    around: Arc<ServerContext>,
    state: watch::Sender<State>,
    tools: Mutex<Vec<Arc<ServerTool>>>,
}

#[derive(Clone)]
enum State {
    /// Not needed yet.
    Idle,
    Connecting,
    Open(Arc<McpConnection>),
    Down(ConnectError),
    /// Switched off for this run.
    Off,
}

/// A tool as a server offers it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTool {
    /// The server's own name for it.
    pub tool: String,
    /// Ours: `mcp__<server>__<tool>`.
    pub name: String,
    pub description: String,
    pub schema: Value,
    /// How long a result of it may be, if it said so.
    pub(crate) room: Option<usize>,
    /// It always requires confirmation by a person.
    pub(crate) for_the_person: bool,
    /// `readOnlyHint`: it says that it changes nothing.
    pub(crate) only_reads: bool,
}

impl ServerTool {
    /// A tool of which nothing but the name is known.
    pub(crate) fn unseen(server: &Slug, name: &str) -> Self {
        Self {
            tool: name.strip_prefix(&server.prefix()).unwrap_or(name).to_owned(),
            name: name.to_owned(),
            description: String::new(),
            schema: schema::plain(&Value::Null),
            room: None,
            for_the_person: false,
            only_reads: false,
        }
    }
}

/// State of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    Idle,
    Pending,
    Connected,
    NeedsAuth(String),
    Failed(String),
    Disabled,
}

impl ServerStatus {
    pub fn as_str(&self) -> &'static str {
        match self {
            ServerStatus::Idle | ServerStatus::Pending => "pending",
            ServerStatus::Connected => "connected",
            ServerStatus::NeedsAuth(_) => "needs-auth",
            ServerStatus::Failed(_) => "failed",
            ServerStatus::Disabled => "disabled",
        }
    }

    pub fn error(&self) -> Option<&str> {
        match self {
            ServerStatus::NeedsAuth(why) | ServerStatus::Failed(why) => Some(why),
            ServerStatus::Idle | ServerStatus::Pending | ServerStatus::Connected | ServerStatus::Disabled => None,
        }
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Agent,
    /// No question can be answered while a hook runs.
    Hook,
}

impl McpServer {
    pub(crate) fn new(definition: ServerDefinition, around: Arc<ServerContext>) -> Self {
        Self { definition, around, state: watch::Sender::new(State::Idle), tools: Mutex::default() }
    }

    pub fn status(&self) -> ServerStatus {
        match &*self.state.borrow() {
            State::Idle => ServerStatus::Idle,
            State::Connecting => ServerStatus::Pending,
            State::Open(connection) if connection.is_closed() => ServerStatus::Failed("the connection was lost".into()),
            State::Open(_) => ServerStatus::Connected,
            State::Down(ConnectError::Failed(why)) => ServerStatus::Failed(why.clone()),
            State::Down(ConnectError::NeedsAuth(why)) => ServerStatus::NeedsAuth(why.clone()),
            State::Off => ServerStatus::Disabled,
        }
    }

    /// `serverInfo`, once it is connected.
    pub fn info(&self) -> Option<Value> {
        match &*self.state.borrow() {
            State::Open(connection) => connection.info.get("serverInfo").cloned(),
            _ => None,
        }
    }

    pub fn offered(&self) -> Vec<Arc<ServerTool>> {
        self.tools().clone()
    }

    fn tools(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ServerTool>>> {
        // The value is replaced as a whole, so a panic elsewhere leaves it consistent.
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks it as connecting; returns whether it was idle before.
    pub(crate) fn begin(&self) -> bool {
        self.state.send_if_modified(|state| {
            let idle = matches!(state, State::Idle);
            if idle {
                *state = State::Connecting;
            }
            idle
        })
    }

    /// Resets it to never connected.
    pub(crate) async fn forget(&self, off: bool) {
        let before = self.state.send_replace(if off { State::Off } else { State::Idle });
        self.tools().clear();
        if let State::Open(connection) = before {
            connection.close().await;
        }
    }

    /// Connects and lists its tools. Call `begin` first.
    pub(crate) async fn connect(&self) {
        let connecting = async {
            let connection = McpConnection::open(&self.definition, &self.around).await?;
            let tools = self.listed(&connection).await.map_err(|error| ConnectError::Failed(error.to_string()))?;
            Ok((connection, tools))
        };
        let within = self.around.connect;
        let state = match tokio::time::timeout(within, connecting).await {
            Ok(Ok((connection, tools))) => {
                *self.tools() = tools;
                State::Open(Arc::new(connection))
            }
            Ok(Err(why)) => State::Down(why),
            Err(_) => State::Down(ConnectError::Failed(format!(
                "it did not complete the handshake within {} ms",
                within.as_millis()
            ))),
        };
        if let State::Down(why) = &state {
            tracing::debug!(server = self.definition.name, %why, "not connected");
        }
        // It may have been switched off in the meantime; dropping the connection ends it.
        self.state.send_if_modified(|now| {
            let wanted = matches!(now, State::Connecting);
            if wanted {
                *now = state;
            }
            wanted
        });
    }

    async fn listed(&self, connection: &McpConnection) -> Result<Vec<Arc<ServerTool>>, McpCallError> {
        let listed = match connection.list("tools/list", "tools", self.definition.timeout).await {
            // Some have tools but do not declare them; one without tools need not know the request.
            Err(McpCallError::Refused { .. }) if !connection.offers("tools") => Vec::new(),
            listed => listed?,
        };
        Ok(listed.iter().filter_map(|tool| self.offer(tool)).map(Arc::new).collect())
    }

    /// Parses a tool; one without a name is ignored.
    fn offer(&self, tool: &Value) -> Option<ServerTool> {
        let own = tool["name"].as_str().filter(|name| !name.is_empty())?;
        let words = tool["description"].as_str().or(tool["title"].as_str()).unwrap_or_default();
        let meta = &tool["_meta"];
        let room = meta["anthropic/maxResultSizeChars"].as_u64().and_then(|room| usize::try_from(room).ok());
        Some(ServerTool {
            tool: own.to_owned(),
            name: tool_name(&self.definition.slug, own),
            description: ona_api::text::head(words, DESCRIPTION).0.to_owned(),
            schema: schema::plain(&tool["inputSchema"]),
            room: room.map(|room| room.min(LARGEST_RESULT)),
            for_the_person: meta["anthropic/requiresUserInteraction"] == true,
            only_reads: tool["annotations"]["readOnlyHint"] == true,
        })
    }

    /// Waits until it is connected or has failed.
    pub async fn settled(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as we do.
        state.wait_for(|state| !matches!(state, State::Connecting)).await.ok();
    }

    /// Lists its tools again if it announced a change.
    pub(crate) async fn refresh(&self) {
        let Ok(connection) = self.connection() else { return };
        if connection.inbox.stale.swap(false, Ordering::SeqCst) {
            match self.listed(&connection).await {
                Ok(tools) => *self.tools() = tools,
                Err(error) => {
                    tracing::debug!(server = self.definition.name, %error, "keeping the old list of tools");
                }
            }
        }
    }

    fn connection(&self) -> Result<Arc<McpConnection>, McpCallError> {
        let lost = |why: &str| Err(McpCallError::Lost(why.to_owned()));
        match &*self.state.borrow() {
            State::Open(connection) => Ok(Arc::clone(connection)),
            State::Down(why) => lost(&why.to_string()),
            State::Idle | State::Connecting => lost("it is not connected"),
            State::Off => lost("it is switched off"),
        }
    }

    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        caller: Caller,
        cancel: &CancellationToken,
    ) -> Result<McpReply, McpCallError> {
        let connection = self.connection()?;
        let _unattended = (caller == Caller::Hook).then(|| Unattended::begin(&connection));
        let params = json!({"name": tool, "arguments": arguments});
        let result = connection.request("tools/call", params, self.definition.timeout, cancel).await?;
        Ok(McpReply::of(&result))
    }

    pub(crate) async fn resources(&self) -> Result<Vec<Value>, McpCallError> {
        let connection = self.connection()?;
        match connection.list("resources/list", "resources", self.definition.timeout).await {
            Err(McpCallError::Refused { .. }) if !connection.offers("resources") => Ok(Vec::new()),
            listed => listed,
        }
    }

    pub(crate) async fn read(&self, uri: &str, cancel: &CancellationToken) -> Result<Value, McpCallError> {
        self.connection()?.request("resources/read", json!({ "uri": uri }), self.definition.timeout, cancel).await
    }

    /// Returns the part of a result that the model receives.
    pub(crate) fn room(&self, offered: Option<&ServerTool>) -> usize {
        offered.and_then(|offered| offered.room).map_or(self.around.output, |room| room.max(self.around.output))
    }
}

/// Counts a running call of a hook until dropped.
struct Unattended<'a>(&'a McpConnection);

impl<'a> Unattended<'a> {
    fn begin(connection: &'a McpConnection) -> Self {
        connection.inbox.unattended.fetch_add(1, Ordering::SeqCst);
        Self(connection)
    }
}

impl Drop for Unattended<'_> {
    fn drop(&mut self) {
        self.0.inbox.unattended.fetch_sub(1, Ordering::SeqCst);
    }
}
