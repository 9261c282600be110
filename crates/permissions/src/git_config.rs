//! Whether looking at a repository starts nothing but git (DEC-191).
//!
//! A repository's configuration names programs that git runs while it looks: a monitor of files, drivers
//! that compare or filter, a checker of signatures, a server for objects that are missing. This reads the
//! files that git would read and accepts a list of settings that name none. A setting, a file or a form
//! of repository that is not known here is not accepted. Variables of the environment are the operator's
//! own, and are not looked at.

use std::fs;
use std::path::{Path, PathBuf};

/// Longer configurations are not read.
const LONGEST: u64 = 256 * 1024;

/// `section.key` of settings that start no program while git looks. A section alone stands for all its
/// keys, also behind a subsection.
const HARMLESS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.quotepath",
    "core.abbrev",
    "core.compression",
    "core.untrackedcache",
    "core.preloadindex",
    "core.excludesfile",
    "core.attributesfile",
    "core.whitespace",
    "core.commentchar",
    // Only where there is a terminal, and only in commands that change something.
    "core.pager",
    "core.editor",
    "extensions.objectformat",
    "remote.url",
    "remote.pushurl",
    "remote.fetch",
    "remote.push",
    "remote.tagopt",
    "remote.prune",
    "diff.algorithm",
    "diff.colormoved",
    "diff.renames",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.context",
    "log.date",
    "log.decorate",
    "log.abbrevcommit",
    "log.follow",
    "merge.conflictstyle",
    "merge.ff",
    "branch",
    "user",
    "author",
    "committer",
    "color",
    "column",
    "advice",
    "init",
    "push",
    "pull",
    "fetch",
    "rebase",
    "rerere",
    "commit",
    "tag",
    "blame",
    "help",
    "alias",
    "pager",
    "url",
    "credential",
    "http",
    "https",
    "safe",
    "versionsort",
    "status.short",
    "status.branch",
    "status.showuntrackedfiles",
    "gc.auto",
    "pack.threads",
    "index.version",
    "feature.manyfiles",
];

/// Whether git started in `dir` reads only configuration that names no program.
pub(crate) fn names_no_program(dir: &Path, home: &Path) -> bool {
    let own = [home.join(".gitconfig"), home.join(".config/git/config"), PathBuf::from("/etc/gitconfig")];
    let Some(repository) = repository_of(dir) else { return false };
    let files = own.into_iter().chain(repository.map(|git| git.join("config")));
    files.into_iter().all(|file| file_is_harmless(&file))
}

/// Returns the folder `.git` of the nearest repository, `Some(None)` outside of one, and `None` for a form
/// of repository that is not judged: bare, linked, with submodules, or with a hook that runs when the
/// index is refreshed.
#[expect(clippy::option_option, reason = "not judged, no repository, and this repository")]
fn repository_of(dir: &Path) -> Option<Option<PathBuf>> {
    for folder in dir.ancestors() {
        // A folder that looks like a bare repository is one to git.
        if folder.join("HEAD").exists() && folder.join("objects").exists() {
            return None;
        }
        let git = folder.join(".git");
        let Ok(metadata) = fs::symlink_metadata(&git) else { continue };
        let judged = metadata.is_dir()
            && git.join("config").is_file()
            && !folder.join(".gitmodules").exists()
            && !["modules", "commondir", "config.worktree", "hooks/post-index-change", "objects/info/alternates"]
                .iter()
                .any(|name| git.join(name).exists());
        return judged.then_some(Some(git));
    }
    Some(None)
}

fn file_is_harmless(file: &Path) -> bool {
    match fs::metadata(file) {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(metadata) if !metadata.is_file() || metadata.len() > LONGEST => false,
        Ok(_) => fs::read_to_string(file).is_ok_and(|text| text_is_harmless(&text)),
    }
}

fn text_is_harmless(text: &str) -> bool {
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A value that goes on in the next line, and settings behind a header, are not read.
        if line.ends_with('\\') {
            return false;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']') else { return false };
            let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        let setting = format!("{section}.{key}");
        if !HARMLESS.contains(&section.as_str()) && !HARMLESS.contains(&setting.as_str()) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_a_program_are_not_accepted() {
        for text in [
            "",
            "# a comment\n[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
            "[remote \"origin\"]\n\turl = https://h/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin",
            "[user]\n\tname = A\n[color \"diff\"]\n\tmeta = yellow",
        ] {
            assert!(text_is_harmless(text), "{text}");
        }
        for text in [
            "[core]\n\tfsmonitor = ./x",
            "[core] fsmonitor = ./x",
            "[core]fsmonitor=./x",
            "[CORE]\n\tFsMonitor = ./x",
            "[core]\n\thooksPath = x",
            "[core]\n\tsshCommand = x",
            "[core]\n\tworktree = /",
            "[core]\n\talternateRefsCommand = x",
            "[diff]\n\texternal = ./x",
            "[diff \"txt\"]\n\ttextconv = ./x",
            "[diff \"txt\"]\n\tcommand = ./x",
            "[diff.txt]\n\tcommand = ./x",
            "[filter \"lfs\"]\n\tclean = ./x",
            "[include]\n\tpath = ../evil",
            "[includeIf \"gitdir:/\"]\n\tpath = evil",
            "[log]\n\tshowSignature = true",
            "[gpg]\n\tprogram = ./x",
            "[extensions]\n\tpartialClone = origin",
            "[extensions]\n\tworktreeConfig = true",
            "[remote \"o\"]\n\tpromisor = true",
            "[remote \"o\"]\n\tvcs = x",
            "[remote \"o\"]\n\tuploadpack = ./x",
            "[user]\n\tname = a\\\n[core]\n\tfsmonitor = x",
            "[core\n\tfsmonitor = x",
            "fsmonitor = x",
            "[submodule \"a\"]\n\tupdate = !x",
            "[interactive]\n\tdiffFilter = x",
            "[trace2]\n\teventTarget = /x",
        ] {
            assert!(!text_is_harmless(text), "{text}");
        }
    }
}
