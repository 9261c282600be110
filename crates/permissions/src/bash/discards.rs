//! git commands that throw work away: changes, untracked files, branches, what was pushed.

use super::ShellCommand;
use super::git::Git;
use super::words::ShellWord;

/// What a git command throws away.
#[derive(Debug)]
pub(crate) struct Discards<'a> {
    pub subcommand: &'a str,
    /// Only below these; none means everywhere.
    pub paths: Vec<&'a ShellWord>,
    /// Asked about on a tree with changes. Otherwise only looked at for guarded files.
    pub asks: bool,
    /// Changes of tracked files.
    pub changes: bool,
    pub untracked: bool,
    pub ignored: bool,
    /// `-C`, and whether the repository is named in another way.
    pub dirs: Vec<&'a ShellWord>,
    pub elsewhere: bool,
}

/// `None` for git commands that keep what is there, and for other programs.
pub(crate) fn of(command: &ShellCommand) -> Option<Discards<'_>> {
    if command.name() != Some("git") {
        return None;
    }
    let git = Git::of(command)?;
    let args = git.arguments;
    let end = args.iter().position(|word| word.text == "--").unwrap_or(args.len());
    let has = |short: &str, long: &[&str]| {
        args[..end].iter().any(|word| match word.text.strip_prefix("--") {
            // Long options may be cut short.
            Some(name) => {
                let name = name.split('=').next().unwrap_or_default();
                name.len() > 1 && long.iter().any(|long| long.starts_with(name))
            }
            None => word.is_option() && word.text.contains(|c| short.contains(c)),
        })
    };
    let behind: Vec<&ShellWord> = args.get(end + 1..).unwrap_or_default().iter().collect();
    let operands: Vec<&ShellWord> = args[..end].iter().filter(|word| !word.is_option()).collect();
    let first = operands.first().map_or("", |word| word.text.as_str());
    let mut found = Discards {
        subcommand: git.subcommand,
        paths: Vec::new(),
        asks: true,
        changes: true,
        untracked: false,
        ignored: false,
        dirs: git.dirs.clone(),
        elsewhere: git
            .globals
            .iter()
            .any(|word| word.text.starts_with("--git-dir") || word.text.starts_with("--work-tree"))
            || command.env.iter().any(|(name, _)| name.starts_with("GIT_")),
    };
    match git.subcommand {
        "reset" if has("", &["hard"]) => {}
        "reset" if has("", &["merge"]) => {}
        "clean" if has("n", &["dry-run"]) => return None,
        "clean" => {
            (found.changes, found.untracked) = (false, true);
            found.ignored = has("xX", &[]);
            found.paths = operands.into_iter().chain(behind).collect();
        }
        "checkout" | "switch" if has("f", &["force", "discard-changes"]) => {}
        "checkout" if has("bBt", &["orphan", "track", "detach"]) => return None,
        // With one word it may be a branch; that keeps changes, a file of this name does not.
        "checkout" if end < args.len() || operands.len() > 1 || has("p", &["patch", "pathspec-from-file"]) => {
            found.paths = if end < args.len() { behind } else { operands[1..].to_vec() };
        }
        "checkout" if first == "." || first.starts_with(":") => {}
        "checkout" if !operands.is_empty() => found.paths = operands,
        "restore" if has("S", &["staged"]) && !has("W", &["worktree"]) => return None,
        "restore" => found.paths = operands.into_iter().chain(behind).collect(),
        "stash" => {
            let saves = matches!(first, "" | "push" | "save");
            if matches!(first, "drop" | "clear") {
                found.changes = false;
            } else if !saves {
                return None;
            }
            found.untracked = saves && has("ua", &["include-untracked", "all"]);
            found.ignored = saves && has("a", &["all"]);
            found.asks = found.untracked || !saves;
            found.paths = if saves { behind } else { Vec::new() };
        }
        "branch" if has("D", &[]) || has("d", &["delete"]) && has("f", &["force"]) => found.changes = false,
        "push" => {
            let forced = has("fd", &["force", "force-with-lease", "mirror", "delete", "prune"]);
            let forced = forced || operands.iter().chain(&behind).any(|word| word.text.starts_with(['+', ':']));
            if !forced {
                return None;
            }
            found.changes = false;
        }
        "checkout-index" | "read-tree" if has("fu", &["force", "reset"]) => {}
        "worktree" if first == "remove" && has("f", &["force"]) => {}
        "rm" if has("f", &["force"]) => found.paths = operands.into_iter().chain(behind).collect(),
        _ => return None,
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bash::parse;

    #[test]
    fn what_throws_work_away_is_told_from_what_keeps_it() {
        let asks = |script: &str| {
            let script = parse(script);
            script.commands.iter().any(|command| of(command).is_some_and(|found| found.asks))
        };
        for script in [
            "git reset --hard",
            "git reset --har HEAD~1",
            "git -C sub reset --hard",
            "git clean -fd",
            "git clean -xdf",
            "git checkout -- .",
            "git checkout .",
            "git checkout -f main",
            "git checkout HEAD f.txt",
            "git restore .",
            "git restore -SW f.txt",
            "git switch --discard-changes main",
            "git switch -f main",
            "git stash -u",
            "git stash push --include-untracked",
            "git stash push -a -m x",
            "git stash clear",
            "git branch -D x",
            "git branch -d -f x",
            "git push --force",
            "git push -f origin main",
            "git push --force-with-lease",
            "git push origin +main",
            "git push origin :main",
            "git push --mirror x",
            "git -c alias.z='reset --hard' z",
            "sh -c 'git reset --hard'",
            "for c in 'reset --hard' status; do git $c; done",
        ] {
            assert!(asks(script), "{script}");
        }
        for script in [
            "git status",
            "git reset HEAD f.txt",
            "git reset --soft HEAD~1",
            "git clean -n",
            "git checkout -b x",
            "git restore --staged f.txt",
            "git switch main",
            "git switch -c x",
            "git stash",
            "git stash pop",
            "git stash list",
            "git branch -d x",
            "git push",
            "git push origin main",
            "git push -u origin main",
            "git commit -m 'reset --hard'",
        ] {
            assert!(!asks(script), "{script}");
        }
    }
}
