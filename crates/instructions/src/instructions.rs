//! Instruction files: which exist, in which order they count, what they import.
//!
//! Broad before narrow, nothing overrides: managed, user, then every folder from the
//! file system's root down to where the session started. A file counts once,
//! however many ways lead to it.

use crate::imports;
use crate::rules::{self, ScopedRule};
use ona_files::{ReadError, TOO_MANY_ENTRIES};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How deep imports may be nested.
const MAX_HOPS: usize = 4;

/// Where to look.
#[derive(Clone, Debug)]
pub struct InstructionSources {
    pub home: PathBuf,
    /// Where the session started.
    pub start: PathBuf,
    pub project: PathBuf,
    /// The checkout, where the project is a worktree that lies in it; its files are the worktree's, too.
    pub checkout: Option<PathBuf>,
    pub managed: PathBuf,
    /// Also the files of the compatible product.
    pub compatible: bool,
    pub user_files: bool,
    pub project_files: bool,
    pub local_files: bool,
    /// Whether a project's file may be a link that leads out of it: nobody has agreed to send
    /// that to a model before the folder is trusted (DEC-182).
    pub links_may_leave: bool,
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
    sources: InstructionSources,
    now: InstructionFolder,
    /// As it was before any file was read.
    at_start: InstructionFolder,
    left_out: Vec<String>,
    /// Files and folders that were named as left out.
    named: HashSet<PathBuf>,
}

#[derive(Clone, Default)]
struct InstructionFolder {
    loaded: Vec<Instruction>,
    scoped: Vec<(ScopedRule, MemoryType)>,
    seen: HashSet<PathBuf>,
    /// Folders of rules that are known already.
    visited: HashSet<PathBuf>,
}

impl Instructions {
    pub fn at_start(sources: InstructionSources) -> Self {
        let mut all = Self {
            sources,
            now: InstructionFolder::default(),
            at_start: InstructionFolder::default(),
            left_out: Vec::new(),
            named: HashSet::new(),
        };
        let (managed, home) = (all.sources.managed.clone(), all.sources.home.clone());
        all.load(&managed.join("CLAUDE.md"), MemoryType::Managed, LoadReason::SessionStart, None);
        if all.sources.user_files {
            for folder in all.config_folders(&home) {
                all.load(&folder.join("CLAUDE.md"), MemoryType::User, LoadReason::SessionStart, None);
                all.rules(&folder.join("rules"), MemoryType::User, &home, LoadReason::SessionStart, None);
            }
        }
        let start = all.sources.start.clone();
        let mut folders: Vec<_> = start.ancestors().map(Path::to_owned).collect();
        folders.reverse();
        if let Some(checkout) = &all.sources.checkout {
            folders.retain(|folder| !folder.starts_with(checkout) || folder.starts_with(&all.sources.project));
        }
        for folder in folders {
            all.folder(&folder, LoadReason::SessionStart, None);
        }
        all.at_start = all.now.clone();
        all
    }

    /// Marks files that the session received before this process: they are not loaded again.
    pub fn mark_loaded(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.now.seen.extend(files.into_iter().filter_map(|file| std::fs::canonicalize(file).ok()));
    }

    /// Called after a summary replaced the conversation. Instructions that were loaded with a
    /// file are loaded again with the next one. Those of the start are read again and all
    /// returned, each with whether its text has changed.
    pub fn after_compaction(&mut self) -> Vec<(Instruction, bool)> {
        let mut again = Vec::new();
        let mut failed = Vec::new();
        for one in &mut self.at_start.loaded {
            let text = match read(&one.path) {
                Ok(text) => shown(&text),
                Err(why) => {
                    failed.push((one.path.clone(), why));
                    continue;
                }
            };
            let changed = one.text != text;
            one.text = text;
            again.push((Instruction { reason: LoadReason::Compact, ..one.clone() }, changed));
        }
        for (file, why) in failed.into_iter().filter(|(_, why)| !why.is_absent()) {
            self.leave_out(&file, why);
        }
        self.now = self.at_start.clone();
        again
    }

    /// Forgets what was loaded since the start: the conversation went back.
    pub fn forget_loaded(&mut self) {
        self.now = self.at_start.clone();
    }

