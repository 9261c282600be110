//! All servers of a run. A server is started when it is first needed, and all that are
//! needed start at once.

use crate::context::ServerContext;
use crate::definition::ServerDefinition;
use crate::prompt::ServerPrompt;
use crate::server::{McpServer, ServerStatus, ServerTool};
use crate::slug::Slug;
use crate::tool::McpTool;
use ona_tools::{AnyTool, BoxFuture, ToolSource};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::task::JoinSet;

pub struct Servers {
    list: RwLock<Vec<Arc<McpServer>>>,
    pub around: Arc<ServerContext>,
    /// Connections being made.
    making: Mutex<JoinSet<()>>,
}

impl Servers {
    pub fn new(definitions: Vec<ServerDefinition>, around: ServerContext) -> Self {
        let around = Arc::new(around);
        let server = |definition| Arc::new(McpServer::new(definition, Arc::clone(&around)));
        let list = RwLock::new(definitions.into_iter().map(server).collect());
        Self { list, around, making: Mutex::default() }
    }

    pub fn list(&self) -> Vec<Arc<McpServer>> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn is_empty(&self) -> bool {
        self.list.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Adds a server, unless one with that slug exists.
    pub fn add(&self, definition: ServerDefinition) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        if !list.iter().any(|server| server.definition.slug == definition.slug) {
            list.push(Arc::new(McpServer::new(definition, Arc::clone(&self.around))));
        }
    }

    /// Returns a server by its configured name, or by its part of the names of its tools.
    pub fn find(&self, name: &str) -> Option<Arc<McpServer>> {
        let list = self.list();
        let named = list.iter().find(|server| server.definition.name == name);
        named.or_else(|| list.iter().find(|server| server.definition.slug == Slug::of(name))).cloned()
    }

    /// Begins to connect those that are wanted and not connected yet.
    pub fn start(&self, wanted: impl Fn(&ServerDefinition) -> bool) {
        for server in self.list().into_iter().filter(|server| wanted(&server.definition)) {
            if server.begin() {
                let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
                making.spawn(async move { server.connect().await });
            }
        }
    }

    /// Waits until all that were started are connected or have failed.
    pub async fn settled(&self) {
        for server in self.list() {
            server.settled().await;
        }
    }

    /// Reconnects one.
    pub async fn reconnect(&self, server: &McpServer) {
        server.forget(false).await;
        let slug = &server.definition.slug;
        self.start(|definition| definition.slug == *slug);
        server.settled().await;
    }

    /// Takes a server out of the list; it goes on until it is told to end.
    pub(crate) fn take_out(&self, slug: &Slug) {
        self.list.write().unwrap_or_else(PoisonError::into_inner).retain(|one| one.definition.slug != *slug);
    }

    /// Returns a list of these servers and some more.
    pub(crate) fn and(&self, more: &[Arc<McpServer>]) -> Self {
        let list = self.list().into_iter().chain(more.iter().cloned()).collect();
        Self { list: RwLock::new(list), around: Arc::clone(&self.around), making: Mutex::default() }
    }

    /// Removes a server of this run and ends it.
    pub async fn remove(&self, server: &McpServer) {
        self.take_out(&server.definition.slug);
        server.forget(true).await;
    }

    /// Tells all servers at once that the directories of the session are others from now on.
    pub fn set_roots(&self, roots: Vec<PathBuf>) {
        let version = self.around.set_roots(roots);
        for server in self.list() {
            tokio::spawn(async move { server.announce_roots(version).await });
        }
    }

    /// Returns what connected servers say about their use, by name.
    pub fn instructions(&self) -> Vec<(String, String)> {
        let words = |server: Arc<McpServer>| Some((server.definition.name.clone(), server.instructions()?));
        self.list().into_iter().filter_map(words).collect()
    }

    /// Returns the prompts of all connected servers, by their names here.
    pub fn prompts(&self) -> Vec<(Arc<McpServer>, Arc<ServerPrompt>)> {
        let of = |server: Arc<McpServer>| {
            let prompts = server.prompts();
            prompts.into_iter().map(move |prompt| (Arc::clone(&server), prompt))
        };
        self.list().into_iter().flat_map(of).collect()
    }

    /// Switches one off for this run.
    pub async fn switch_off(&self, server: &McpServer) {
        server.forget(true).await;
    }

    pub async fn close(&self) {
        self.making.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        let mut closing = JoinSet::new();
        for server in self.list() {
            closing.spawn(async move { server.forget(true).await });
        }
        closing.join_all().await;
    }
}

impl ToolSource for Servers {
    /// Returns a tool by name. Where two servers have the same name for a tool, the first counts.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        let mut tools: BTreeMap<String, Arc<dyn AnyTool>> = BTreeMap::new();
        for server in self.list() {
            for offered in server.offered() {
                let name = offered.name.clone();
                let tool = McpTool { server: Arc::clone(&server), offered };
                tools.entry(name).or_insert_with(|| Arc::new(tool));
            }
        }
        tools.into_values().collect()
    }

    /// Returns a tool by name. That of a server that is down reports that when it runs.
    fn find(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let known = self.tools().into_iter().find(|tool| tool.spec().name == name);
        known.or_else(|| {
            let down = |server: &Arc<McpServer>| !matches!(server.status(), ServerStatus::Connected);
            let server = self.list().into_iter().filter(down).find(|server| {
                let rest = name.strip_prefix(&server.definition.slug.prefix());
                rest.is_some_and(|tool| !tool.is_empty())
            })?;
            let offered = Arc::new(ServerTool::unseen(&server.definition.slug, name));
            Some(Arc::new(McpTool { server, offered }) as Arc<dyn AnyTool>)
        })
    }

    fn resource_owners(&self) -> Vec<String> {
        self.list().iter().map(|server| server.definition.name.clone()).collect()
    }

    fn refresh(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for server in self.list() {
                server.refresh().await;
            }
        })
    }
}
