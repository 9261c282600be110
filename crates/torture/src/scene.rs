//! What is tortured: a project with settings and hooks, a scripted model, and runs of the program.
//!
//! Each call of a tool writes a token of its own to a file, so that a body that runs twice, or runs
//! without a committed decision, can be told from outside. The model's script depends on the
//! request alone: a reply that was lost with a kill is simply asked for again.

use crate::kinds::Context;
use crate::violation::{Checked, Class};
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, ReplyBlock, ScriptedCall, ScriptedTurn, Wire, call, calls, say, say_and_call};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// No run of a scene takes that long, whatever else the machine does.
const LONGEST_RUN: Duration = Duration::from_secs(120);
/// Stands in every command that a tool runs.
const TOOL_MARK: &str = "TORTURE_TOOL";

pub(crate) struct Scene {
    pub ona: Ona,
    model: Option<ModelServer>,
    tokens: Arc<AtomicU64>,
    /// Requests that no provider would take, in words.
    bad_requests: Arc<Mutex<Vec<String>>>,
    /// stdout of every run, in order.
    printed: Vec<PathBuf>,
    runs: usize,
    /// Where its folder is copied in the end.
    keep: Option<PathBuf>,
}

/// How long the commands of the model's script take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commands {
    Short,
    /// Some seconds, so that a kill meets them while they run.
    Long,
}

impl Scene {
    pub(crate) fn new(context: &Context) -> Self {
        let ona = Ona::new(&context.ona.display().to_string());
        ona.file("a.txt", "one\ntwo\n");
        let scene = Self {
            ona,
            model: None,
            tokens: Arc::default(),
            bad_requests: Arc::default(),
            printed: Vec::new(),
            runs: 0,
            keep: context.keep.clone(),
        };
        scene.settings(&[]);
        scene
    }

    /// The settings of every scene, with hooks added.
    pub(crate) fn settings(&self, more: &[Value]) {
        // What a hook does to the same database while the program writes to it (section 8.4).
        let writes = "cat >/dev/null; sqlite3 -cmd '.timeout 30000' \"$AGENT_SDLC_DB\" \
                      \"INSERT INTO state(conversation_id, key, value) VALUES ('hook', hex(randomblob(12)), 'x')\"";
        let hook = |event: &str, command: &str| json!({"hook_event_name": event, "command": command, "shell": "sh"});
        let mut hooks = vec![
            hook("UserPromptSubmit", "true"),
            hook("PreToolUse", "true"),
            hook("PostToolUse", writes),
            hook("PostToolUseFailure", "true"),
            hook("Stop", "true"),
        ];
        hooks.extend_from_slice(more);
        self.ona.settings(json!({
            "permissions": {"allow": ["Bash", "Read(./**)", "Edit(./**)", "Glob", "Agent"]},
            "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
            "hooks": hooks,
        }));
    }

    /// Starts the model that plays the story of `next`.
    pub(crate) fn with_model(self, commands: Commands) -> Self {
        self.with_script(move |request, tokens| next(request, commands, &tokens.0))
    }

    /// Starts a model with a script of its own.
    pub(crate) fn with_script(
        mut self,
        mut script: impl FnMut(&Value, &Tokens) -> ScriptedTurn + Send + 'static,
    ) -> Self {
        let tokens = Tokens(Arc::clone(&self.tokens));
        let bad_requests = Arc::clone(&self.bad_requests);
        let model = ModelServer::answering(Wire::Messages, move |request| {
            if let Some(why) = refusal(request.json()) {
                bad_requests.lock().unwrap_or_else(PoisonError::into_inner).push(why);
            }
            script(request.json(), &tokens)
        });
        self.ona.talk_to(&model);
        self.model = Some(model);
        self
    }

    /// Starts a model that forgets requests, for thousands of them.
    pub(crate) fn with_forgetful_script(mut self, script: impl Fn(&[u8]) -> ScriptedTurn + Send + 'static) -> Self {
        let model = ModelServer::answering_many(Wire::Messages, move |request| script(&request.body));
        self.ona.talk_to(&model);
        self.model = Some(model);
        self
    }

    /// The call of an operator, with a token of its own.
    pub(crate) fn eval_call(&self) -> String {
        json!({"tool": "Bash", "input": {"command": command(&self.tokens, Commands::Short)}}).to_string()
    }

    /// Arguments of a turn in this session: it is continued if the database knows it.
    pub(crate) fn turn_args(&self, session: &str) -> Checked<Vec<String>> {
        let known =
            self.connection()?.query_row("SELECT count(*) FROM sessions WHERE session_id = ?1", [session], |row| {
                row.get::<_, i64>(0)
            })?;
        let flag = if known == 0 { "--session-id" } else { "--resume" };
        let args = ["-p", "go on", "--output-format", "stream-json", "--verbose", flag, session];
        Ok(args.map(str::to_owned).to_vec())
    }

