//! Servers of the Model Context Protocol, and their tools.
//!
//! `definition`, `policy` and `catalog` read what is configured. `protocol` speaks with one server, by
//! way of the library rmcp, which no other module knows; `http` makes its requests over the network, and
//! `connection` puts them together; none of them is visible outside. `server` and `servers` hold the connections of
//! a run; `tool`, `resources` and `prompt` are what a call or a person sees. `login` finds out
//! how a person logs in to a server, `logins` where the result is kept.
//!
//! Nothing here asks for permission, fires hooks or writes rows: a call of such a tool takes
//! the same path as any other. The caller says who answers a server's questions ([`ElicitHandler`]).

mod added;
mod catalog;
mod connection;
mod context;
mod definition;
mod elicit;
mod expand;
mod http;
pub mod login;
mod logins;
mod policy;
mod prompt;
mod protocol;
mod relay;
mod reply;
mod resources;
mod restarts;
mod schema;
mod server;
mod servers;
mod slug;
mod tool;

pub use added::{AgentServers, ServerChanges};
pub use catalog::{Catalog, ExcludeReason, ExcludedServer, McpSources};
pub use connection::McpCallError;
pub use context::{Additions, Environments, ProgressListener, ServerContext};
pub use definition::{
    CALL_TIMEOUT, DefinitionOrigin, DefinitionOwner, HttpEndpoint, HttpStyle, OAuthHints, ServerDefinition,
    ServerTransport,
};
pub use elicit::{ElicitAction, ElicitAnswer, ElicitHandler, Elicitation};
pub use logins::ServerLogins;
pub use policy::Policy;
pub use prompt::{PromptArgument, PromptText, ServerPrompt};
pub use protocol::CallProgress;
pub use relay::MessageRelay;
pub use reply::{McpReply, output_text};
pub use resources::{ListMcpResources, ReadMcpResource};
pub use server::{Caller, McpServer, ServerStatus, ServerTool};
pub use servers::Servers;
pub use slug::Slug;
