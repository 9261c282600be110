//! Servers that speak the Model Context Protocol, and their tools as tools like any other.
//!
//! `definition`, `policy` and `catalog` read what is configured; `link` and `handler` are
//! the only files that know the protocol's library, and nothing of it is seen from outside;
//! `server` and `servers` hold the connections of a run; `tool` and `resources` are what a
//! call sees.
//!
//! Nothing here asks for permission, fires hooks or writes rows: a call of such a tool takes
//! the same path as any other. Who answers a server's questions is handed in ([`Elicit`]).

mod carrier;
mod catalog;
mod definition;
mod elicit;
mod expand;
mod handler;
mod link;
mod policy;
mod reply;
mod resources;
mod schema;
mod server;
mod servers;
mod slug;
mod surroundings;
mod tool;

pub use carrier::Carrier;
pub use catalog::{Catalog, Cause, LeftOut, Sources};
pub use definition::{CALL_TIMEOUT, Definition, Endpoint, Origin, Owner};
pub use elicit::{Action, Answered, Elicit, Elicitation};
pub use link::CallError;
pub use policy::Policy;
pub use reply::{Reply, output_text};
pub use resources::{ListMcpResources, ReadMcpResource};
pub use server::{Caller, Offered, Server, Status};
pub use servers::Servers;
pub use slug::Slug;
pub use surroundings::{Environments, Surroundings};