    pub(crate) fn connection(&self) -> Checked<rusqlite::Connection> {
        #[expect(clippy::disallowed_methods, reason = "the file is looked at from outside")]
        let connection = rusqlite::Connection::open(self.ona.db())?;
        connection.busy_timeout(Duration::from_secs(30))?;
        Ok(connection)
    }

    /// Starts the program with its output in files.
    pub(crate) fn start(&mut self, args: &[String], env: &[(&str, String)]) -> Running {
        self.runs += 1;
        let file = |stream: &str| self.ona.root().join(format!("{stream}-{}", self.runs));
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        let create = |path: &Path| Stdio::from(File::create(path).expect("a file of the scene"));
        let mut command = self.ona.command(args);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        let child = command.stdout(create(&stdout)).stderr(create(&stderr)).spawn().expect("the program starts");
        self.printed.push(stdout);
        Running { child, stderr, began: Instant::now() }
    }

    /// Runs the program to its end.
    pub(crate) fn run(&mut self, args: &[String], env: &[(&str, String)]) -> Checked<Ended> {
        self.start(args, env).finish()
    }

    /// Lets the program check its database and the chain of its groups.
    pub(crate) fn audit(&mut self) -> Checked {
        for args in [["db", "check"].as_slice(), &["audit", "verify", "--strict"]] {
            let args: Vec<_> = args.iter().map(|text| (*text).to_owned()).collect();
            let ended = self.run(&args, &[])?;
            if ended.code != Some(0) {
                let stdout = self.printed.last().map(|file| fs::read_to_string(file).unwrap_or_default());
                return Err(Class::Torn.of(format!("ona {} says: {stdout:?} {}", args.join(" "), ended.stderr)));
            }
        }
        Ok(())
    }

    /// Every whole line that was printed.
    pub(crate) fn printed_lines(&self) -> Vec<Value> {
        let mut lines = Vec::new();
        for file in &self.printed {
            let text = fs::read(file).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            lines.extend(whole.lines().filter_map(|line| serde_json::from_str(line).ok()));
        }
        lines
    }

