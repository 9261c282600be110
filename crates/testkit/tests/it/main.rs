//! The scripted model server, seen by a client that reads every byte.

mod chat;
mod client;
mod connections;
mod delivery;
mod faults;
mod harness;
mod messages;
mod record;
