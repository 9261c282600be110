//! `ona demo`: the whole tool path on a toy project, without a key and without a network.
//!
//! Nothing is simulated except the author of the calls: no model is asked, the
//! calls are fixed. Hooks, rules, phases, tools and rows are the real ones, run by
//! this very program in a folder of its own that stays there to be looked at.

use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use ona_api::Env;
use ona_process::{Command, End};
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
        output::line("A toy project, its own database, and fixed calls in place of a model's.\n");
        self.step("A read inside the project is allowed by a rule", "Read", json!({"file_path": "src/greet.sh"}))
            .await?;
        self.step("A denied file stays closed", "Read", json!({"file_path": "secret.txt"})).await?;
        self.step("A hook refuses a command (exit code 2)", "Bash", json!({"command": "git push origin main"})).await?;
        self.step("A hook rewrites a command before it is judged and run", "Bash", json!({"command": "ls"})).await?;

        let conversation = self.conversation().await?;
        self.ona("Planning begins", &["--transition", "planning", "--conversation", &conversation]).await?;
        self.step(
            "While planning nothing may be written",
            "Write",
            json!({"file_path": "src/greet.sh", "content": "echo HELLO\n"}),
        )
        .await?;
        self.ona("A plan is stored", &["plan", "import", "PLAN.md", "--conversation", &conversation]).await?;
        self.ona("The operator approves it", &["plan", "approve", "1"]).await?;
        self.ona("Implementation begins", &["--transition", "implement", "--conversation", &conversation]).await?;
        self.step(
            "Now the same write goes through",
            "Write",
            json!({"file_path": "src/greet.sh", "content": "echo HELLO\n"}),
        )
        .await?;
        self.ona("No way around the test phase", &["--transition", "verify", "--conversation", &conversation]).await?;

        let db = self.database.display();
        output::line(format_args!("Everything above is in one file. Three queries to try:\n"));
        for query in [
            "SELECT hook_ordinal, command, exit_code, skipped_reason FROM hook_invocations",
            "SELECT tool_name, decision, reason_json FROM tool_permission_log",
            "SELECT event_type, detail FROM events WHERE event_type IN ('phase_changed','tool_started')",
        ] {
            output::line(format_args!("  sqlite3 {db} \"{query}\""));
        }
        Ok(0)
    }

    async fn step(&self, title: &str, tool: &str, input: Value) -> Result<(), Failure> {
        let call = json!({"tool": tool, "input": input}).to_string();
        let (_, stdout) = self.start(&["--eval", &call]).await?;
        let result: Value = serde_json::from_str(&stdout).unwrap_or_default();
        let mark = if result["is_error"] == true { "refused" } else { "done" };
        output::line(format_args!("{title}\n  {tool} {input}"));
        for line in result["content"].as_str().unwrap_or_default().lines() {
            output::line(format_args!("  {mark:<8} {line}"));
        }
        output::line("");
        Ok(())
    }

    async fn ona(&self, title: &str, args: &[&str]) -> Result<(), Failure> {
        let (code, said) = self.start(args).await?;
        output::line(format_args!("{title}\n  ona {}\n  exit {code}   {}\n", args.join(" "), said.trim_end()));
        Ok(())
    }

    /// The conversation the calls typed in this folder share.
    async fn conversation(&self) -> Result<String, Failure> {
        let call = json!({"tool": "Glob", "input": {"pattern": "*.md"}}).to_string();
        let (_, stdout) = self.start(&["--eval", &call]).await?;
        let result: Value = serde_json::from_str(&stdout).unwrap_or_default();
        result["conversation_id"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Failure::refused(format_args!("the demo could not go on: {stdout}")))
    }

    /// This program again, as an operator would start it. stdout, or stderr if that is empty.
    async fn start(&self, args: &[&str]) -> Result<(i32, String), Failure> {
        let command = Command {
            program: self.executable.clone().into(),
            args: args.iter().map(Into::into).collect(),
            cwd: Path::new(&self.project).to_owned(),
            env: self.env.clone(),
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
