//! How a command is handed to bash, and how the directory it ended in is learnt.
//!
//! The command must run as if `bash -c` had been given it and nothing else: its
//! exit code, output, traps, `exec` and `exit` are its own. So nothing is put
//! before or after its text. Bash is told by `BASH_ENV` to read a private file
//! first, which runs the prelude and sets an EXIT trap that writes the directory
//! down. A command that sets an EXIT trap of its own replaces ours and nothing
//! is learnt.
//!
//! A command that says `trap` could also see ours, or mean to keep its own until
//! the end, and `set -v` would print it; such a command is run by `eval` instead,
//! with the directory written down behind it. The same way serves commands too
//! long for an argument and shells in POSIX mode, which do not read `BASH_ENV`.
//!
//! Most commands cannot move the shell at all. Where that is plain from the text,
//! nothing is tracked and no file is written.

use crate::ToolContext;
use ona_api::environment;
use ona_process::scratch::{self, Purpose, ScratchFolder};
use ona_process::{ChildCommand, OnDeath, find_in_path, first_existing};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes kept of each stream (7.1).
pub const STREAM_CAP: usize = 1_048_576;
/// Linux refuses a single argument of 128 KiB.
const MAX_ARGUMENT: usize = 120 * 1024;
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// Whether the directory the command ended in is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Track {
    Directory,
    Nothing,
}

/// A shell ready to be started. Its files live as long as this value.
pub(crate) struct PreparedShell {
    pub command: ChildCommand,
    pub files: ShellFiles,
}

/// The private directory of one shell.
pub(crate) struct ShellFiles(Option<ScratchFolder>);

impl PreparedShell {
    pub(crate) fn new(
        script: &str,
        track: Track,
        deadline: Option<Duration>,
        cx: &ToolContext,
    ) -> io::Result<PreparedShell> {
        let mut command = ChildCommand {
            program: bash(cx),
            // The last one is `$0`, as if it had been found by its name.
            args: vec!["-c".into(), script.into(), "bash".into()],
            cwd: cx.cwd.clone(),
            env: (*cx.env).clone(),
            stdin: Vec::new(),
            cap: STREAM_CAP,
            deadline,
            grace: GRACE,
            on_death: OnDeath::Kill,
            wall: None,
        };
        let long = script.len() > MAX_ARGUMENT;
        let track = if stays(script, cx) { Track::Nothing } else { track };
        if track == Track::Nothing && cx.prelude.is_empty() && !long {
            return Ok(PreparedShell { command, files: ShellFiles(None) });
        }
        let below = |root: &str| scratch::folder(Purpose::Shell, root);
        let directory = match below(cx.env.non_empty(environment::TMPDIR).unwrap_or("/tmp")).or_else(|_| below("/tmp"))
        {
            Ok(directory) => directory,
            // Without room for our files a plain command still runs, and may make some.
            Err(_) if cx.prelude.is_empty() && !long => return Ok(PreparedShell { command, files: ShellFiles(None) }),
            Err(error) => return Err(error),
        };
        let files = Files { prelude: &cx.prelude, track, at: directory.path() };
        if long || sees_traps(script) || cx.env.is_set(environment::POSIXLY_CORRECT) {
            fs::write(directory.path().join("command"), script)?;
            command.args[1] = files.around_eval()?.into();
        } else {
            fs::write(directory.path().join("init"), files.before(cx.env.get(environment::BASH_ENV))?)?;
            command.env.set(environment::BASH_ENV, directory.path().join("init"));
        }
        Ok(PreparedShell { command, files: ShellFiles(Some(directory)) })
    }
}

impl ShellFiles {
    /// Returns where the command ended, if that was learnt.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let mut written = fs::read(self.0.as_ref()?.path().join("directory")).ok()?;
        (written.pop() == Some(b'\n')).then(|| OsString::from_vec(written).into())
    }
}

/// Returns whether a command plainly leaves the shell where it is, in surroundings that give
/// no word a meaning of their own.
fn stays(script: &str, cx: &ToolContext) -> bool {
    cannot_move(script)
        && cx.prelude.is_empty()
        && !cx.env.is_set(environment::BASH_ENV)
        && !cx.env.iter().any(|(name, _)| name.to_string_lossy().starts_with("BASH_FUNC_"))
}

