//! Runs a shell command (DEC-132).

use crate::shell::{PreparedShell, STREAM_CAP, ShellFiles, Track};
use crate::tasks::{BackgroundJob, TaskKind, TaskState};
use crate::{BoxFuture, Count, Tool, ToolContext};
use ona_api::credentials;
use ona_api::text::{decode, head};
use ona_api::{Access, CallId, ToolResult};
use ona_process::{Captured, ChildExit, ChildOutput, Running, SpawnError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_TIMEOUT: u64 = 120_000;
const MAX_TIMEOUT: u64 = 600_000;
/// Marks a stream that was longer than is kept (7.1).
const TRUNCATED: &str = "[SDLC_TRUNCATED]";
const STDERR: &str = "\n--- stderr ---\n";
/// Characters of a command by which a task is named.
const TITLE_CHARS: usize = 80;

const NUL: &str = "command contains a NUL byte.";
const INTERRUPTED: &str = "Interrupted.";

pub(crate) struct BashTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashInput {
    /// The command, as for `bash -c`.
    command: String,
    /// Milliseconds after which it is ended; 120000 if not given, at most 600000.
    timeout: Option<Count>,
    /// What the command does, in a few words.
    description: Option<String>,
    /// Return at once and let it go on; TaskOutput reads what it prints.
    run_in_background: Option<bool>,
    /// Ask to run outside the sandbox.
    #[serde(rename = "dangerouslyDisableSandbox")]
    #[expect(dead_code, reason = "judged by permissions, which see the raw input")]
    disable_sandbox: Option<bool>,
}

impl Tool for BashTool {
    type Input = BashInput;
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = "Runs a command in bash, starting in the session's directory.\n\
        Each call is a new shell: variables and functions do not last, but a cd inside the project does. Standard input is \
        empty. Standard output and standard error are returned apart, at most 1 MiB of each; a non-zero exit code is an \
        error. Use run_in_background for servers and long jobs, and the file tools rather than cat, sed or find for \
        reading, changing and finding files.";

    fn access(&self, input: &BashInput, cx: &ToolContext) -> Vec<Access> {
        vec![Access::Shell { script: input.command.clone(), cwd: cx.cwd.clone() }]
    }

    async fn run(&self, input: BashInput, cx: &ToolContext) -> ToolResult {
        if input.command.contains('\0') {
            return ToolResult::rejected(NUL);
        }
        if input.run_in_background == Some(true) {
            return background(&input, cx);
        }
        let limit = input.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0.clamp(1, MAX_TIMEOUT));
        let deadline = Some(Duration::from_millis(limit));
        let shell = match PreparedShell::new(&input.command, Track::Directory, deadline, cx) {
            Ok(shell) => shell,
            Err(error) => return ToolResult::internal(format!("the shell could not be prepared: {error}")),
        };
        let running = match ona_process::start(shell.command) {
            Ok(running) => Arc::new(running),
            Err(error) => return not_started(&error, cx),
        };
        let call = cx.call.clone().unwrap_or_else(CallId::random);
        let foreground = cx.tasks.wait_for(call, Arc::clone(&running));
        let end = tokio::select! {
            end = running.wait() => end,
            () = cx.cancel.cancelled() => {
                running.stop();
                running.wait().await
            }
            () = foreground.sent_to_background() => {
                running.lift_deadline();
                let words = "The operator sent it to the background; what it has printed so far is there, too.";
                return in_background(&input, cx, running, shell.files, words);
            }
        };
        finished(running.finish(end), limit, cwd_change(shell.files.directory(), cx), &input.command, cx)
    }
}

/// Where the session is after a command.
#[derive(Debug, PartialEq, Eq)]
enum CwdChange {
    Unchanged,
    Moved(PathBuf),
    /// The command ended outside, and the session does not follow it there.
    Reset(PathBuf),
}