    /// A request that no provider would take.
    pub(crate) fn bad_request(&self) -> Option<String> {
        self.bad_requests.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    /// The tokens that bodies of calls wrote, one line per run.
    pub(crate) fn tokens_written(&self) -> Vec<String> {
        let text = fs::read_to_string(self.ona.project().join("marks")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Ends the commands of tools that are still running and returns how many these were. Commands
    /// get a moment to end by themselves.
    pub(crate) fn end_children(&self, grace: Duration) -> usize {
        let deadline = Instant::now() + grace;
        loop {
            let left = self.processes(TOOL_MARK);
            if left.is_empty() {
                return 0;
            }
            if Instant::now() >= deadline {
                left.iter().for_each(|pid| end(*pid));
                return left.len();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits a moment for what a killed run left behind, then ends it.
    pub(crate) fn settle(&self) {
        let deadline = Instant::now() + Duration::from_millis(200);
        while !self.processes("").is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.end_everything();
    }

    /// Ends everything that runs in this scene, hooks as well.
    pub(crate) fn end_everything(&self) {
        self.processes("").into_iter().for_each(end);
    }

    /// The processes of this scene with a text in environment or arguments. Without /proc none.
    fn processes(&self, text: &str) -> Vec<Pid> {
        let root = self.ona.root().display().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let environment = read("environ");
            let both = [environment.as_slice(), &read("cmdline")];
            if contains(&environment, root.as_bytes()) && both.iter().any(|part| contains(part, text.as_bytes())) {
                found.extend(Pid::from_raw(pid));
            }
        }
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Only processes with this scene's folder in their environment.
        self.end_everything();
        if let Some(keep) = &self.keep {
            #[expect(clippy::disallowed_methods, reason = "a tool of the harness")]
            let copied = std::process::Command::new("cp").arg("-a").args([&self.ona.root(), keep]).status();
            // A missing copy is noticed when it is looked for.
            copied.ok();
        }
    }
}

fn end(pid: Pid) {
    // It may have ended by itself.
    kill_process(pid, Signal::KILL).ok();
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

/// One run that has not ended yet.
pub(crate) struct Running {
    child: Child,
    stderr: PathBuf,
    began: Instant,
}

/// How a run ended by itself.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub stderr: String,
    pub took: Duration,
}

impl Running {
    /// Waits for a moment; then kills the run and says whether it still ran.
    pub(crate) fn kill_after(mut self, wait: Duration) -> Checked<bool> {
        let until = self.began + wait;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if left.is_zero() || self.has_ended() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
        let still_ran = !self.has_ended();
        self.child.kill().ok();
        if still_ran {
            self.child.wait().expect("a child can be waited for");
            self.check_stderr()?;
        } else {
            self.finish()?;
        }
        Ok(still_ran)
    }

    /// Waits for a run that kills itself.
    pub(crate) fn finish_killed(self) -> Checked<Option<i32>> {
        match self.finish() {
            Err(violation) if violation.what.starts_with("the program ended with signal: 9 (SIGKILL)\n") => Ok(None),
            ended => ended.map(|ended| ended.code),
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    pub(crate) fn finish(mut self) -> Checked<Ended> {
        let mut wait = Duration::from_micros(500);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                break status;
            }
            if self.began.elapsed() > LONGEST_RUN {
                self.child.kill().ok();
                self.child.wait().ok();
                return Err(Class::Hang.of(format!("the run did not end in {} s", LONGEST_RUN.as_secs())));
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_millis(5));
        };
        let took = self.began.elapsed();
        let stderr = self.check_stderr()?;
        match status.code() {
            Some(101) => Err(Class::Panic.of(format!("exit code 101\n{stderr}"))),
            None => Err(Class::Panic.of(format!("the program ended with {status}\n{stderr}"))),
            code => Ok(Ended { code, stderr, took }),
        }
    }

    fn check_stderr(&self) -> Checked<String> {
        let stderr = String::from_utf8_lossy(&fs::read(&self.stderr).unwrap_or_default()).into_owned();
        if stderr.contains("panicked at") || stderr.contains("stack overflow") {
            return Err(Class::Panic.of(stderr));
        }
        Ok(stderr)
    }
}

/// Hands out tokens to scripts.
pub(crate) struct Tokens(Arc<AtomicU64>);

impl Tokens {
    /// A command that writes a token of its own.
    pub(crate) fn command(&self) -> String {
        command(&self.0, Commands::Short)
    }

    /// A text that no other reply has.
    pub(crate) fn text(&self) -> String {
        text(&self.0)
    }
}

fn token(tokens: &AtomicU64) -> u64 {
    tokens.fetch_add(1, Ordering::Relaxed)
}

fn text(tokens: &AtomicU64) -> String {
    format!("said-{}.", token(tokens))
}

fn command(tokens: &AtomicU64, commands: Commands) -> String {
    let sleep = if commands == Commands::Long { "; sleep 3; echo late >> late" } else { "" };
    format!("export {TOOL_MARK}=1; echo mark-{} >> marks{sleep}", token(tokens))
}

/// The next reply, read off the request: text with calls, a new file, a subagent with calls of its
/// own, more calls, the end; then from the beginning.
fn next(request: &Value, commands: Commands, tokens: &AtomicU64) -> ScriptedTurn {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let replies = messages.iter().filter(|message| message["role"] == "assistant").count();
    let is_subagent = messages.first().is_some_and(|first| first.to_string().contains("SUBAGENT"));
    let bash = || ("Bash", json!({"command": command(tokens, commands)}));
    match (is_subagent, if is_subagent { replies } else { replies % 5 }) {
        (true, 0) => say_and_call(&text(tokens), [bash(), ("Read", json!({"file_path": "a.txt"}))]),
        (false, 0) => say_and_call(&text(tokens), [bash(), ("Read", json!({"file_path": "a.txt"}))]),
        (false, 1) => {
            let file = format!("new-{}.txt", token(tokens));
            calls([("Write", json!({"file_path": file, "content": "new\n"}))])
        }
        (false, 2) => {
            let prompt = format!("SUBAGENT {}", token(tokens));
            call("Agent", json!({"description": "look", "prompt": prompt, "subagent_type": "general-purpose"}))
        }
        (false, 3) => ScriptedTurn::of([
            ReplyBlock::Text(text(tokens)),
            ReplyBlock::Call(ScriptedCall::from(bash())),
            ReplyBlock::Call(ScriptedCall::from(bash())),
            ReplyBlock::Call(ScriptedCall::from(("Glob", json!({"pattern": "*.txt"})))),
        ]),
        _ => say(&text(tokens)),
    }
}

/// Why a provider would refuse a request: each call needs its result in the next message, and a
/// result needs its call.
fn refusal(request: &Value) -> Option<String> {
    let messages = request["messages"].as_array()?;
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ids = |kind: &str, name: &str| -> Vec<&str> {
            blocks.iter().filter(|block| block["type"] == kind).filter_map(|block| block[name].as_str()).collect()
        };
        let mut results = ids("tool_result", "tool_use_id");
        results.sort_unstable();
        open.sort_unstable();
        if open != results {
            return Some(format!("calls {open:?} were sent with results {results:?}"));
        }
        open = ids("tool_use", "id");
    }
    (!open.is_empty()).then(|| format!("calls {open:?} were sent without results"))
}