/// It names nothing that moves a shell, and has no way to name it unseen.
fn cannot_move(script: &str) -> bool {
    const MOVERS: [&str; 7] = ["cd", "pushd", "popd", "eval", "source", "shopt", "alias"];
    // Expansions, escapes and quotes within a word could spell one; a lone dot reads a file.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" _-./=,:+@%&|;<>\n".contains(&byte);
    script.bytes().all(plain)
        && !MOVERS.iter().any(|mover| script.contains(mover))
        && !script.split(|c: char| " &|;\n".contains(c)).any(|word| word == ".")
}

/// Returns whether a command may list, set or print traps.
fn sees_traps(script: &str) -> bool {
    let options = |at: usize| script[at + 5..].bytes().take_while(u8::is_ascii_alphabetic);
    script.contains("trap")
        || script.contains("verbose")
        || script.match_indices("set -").any(|(at, _)| options(at).any(|option| option == b'v'))
}

fn bash(cx: &ToolContext) -> OsString {
    match first_existing(&["/bin/bash", "/usr/bin/bash"], "bash") {
        "bash" => {
            cx.env.get(environment::PATH).and_then(|path| find_in_path(path, "bash")).map_or("bash".into(), Into::into)
        }
        found => found.into(),
    }
}

struct Files<'a> {
    prelude: &'a str,
    track: Track,
    at: &'a Path,
}

impl Files<'_> {
    /// Returns the file bash reads before the command.
    fn before(&self, bash_env: Option<&str>) -> io::Result<String> {
        // What a plain `bash -c` would have read.
        let mut init = match bash_env {
            Some(own) => format!("BASH_ENV={}\n[ -r \"$BASH_ENV\" ] && . \"$BASH_ENV\"\n", quoted(own)),
            None => "unset BASH_ENV\n".into(),
        };
        init.push_str(&self.prelude()?);
        init.push('\n');
        if self.track == Track::Directory {
            init.push_str(&format!("trap {} EXIT\n", quoted(&format!("{{ {}; }} >/dev/null 2>&1", self.record()))));
        }
        Ok(init)
    }

    /// Returns a single line, because `set -v` shows lines as they are read.
    fn around_eval(&self) -> io::Result<String> {
        let mut script = self.prelude()?;
        script.push_str(&format!("eval \"$(<{})\"", self.name("command")));
        if self.track == Track::Directory {
            // What the command may have set up to watch every step must not see ours.
            script.push_str(&format!(
                "; {{ __ona_status=$?; trap - DEBUG ERR; set +exuv; {}; }} >/dev/null 2>&1; exit $__ona_status",
                self.record()
            ));
        }
        Ok(script)
    }

    /// In a file of its own, so that a syntax error in it ends there.
    fn prelude(&self) -> io::Result<String> {
        if self.prelude.is_empty() {
            return Ok(String::new());
        }
        fs::write(self.at.join("prelude"), self.prelude)?;
        Ok(format!(". {} >/dev/null 2>&1; ", self.name("prelude")))
    }

    fn record(&self) -> String {
        format!("builtin pwd -P >|{}", self.name("directory"))
    }

    fn name(&self, file: &str) -> String {
        quoted(&self.at.join(file).to_string_lossy())
    }
}

/// Returns one word for a shell, whatever it contains.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_command_that_cannot_move_goes_untracked() {
        for still in ["true", "cargo test -p ona", "ls src | wc -l && make -j2", "a=1 ./run.sh; git status"] {
            assert!(cannot_move(still), "{still}");
        }
        let spelt = ["cd src", "pushd a", "command cd a", "eval x", "shopt -s autocd", ". ./env.sh", "make;. env"];
        let hidden = ["c''d a", "c\\d a", "$x a", "`x`", "(x)", "{x,a}", "\"x\" a", "?d a"];
        for moving in spelt.into_iter().chain(hidden) {
            assert!(!cannot_move(moving), "{moving}");
        }
    }
}