fn cwd_change(ended: Option<PathBuf>, cx: &ToolContext) -> CwdChange {
    let Some(ended) = ended else { return CwdChange::Unchanged };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if ended == real(&cx.cwd) {
        return CwdChange::Unchanged;
    }
    // Named by the root as the session writes it, so that rules written for the root still fit.
    let roots = std::iter::once(&cx.project).chain(&cx.extra);
    let inside = roots.filter_map(|root| Some(root.join(ended.strip_prefix(real(root)).ok()?)));
    match inside.map(|path| path.components().collect()).next() {
        Some(moved) => CwdChange::Moved(moved),
        None => CwdChange::Reset(cx.project.clone()),
    }
}

fn finished(ran: ChildOutput, limit: u64, cwd_change: CwdChange, command: &str, cx: &ToolContext) -> ToolResult {
    let stdout = stream_text(&ran.stdout);
    let mut stderr = stream_text(&ran.stderr);
    if let Some(note) = credentials_note(command, cx) {
        add_line(&mut stderr, &note);
    }
    let moved_to = match cwd_change {
        CwdChange::Unchanged => None,
        CwdChange::Moved(to) => Some(to),
        CwdChange::Reset(to) => {
            add_line(&mut stderr, &reset_note(&to));
            Some(to).filter(|to| *to != cx.cwd)
        }
    };
    let output = join_streams(&stdout, &stderr);
    let before = |words: &str| if output.is_empty() { words.to_owned() } else { format!("{words}\n{output}") };
    let mut data = Map::from_iter([
        ("stdout".to_owned(), Value::from(stdout)),
        ("stderr".to_owned(), Value::from(stderr)),
        ("interrupted".to_owned(), Value::from(ran.end == ChildExit::Cancelled)),
    ]);
    let mut result = match ran.end {
        ChildExit::Exited(code) => {
            data.insert("exit_code".into(), code.into());
            if code == 0 { ToolResult::success(output) } else { ToolResult::rejected(output) }
        }
        ChildExit::Signalled(signal) => {
            data.insert("exit_code".into(), (128 + signal).into());
            data.insert("signal".into(), signal.into());
            ToolResult::rejected(output)
        }
        ChildExit::TimedOut => {
            data.insert("timedOutAfterMs".into(), limit.into());
            ToolResult::internal(before(&format!("The command ran longer than {limit} ms and was ended.")))
        }
        ChildExit::Cancelled => {
            data.insert("is_interrupt".into(), true.into());
            ToolResult::rejected(before(INTERRUPTED))
        }
    };
    result.data = data;
    result.moved_to = moved_to;
    result
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// Says why a variable the command reads is not set.
fn credentials_note(command: &str, cx: &ToolContext) -> Option<String> {
    let named = credentials::read_by_script(command, &cx.withheld);
    (!named.is_empty()).then(|| {
        format!(
            "[ona: not passed to commands, because they hold a model provider's credential: {}. The operator can set \"passCredentials\": true]",
            named.join(", ")
        )
    })
}

fn reset_note(to: &Path) -> String {
    format!("Shell cwd was reset to {}", to.display())
}

fn not_started(error: &SpawnError, cx: &ToolContext) -> ToolResult {
    match error {
        // It was removed. The next command should not fail for that again.
        SpawnError::MissingDirectory(missing) if *missing != cx.project => {
            let words = format!("{} no longer exists. {}", missing.display(), reset_note(&cx.project));
            ToolResult { moved_to: Some(cx.project.clone()), ..ToolResult::rejected(words) }
        }
        SpawnError::MissingDirectory(missing) => {
            ToolResult::rejected(format!("{} no longer exists.", missing.display()))
        }
        SpawnError::MissingProgram(_) | SpawnError::Io(_) => ToolResult::internal(error.to_string()),
    }
}

/// Returns the text of a stream, at most the cap before and after decoding.
pub fn stream_text(stream: &Captured) -> String {
    let mut bytes = stream.bytes.as_slice();
    if stream.truncated {
        bytes = whole_characters(bytes);
    }
    let mut text = decode(bytes);
    let end = text.floor_char_boundary(STREAM_CAP);
    if stream.truncated || end < text.len() {
        text.truncate(end);
        text.push_str(TRUNCATED);
    }
    text
}

/// Without a last character that was cut in two.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let tail = bytes.len().saturating_sub(3);
    let last = (tail..bytes.len()).rev().find(|at| bytes[*at] & 0xc0 != 0x80);
    match last.map(|at| (at, std::str::from_utf8(&bytes[at..]))) {
        Some((at, Err(error))) if error.error_len().is_none() => &bytes[..at],
        _ => bytes,
    }
}

