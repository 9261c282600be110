//! Skills that are for some files only: they are announced when the first such file is read.

use super::Skills;
use crate::rules::glob_set;
use globset::GlobSet;
use std::path::{Path, PathBuf};

/// The skills of a session that wait for a file.
#[derive(Clone, Debug, Default)]
pub struct WaitingSkills {
    root: PathBuf,
    waiting: Vec<WaitingSkill>,
}

#[derive(Clone, Debug)]
struct WaitingSkill {
    name: String,
    description: String,
    files: GlobSet,
}

impl WaitingSkills {
    /// `root` is what the patterns are relative to.
    pub fn of(skills: &Skills, root: &Path) -> Self {
        let waits = skills.iter().filter(|skill| skill.by_model && !skill.paths.is_empty());
        let waiting = waits.map(|skill| WaitingSkill {
            name: skill.name.clone(),
            description: skill.description.clone(),
            files: glob_set(&skill.paths),
        });
        Self { root: root.to_owned(), waiting: waiting.collect() }
    }

    /// Returns what to tell the model about the skills for this file, each once.
    pub fn after_reading(&mut self, file: &Path) -> Vec<String> {
        let Ok(below) = file.strip_prefix(&self.root) else { return Vec::new() };
        let (found, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|skill| skill.files.is_match(below));
        self.waiting = waiting;
        let words = |skill: WaitingSkill| {
            let WaitingSkill { name, description, .. } = skill;
            format!("The skill {name} is for files like {}: {description} The Skill tool loads it.", below.display())
        };
        found.into_iter().map(words).collect()
    }
}
