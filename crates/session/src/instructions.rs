//! Instruction files: which exist, in which order they count, what they import.
//!
//! Broad before narrow, nothing overrides: managed, user, then every folder from the
//! file system's root down to where the session started. A file counts once,
//! however many ways lead to it.

use crate::imports;
use crate::rules::{self, ScopedRule};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Larger files are left out.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How deep imports may be nested.
const MAX_HOPS: usize = 4;

/// Where to look.
#[derive(Clone, Debug)]
pub struct Sources {
    pub home: PathBuf,
    /// Where the session started.
    pub start: PathBuf,
    pub project: PathBuf,
    pub managed: PathBuf,
    /// Also the files of the compatible product.
    pub compatible: bool,
    pub user_files: bool,
    pub project_files: bool,
    pub local_files: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    User,
    Project,
    Local,
    Managed,
}

impl MemoryType {
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryType::User => "User",
            MemoryType::Project => "Project",
            MemoryType::Local => "Local",
            MemoryType::Managed => "Managed",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadReason {
    SessionStart,
    NestedTraversal,
    PathGlobMatch,
    Include,
    Compact,
}

impl LoadReason {
    pub fn as_str(self) -> &'static str {
        match self {
            LoadReason::SessionStart => "session_start",
            LoadReason::NestedTraversal => "nested_traversal",
            LoadReason::PathGlobMatch => "path_glob_match",
            LoadReason::Include => "include",
            LoadReason::Compact => "compact",
        }
    }
}

/// One loaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub path: PathBuf,
    pub memory_type: MemoryType,
    pub reason: LoadReason,
    /// The file that imported it.
    pub parent: Option<PathBuf>,
    /// The file whose reading brought it in.
    pub trigger: Option<PathBuf>,
    pub globs: Vec<String>,
    pub text: String,
}

/// What is loaded, and what still waits for a file to be read.
pub struct Instructions {
    sources: Sources,
    loaded: Vec<Instruction>,
    scoped: Vec<(ScopedRule, MemoryType)>,
    seen: HashSet<PathBuf>,
}

impl Instructions {
    pub fn at_start(sources: Sources) -> Self {
        let mut all = Self { sources, loaded: Vec::new(), scoped: Vec::new(), seen: HashSet::new() };
        let (managed, home) = (all.sources.managed.clone(), all.sources.home.clone());
        all.load(&managed.join("CLAUDE.md"), MemoryType::Managed, LoadReason::SessionStart, None);
        if all.sources.user_files {
            for folder in all.config_folders(&home) {
                all.load(&folder.join("CLAUDE.md"), MemoryType::User, LoadReason::SessionStart, None);
                all.rules(&folder.join("rules"), MemoryType::User, &home);
            }
        }
        let start = all.sources.start.clone();
        let mut folders: Vec<_> = start.ancestors().map(Path::to_owned).collect();
        folders.reverse();
        for folder in folders {
            all.folder(&folder, LoadReason::SessionStart, None);
        }
        all
    }

    /// Everything loaded so far, in order.
    pub fn loaded(&self) -> &[Instruction] {
        &self.loaded
    }

    /// What reading this file brings in: instructions of folders between the start
    /// and the file, and rules for its path.
    pub fn after_reading(&mut self, file: &Path) -> Vec<Instruction> {
        let before = self.loaded.len();
        let start = self.sources.start.clone();
        if let Ok(below) = file.strip_prefix(&start) {
            let mut folder = start.clone();
            for part in below.parent().into_iter().flat_map(Path::components) {
                folder.push(part);
                self.folder(&folder, LoadReason::NestedTraversal, Some(file));
            }
        }
        let (covering, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.scoped).into_iter().partition(|(rule, _)| rule.covers(file));
        self.scoped = waiting;
        for (rule, memory_type) in covering {
            self.load(&rule.file, memory_type, LoadReason::PathGlobMatch, Some(file));
            if let Some(last) = self.loaded.last_mut().filter(|last| last.path == rule.file) {
                last.globs = rule.patterns;
            }
        }
        self.loaded[before..].to_vec()
    }

    fn config_folders(&self, base: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if self.sources.compatible {
            folders.push(base.join(".claude"));
        }
        folders.push(base.join(".ona"));
        folders
    }

    fn folder(&mut self, folder: &Path, reason: LoadReason, trigger: Option<&Path>) {
        if self.sources.project_files {
            let mut files = vec![folder.join("CLAUDE.md"), folder.join("AGENTS.md")];
            // In the home directory these are the user's own, loaded already.
            if folder != self.sources.home {
                files.extend(self.config_folders(folder).into_iter().map(|config| config.join("CLAUDE.md")));
            }
            for file in files {
                self.load(&file, MemoryType::Project, reason, trigger);
            }
            if folder != self.sources.home {
                for config in self.config_folders(folder) {
                    self.rules(&config.join("rules"), MemoryType::Project, folder);
                }
            }
        }
        if self.sources.local_files {
            self.load(&folder.join("CLAUDE.local.md"), MemoryType::Local, reason, trigger);
        }
    }

    fn rules(&mut self, folder: &Path, memory_type: MemoryType, root: &Path) {
        for file in rules::files(folder) {
            let Some(text) = read(&file) else { continue };
            match rules::scoped(&file, &text, root) {
                Some(rule) if !self.seen.contains(&file) => self.scoped.push((rule, memory_type)),
                Some(_) => {}
                None => self.load(&file, memory_type, LoadReason::SessionStart, None),
            }
        }
    }

