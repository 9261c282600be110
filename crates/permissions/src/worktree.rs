//! git commands that throw work away, on a tree that has some (DEC-192).
//!
//! What is changed in a tree is supplied by the code that builds the engine, and only
//! asked for when such a command is seen. A tree of which it cannot be told
//! counts as changed.

use crate::bash::cwd::path_of;
use crate::bash::discards::{self, Discards};
use crate::call::{Call, Shell};
use crate::engine::PermissionEngine;
use crate::grammar::Target;
use crate::resolve::Forms;
use ona_api::path::lexical;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What differs from what is committed, as absolute paths. A folder stands for all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkTree {
    pub changed: Vec<PathBuf>,
    pub untracked: Vec<PathBuf>,
    pub ignored: Vec<PathBuf>,
}

type Look = dyn Fn(&Path) -> Option<WorkTree> + Send + Sync;

/// Looks at the tree a directory lies in; `None` if that cannot be told.
#[derive(Clone)]
pub(crate) struct TreeLook(Arc<Look>);

impl fmt::Debug for TreeLook {
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
    /// Tells how to look at the tree a directory lies in.
    pub fn with_worktree(mut self, look: impl Fn(&Path) -> Option<WorkTree> + Send + Sync + 'static) -> Self {
        self.worktree = Some(TreeLook(Arc::new(look)));
        self
    }

    /// What the git commands of a call would throw away.
    pub(crate) fn losses(&self, call: &Call<'_>) -> Vec<Loss> {
        call.shells().flat_map(|shell| self.losses_of(shell)).collect()
    }

    fn losses_of(&self, shell: &Shell) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (at, command) in shell.script.commands.iter().enumerate() {
            let Some(found) = discards::of(command) else { continue };
            let dirs = &shell.dirs[at];
            let mut places: Vec<PathBuf> = dirs.possible.clone();
            for dir in &found.dirs {
                places = places.iter().map(|from| lexical(&path_of(dir, from, &self.place.home))).collect();
            }
            let unknown = dirs.unknown || found.elsewhere || found.dirs.iter().any(|dir| dir.has_hole() || dir.glob);
            let trees: Vec<Option<WorkTree>> = match unknown {
                true => vec![None],
                false => places.iter().map(|place| self.worktree.as_ref().and_then(|look| (look.0)(place))).collect(),
            };
            for (place, tree) in places.iter().zip(&trees) {
                losses.extend(self.guard_in(&found, tree.as_ref(), place).map(Loss::Guard));
            }
            let loses = places.iter().zip(&trees).any(|(place, tree)| self.loses(&found, tree.as_ref(), place));
            let readings = command.readings();
            let named = self.ready.allow.iter().any(|ready| match &ready.rule.target {
                Target::Command(pattern) => {
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

    fn loses(&self, found: &Discards<'_>, tree: Option<&WorkTree>, place: &Path) -> bool {
        let limits = self.limits(found, place);
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

    /// The paths a command is limited to; `None` if that is the whole tree.
    fn limits(&self, found: &Discards<'_>, place: &Path) -> Option<Vec<PathBuf>> {
        let plain = |word: &&&crate::bash::words::Word| !word.has_hole() && !word.glob && !word.text.starts_with(':');
        if found.paths.is_empty() || !found.paths.iter().all(|word| plain(&word)) {
            return None;
        }
        let path = |word: &&crate::bash::words::Word| Forms::of(&path_of(word, place, &self.place.home));
        Some(
            found
                .paths
                .iter()
                .map(path)
                .flat_map(|path| path.each().map(Path::to_path_buf).collect::<Vec<_>>())
                .collect(),
        )
    }

    /// The guarded file a command would take away or revert.
    fn guard_in(&self, found: &Discards<'_>, tree: Option<&WorkTree>, place: &Path) -> Option<String> {
        if !found.changes && !found.untracked {
            return None;
        }
        let limits = self.limits(found, place);
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
            None => self.guarded.lost(|path| found.untracked && meant(path) && path.starts_with(place)),
        }
    }
}
