//! Which settings count here: discovery, layers, import, secrets, workspace trust.
//!
//! A start calls `discover`, then `merge`, then `import`. `discover` reads every
//! settings file once and cleans each by what its scope may say; `merge` folds
//! the layers into one value; `import` decides what becomes of the `effective`
//! row (DEC-012). Which file counts *is* the trust question, so trust lives here.
//!
//! This crate never opens the database, prints, or looks at the real
//! environment: rows are handed in, and what should be written is returned. Rule
//! texts and hook entries are carried, not judged; `permissions` and `dialects`
//! do that when they read the row.

mod clean;
mod confine;
mod discover;
mod discovery;
mod edit;
mod files;
mod guarded;
mod hooks;
mod import;
mod json_text;
mod known;
mod layer;
mod merge;
mod mirror;
mod notice;
mod permissions;
mod place;
mod plugins;
mod read;
mod secrets;
mod session;
mod shell_words;
mod switches;
mod trust;
mod untrusted;

pub use discover::{Found, SettingsError, discover};
pub use discovery::{BadFiles, Compatible, Discovery, FlagSettings, Sources, UnknownSource};
pub use edit::{Anchors, EditError, apply};
pub use guarded::{command_scripts, guarded_files, hook_scripts, startup_files};
pub use import::{How, Import, ImportRecord, StoredSettings, beside, import};
pub use layer::{Layer, SEED, Scope};
pub use merge::{Merged, merge};
pub use mirror::{MirrorError, Mirrored, mirror, replace_file};
pub use notice::{About, Notice};
pub use place::{BadDatabasePath, DatabasePath, DatabaseSource, database_path, project_root};
pub use secrets::Secrets;
pub use session::{ClaudeHooks, SessionTerms, has_hooks_of_an_orchestrator, keep_for_session};
pub use trust::{Standing, Trust, Wish, standing, trust_digests_key, trust_key};
pub use untrusted::{Unused, disable_imported};
