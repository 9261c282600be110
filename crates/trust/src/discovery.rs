//! What a command line can say about settings files.

use crate::trust::Trust;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What a start says about settings files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryOptions {
    /// As `project_root` returns it.
    pub project_root: PathBuf,
    pub trust: Trust,
    pub compatible: Compatible,
    /// `--setting-sources`
    pub sources: SettingSources,
    /// `--bare`: only managed settings and `--settings` (DEC-087).
    pub bare: bool,
    /// `--settings`
    pub settings: Option<FlagSettings>,
    /// `--plugin-dir`
    pub plugin_dirs: Vec<PathBuf>,
    pub bad_files: BadFiles,
    /// `/etc/ona`. A field so that tests need not be root; nothing but code sets it.
    pub managed_dir: PathBuf,
}

impl DiscoveryOptions {
    pub fn new(project_root: impl Into<PathBuf>, trust: Trust) -> Self {
        Self {
            project_root: project_root.into(),
            trust,
            compatible: Compatible::On,
            sources: SettingSources::default(),
            bare: false,
            settings: None,
            plugin_dirs: Vec::new(),
            bad_files: BadFiles::default(),
            managed_dir: "/etc/ona".into(),
        }
    }
}

/// What becomes of a settings file that is not a JSON object (DEC-181).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadFiles {
    /// It must not be imported without it: a guard may be in it.
    #[default]
    Refuse,
    /// `--ignore-bad-settings`: it is left out with a notice. Managed files are still
    /// refused, because a policy that cannot be read must not become no policy (L-3).
    Ignore,
    /// Every problem is a notice, for commands that always run (`--transition`, `doctor`).
    /// What they read must not be written down.
    Report,
}

/// What becomes of `.claude` files (DEC-014).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compatible {
    #[default]
    On,
    /// `--no-claude-settings`. ONA_CLAUDE_SETTINGS=0 has the same effect.
    Off,
}

/// `--setting-sources`. Managed settings and `--settings` are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingSources {
    pub user: bool,
    pub project: bool,
    pub local: bool,
}

impl Default for SettingSources {
    fn default() -> Self {
        Self { user: true, project: true, local: true }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a setting source; use user, project and local, separated by commas")]
pub struct UnknownSource(pub String);

impl FromStr for SettingSources {
    type Err = UnknownSource;

    /// An empty list is valid and means none of the three.
    fn from_str(list: &str) -> Result<Self, UnknownSource> {
        let mut sources = Self { user: false, project: false, local: false };
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "user" => sources.user = true,
                "project" => sources.project = true,
                "local" => sources.local = true,
                unknown => return Err(UnknownSource(unknown.to_owned())),
            }
        }
        Ok(sources)
    }
}

#[derive(Clone, PartialEq, Eq)]
pub enum FlagSettings {
    File(PathBuf),
    Json(String),
}

impl FlagSettings {
    /// Text that starts like an object is JSON, anything else names a file.
    pub fn parse(text: &str, cwd: &Path) -> Self {
        match text.trim_start().starts_with('{') {
            true => FlagSettings::Json(text.to_owned()),
            false => FlagSettings::File(cwd.join(text)),
        }
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            FlagSettings::File(path) => Some(path),
            FlagSettings::Json(_) => None,
        }
    }
}

impl fmt::Debug for FlagSettings {
    /// The JSON may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagSettings::File(path) => f.debug_tuple("File").field(path).finish(),
            FlagSettings::Json(_) => f.write_str("Json(..)"),
        }
    }
}
