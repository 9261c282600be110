//! One server during a run: its connection and its tools.

use crate::connection::{ConnectError, McpCallError, McpConnection};
use crate::context::ServerContext;
use crate::definition::{ServerDefinition, ServerTransport};
use crate::prompt::ServerPrompt;
use crate::protocol::{ListKind, OnProgress, Request, ServerCall};
use crate::reply::McpReply;
use crate::restarts::Restarts;
use crate::schema;
use crate::slug::{Slug, tool_name};
use ona_tools::ToolContext;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Longer texts of a server are cut.
const DESCRIPTION: usize = 2048;
/// How often a server over the network is asked to answer before it counts as down.
const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The most a tool may ask for with `anthropic/maxResultSizeChars`.
const LARGEST_RESULT: usize = 500_000;

pub struct McpServer {
    pub definition: ServerDefinition,
    around: Arc<ServerContext>,
    state: watch::Sender<State>,
    tools: Mutex<Vec<Arc<ServerTool>>>,
    prompts: Mutex<Vec<Arc<ServerPrompt>>>,
    /// The version of the list of directories that was announced last.
    told_roots: AtomicUsize,
    /// Held while a lost connection is made anew.
    restarts: tokio::sync::Mutex<Restarts>,
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
        Self {
            definition,
            around,
            state: watch::Sender::new(State::Idle),
            tools: Mutex::default(),
            prompts: Mutex::default(),
            told_roots: AtomicUsize::new(0),
            restarts: Default::default(),
        }
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
            State::Open(connection) => connection.info().get("serverInfo").cloned(),
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

    /// `instructions` for the model, once it is connected.
    pub fn instructions(&self) -> Option<String> {
        let State::Open(connection) = &*self.state.borrow() else { return None };
        let words = connection.info()["instructions"].as_str()?.trim();
        (!words.is_empty()).then(|| ona_api::text::head(words, DESCRIPTION).0.to_owned())
    }

