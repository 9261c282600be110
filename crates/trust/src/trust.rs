//! Decides whether the files of a folder may be used (DEC-058, DEC-182).
//!
//! Trust belongs to one canonical root and to nothing else: not to folders below
//! it, not to a nested repository, not to what a `.git` pointer names. The caller
//! keeps the rows of `schema_meta`; this module makes the key, so that no other
//! key is ever looked up.

use ona_api::{Env, environment};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether project and local files are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    Withheld,
}

/// What the command line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustFlag {
    #[default]
    Unsaid,
    /// `--trust`
    Trust,
    /// `--no-trust`
    Withhold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// The operator trusts it. `recorded`: not only now, by `--trust`.
    Trusted { recorded: bool },
    /// Not decided yet: nothing of the folder runs. An interactive front end may ask.
    /// `lasting: false`: a yes applies to this session and is not recorded.
    Ask { lasting: bool },
    /// The operator withheld trust; do not ask.
    Withheld,
}

impl TrustState {
    pub fn trust(self) -> Trust {
        match self {
            TrustState::Trusted { .. } => Trust::Trusted,
            TrustState::Ask { .. } | TrustState::Withheld => Trust::Withheld,
        }
    }
}

/// The value of a trust row.
pub(crate) const TRUSTED: &str = "trusted";

/// Returns the key of `schema_meta` for what ran when trust was recorded: a digest by name.
pub fn trust_digests_key(root: &Path) -> String {
    format!("trust_digests:{}", path_text(root))
}

/// Returns the key of `schema_meta` for a root as `project_root` returns it.
pub fn trust_key(root: &Path) -> String {
    format!("trust:{}", path_text(root))
}

/// Returns a path as text without loss: two different paths never have one text.
pub(crate) fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        // Canonical paths start with a slash, so this form is free.
        None => path.as_os_str().as_bytes().iter().fold("bytes:".to_owned(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String cannot fail");
            text
        }),
    }
}

/// Returns whether this session trusts its project root, in every front end (DEC-182). `recorded`
/// looks up one value of `schema_meta`.
pub fn trust_state(
    wish: TrustFlag,
    env: &Env,
    root: &Path,
    recorded: impl FnOnce(&str) -> Option<String>,
) -> TrustState {
    if wish == TrustFlag::Withhold || env.get(environment::ONA_TRUST) == Some("never") {
        return TrustState::Withheld;
    }
    if env.get(environment::ONA_TRUST) == Some("always") {
        return TrustState::Trusted { recorded: true };
    }
    // A yes to the home directory or to `/` would reach every folder without a
    // `.git` of its own, should one appear up there (B-3).
    let lasting = root != Path::new("/") && !is_home(root, env);
    let recorded = lasting && recorded(&trust_key(root)).as_deref() == Some(TRUSTED);
    match wish {
        _ if recorded => TrustState::Trusted { recorded },
        TrustFlag::Trust => TrustState::Trusted { recorded },
        TrustFlag::Unsaid | TrustFlag::Withhold => TrustState::Ask { lasting },
    }
}

fn is_home(root: &Path, env: &Env) -> bool {
    let home = env.home();
    root == home || std::fs::canonicalize(&home).is_ok_and(|home| root == home)
}
