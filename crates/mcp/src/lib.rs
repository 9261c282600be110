//! Servers of the Model Context Protocol, and their tools.
//!
//! `definition`, `policy` and `catalog` read what is configured; `connection` and `handler` are
//! the only files that use the protocol's library, none of which is visible outside;
//! `server` and `servers` hold the connections of a run; `tool` and `resources` are what a
//! call sees.
//!
//! Nothing here asks for permission, fires hooks or writes rows: a call of such a tool takes
//! the same path as any other. The caller says who answers a server's questions ([`ElicitHandler`]).

mod catalog;
mod connection;
mod context;
mod definition;
mod elicit;
mod expand;
mod handler;
mod policy;
mod relay;
mod reply;
mod resources;
mod schema;
mod server;
mod servers;
mod slug;
mod tool;

pub use catalog::{Catalog, ExcludeReason, ExcludedServer, McpSources};
pub use connection::McpCallError;
pub use context::{Environments, ServerContext};
pub use definition::{CALL_TIMEOUT, DefinitionOrigin, DefinitionOwner, ServerDefinition, ServerTransport};
pub use elicit::{ElicitAction, ElicitAnswer, ElicitHandler, Elicitation};
pub use policy::Policy;
pub use relay::MessageRelay;
pub use reply::{McpReply, output_text};
pub use resources::{ListMcpResources, ReadMcpResource};
pub use server::{Caller, McpServer, ServerStatus, ServerTool};
pub use servers::Servers;
pub use slug::Slug;
