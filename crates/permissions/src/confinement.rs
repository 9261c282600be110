//! A session that works in a git worktree: the checkout the worktree belongs to stays as it is.
//!
//! The session is confined by what can be read off its calls: paths of file tools, files that a
//! script changes, and where its git commands work. What a program does by itself is not seen, as
//! everywhere. Deny and ask rules that are anchored at the project hold in both places, so that
//! a worktree does not lead around them; allow rules and working directories are the worktree's.

use crate::bash::ShellCommand;
use crate::bash::cwd::path_of;
use crate::bash::files::FileRole;
use crate::call::{CallPart, ParsedCall, ShellPart};
use crate::dirs::{SessionDirs, WorkingDirs};
use crate::engine::PermissionEngine;
use crate::resolve::Forms;
use crate::rules::CompiledRules;
use crate::text::brief;
use ona_api::path::lexical;
use ona_api::{Authority, Mode, Ruling, Verdict};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Confinement {
    /// The innermost first: a worktree may be entered from another one.
    checkouts: Vec<Forms>,
    worktree: Forms,
}

impl Confinement {
    /// Whether a path is in the checkout and not in the worktree, by any of its forms.
    fn excludes(&self, path: &Path) -> bool {
        let within = |place: &Forms| place.each().any(|place| path.starts_with(place));
        self.checkouts.iter().any(within) && !within(&self.worktree)
    }
}

/// What a git command is told about another repository, instead of where it runs.
const GIT_VARIABLES: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];

impl PermissionEngine {
    /// Moves the session into a worktree of its project.
    pub fn enter_worktree(&mut self, worktree: &Path) {
        let checkout = std::mem::replace(&mut self.session_dirs.project, worktree.to_owned());
        self.session_dirs.start = worktree.to_owned();
        let before = self.confinement.take().map(|confined| confined.checkouts).unwrap_or_default();
        let checkouts = std::iter::once(Forms::of(&checkout)).chain(before).collect();
        self.confinement = Some(Confinement { checkouts, worktree: Forms::of(worktree) });
        self.recompile();
    }

    /// Sets a mode that an agent's definition asks for, as far as that is its to choose: it may
    /// narrow what its parent may do, and accept edits where the parent asks.
    pub fn narrow_mode(&mut self, wanted: Mode) {
        let strict = matches!(self.mode, Mode::Plan | Mode::DontAsk);
        if !strict && wanted != Mode::BypassPermissions {
            self.mode = wanted;
            self.before_planning = None;
        }
    }

    /// Rules and directories, compiled after a change of either.
    pub(crate) fn recompile(&mut self) {
        self.compiled = self.compiled_rules();
        self.working_dirs = WorkingDirs::of(&self.session_dirs);
    }

    pub(crate) fn compiled_rules(&self) -> CompiledRules {
        let mut compiled = CompiledRules::new(&self.rules, &self.session_dirs);
        for checkout in self.confinement.iter().flat_map(|confined| &confined.checkouts) {
            let checkout = checkout.given.clone();
            let dirs = SessionDirs { project: checkout.clone(), start: checkout, ..self.session_dirs.clone() };
            let at_checkout = CompiledRules::new(&self.rules, &dirs);
            compiled.deny.extend(at_checkout.deny);
            compiled.ask.extend(at_checkout.ask);
        }
        compiled
    }

    /// Refuses what would change the checkout.
    pub(crate) fn leaves_worktree(&self, call: &ParsedCall<'_>) -> Option<Verdict> {
        let confined = self.confinement.as_ref()?;
        let what = call.parts.iter().find_map(|part| match part {
            CallPart::Edit(path) => {
                path.each().any(|path| confined.excludes(path)).then(|| brief(&path.given.to_string_lossy()))
            }
            CallPart::Shell(shell) => self.changed_by_script(confined, shell),
            CallPart::Read(_) | CallPart::Search(_) | CallPart::Fetch(_) | CallPart::Plain => None,
        })?;
        let worktree = confined.worktree.given.display();
        let message = format!(
            "Denied: {what} is outside the worktree {worktree}, in which this session works; the checkout stays as it is"
        );
        Some(Verdict::new(Ruling::Deny, Authority::Protected(what), message))
    }

    fn changed_by_script(&self, confined: &Confinement, shell: &ShellPart) -> Option<String> {
        let used = shell.uses.iter().find(|used| {
            let changes = matches!(used.file.role, FileRole::Write | FileRole::Remove | FileRole::Alias);
            let mut paths = used.candidates.iter().filter(|candidate| !candidate.wild).flat_map(|one| one.path.each());
            changes && paths.any(|path| confined.excludes(path))
        });
        if let Some(used) = used {
            return Some(brief(&used.file.word.raw));
        }
        let git = shell.script.commands.iter().enumerate().find(|(at, command)| {
            command.name() == Some("git") && self.git_works_elsewhere(confined, command, &shell.dirs[*at].possible)
        });
        git.map(|(_, command)| brief(&command.source))
    }

