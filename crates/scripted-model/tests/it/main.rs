//! The scripted model server, seen by a client that reads every byte.

mod chat;
mod client;
mod connections;
mod delivery;
mod faults;
mod messages;
mod record;
