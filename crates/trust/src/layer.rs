//! The scopes settings come from, and one settings file as it counts.

use ona_settings::Settings;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingsScope {
    /// What every new database starts from (DEC-013).
    Seed,
    User,
    Project,
    Local,
    /// Gastown: `.claude/settings.json` of a directory between the project and
    /// GT_ROOT. Needs no trust, like a `--settings` file; limited like a project file.
    Town,
    /// `--settings`
    Flag,
    Managed,
}

impl SettingsScope {
    pub const ALL: [SettingsScope; 7] = [
        SettingsScope::Seed,
        SettingsScope::User,
        SettingsScope::Project,
        SettingsScope::Local,
        SettingsScope::Town,
        SettingsScope::Flag,
        SettingsScope::Managed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            SettingsScope::Seed => "seed",
            SettingsScope::User => "user",
            SettingsScope::Project => "project",
            SettingsScope::Local => "local",
            SettingsScope::Town => "town",
            SettingsScope::Flag => "flag",
            SettingsScope::Managed => "managed",
        }
    }

    /// Returns which value counts when several say something: the highest.
    pub(crate) fn rank(self) -> u8 {
        match self {
            SettingsScope::Seed => 0,
            SettingsScope::User => 1,
            SettingsScope::Project => 2,
            SettingsScope::Local => 3,
            SettingsScope::Town => 4,
            SettingsScope::Flag => 5,
            SettingsScope::Managed => 6,
        }
    }

    /// Who may switch off whose hooks: a scope itself and those below it. A file
    /// that came with a folder is below the operator's own, although its plain
    /// values win over them (I-15).
    pub(crate) fn authority(self) -> u8 {
        match self {
            SettingsScope::Seed => 0,
            SettingsScope::Project => 1,
            SettingsScope::Local => 2,
            SettingsScope::Town => 3,
            SettingsScope::User => 4,
            SettingsScope::Flag => 5,
            SettingsScope::Managed => 6,
        }
    }

    /// Files of the project itself. Those of a town count like `--settings` (DEC-182).
    pub fn needs_trust(self) -> bool {
        matches!(self, SettingsScope::Project | SettingsScope::Local)
    }

    /// Files that come with a folder: anyone who can hand over a folder can write
    /// them, so that even trusted they do not widen what the operator allowed.
    pub fn is_confined(self) -> bool {
        match self {
            SettingsScope::Project | SettingsScope::Local | SettingsScope::Town => true,
            SettingsScope::Seed | SettingsScope::User | SettingsScope::Flag | SettingsScope::Managed => false,
        }
    }
}

/// One settings file after it was cleaned: it holds nothing that its scope may
/// not say, and its hooks are one flat array.
#[derive(Clone, PartialEq)]
pub struct SettingsLayer {
    pub scope: SettingsScope,
    /// `None`: the seed, or text given with `--settings`.
    pub file: Option<PathBuf>,
    /// `false` for the compatible `.claude` files.
    pub own: bool,
    pub value: Value,
}

impl SettingsLayer {
    /// Returns what this file alone says.
    pub fn settings(&self) -> Settings {
        Settings::read(&self.value)
    }
}

impl fmt::Debug for SettingsLayer {
    /// Keys only: values may be credentials (DEC-015).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.value.as_object().into_iter().flatten().map(|(key, _)| key).collect();
        let mut shown = f.debug_struct("Layer");
        shown.field("scope", &self.scope).field("file", &self.file).field("own", &self.own).field("keys", &keys);
        shown.finish_non_exhaustive()
    }
}

/// The settings of a brand-new database, below every file.
pub const SEED: &str = r#"{"permissions":{"defaultMode":"default","allow":["Read(./**)","Glob","Grep","TodoWrite","TaskOutput","TaskStop","AskUserQuestion","Agent","EnterPlanMode","ListMcpResources","ReadMcpResource","ToolSearch","Brief","Bash(@read-only)"]},"sdlc":{"planning":{"mcp":"ask"}}}"#;

pub(crate) fn seed() -> SettingsLayer {
    let value = serde_json::from_str(SEED).expect("the constant is JSON");
    SettingsLayer { scope: SettingsScope::Seed, file: None, own: true, value }
}
