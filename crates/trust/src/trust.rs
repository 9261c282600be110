//! Whether the files of a folder may be used (DEC-058).
//!
//! Trust belongs to one canonical root and to nothing else: not to folders below
//! it, not to a nested repository, not to what a `.git` pointer names. The caller
//! keeps the rows of `schema_meta`; this module makes the key, so that no other
//! key is ever looked up.

use ona_api::Env;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Whether project and local files are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    Withheld,
}

/// How the session was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Somebody can be asked.
    Repl,
    /// `-p`, `--eval` and the rest: the operator named the folder by running there.
    Headless,
}

/// What the command line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    #[default]
    Unsaid,
    /// `--trust`
    Trust,
    /// `--no-trust`
    Withhold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// `recorded: false`: nobody ever said yes to this folder. Headless forms say
    /// so in one line when project code is active. ONA_TRUST=always counts as a yes.
    Trusted { recorded: bool },
    /// Put the question to the person; until then nothing of the folder is used.
    /// `lasting: false`: a yes counts for this session and is not to be recorded.
    Ask { lasting: bool },
    /// The operator withheld trust; do not ask.
    Withheld,
}

impl Standing {
    pub fn trust(self) -> Trust {
        match self {
            Standing::Trusted { .. } => Trust::Trusted,
            Standing::Ask { .. } | Standing::Withheld => Trust::Withheld,
        }
    }
}

/// The value of a trust row.
pub(crate) const TRUSTED: &str = "trusted";

/// The key of `schema_meta` for a root as `project_root` returns it.
pub fn trust_key(root: &Path) -> String {
    format!("trust:{}", path_text(root))
}

/// A path as text without loss: two different paths never have one text.
pub(crate) fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        // Canonical paths start with a slash, so this form is free.
        None => path.as_os_str().as_bytes().iter().fold("bytes:".to_owned(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a String can not fail");
            text
        }),
    }
}

/// Where this session stands with its project root. `recorded` looks up one
/// value of `schema_meta`.
pub fn standing(
    form: Form,
    wish: Wish,
    env: &Env,
    root: &Path,
    recorded: impl FnOnce(&str) -> Option<String>,
) -> Standing {
    if wish == Wish::Withhold || env.get("ONA_TRUST") == Some("never") {
        return Standing::Withheld;
    }
    if env.get("ONA_TRUST") == Some("always") {
        return Standing::Trusted { recorded: true };
    }
    // A yes to the home directory or to `/` would reach every folder without a
    // `.git` of its own, should one appear up there (B-3).
    let lasting = root != Path::new("/") && !is_home(root, env);
    let recorded = lasting && recorded(&trust_key(root)).as_deref() == Some(TRUSTED);
    match (form, wish) {
        _ if recorded => Standing::Trusted { recorded },
        (Form::Headless, _) | (Form::Repl, Wish::Trust) => Standing::Trusted { recorded },
        (Form::Repl, Wish::Unsaid | Wish::Withhold) => Standing::Ask { lasting },
    }
}

fn is_home(root: &Path, env: &Env) -> bool {
    let home = env.home();
    root == home || std::fs::canonicalize(&home).is_ok_and(|home| root == home)
}
