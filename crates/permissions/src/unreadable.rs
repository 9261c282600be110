//! Writes whose target cannot be read from the text (DEC-192).
//!
//! A variable, a pattern, a substitution or the `{}` of find may stand for any
//! path. Asking about each of them would ask about most loops, so a question is
//! put only where the fixed parts of the target say that it can be a guarded or
//! critical path: a folder before the hole that holds one, a name behind it that
//! is one. A target without fixed parts counts where the script itself makes it
//! out of such names (`find .claude | while read f`). Values that come with the
//! environment are not looked into.

use crate::bash::ShellCommand;
use crate::bash::files::{FileRole, FileUse, walk};
use crate::bash::words::{HOLE, ShellWord};
use crate::call::{CandidatePath, ResolvedUse, ShellPart, candidates};
use crate::dirs::SessionDirs;
use crate::guarded::GuardedFiles;
use crate::resolve::LinkCache;
use crate::text::brief;

/// Returns why a person should look at the script, if its targets can be what nothing may change.
pub(crate) fn target(shell: &ShellPart, guarded: &GuardedFiles, session_dirs: &SessionDirs) -> Option<String> {
    let writes = || shell.uses.iter().filter(|used| changes(used));
    let wild = |used: &ResolvedUse| -> Option<String> {
        let candidate = |candidate: &CandidatePath| guarded.could_be(&candidate.path.given).map(str::to_owned);
        let path = used.candidates.iter().filter(|candidate| candidate.wild).find_map(candidate)?;
        Some(format!("{} can be {}", brief(&used.file.word.raw), brief(&path)))
    };
    if let Some(why) = writes().find_map(wild) {
        return Some(why);
    }
    let bare = writes().find(|used| used.file.word.derived && is_bare(&used.file.word))?;
    let source = shell
        .script
        .commands
        .iter()
        .enumerate()
        .find_map(|(at, command)| source(command, at, shell, guarded, session_dirs));
    // `$(echo .claude/settings).json`
    let source = source.map(str::to_owned).or_else(|| {
        let tail = bare.file.word.text.trim_start_matches(HOLE);
        let dirs = shell.dirs[bare.command].possible.iter().map(|dir| dir.as_path());
        guarded.mentioned_without(&shell.text, tail, dirs).map(str::to_owned)
    })?;
    Some(format!("{} can be {}", brief(&bare.file.word.raw), brief(&source)))
}

fn changes(used: &ResolvedUse) -> bool {
    matches!(used.file.role, FileRole::Write | FileRole::Remove | FileRole::Alias)
}

/// Has a hole and nothing that says where it leads. An extension says nothing.
pub(crate) fn is_bare(word: &ShellWord) -> bool {
    let Some((before, after)) = word.text.split_once(HOLE) else { return false };
    let before = before.trim_matches(['.', '/']);
    let after: String = after.chars().filter(|c| *c != HOLE).collect();
    before.is_empty() && (after.is_empty() || after.starts_with('.') && !after.contains('/')) && !word.home
        || before.is_empty() && after.is_empty()
}

/// Returns the guarded file a command may print the name of.
fn source<'g>(
    command: &ShellCommand,
    at: usize,
    shell: &ShellPart,
    guarded: &'g GuardedFiles,
    session_dirs: &SessionDirs,
) -> Option<&'g str> {
    let mut links = LinkCache::default();
    let mut candidates = |word: &ShellWord| candidates(word, &shell.dirs[at], session_dirs, &mut links);
    if let Some(walk) = walk(command) {
        let starts = walk.starts.iter().flat_map(&mut candidates).collect::<Vec<_>>();
        return starts
            .iter()
            .find_map(|candidate| guarded.found_by_walk(&candidate.path, &walk.names, &walk.skipped, walk.folders));
    }
    let patterns = command.words.iter().skip(1).filter(|word| word.glob || word.has_hole());
    let found = patterns.flat_map(&mut candidates).collect::<Vec<_>>();
    found.iter().find_map(|candidate| {
        guarded.could_be(&candidate.path.given).or_else(|| guarded.matched(&candidate.path.given))
    })
}

/// A removal whose target can be the root or the home directory: `rm -rf ~/$X`.
pub(crate) fn removes_too_much(file: &FileUse) -> bool {
    let text = file.word.text.as_str();
    let rest = if file.word.home { text } else { text.trim_start_matches("//") };
    let behind = match (file.word.home, rest.strip_prefix('/')) {
        (true, Some(behind)) => behind,
        (true, None) => return false,
        (false, Some(behind)) => behind,
        (false, None) => return false,
    };
    !behind.is_empty() && behind.chars().all(|c| c == HOLE)
}