    pub fn prompts(&self) -> Vec<Arc<ServerPrompt>> {
        self.prompts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_prompts(&self, prompts: Vec<Arc<ServerPrompt>>) {
        *self.prompts.lock().unwrap_or_else(PoisonError::into_inner) = prompts;
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
        self.set_prompts(Vec::new());
        if let State::Open(connection) = before {
            connection.close().await;
        }
    }

    /// Connects and lists what it offers. Call `begin` first.
    pub(crate) async fn connect(&self) {
        let state = match self.opened().await {
            Ok(connection) => State::Open(connection),
            Err(why) => State::Down(why),
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

    /// Opens a connection; one over the network is tried again if nobody answers.
    async fn opened(&self) -> Result<Arc<McpConnection>, ConnectError> {
        let within = self.around.connect;
        let tries = if matches!(self.definition.endpoint, ServerTransport::Http(_)) { TRIES } else { 1 };
        let connecting = async {
            let mut pause = FIRST_PAUSE;
            let mut left = tries;
            loop {
                left -= 1;
                match McpConnection::open(&self.definition, &self.around).await {
                    Err(ConnectError::Failed(why)) if left > 0 => {
                        tracing::debug!(server = self.definition.name, why, "trying again");
                        tokio::time::sleep(pause).await;
                        pause *= 2;
                    }
                    opened => break opened,
                }
            }
        };
        let listing = async {
            let connection = connecting.await?;
            let tools = self.listed(&connection).await.map_err(ConnectError::from)?;
            *self.tools() = tools;
            self.list_prompts(&connection).await;
            Ok(Arc::new(connection))
        };
        tokio::time::timeout(within, listing).await.unwrap_or_else(|_| {
            Err(ConnectError::Failed(format!("it did not complete the handshake within {} ms", within.as_millis())))
        })
    }

    /// Prompts are an extra: a server that cannot list them is used without.
    async fn list_prompts(&self, connection: &McpConnection) {
        if !connection.offers("prompts") {
            return;
        }
        match connection.list(ListKind::Prompts, self.definition.timeout).await {
            Ok(listed) => {
                let prompts = listed.iter().filter_map(|one| ServerPrompt::read(&self.definition.slug, one));
                self.set_prompts(prompts.map(Arc::new).collect());
            }
            Err(error) => tracing::debug!(server = self.definition.name, %error, "its prompts are not listed"),
        }
    }

    async fn listed(&self, connection: &McpConnection) -> Result<Vec<Arc<ServerTool>>, McpCallError> {
        let listed = match connection.list(ListKind::Tools, self.definition.timeout).await {
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

    /// Lists its tools and prompts again if it announced a change.
    pub(crate) async fn refresh(&self) {
        let State::Open(connection) = self.state.borrow().clone() else { return };
        if connection.inbox().stale_prompts.swap(false, Ordering::SeqCst) {
            self.list_prompts(&connection).await;
        }
        if connection.inbox().stale_tools.swap(false, Ordering::SeqCst) {
            match self.listed(&connection).await {
                Ok(tools) => *self.tools() = tools,
                Err(error) => {
                    tracing::debug!(server = self.definition.name, %error, "keeping the old list of tools");
                }
            }
        }
    }

    /// Returns a connection that can be used; one that was lost is made anew.
    async fn connection(&self) -> Result<Arc<McpConnection>, McpCallError> {
        let usable = || {
            let lost = |why: &str| Err(McpCallError::Lost(why.to_owned()));
            match &*self.state.borrow() {
                State::Open(connection) if connection.is_unusable() => Ok(None),
                State::Open(connection) => Ok(Some(Arc::clone(connection))),
                State::Down(ConnectError::NeedsAuth(remedy)) => Err(McpCallError::NeedsAuth(remedy.clone())),
                State::Down(why) => lost(&why.to_string()),
                State::Idle | State::Connecting => lost("it is not connected"),
                State::Off => lost("it is switched off"),
            }
        };
        if let Some(connection) = usable()? {
            return Ok(connection);
        }
        let mut restarts = self.restarts.lock().await;
        // Another call may have made it meanwhile.
        if let Some(connection) = usable()? {
            return Ok(connection);
        }
        // Asking an address again costs nobody a process.
        if !matches!(self.definition.endpoint, ServerTransport::Http(_)) {
            restarts.begin().map_err(McpCallError::Lost)?;
        }
        tracing::debug!(server = self.definition.name, "connecting again");
        let opened = self.opened().await.map_err(|why| match why {
            ConnectError::NeedsAuth(remedy) => McpCallError::NeedsAuth(remedy),
            ConnectError::Failed(why) => McpCallError::Lost(format!("it could not be connected again: {why}")),
        })?;
        let mut before = State::Open(Arc::clone(&opened));
        let is_wanted = self.state.send_if_modified(|now| {
            let is_open = matches!(now, State::Open(_));
            if is_open {
                std::mem::swap(now, &mut before);
            }
            is_open
        });
        let State::Open(before) = before else { return Ok(opened) };
        // Calls that still run on the old one keep it until they end.
        if before.is_closed() || !is_wanted {
            before.close().await;
        }
        if is_wanted { Ok(opened) } else { Err(McpCallError::Lost("it is switched off".into())) }
    }

    /// Returns the listener for the progress of a call.
    pub(crate) fn progress_of(&self, offered: &ServerTool, cx: &ToolContext) -> Option<OnProgress> {
        let (listener, call) = (self.around.progress_listener()?, cx.call.clone()?);
        let tool = offered.name.clone();
        Some(Arc::new(move |progress| listener(&call, &tool, progress)))
    }

    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        caller: Caller,
        cancel: &CancellationToken,
        progress: Option<OnProgress>,
    ) -> Result<McpReply, McpCallError> {
        let call = ServerCall::Tool { name: tool, arguments };
        let result = self.request(call, caller, cancel, progress).await?;
        Ok(McpReply::of(&result))
    }

    /// Sends a request, and once more where the server has said that it did nothing because it
    /// does not know the session.
    async fn request(
        &self,
        call: ServerCall<'_>,
        caller: Caller,
        cancel: &CancellationToken,
        progress: Option<OnProgress>,
    ) -> Result<Value, McpCallError> {
        let mut again = true;
        loop {
            let connection = tokio::select! {
                connection = self.connection() => connection?,
                () = cancel.cancelled() => return Err(McpCallError::Interrupted),
            };
            let _unattended = (caller == Caller::Hook).then(|| Unattended::begin(&connection));
            let timeout = self.definition.timeout;
            let sent = connection.request(Request { call, timeout, cancel, progress: progress.clone() }).await;
            match sent {
                Err(McpCallError::SessionEnded) if std::mem::take(&mut again) => {}
                answered => return answered,
            }
        }
    }

    /// Returns the messages of a prompt as one text.
    pub async fn prompt(
        &self,
        prompt: &ServerPrompt,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<crate::prompt::PromptText, McpCallError> {
        let call = ServerCall::Prompt { name: &prompt.prompt, arguments };
        let result = self.request(call, Caller::Agent, cancel, None).await?;
        Ok(crate::prompt::PromptText::of(&result))
    }

    /// Takes note of the directories of a call and announces them if they are others than before.
    pub(crate) async fn follow_roots(&self, cx: &ToolContext) {
        let now = self.around.set_roots(std::iter::once(&cx.project).chain(&cx.extra).cloned().collect());
        self.announce_roots(now).await;
    }

    /// Announces this version of the list of directories, unless it was announced before.
    pub(crate) async fn announce_roots(&self, now: usize) {
        let told = self.told_roots.swap(now, Ordering::SeqCst);
        if told == now {
            return;
        }
        let State::Open(connection) = self.state.borrow().clone() else { return };
        connection.announce_roots().await;
    }

    pub(crate) async fn resources(&self) -> Result<Vec<Value>, McpCallError> {
        let connection = self.connection().await?;
        match connection.list(ListKind::Resources, self.definition.timeout).await {
            Err(McpCallError::Refused { .. }) if !connection.offers("resources") => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Returns the result of `resources/read`.
    pub async fn read(&self, uri: &str, cancel: &CancellationToken) -> Result<Value, McpCallError> {
        self.request(ServerCall::Resource { uri }, Caller::Agent, cancel, None).await
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
        connection.inbox().unattended.fetch_add(1, Ordering::SeqCst);
        Self(connection)
    }
}

impl Drop for Unattended<'_> {
    fn drop(&mut self) {
        self.0.inbox().unattended.fetch_sub(1, Ordering::SeqCst);
    }
}
