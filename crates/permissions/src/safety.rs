//! What no allow rule and no hook approves by itself.
//!
//! Removing a critical directory is asked about in every mode.
//! Writing to files that run code later is asked about in every mode but bypass.
//! What an operator's deny rule may have meant is asked about as well.

use crate::bash::ShellCommand;
use crate::bash::files::{FileReach, FileRole, walk};
use crate::bash::words::HOLE;
use crate::call::{CallPart, ParsedCall, ResolvedUse, ShellPart, candidates};
use crate::dirs::{SessionDirs, WorkingDirs};
use crate::guarded::GuardedFiles;
use crate::resolve::{Forms, LinkCache};
use crate::text::{brief, is_direction_mark, path_text, reorders};
use crate::unreadable;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Risk {
    /// In every mode.
    Critical(String),
    /// In every mode but bypass.
    Sensitive(String),
}

pub(crate) fn risk(
    call: &ParsedCall<'_>,
    guarded: &GuardedFiles,
    session_dirs: &SessionDirs,
    working_dirs: &WorkingDirs,
) -> Option<Risk> {
    let critical = call
        .shells()
        .find_map(|shell| {
            removal(shell, session_dirs, working_dirs).or_else(|| unreadable::target(shell, guarded, session_dirs))
        })
        .or_else(|| reordered(call));
    critical.map(Risk::Critical).or_else(|| sensitive(call, working_dirs).map(Risk::Sensitive))
}

/// Returns a warning about text that a person would see in another order than the program reads it. In the
/// content of a file the marks that Arabic and Hebrew need are left alone.
fn reordered(call: &ParsedCall<'_>) -> Option<String> {
    fn find(value: &Value, is_content: bool) -> Option<char> {
        match value {
            Value::String(text) => text.chars().find(|c| reorders(*c) && !(is_content && is_direction_mark(*c))),
            Value::Array(items) => items.iter().find_map(|item| find(item, is_content)),
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let is_content = matches!(name.as_str(), "content" | "old_string" | "new_string" | "new_source");
                name.chars().find(|c| reorders(*c)).or_else(|| find(value, is_content))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    let named = |part: &CallPart| match part {
        CallPart::Read(path) | CallPart::Search(path) | CallPart::Edit(path) => {
            path.each().find_map(|path| path.to_string_lossy().chars().find(|c| reorders(*c)))
        }
        CallPart::Shell(shell) => shell.text.chars().find(|c| reorders(*c)),
        CallPart::Fetch(_) | CallPart::Plain => None,
    };
    let found = find(call.input, false).or_else(|| call.parts.iter().find_map(named))?;
    Some(format!("{} has {} in it, which changes the order in which text is shown", call.tool, found.escape_unicode()))
}

fn removal(shell: &ShellPart, session_dirs: &SessionDirs, working_dirs: &WorkingDirs) -> Option<String> {
    let critical = |used: &&ResolvedUse| {
        used.file.role == FileRole::Remove
            && used.candidates.iter().any(|candidate| {
                // A walk that picks by name removes what it picked.
                let picks = matches!(&used.file.reach, FileReach::Below { names, .. } if !names.is_empty());
                let here = &shell.dirs[used.command].possible;
                !picks
                    && (is_critical(&candidate.path, session_dirs, working_dirs, here)
                        || empties_variable(&used.file.word.text)
                        || unreadable::removes_too_much(&used.file))
            })
    };
    let used = shell.uses.iter().find(critical).or_else(|| home_passed_on(shell, session_dirs))?;
    let program = shell.script.commands[used.command].name().unwrap_or("it");
    Some(format!("{program} would remove {}", brief(&used.file.word.raw)))
}

/// Returns a removal of what another command prints, which is told about the home directory:
/// `find ~ | xargs rm`, `rm -r "$(echo ~)"`.
fn home_passed_on<'s>(shell: &'s ShellPart, session_dirs: &SessionDirs) -> Option<&'s ResolvedUse> {
    let removed = |used: &&ResolvedUse| {
        used.file.role == FileRole::Remove && used.file.word.derived && unreadable::is_bare(&used.file.word)
    };
    let used = shell.uses.iter().find(removed)?;
    let mut links = LinkCache::default();
    let names_home = |(at, command): (usize, &ShellCommand)| {
        let words = match (walk(command), command.name()) {
            (Some(walk), _) if walk.names.is_empty() => walk.starts,
            (None, Some("echo" | "printf" | "ls" | "realpath" | "readlink")) => command.words[1..].to_vec(),
            _ => return false,
        };
        let mut candidates = words.iter().flat_map(|word| candidates(word, &shell.dirs[at], session_dirs, &mut links));
        candidates
            .any(|candidate| !candidate.wild && candidate.path.each().any(|path| session_dirs.home.starts_with(path)))
    };
    shell.script.commands.iter().enumerate().any(names_home).then_some(used)
}

