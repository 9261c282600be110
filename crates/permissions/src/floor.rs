//! Step 0: what is denied in every mode, whatever the rules say.
//!
//! Changes of the agent's own files, looks into other processes, and calls that
//! cannot be what they claim to be.

use crate::bash::ShellCommand;
use crate::bash::embedded::decoded;
use crate::bash::files::{FileReach, FileRole};
use crate::bash::words::HOLE;
use crate::call::{CallPart, ParsedCall, ResolvedUse, ShellPart};
use crate::dirs::SessionDirs;
use crate::guarded::{GuardedFiles, Touch};
use crate::resolve::Forms;
use crate::text::brief;
use crate::wildcard::Wildcard;
use ona_api::{Authority, Ruling, Verdict};

pub(crate) fn verdict(call: &ParsedCall<'_>, guarded: &GuardedFiles, session_dirs: &SessionDirs) -> Option<Verdict> {
    call.parts.iter().find_map(|part| match part {
        CallPart::Edit(path) | CallPart::Read(path) | CallPart::Search(path) if has_nul(path) => {
            Some(refused("a path cannot contain a NUL character"))
        }
        CallPart::Edit(path) => process_file(path).or_else(|| guarded.reached(path, Touch::Change).map(protected)),
        CallPart::Read(path) | CallPart::Search(path) => process_file(path),
        CallPart::Fetch(Some(_)) | CallPart::Plain => None,
        CallPart::Fetch(None) => Some(refused("only http and https addresses can be fetched")),
        CallPart::Shell(shell) if shell.text.contains('\0') => {
            Some(refused("a command cannot contain a NUL character"))
        }
        CallPart::Shell(shell) => script(shell, guarded, session_dirs),
    })
}

/// The kernel would end the path there, and refuse it.
fn has_nul(path: &Forms) -> bool {
    path.each().any(|path| path.as_os_str().as_encoded_bytes().contains(&0))
}

pub(crate) fn protected(path: &str) -> Verdict {
    let path = brief(path);
    let message = format!("Denied: {path} is part of ona's own record and guards, which nothing may change");
    Verdict::new(Ruling::Deny, Authority::Protected(path), message)
}

fn refused(why: &str) -> Verdict {
    Verdict::new(Ruling::Deny, Authority::Protected(why.to_owned()), format!("Denied: {why}"))
}

/// `/proc/<pid>/environ`, `mem` and the links that lead out of it (E-6, F-7).
fn process_file(path: &Forms) -> Option<Verdict> {
    let path = path.each().find(|path| is_process_file(&path.to_string_lossy(), Own::Counts))?;
    Some(process(&path.to_string_lossy()))
}

fn process(path: &str) -> Verdict {
    let path = brief(path);
    Verdict::new(
        Ruling::Deny,
        Authority::Protected(path.clone()),
        format!("Denied: {path} shows the inside of a process"),
    )
}

/// Whether a process may use its own open files (`/proc/self/fd/1` in a shell).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Counts,
    Free,
}

fn is_process_file(path: &str, own: Own) -> bool {
    let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
    if !path.starts_with('/') || names.next() != Some("proc") {
        return false;
    }
    let Some(process) = names.next() else { return false };
    let free = own == Own::Free && matches!(process, "self" | "thread-self");
    names.any(|name| {
        let name = Wildcard::new(&name.replace(['?', HOLE], "*"));
        let inside = ["environ", "mem", "root", "cwd", "map_files"].iter().any(|file| name.fits(file));
        inside || (!free && name.fits("fd"))
    })
}

/// The same for a word of a script, which may hold the path somewhere (`if=/proc/1/mem`).
fn names_process_file(text: &str) -> bool {
    text.match_indices("/proc/").any(|(at, _)| {
        let starts = text[..at].chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || "_-./".contains(c)));
        starts && is_process_file(&text[at..], Own::Free)
    })
}

fn script(shell: &ShellPart, guarded: &GuardedFiles, session_dirs: &SessionDirs) -> Option<Verdict> {
    let words = shell
        .script
        .commands
        .iter()
        .flat_map(|command| command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target)));
    let named = words.filter(|word| names_process_file(&word.text)).map(|word| word.raw.as_str()).next();
    let opened = shell.uses.iter().find(|used| {
        let mut paths = used.candidates.iter().flat_map(|candidate| candidate.path.each());
        paths.any(|path| is_process_file(&path.to_string_lossy(), Own::Free))
    });
    if let Some(path) = named.or(opened.map(|used| used.file.word.raw.as_str())) {
        return Some(process(path));
    }
    let used =
        shell.uses.iter().filter(|used| !is_executed_script(shell, used)).find_map(|used| changed(used, guarded));
    used.or_else(|| overwritten_by_copy(shell, guarded))
        .or_else(|| mentioned(shell, guarded, session_dirs))
        .map(protected)
}

/// Returns the guarded file that a copied tree brings another one of: `cp -r tree/. .`
fn overwritten_by_copy<'g>(shell: &ShellPart, guarded: &'g GuardedFiles) -> Option<&'g str> {
    let copies = |at: usize| matches!(shell.script.commands[at].name(), Some("cp" | "rsync" | "ditto"));
    let sources = shell.uses.iter().filter(|used| {
        copies(used.command) && used.file.role == FileRole::Read && matches!(used.file.reach, FileReach::Below { .. })
    });
    let targets = |at: usize| {
        shell
            .uses
            .iter()
            .filter(move |used| used.command == at && used.file.role == FileRole::Write && !used.redirected)
    };
    let plain = |used: &ResolvedUse| {
        used.candidates
            .iter()
            .filter(|candidate| !candidate.wild)
            .map(|candidate| candidate.path.clone())
            .collect::<Vec<_>>()
    };
    sources.into_iter().find_map(|source| {
        let sources = plain(source);
        targets(source.command).flat_map(plain).find_map(|target| {
            sources
                .iter()
                .filter(|source| **source != target)
                .find_map(|source| guarded.overwritten_by_copy(&target, source))
        })
    })
}

