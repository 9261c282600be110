//! Determines which settings count here: discovery, layers, import, secrets, workspace trust.
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
mod database_path;
mod discover;
mod discovery;
mod edit;
mod files;
mod guarded;
mod hooks;
mod import;
mod json_text;
mod layer;
mod merge;
mod mirror;
mod notice;
mod permissions;
mod plugin_pins;
mod plugins;
mod read;
mod secrets;
mod session;
mod switches;
mod trust;
mod untrusted;

pub use confine::counts_in;
pub use database_path::{BadDatabasePath, DatabasePath, DatabaseSource, database_path, project_root};
pub use discover::{DiscoveredSettings, SettingsError, discover};
pub use discovery::{BadFiles, Compatible, DiscoveryOptions, FlagSettings, SettingSources, UnknownSource};
pub use edit::{EditError, RuleAnchors, apply};
pub use guarded::{command_scripts, guarded_files, hook_scripts, settings_sources, startup_files};
pub use import::{ImportAction, ImportMode, ImportRecord, StoredSettings, beside, import};
pub use layer::{SEED, SettingsLayer, SettingsScope};
pub use merge::{Merged, merge};
pub use mirror::{MirrorError, MirroredFile, mirror, replace_file};
pub use notice::{Notice, NoticeKind};
pub use plugin_pins::{
    InstalledPlugin, InstalledPlugins, PinState, installed_list, plugin_copies, plugin_data, plugin_digest,
    plugin_files, plugins_folder,
};
pub use secrets::Secrets;
pub use session::{ClaudeHooks, SessionHookFilter, has_hooks_of_an_orchestrator, keep_for_session};
pub use trust::{Trust, TrustFlag, TrustState, trust_digests_key, trust_key, trust_state};
pub use untrusted::{UnusedSetting, disable_imported};
