//! git commands that throw work away, on a tree that has some (DEC-192).
//!
//! What is changed in a tree is supplied by the code that builds the engine, and only
//! asked for when such a command is seen. A tree whose state is unknown
//! counts as changed.

use crate::bash::cwd::path_of;
use crate::bash::discards::{self, Discards};
use crate::call::{ParsedCall, ShellPart};
use crate::engine::PermissionEngine;
use crate::grammar::RuleTarget;
use crate::resolve::Forms;
use ona_api::path::lexical;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What differs from what is committed, as absolute paths. A folder stands for all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeChanges {
    pub changed: Vec<PathBuf>,
    pub untracked: Vec<PathBuf>,
    pub ignored: Vec<PathBuf>,
}

type ReadWorktree = dyn Fn(&Path) -> Option<WorktreeChanges> + Send + Sync;

/// Reads the state of the work tree a directory belongs to; `None` if it is unknown.
#[derive(Clone)]
pub(crate) struct WorktreeReader(Arc<ReadWorktree>);

impl fmt::Debug for WorktreeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TreeLook")
    }
}

/// What a command would do to a tree.
pub(crate) enum Loss {
    /// A guarded file would be put aside or reverted.
    Guard(String),
    /// Work would be lost.
    Work(String),
}

impl PermissionEngine {
    /// Sets how to read the state of the work tree a directory belongs to.
    pub fn with_worktree(mut self, look: impl Fn(&Path) -> Option<WorktreeChanges> + Send + Sync + 'static) -> Self {
        self.worktree = Some(WorktreeReader(Arc::new(look)));
        self
    }

    /// Returns what the git commands of a call would throw away.
    pub(crate) fn losses(&self, call: &ParsedCall<'_>) -> Vec<Loss> {
        call.shells().flat_map(|shell| self.losses_of(shell)).collect()
    }

    fn losses_of(&self, shell: &ShellPart) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (at, command) in shell.script.commands.iter().enumerate() {
            let Some(found) = discards::of(command) else { continue };
            let dirs = &shell.dirs[at];
            let mut places: Vec<PathBuf> = dirs.possible.clone();
            for dir in &found.dirs {
                places = places.iter().map(|from| lexical(&path_of(dir, from, &self.session_dirs.home))).collect();
            }
            let unknown = dirs.unknown || found.elsewhere || found.dirs.iter().any(|dir| dir.has_hole() || dir.glob);
            let trees: Vec<Option<WorktreeChanges>> = match unknown {
                true => vec![None],
                false => places
                    .iter()
                    .map(|session_dirs| self.worktree.as_ref().and_then(|look| (look.0)(session_dirs)))
                    .collect(),
            };
            for (session_dirs, tree) in places.iter().zip(&trees) {
                losses.extend(self.guard_in(&found, tree.as_ref(), session_dirs).map(Loss::Guard));
            }
            let loses =
                places.iter().zip(&trees).any(|(session_dirs, tree)| self.loses(&found, tree.as_ref(), session_dirs));
            let readings = command.readings();
            let named = self.compiled.allow.iter().any(|compiled| match &compiled.rule.target {
                RuleTarget::Command(pattern) => {
                    pattern.has_word(found.subcommand) && readings.iter().any(|reading| pattern.fits(reading))
                }
                _ => false,
            });
            if found.asks && loses && !named {
                losses.push(Loss::Work(format!("git {} can throw away work that is not committed", found.subcommand)));
            }
        }
        losses
    }

    fn loses(&self, found: &Discards<'_>, tree: Option<&WorktreeChanges>, session_dirs: &Path) -> bool {
        let limits = self.limits(found, session_dirs);
        // A branch of this name keeps changes.
        let file = |paths: &[PathBuf]| paths.iter().any(|path| path.exists());
        let is_branch =
            found.subcommand == "checkout" && found.paths.len() == 1 && limits.as_deref().is_some_and(|p| !file(p));
        match tree {
            None => !is_branch,
            Some(tree) => match limits {
                None => !tree.changed.is_empty() || !tree.untracked.is_empty(),
                Some(limits) => {
                    let lost = if found.untracked { &tree.untracked } else { &tree.changed };
                    lost.iter()
                        .any(|path| limits.iter().any(|limit| path.starts_with(limit) || limit.starts_with(path)))
                }
            },
        }
    }

    /// Returns the paths a command is limited to; `None` if that is the whole tree.
    fn limits(&self, found: &Discards<'_>, session_dirs: &Path) -> Option<Vec<PathBuf>> {
        let plain =
            |word: &&&crate::bash::words::ShellWord| !word.has_hole() && !word.glob && !word.text.starts_with(':');
        if found.paths.is_empty() || !found.paths.iter().all(|word| plain(&word)) {
            return None;
        }
        let path =
            |word: &&crate::bash::words::ShellWord| Forms::of(&path_of(word, session_dirs, &self.session_dirs.home));
        Some(
            found
                .paths
                .iter()
                .map(path)
                .flat_map(|path| path.each().map(Path::to_path_buf).collect::<Vec<_>>())
                .collect(),
        )
    }

    /// Returns the guarded file a command would take away or revert.
    fn guard_in(&self, found: &Discards<'_>, tree: Option<&WorktreeChanges>, session_dirs: &Path) -> Option<String> {
        if !found.changes && !found.untracked {
            return None;
        }
        let limits = self.limits(found, session_dirs);
        let meant =
            |path: &Path| limits.as_ref().is_none_or(|limits| limits.iter().any(|limit| path.starts_with(limit)));
        match tree {
            Some(tree) => {
                let changed = tree.changed.iter().filter(|_| found.changes);
                let untracked = tree.untracked.iter().filter(|_| found.untracked);
                let ignored = tree.ignored.iter().filter(|_| found.ignored);
                let lost: Vec<&PathBuf> = changed.chain(untracked).chain(ignored).collect();
                self.guarded.lost(|path| meant(path) && lost.iter().any(|lost| path.starts_with(lost)))
            }
            // Only what takes files away that git does not know.
            None => self.guarded.lost(|path| found.untracked && meant(path) && path.starts_with(session_dirs)),
        }
    }
}