    /// Returns messages about files that were not read since the last call, each file once.
    pub fn take_skipped(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_out)
    }

    fn leave_out(&mut self, file: &Path, why: impl std::fmt::Display) {
        if self.named.insert(file.to_owned()) {
            self.left_out.push(format!("ignoring {}: it {why}", file.display()));
        }
    }

    /// Returns the text at `real`, if there is one that can be read. `file` is its name.
    fn read(&mut self, file: &Path, real: &Path) -> Option<String> {
        match read(real) {
            Ok(text) => Some(text),
            Err(ReadError::Absent) => None,
            Err(why) => {
                self.leave_out(file, why);
                None
            }
        }
    }

    /// Returns everything loaded so far, in order.
    pub fn loaded(&self) -> &[Instruction] {
        &self.now.loaded
    }

    /// Returns what reading this file brings in: instructions of folders between the start
    /// and the file, and rules for its path.
    pub fn after_reading(&mut self, file: &Path) -> Vec<Instruction> {
        let before = self.now.loaded.len();
        let start = self.sources.start.clone();
        if let Ok(below) = file.strip_prefix(&start) {
            let mut folder = start.clone();
            for part in below.parent().into_iter().flat_map(Path::components) {
                folder.push(part);
                self.folder(&folder, LoadReason::NestedTraversal, Some(file));
            }
        }
        let (covering, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.now.scoped).into_iter().partition(|(rule, _)| rule.covers(file));
        self.now.scoped = waiting;
        for (rule, memory_type) in covering {
            let at = self.now.loaded.len();
            self.load(&rule.file, memory_type, LoadReason::PathGlobMatch, Some(file));
            // What it imports stands behind it.
            if let Some(loaded) = self.now.loaded.get_mut(at) {
                loaded.globs = rule.patterns;
            }
        }
        self.now.loaded[before..].to_vec()
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
                    self.rules(&config.join("rules"), MemoryType::Project, folder, reason, trigger);
                }
            }
        }
        if self.sources.local_files {
            self.load(&folder.join("CLAUDE.local.md"), MemoryType::Local, reason, trigger);
        }
    }

    fn rules(
        &mut self,
        folder: &Path,
        memory_type: MemoryType,
        root: &Path,
        reason: LoadReason,
        trigger: Option<&Path>,
    ) {
        if !self.now.visited.insert(folder.to_owned()) {
            return;
        }
        let files = rules::files(folder);
        if files.truncated {
            self.leave_out(folder, TOO_MANY_ENTRIES);
        }
        for file in files.paths {
            if !self.may_read(&file, memory_type) {
                continue;
            }
            let Some(text) = self.read(&file, &file) else { continue };
            match rules::scoped(&file, &text, root) {
                Some(rule) => self.now.scoped.push((rule, memory_type)),
                None => self.load(&file, memory_type, reason, trigger),
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
        if self.now.seen.contains(&real) || !self.may_read(file, memory_type) {
            return;
        }
        let Some(text) = self.read(file, &real) else { return };
        self.now.seen.insert(real);
        let text = shown(&text);
        let imported = imports::named(&text);
        self.now.loaded.push(Instruction {
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

    /// Returns whether a file lies where it was found, if that matters.
    fn may_read(&mut self, file: &Path, memory_type: MemoryType) -> bool {
        if self.sources.links_may_leave || matches!(memory_type, MemoryType::User | MemoryType::Managed) {
            return true;
        }
        let project = &self.sources.project;
        let within = if file.starts_with(project) { project } else { file.parent().unwrap_or(file) };
        let stays = match (std::fs::canonicalize(file), std::fs::canonicalize(within)) {
            (Ok(real), Ok(within)) => real.starts_with(within),
            _ => false,
        };
        if !stays {
            self.leave_out(file, "is a link that leads out of a folder that is not trusted; ona --trust reads it");
        }
        stays
    }

    /// A file that came with a folder may not import what lies outside of it: the user has not
    /// agreed to send that to a model.
    fn may_import(&self, target: &Path, memory_type: MemoryType) -> bool {
        match memory_type {
            MemoryType::User | MemoryType::Managed => true,
            MemoryType::Project | MemoryType::Local => std::fs::canonicalize(target)
                .is_ok_and(|real| real.starts_with(&self.sources.project) || real.starts_with(&self.sources.start)),
        }
    }
}

/// Returns what a model sees of a file.
fn shown(text: &str) -> String {
    imports::without_comments(rules::body(text)).trim().to_owned()
}

fn read(file: &Path) -> Result<String, ReadError> {
    ona_files::read_bytes(file).map(|bytes| ona_api::text::decode(&bytes))
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
            self.instructions_where(true)
        }

        fn instructions_where(&self, links_may_leave: bool) -> Instructions {
            std::fs::create_dir_all(self.root().join("p/sub")).unwrap();
            Instructions::at_start(InstructionSources {
                home: self.root().join("home"),
                start: self.root().join("p"),
                project: self.root().join("p"),
                checkout: None,
                managed: self.root().join("etc"),
                compatible: true,
                user_files: true,
                project_files: true,
                local_files: true,
                links_may_leave,
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
    fn a_link_out_of_an_untrusted_folder_is_left_out_and_named_once() {
        use std::os::unix::fs::symlink;
        let world = World::new(&[
            ("CLAUDE.md", "parent"),
            ("private", "private"),
            ("p/docs/kept.md", "inside"),
            ("p/.claude/rules/kept.md", "always"),
        ]);
        let project = world.root().join("p");
        symlink("docs/kept.md", project.join("AGENTS.md")).unwrap();
        symlink("../private", project.join("CLAUDE.md")).unwrap();
        symlink("../../private", project.join(".claude/CLAUDE.md")).unwrap();
        symlink("../../../private", project.join(".claude/rules/out.md")).unwrap();
        let mut untrusted = world.instructions_where(false);
        let texts: Vec<_> = untrusted.loaded().iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["parent", "inside", "always"]);
        let left_out = untrusted.take_skipped();
        assert!(left_out.iter().all(|line| line.contains("leads out of a folder that is not trusted")), "{left_out:?}");
        assert_eq!(left_out.len(), 3, "{left_out:?}");
        untrusted.after_reading(&project.join("sub/file"));
        assert_eq!(untrusted.take_skipped(), [] as [&str; 0]);
        assert!(world.instructions().loaded().iter().any(|one| one.text == "private"));
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

    #[test]
    fn a_nested_folder_brings_its_own_rules_and_imports() {
        let world = World::new(&[
            ("p/sub/CLAUDE.md", "nested @more.md"),
            ("p/sub/more.md", "more"),
            ("p/sub/.ona/rules/always.md", "always"),
            ("p/sub/.ona/rules/rs.md", "---\npaths: \"*.rs\"\n---\nfmt @../../more.md"),
        ]);
        let mut all = world.instructions();
        let found = all.after_reading(&world.root().join("p/sub/a.rs"));
        assert_eq!(
            world.names(&found),
            [
                "p/sub/CLAUDE.md Project nested_traversal",
                "p/sub/more.md Project include",
                "p/sub/.ona/rules/always.md Project nested_traversal",
                "p/sub/.ona/rules/rs.md Project path_glob_match",
            ]
        );
        assert_eq!(found[1].parent, Some(world.root().join("p/sub/CLAUDE.md")));
        assert!(found.iter().all(|one| one.trigger == Some(world.root().join("p/sub/a.rs"))));
        assert_eq!(found[3].globs, ["*.rs"]);
    }

    #[test]
    fn loaded_files_are_not_loaded_again_until_a_summary_covers_them() {
        let world = World::new(&[
            ("p/CLAUDE.md", "root"),
            ("p/sub/CLAUDE.md", "nested"),
            ("p/.claude/rules/ts.md", "---\npaths: [\"**/*.ts\"]\n---\nuse types"),
            ("p/sub/.ona/rules/always.md", "always"),
        ]);
        let (file, nested) = (world.root().join("p/sub/x.ts"), world.root().join("p/sub/CLAUDE.md"));
        let mut all = world.instructions();
        all.mark_loaded([nested]);
        assert_eq!(
            world.names(&all.after_reading(&file)),
            ["p/sub/.ona/rules/always.md Project nested_traversal", "p/.claude/rules/ts.md Project path_glob_match"]
        );
        assert!(all.after_reading(&file).is_empty());
        std::fs::write(world.root().join("p/CLAUDE.md"), "root, changed").unwrap();
        for changed in [true, false] {
            let again = all.after_compaction();
            assert_eq!(again.len(), 1);
            assert_eq!((again[0].0.reason, again[0].0.text.as_str()), (LoadReason::Compact, "root, changed"));
            assert_eq!(again[0].1, changed);
            assert_eq!(
                world.names(&all.after_reading(&file)),
                [
                    "p/sub/CLAUDE.md Project nested_traversal",
                    "p/sub/.ona/rules/always.md Project nested_traversal",
                    "p/.claude/rules/ts.md Project path_glob_match",
                ]
            );
        }
    }
}