    fn load(&mut self, file: &Path, memory_type: MemoryType, reason: LoadReason, trigger: Option<&Path>) {
        self.load_at(file, memory_type, reason, None, trigger, 0);
    }

    fn load_at(
        &mut self,
        file: &Path,
        memory_type: MemoryType,
        reason: LoadReason,
        parent: Option<&Path>,
        trigger: Option<&Path>,
        hops: usize,
    ) {
        let Ok(real) = std::fs::canonicalize(file) else { return };
        let Some(text) = read(&real) else { return };
        if !self.seen.insert(real) {
            return;
        }
        let text = imports::without_comments(rules::body(&text)).trim().to_owned();
        let imported = imports::named(&text);
        self.loaded.push(Instruction {
            path: file.to_owned(),
            memory_type,
            reason,
            parent: parent.map(Path::to_owned),
            trigger: trigger.map(Path::to_owned),
            globs: Vec::new(),
            text,
        });
        if hops == MAX_HOPS {
            return;
        }
        for import in imported {
            let target = imports::resolve(&import, file, &self.sources.home);
            if self.may_import(&target, memory_type) {
                self.load_at(&target, memory_type, LoadReason::Include, Some(file), trigger, hops + 1);
            }
        }
    }

    /// A file that came with a folder may not pull in what lies outside of it: nobody
    /// has agreed to send that to a model.
    fn may_import(&self, target: &Path, memory_type: MemoryType) -> bool {
        match memory_type {
            MemoryType::User | MemoryType::Managed => true,
            MemoryType::Project | MemoryType::Local => std::fs::canonicalize(target)
                .is_ok_and(|real| real.starts_with(&self.sources.project) || real.starts_with(&self.sources.start)),
        }
    }
}

fn read(file: &Path) -> Option<String> {
    let meta = std::fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return None;
    }
    std::fs::read(file).ok().map(|bytes| ona_api::text::decode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World(tempfile::TempDir);

    impl World {
        fn new(files: &[(&str, &str)]) -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = world.root().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            world
        }

        fn root(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }

        fn instructions(&self) -> Instructions {
            std::fs::create_dir_all(self.root().join("p/sub")).unwrap();
            Instructions::at_start(Sources {
                home: self.root().join("home"),
                start: self.root().join("p"),
                project: self.root().join("p"),
                managed: self.root().join("etc"),
                compatible: true,
                user_files: true,
                project_files: true,
                local_files: true,
            })
        }

        fn names(&self, all: &[Instruction]) -> Vec<String> {
            let short = |path: &Path| path.strip_prefix(self.root()).unwrap_or(path).to_string_lossy().into_owned();
            all.iter()
                .map(|one| format!("{} {} {}", short(&one.path), one.memory_type.as_str(), one.reason.as_str()))
                .collect()
        }
    }

    #[test]
    fn broad_comes_before_narrow() {
        let world = World::new(&[
            ("etc/CLAUDE.md", "m"),
            ("home/.ona/CLAUDE.md", "u"),
            ("CLAUDE.md", "parent"),
            ("p/CLAUDE.md", "project @docs/more.md"),
            ("p/docs/more.md", "more"),
            ("p/AGENTS.md", "agents"),
            ("p/CLAUDE.local.md", "local"),
            ("p/.claude/rules/a.md", "always"),
        ]);
        assert_eq!(
            world.names(world.instructions().loaded()),
            [
                "etc/CLAUDE.md Managed session_start",
                "home/.ona/CLAUDE.md User session_start",
                "CLAUDE.md Project session_start",
                "p/CLAUDE.md Project session_start",
                "p/docs/more.md Project include",
                "p/AGENTS.md Project session_start",
                "p/.claude/rules/a.md Project session_start",
                "p/CLAUDE.local.md Local session_start",
            ]
        );
    }

    #[test]
    fn a_file_counts_once_and_projects_do_not_reach_outside() {
        let world = World::new(&[
            ("p/CLAUDE.md", "@AGENTS.md @../secret.md @~/x.md @CLAUDE.md"),
            ("p/AGENTS.md", "a"),
            ("secret.md", "s"),
            ("home/x.md", "x"),
        ]);
        assert_eq!(
            world.names(world.instructions().loaded()),
            ["p/CLAUDE.md Project session_start", "p/AGENTS.md Project include"]
        );
    }

    #[test]
    fn reading_a_file_brings_in_what_belongs_to_it() {
        let world = World::new(&[
            ("p/sub/CLAUDE.md", "nested"),
            ("p/.claude/rules/ts.md", "---\npaths: [\"**/*.ts\"]\n---\nuse types"),
        ]);
        let mut all = world.instructions();
        assert!(all.loaded().is_empty());
        let found = all.after_reading(&world.root().join("p/sub/x.ts"));
        assert_eq!(
            world.names(&found),
            ["p/sub/CLAUDE.md Project nested_traversal", "p/.claude/rules/ts.md Project path_glob_match"]
        );
        assert_eq!((found[1].text.as_str(), found[1].globs.as_slice()), ("use types", &["**/*.ts".to_owned()][..]));
        assert!(all.after_reading(&world.root().join("p/sub/x.ts")).is_empty());
    }
}