/// Returns the guarded file a command would change.
fn changed<'g>(used: &ResolvedUse, guarded: &'g GuardedFiles) -> Option<&'g str> {
    let touch = match (used.file.role, &used.file.reach) {
        (FileRole::Read, _) => return None,
        // With another name for a folder, its content can be written.
        (FileRole::Remove | FileRole::Alias, _) | (FileRole::Write, FileReach::Replaced) => Touch::Replace,
        (FileRole::Write | FileRole::Any, _) => Touch::Change,
    };
    used.candidates.iter().find_map(|candidate| match &used.file.reach {
        FileReach::Below { names, .. } if touch == Touch::Replace && !names.is_empty() => {
            guarded.below(&candidate.path, names)
        }
        _ => guarded.reached(&candidate.path, touch),
    })
}

/// Returns whether a file is the script an interpreter is given to run: `bash hooks/a.sh`. Running a guard
/// is judged like any other command (DEC-189); what it is given besides may be changed by it.
fn is_executed_script(shell: &ShellPart, used: &ResolvedUse) -> bool {
    if used.redirected || used.file.role != FileRole::Any {
        return false;
    }
    let command = &shell.script.commands[used.command];
    let harmless = match command.name() {
        Some("bash" | "sh" | "dash" | "zsh" | "ksh") => "euxvnl",
        Some(name) if name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "python" => "uBEsSIOvq",
        Some("node" | "bun" | "deno" | "ruby" | "perl" | "php" | "fish") => "",
        Some(_) | None => return false,
    };
    let is_flag =
        |text: &str| text.strip_prefix('-').is_some_and(|letters| letters.chars().all(|c| harmless.contains(c)));
    // Any other option may take code or a file; then the operand is not what it seems.
    let mut words =
        command.words.iter().skip(1).skip_while(|word| word.fixed && word.text.len() > 1 && is_flag(&word.text));
    words.next().is_some_and(|word| word.fixed && !word.glob && !word.is_option() && word.raw == used.file.word.raw)
}

/// Returns the guarded file a script names, where it cannot be determined what a command does.
fn mentioned<'g>(shell: &ShellPart, guarded: &'g GuardedFiles, session_dirs: &SessionDirs) -> Option<&'g str> {
    let commands = &shell.script.commands;
    let unknown_target = |used: &ResolvedUse| used.file.role != FileRole::Read && used.file.word.has_hole();
    let unknown_command = |command: &ShellCommand| {
        command.words.first().is_some_and(|word| word.has_hole()) || command.name() == Some("xargs")
    };
    let opening = commands.iter().any(opens_by_text);
    let vague = shell.script.broken || commands.iter().any(unknown_command) || shell.uses.iter().any(unknown_target);
    if vague || opening {
        let started_in = || shell.dirs.iter().flat_map(|dirs| &dirs.possible).map(|dir| dir.as_path());
        let roots = [session_dirs.project.as_path(), &session_dirs.start];
        let found = |text: &str| guarded.mentioned(text, started_in().chain(roots));
        if let Some(path) = found(&shell.text).or_else(|| found(&decoded(&shell.text)).filter(|_| opening)) {
            return Some(path);
        }
    }
    // The arguments and the input of a program that is not known, such as code.
    let named =
        |at: usize, text: &str| guarded.mentioned(text, shell.dirs[at].possible.iter().map(|dir| dir.as_path()));
    let argument = |used: &ResolvedUse| {
        let told = used.file.role == FileRole::Any && !is_executed_script(shell, used);
        told.then(|| named(used.command, &used.file.word.raw)).flatten()
    };
    shell.uses.iter().find_map(argument).or_else(|| {
        let unknown: Vec<usize> =
            shell.uses.iter().filter(|used| used.file.role == FileRole::Any).map(|used| used.command).collect();
        let fed = |(at, command): (usize, &ShellCommand)| {
            let reads_code = unknown.contains(&at) || command.words.len() < 2;
            reads_code.then(|| command.fed.iter().find_map(|text| named(at, &text.text))).flatten()
        };
        commands.iter().enumerate().find_map(fed)
    })
}

/// A database shell opens what its statements, addresses and input name, wherever those come from.
fn opens_by_text(command: &ShellCommand) -> bool {
    matches!(command.name(), Some("sqlite3" | "sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_processes_are_recognised() {
        for path in [
            "/proc/self/environ",
            "/proc/1/mem",
            "/proc/self/root/etc/shadow",
            "/proc/1/task/2/environ",
            "/proc/*/env*",
            "/proc/\u{fffc}/fd/3",
        ] {
            assert!(is_process_file(path, Own::Free), "{path}");
        }
        for path in ["/proc/cpuinfo", "/proc/self/status", "/proc", "/proc/self/fd/1", "/home/proc/x/mem", "proc/1/mem"]
        {
            assert!(!is_process_file(path, Own::Free), "{path}");
        }
        assert!(is_process_file("/proc/self/fd/1", Own::Counts));
        assert!(names_process_file("if=/proc/1/mem") && !names_process_file("src/proc/1/mem"));
    }
}