/// `"$D"/`, `$D/*`: everything, if the variable is empty.
fn empties_variable(text: &str) -> bool {
    text.rsplit_once(HOLE).is_some_and(|(_, rest)| matches!(rest, "/" | "/*" | "/." | "/.*" | "/**" | "/*/"))
}

/// The root and what is in it; the home and working directories, what they lie
/// in, and everything in them; the directory the command runs in.
fn is_critical(path: &Forms, session_dirs: &SessionDirs, working_dirs: &WorkingDirs, here: &[PathBuf]) -> bool {
    let anchors: Vec<&Path> = working_dirs.each().chain([session_dirs.home.as_path()]).collect();
    // `$D` may be anything; `unreadable` says when that is worth a question.
    let unknown = |path: &&Path| !path.iter().nth(1).is_some_and(|name| name.to_string_lossy().starts_with(HOLE));
    path.each().filter(unknown).any(|path| {
        let everything = path.file_name().is_some_and(|name| matches!(&*name.to_string_lossy(), "*" | ".*" | "**"));
        let path = if everything { path.parent().unwrap_or(path) } else { path };
        // /private is where macOS keeps /etc, /tmp and /var.
        let names = path.strip_prefix("/private").map_or(path, |rest| rest).iter().filter(|name| *name != "/").count();
        let holds_anchor = anchors.iter().any(|anchor| anchor.starts_with(path));
        let holds_here = !everything && here.iter().any(|dir| dir.starts_with(path));
        let repository =
            anchors.iter().any(|anchor| path.strip_prefix(anchor).is_ok_and(|rest| rest == Path::new(".git")));
        names <= 1 || holds_anchor || holds_here || repository
    })
}

fn sensitive(call: &ParsedCall<'_>, working_dirs: &WorkingDirs) -> Option<String> {
    call.parts.iter().find_map(|part| match part {
        CallPart::Edit(path) => {
            is_sensitive(path, working_dirs).then(|| format!("{} takes part in running programs", shown_path(path)))
        }
        CallPart::Shell(shell) => shell.uses.iter().find_map(|used| {
            let changes = matches!(used.file.role, FileRole::Write | FileRole::Remove | FileRole::Alias);
            let candidate =
                used.candidates.iter().find(|candidate| changes && is_sensitive(&candidate.path, working_dirs))?;
            Some(format!("{} takes part in running programs", shown_path(&candidate.path)))
        }),
        CallPart::Read(_) | CallPart::Search(_) | CallPart::Fetch(_) | CallPart::Plain => None,
    })
}

fn shown_path(path: &Forms) -> String {
    brief(&path.given.to_string_lossy())
}

/// Directories whose content programs run or trust.
const DIRECTORIES: [&str; 13] = [
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
    ".ona",
    ".ssh",
    ".gnupg",
    ".githooks",
];

const FILES: [&str; 38] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazeliskrc",
    ".bazelrc",
    ".bazelversion",
    ".bunfig.toml",
    ".claude.json",
    ".devcontainer.json",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".mcp.json",
    ".npmrc",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".ripgreprc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
    "gradle-wrapper.properties",
    "lefthook.yaml",
    "lefthook.yml",
    "maven-wrapper.properties",
    "pyrightconfig.json",
    ".pythonrc",
];

/// Returns whether writing there changes what runs later. Names are compared without case.
pub(crate) fn is_sensitive(path: &Forms, working_dirs: &WorkingDirs) -> bool {
    path.each().any(|path| {
        // A project may itself lie in such a directory.
        let path = working_dirs.below(path).unwrap_or(path);
        let text = path_text(path).to_lowercase();
        let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        let exempt = |at: usize| {
            names[at] == ".claude" && names.get(at + 1).is_some_and(|next| *next == "worktrees") && names.len() > at + 2
        };
        let directory = names.iter().enumerate().any(|(at, name)| DIRECTORIES.contains(name) && !exempt(at));
        let git = names.windows(2).any(|pair| pair == [".config", "git"]);
        directory || git || names.last().is_some_and(|name| FILES.contains(name))
    })
}
