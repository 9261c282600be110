//! The keeper: a process that starts the children which must not outlive this program.
//!
//! A program that is killed cannot end what it started, and what a shell has left in the
//! background, in a session of its own, has no ancestor but init. So these children are not
//! started by the program itself: a second process does it, our own executable under another
//! name. It is the *subreaper* of all it starts, so that whatever loses its parent becomes
//! its child, and nothing it started can leave its tree. It holds one end of a socket. When
//! that is closed without a word of farewell, the program has died, and the keeper kills its
//! tree until the kernel says that it has no child left.
//!
//! It is started with the first child that needs it. A program that ends says so
//! ([`release`]): then the keeper ends nothing.
//!
//! - `message` is what the two say to each other,
//! - `client` the side of the program, `kept_child` one child as the program sees it,
//! - `serve` the other process, `tree` how it finds what it started.
//!
//! What must end with the program is for callers to say ([`crate::OnDeath`]). Only Linux has
//! subreapers; elsewhere children are started directly and outlive a program that is killed.

mod client;
mod kept_child;
mod message;
mod serve;
mod tree;

pub(crate) use client::{StartError, start};
pub use client::{enable, release};
pub(crate) use kept_child::KeptChild;
pub use serve::{is_keeper, serve};

/// The keeper's name: its argument zero, and what `ps` and `pkill` see. It does not contain
/// the name of the program, so that `pkill ona` leaves it to do its work.
const NAME: &str = "agent-children";