    /// Whether a git command would work on the checkout, or on what cannot be told.
    fn git_works_elsewhere(&self, confined: &Confinement, command: &ShellCommand, dirs: &[PathBuf]) -> bool {
        let redirected = |text: &str| text.starts_with("--git-dir") || text.starts_with("--work-tree");
        if command.env.iter().any(|(name, _)| GIT_VARIABLES.contains(&name.as_str()))
            || command.words.iter().any(|word| redirected(&word.text))
        {
            return true;
        }
        let mut places = dirs.to_vec();
        for pair in command.words.windows(2).filter(|pair| pair[0].text == "-C") {
            if pair[1].has_hole() || pair[1].glob {
                return true;
            }
            places = places.iter().map(|from| lexical(&path_of(&pair[1], from, &self.session_dirs.home))).collect();
        }
        places.iter().any(|place| Forms::of(place).each().any(|place| confined.excludes(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::GuardedFiles;
    use crate::rules::Rules;
    use ona_api::Access;
    use ona_settings::PermissionSettings;
    use serde_json::json;

    fn engine(mode: Mode) -> PermissionEngine {
        let (permissions, _) =
            PermissionSettings::parse(&json!({"allow": ["Bash", "Edit"], "deny": ["Read(/secret)"]})).unwrap();
        let (rules, dropped) = Rules::parse(&permissions);
        assert_eq!(dropped, []);
        let dirs = SessionDirs { project: "/w".into(), start: "/w".into(), home: "/h".into(), extra: vec![] };
        let guarded = GuardedFiles::new(None, Vec::new(), &dirs);
        let mut engine = PermissionEngine::new(rules, mode, dirs, guarded);
        engine.enter_worktree(Path::new("/w/.claude/worktrees/a"));
        engine
    }

    fn ruling(tool: &str, input: serde_json::Value, access: Access) -> Ruling {
        engine(Mode::BypassPermissions).decide(tool, &input, &[access], None).ruling
    }

    #[test]
    fn the_checkout_stays_as_it_is() {
        let edit = |path: &str| ruling("Edit", json!({}), Access::Edit(path.into()));
        assert_eq!(edit("/w/.claude/worktrees/a/f.txt"), Ruling::Allow);
        assert_eq!(edit("/w/f.txt"), Ruling::Deny);
        assert_eq!(edit("/w/.claude/worktrees/other/f.txt"), Ruling::Deny);
        let read = |path: &str| ruling("Read", json!({}), Access::Read(path.into()));
        assert_eq!(read("/w/f.txt"), Ruling::Allow);
        // A rule anchored at the project holds in both places.
        assert_eq!(read("/w/secret"), Ruling::Deny);
        assert_eq!(read("/w/.claude/worktrees/a/secret"), Ruling::Deny);
    }

    #[test]
    fn so_does_what_scripts_would_change() {
        let bash = |script: &str| {
            let access = Access::Shell { script: script.into(), cwd: "/w/.claude/worktrees/a".into() };
            ruling("Bash", json!({"command": script}), access)
        };
        for allowed in ["echo x >f", "git commit -am x", "cat ../../../f", "git -C sub status", "touch /tmp/x"] {
            assert_eq!(bash(allowed), Ruling::Allow, "{allowed}");
        }
        for denied in [
            "echo x >/w/f",
            "echo x >../../../f",
            "cd ../../.. && touch f",
            "git -C /w commit -am x",
            "git -C ../../.. status",
            "git -C \"$D\" commit",
            "GIT_DIR=/w/.git git reset HEAD",
            "git --git-dir=/w/.git reset HEAD",
            "cd /w && git commit -am x",
            "rm ../other/f",
        ] {
            assert_eq!(bash(denied), Ruling::Deny, "{denied}");
        }
    }

    #[test]
    fn a_definition_narrows_or_accepts_edits() {
        for (parent, wanted, expected) in [
            (Mode::Default, Mode::AcceptEdits, Mode::AcceptEdits),
            (Mode::Default, Mode::Plan, Mode::Plan),
            (Mode::Default, Mode::BypassPermissions, Mode::Default),
            (Mode::BypassPermissions, Mode::Default, Mode::Default),
            (Mode::Plan, Mode::AcceptEdits, Mode::Plan),
            (Mode::DontAsk, Mode::Default, Mode::DontAsk),
        ] {
            let mut engine = engine(parent);
            engine.narrow_mode(wanted);
            assert_eq!(engine.mode(), expected, "{parent:?} {wanted:?}");
        }
    }
}
