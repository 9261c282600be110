//! `ona demo`: the product on a toy project, without a key and without a network.
//!
//! Only the author of the calls is not real: a scripted server on loopback speaks a
//! model's wire and is labelled as scripted. Hooks, rules, phases, tools and rows are
//! the real ones, run by this very program in a folder of its own that stays there to
//! be looked at.

use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use ona_api::Env;
use ona_process::{Command, End};
use ona_testkit::model::{ModelServer, Turn, Wire, call, say, say_and_call};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub fn run(program: &Program) -> Result<u8, Failure> {
    let demo = Demo::prepare(program)?;
    crate::workplace::runtime().block_on(demo.tell())
}

struct Demo {
    executable: PathBuf,
    project: PathBuf,
    database: PathBuf,
    env: Env,
}

const GUARD: &str = r#"#!/bin/sh
# Refuses anything that would publish the project.
if grep -q 'git push'; then
  echo 'this project is not published from here' >&2
  exit 2
fi
"#;

const REWRITE: &str = r#"#!/bin/sh
# Makes every listing a long one.
printf '%s' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls -1 src"}}}'
"#;

const PLAN: &str = "# Greet in capitals\n\n## Success criteria\n\n- SC-1: greet.sh prints HELLO\n";

impl Demo {
    fn prepare(program: &Program) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::refused(format_args!("the demo folder can not be made: {error}"));
        let base = PathBuf::from(program.env.non_empty("TMPDIR").unwrap_or("/tmp"));
        let root = base.join(format!("ona-demo-{}", &ona_api::CallId::random().0[..8]));
        let project = root.join("project");
        std::fs::create_dir_all(project.join("src")).map_err(failed)?;
        std::fs::create_dir_all(project.join(".ona/hooks")).map_err(failed)?;
        std::fs::create_dir_all(root.join("home")).map_err(failed)?;
        for (path, text) in [
            ("src/greet.sh", "echo hello\n"),
            (".ona/hooks/guard.sh", GUARD),
            (".ona/hooks/rewrite.sh", REWRITE),
            ("secret.txt", "nobody reads this\n"),
            ("PLAN.md", PLAN),
        ] {
            std::fs::write(project.join(path), text).map_err(failed)?;
        }
        let hook = |matcher: &str, condition: &str, script: &str| {
            let mut hook = json!({"hook_event_name": "PreToolUse", "matcher": matcher, "shell": "sh",
                "command": format!("sh \"$CLAUDE_PROJECT_DIR/.ona/hooks/{script}\"")});
            if !condition.is_empty() {
                hook["if"] = condition.into();
            }
            hook
        };
        let settings = json!({
            "permissions": {"deny": ["Read(./secret.txt)"]},
            "hooks": [hook("^Bash$", "", "guard.sh"), hook("^Bash$", "Bash(ls:*)", "rewrite.sh")],
        });
        std::fs::write(project.join(".ona/settings.json"), format!("{settings:#}\n")).map_err(failed)?;
        let database = root.join("ona.db");
        let path = program.env.get("PATH").unwrap_or("/usr/bin:/bin");
        let env = Env::default()
            .with("PATH", path)
            .with("HOME", root.join("home"))
            .with("TMPDIR", &root)
            .with("AGENT_SDLC_DB", &database);
        let executable = std::env::current_exe().map_err(failed)?;
        Ok(Self { executable, project, database, env })
    }

    async fn tell(&self) -> Result<u8, Failure> {
        output::line(
            "A toy project and its own database. The model is SCRIPTED: a server on loopback that says fixed lines.\n",
        );
        let read = say_and_call("I will look at the greeting first.", [("Read", json!({"file_path": "src/greet.sh"}))]);
        let script = [
            read,
            call("Read", json!({"file_path": "secret.txt"})),
            call("Bash", json!({"command": "git push origin main"})),
            call("Bash", json!({"command": "ls"})),
            say("The greeting is in src/greet.sh. One file is closed to me, and publishing is not done from here."),
        ];
        let asked = "What is in this project? Publish it, too.";
        let begun = self
            .turn(
                "A first turn: an allowed read, a denied file, a hook that refuses, a hook that rewrites",
                asked,
                script,
                None,
            )
            .await?;
        let (session, conversation) = (begun.session, begun.conversation);

        self.ona("Planning begins", &["--transition", "planning", "--conversation", &conversation]).await?;
        let write = || call("Write", json!({"file_path": "src/greet.sh", "content": "echo HELLO\n"}));
        let script = [write(), say("While planning I may not write. Here is my plan: PLAN.md.")];
        self.turn("While planning nothing may be written", "Make the greeting loud.", script, Some(&session)).await?;
        self.ona("A plan is stored", &["plan", "import", "PLAN.md", "--conversation", &conversation]).await?;
        self.ona("The operator approves it", &["plan", "approve", "1"]).await?;
        self.ona("Implementation begins", &["--transition", "implement", "--conversation", &conversation]).await?;
        let script = [write(), say("Done: the greeting is loud.")];
        self.turn("Now the same write goes through", "Go ahead.", script, Some(&session)).await?;
        self.ona("No way around the test phase", &["--transition", "verify", "--conversation", &conversation]).await?;

        let db = self.database.display();
        output::line("Everything above is in one file. Three queries to try:\n");
        for query in [
            "SELECT hook_ordinal, command, exit_code, skipped_reason FROM hook_invocations",
            "SELECT tool_name, decision, reason_json FROM tool_permission_log",
            "SELECT sequence, entry_type, substr(payload_json,1,100) FROM transcript_entries ORDER BY id",
        ] {
            output::line(format_args!("  sqlite3 {db} \"{query}\""));
        }
        Ok(0)
    }

    /// One prompt to the scripted model, shown as it goes.
    async fn turn<const N: usize>(
        &self,
        title: &str,
        prompt: &str,
        script: [Turn; N],
        session: Option<&str>,
    ) -> Result<Begun, Failure> {
        let server = ModelServer::try_start(Wire::Messages, script)
            .map_err(|error| Failure::refused(format_args!("the scripted model could not be started: {error}")))?;
        let mut args = vec!["-p", prompt, "--output-format", "stream-json", "--allowedTools", "Write Bash(ls:*)"];
        if let Some(session) = session {
            args.extend(["--resume", session]);
        }
        let (code, stdout) = self.start_with(&args, &server.env()).await?;
        output::line(format_args!("{title}\n  you      {prompt}"));
        let mut begun = Begun { session: String::new(), conversation: String::new() };
        for event in stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            show(&event);
            if let (Some(session), Some(conversation)) =
                (event["session_id"].as_str(), event["conversation_id"].as_str())
            {
                begun = Begun { session: session.to_owned(), conversation: conversation.to_owned() };
            }
        }
        output::line("");
        if code != 0 || begun.session.is_empty() {
            return Err(Failure::refused(format_args!("the demo could not go on: {stdout}")));
        }
        Ok(begun)
    }

    async fn ona(&self, title: &str, args: &[&str]) -> Result<(), Failure> {
        let (code, said) = self.start(args).await?;
        output::line(format_args!("{title}\n  ona {}\n  exit {code}   {}\n", args.join(" "), said.trim_end()));
        Ok(())
    }

    /// This program again, as an operator would start it. stdout, or stderr if that is empty.
    async fn start(&self, args: &[&str]) -> Result<(i32, String), Failure> {
        self.start_with(args, &[]).await
    }

    async fn start_with(&self, args: &[&str], more: &[(&str, String)]) -> Result<(i32, String), Failure> {
        let env = more.iter().fold(self.env.clone(), |env, (name, value)| env.with(name, value));
        let command = Command {
            program: self.executable.clone().into(),
            args: args.iter().map(Into::into).collect(),
            cwd: Path::new(&self.project).to_owned(),
            env,
            stdin: Vec::new(),
            cap: 1 << 20,
            deadline: Some(Duration::from_secs(60)),
            grace: Duration::from_secs(1),
        };
        let ran = ona_process::run(command, &CancellationToken::new()).await.map_err(Failure::refused)?;
        let code = match ran.end {
            End::Exited(code) => code,
            End::Signalled(_) | End::TimedOut | End::Cancelled => {
                return Err(Failure::refused(format_args!("the demo could not go on: {:?}", ran.end)));
            }
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let stdout = text(&ran.stdout.bytes);
        Ok((code, if stdout.is_empty() { text(&ran.stderr.bytes) } else { stdout }))
    }
}

/// Where a conversation can be found again.
struct Begun {
    session: String,
    conversation: String,
}

/// One event of the stream, for a person.
fn show(event: &Value) {
    let block = &event["message"]["content"][0];
    match (event["type"].as_str(), block["type"].as_str()) {
        (Some("assistant"), Some("text")) => {
            output::line(format_args!("  model    {}", block["text"].as_str().unwrap_or_default()))
        }
        (Some("assistant"), Some("tool_use")) => {
            output::line(format_args!("  model    {} {}", block["name"].as_str().unwrap_or_default(), block["input"]));
        }
        (Some("user"), _) => {
            let mark = if block["is_error"] == true { "refused" } else { "result" };
            for line in block["content"].as_str().unwrap_or_default().lines() {
                output::line(format_args!("  {mark:<8} {line}"));
            }
        }
        _ => {}
    }
}
