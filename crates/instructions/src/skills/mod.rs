//! Skills and commands: texts that are loaded by name, by a model or by the user.
//!
//! A skill is a folder with a `SKILL.md`, a command a Markdown file; both are one thing
//! here, because both are rendered and used the same way. Files are read once, at start:
//! what was listed is what is loaded. Running the commands a text asks for, registering its
//! hooks and granting its tools is done elsewhere (`orchestration/skills`).

mod find;
mod listing;
mod meta;
mod paths;
mod render;

pub use find::{SkillFolder, SkillFolders};
pub use listing::LISTING_CHARACTERS;
pub use paths::WaitingSkills;
pub use render::{SkillPart, SkillValues, pieces};

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Who the file belongs to. A project's counts as its settings do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillScope {
    User,
    Project,
}

impl SkillScope {
    pub fn as_str(self) -> &'static str {
        match self {
            SkillScope::User => "user",
            SkillScope::Project => "project",
        }
    }
}

/// Which product's folder it lies in; that decides what its hooks mean (DEC-041).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Ona,
    Claude,
}

impl Family {
    /// Returns the dialect of hooks written there.
    pub fn dialect(self) -> &'static str {
        match self {
            Family::Ona => "sdlc",
            Family::Claude => "claude",
        }
    }
}

/// The plugin a skill comes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Without the marketplace it is from.
    pub name: String,
    pub root: PathBuf,
    pub data: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillKind {
    Skill,
    Command,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    pub name: String,
    pub kind: SkillKind,
    pub scope: SkillScope,
    pub family: Family,
    pub plugin: Option<Plugin>,
    pub file: PathBuf,
    /// The folder the file lies in.
    pub dir: PathBuf,
    /// What it is for, and when; the first paragraph where nothing else is said.
    pub description: String,
    pub argument_hint: Option<String>,
    /// Names of its arguments, in order.
    pub arguments: Vec<String>,
    /// Whether a model may load it (`disable-model-invocation`).
    pub by_model: bool,
    /// Whether it may be typed (`user-invocable`).
    pub by_user: bool,
    /// Permission rules for the turn that loads it.
    pub allowed_tools: Vec<String>,
    pub disallowed_tools: Vec<String>,
    /// The `hooks` of its front matter, null if there are none.
    pub hooks: Value,
    /// It runs as an agent of its own (`context: fork`).
    pub fork: Option<SkillFork>,
    /// The model of the turn that loads it, or of its agent.
    pub model: Option<String>,
    /// Patterns of the files it is for; it is listed once one of them was read.
    pub paths: Vec<String>,
    pub body: String,
    /// Keys of its front matter that mean something elsewhere and have no effect here.
    pub unused: Vec<&'static str>,
    /// The folder contains other files.
    pub has_files: bool,
}

/// How a skill runs as an agent of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFork {
    /// Which agent; `general-purpose` if nothing is said.
    pub agent: Option<String>,
    pub background: bool,
}

/// Who can see a skill, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    On,
    NameOnly,
    UserOnly,
    Off,
}

impl Visibility {
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "on" => Some(Visibility::On),
            "name-only" => Some(Visibility::NameOnly),
            "user-invocable-only" => Some(Visibility::UserOnly),
            "off" => Some(Visibility::Off),
            _ => None,
        }
    }
}

/// The skills and commands of one place, by name.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    /// Files that could not be loaded, and why.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Skills {
    /// By the name as it is written; a slash before it and blanks around it make no difference.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        let name = plain(name);
        // A command in a folder also goes by its own name, if only one does.
        self.by_name.get(name).or_else(|| {
            let mut same = self.by_name.values().filter(|skill| {
                skill.kind == SkillKind::Command && skill.name.rsplit_once(':').is_some_and(|(_, last)| last == name)
            });
            same.next().filter(|_| same.next().is_none())
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// Returns what the setting `skillOverrides` says about a skill. It does not apply to plugins.
    pub fn show(&mut self, name: &str, visibility: Visibility) {
        let Some(skill) = self.by_name.get_mut(name).filter(|skill| skill.plugin.is_none()) else { return };
        match visibility {
            Visibility::On => {}
            Visibility::NameOnly => skill.description.clear(),
            Visibility::UserOnly => skill.by_model = false,
            Visibility::Off => drop(self.by_name.remove(name)),
        }
    }

    /// Adds a skill; the first with a name wins.
    fn add(&mut self, skill: Skill) {
        self.by_name.entry(skill.name.clone()).or_insert(skill);
    }
}

/// A name without what may stand around it.
pub fn plain(name: &str) -> &str {
    name.trim().trim_start_matches('/')
}
