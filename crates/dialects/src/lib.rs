//! The dialects of hooks: how each is configured and what its output means.
//!
//! `sdlc` is the dialect of the main specification, `claude` that of Claude Code
//! settings files, `pi` that of hooks an orchestrator passes at start, `massgen` that of the
//! MassGen hook framework, `omp` that of hook modules. Order, skipping and merging are not decided here (see
//! `hookplane`).

mod callbacks;
mod claude;
mod entries;
mod foreign;
mod front_matter;
mod handler_spec;
mod lenient;
pub mod lint;
pub mod massgen;
mod matcher;
pub mod omp;
mod output;
mod persistent;
pub mod pi;
mod read;
mod rule_matcher;
mod sdlc;
mod strict;

pub use callbacks::{CALLBACKS, Callbacks, callbacks};
pub use claude::Claude;
pub use foreign::{ForeignProgram, TranslatedHooks, add_hooks, translate_hooks};
pub use front_matter::{FrontMatter, FrontMatterKind, HookScope, front_matter};
pub use handler_spec::{HandlerFactory, HandlerSpec};
pub use read::{LoadedHooks, Rejected, load, plugin_hooks, settings_hooks, switched_off};
pub use sdlc::Sdlc;