/// Joins both streams by the formula of section 7.1.
pub fn join_streams(stdout: &str, stderr: &str) -> String {
    if stderr.is_empty() { stdout.to_owned() } else { [stdout, STDERR, stderr].concat() }
}

fn background(input: &BashInput, cx: &ToolContext) -> ToolResult {
    let shell = match PreparedShell::new(&input.command, Track::Nothing, None, cx) {
        Ok(shell) => shell,
        Err(error) => return ToolResult::internal(format!("the shell could not be prepared: {error}")),
    };
    match ona_process::start(shell.command) {
        Ok(running) => in_background(input, cx, Arc::new(running), shell.files, ""),
        Err(error) => not_started(&error, cx),
    }
}

fn in_background(
    input: &BashInput,
    cx: &ToolContext,
    running: Arc<Running>,
    files: ShellFiles,
    why: &str,
) -> ToolResult {
    let title = input.description.as_deref().unwrap_or(&input.command).lines().next().unwrap_or_default();
    let id =
        cx.tasks.add(TaskKind::Bash, head(title, TITLE_CHARS).0, Arc::new(BackgroundShell { running, _files: files }));
    let mut content = format!("Started task {id}. TaskOutput returns what it prints, TaskStop ends it.");
    if !why.is_empty() {
        add_line(&mut content, why);
    }
    if let Some(note) = credentials_note(&input.command, cx) {
        add_line(&mut content, &note);
    }
    ToolResult::success(content).data(json!({
        "stdout": "",
        "stderr": "",
        "interrupted": false,
        "backgroundTaskId": id,
    }))
}

struct BackgroundShell {
    running: Arc<Running>,
    _files: ShellFiles,
}

impl BackgroundJob for BackgroundShell {
    fn output(&self) -> String {
        let (stdout, stderr) = self.running.snapshot();
        join_streams(&stream_text(&stdout), &stream_text(&stderr))
    }

    fn state(&self) -> TaskState {
        match self.running.end() {
            None => TaskState::Running,
            Some(ChildExit::Exited(code)) => TaskState::Exited(code),
            Some(ChildExit::Signalled(signal)) => TaskState::Signalled(signal),
            Some(ChildExit::TimedOut | ChildExit::Cancelled) => TaskState::Stopped,
        }
    }

    fn wait(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.running.wait().await;
        })
    }

    fn stop(&self) {
        self.running.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_stream_ends_in_a_whole_character_and_the_marker() {
        let captured = |bytes: &[u8], truncated| stream_text(&Captured { bytes: bytes.to_vec(), truncated });
        assert_eq!(captured("aé".as_bytes(), false), "aé");
        assert_eq!(captured(b"a\xc3", false), "a\u{fffd}");
        assert_eq!(captured(b"a\xc3", true), "a[SDLC_TRUNCATED]");
        assert_eq!(captured("aé".as_bytes(), true), "aé[SDLC_TRUNCATED]");
        assert_eq!(captured(b"a\xff", true), "a\u{fffd}[SDLC_TRUNCATED]");
        assert_eq!(captured(&vec![b'x'; STREAM_CAP], false).len(), STREAM_CAP);
        // Replacement characters are longer than the bytes they stand for.
        let grown = captured(&vec![0xff; STREAM_CAP], false);
        assert!(grown.len() <= STREAM_CAP + TRUNCATED.len() && grown.ends_with(TRUNCATED));
    }
}
