//! The scopes settings come from, and one settings file as it counts.

use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
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

impl Scope {
    pub const ALL: [Scope; 7] =
        [Scope::Seed, Scope::User, Scope::Project, Scope::Local, Scope::Town, Scope::Flag, Scope::Managed];

    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Seed => "seed",
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
            Scope::Town => "town",
            Scope::Flag => "flag",
            Scope::Managed => "managed",
        }
    }

    /// Which value counts when several say something: the highest.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Scope::Seed => 0,
            Scope::User => 1,
            Scope::Project => 2,
            Scope::Local => 3,
            Scope::Town => 4,
            Scope::Flag => 5,
            Scope::Managed => 6,
        }
    }

    /// Who may switch off whose hooks: a scope itself and those below it. A file
    /// that came with a folder is below the operator's own, although its plain
    /// values win over them (I-15).
    pub(crate) fn authority(self) -> u8 {
        match self {
            Scope::Seed => 0,
            Scope::Project => 1,
            Scope::Local => 2,
            Scope::Town => 3,
            Scope::User => 4,
            Scope::Flag => 5,
            Scope::Managed => 6,
        }
    }

    /// Files of the project itself. Those of a town count like `--settings` (DEC-182).
    pub fn needs_trust(self) -> bool {
        matches!(self, Scope::Project | Scope::Local)
    }

    /// Files that come with a folder: anyone who can hand over a folder can write
    /// them, so that even trusted they do not widen what the operator allowed.
    pub fn is_confined(self) -> bool {
        match self {
            Scope::Project | Scope::Local | Scope::Town => true,
            Scope::Seed | Scope::User | Scope::Flag | Scope::Managed => false,
        }
    }
}

/// One settings file after it was cleaned: it holds nothing that its scope may
/// not say, and its hooks are one flat array.
#[derive(Clone, PartialEq)]
pub struct Layer {
    pub scope: Scope,
    /// `None`: the seed, or text given with `--settings`.
    pub file: Option<PathBuf>,
    /// `false` for the compatible `.claude` files.
    pub own: bool,
    pub value: Value,
}

impl fmt::Debug for Layer {
    /// Keys only: values may be credentials (DEC-015).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.value.as_object().into_iter().flatten().map(|(key, _)| key).collect();
        let mut shown = f.debug_struct("Layer");
        shown.field("scope", &self.scope).field("file", &self.file).field("own", &self.own).field("keys", &keys);
        shown.finish_non_exhaustive()
    }
}

/// The settings of a brand-new database, below every file.
pub const SEED: &str = r#"{"permissions":{"defaultMode":"default","allow":["Read(./**)","Glob","Grep","TodoWrite","TaskOutput","TaskStop","AskUserQuestion","Agent","EnterPlanMode","ListMcpResources","ReadMcpResource","ToolSearch","Brief"]},"sdlc":{"planning":{"mcp":"ask"}}}"#;

pub(crate) fn seed() -> Layer {
    let value = serde_json::from_str(SEED).expect("the constant is JSON");
    Layer { scope: Scope::Seed, file: None, own: true, value }
}
