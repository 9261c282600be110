//! The product on a toy project, without a key and without a network.
//!
//! Only the author of the calls is not real: a scripted server on loopback speaks a
//! model's wire and is labelled as scripted. Hooks, rules, phases, tools and rows are
//! the real ones, run by this very program in a folder of its own that stays there to
//! be looked at. What is shown goes to a function of the caller.

mod sdlc;

use ona_api::{Env, environment};
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_runtime::{Failure, Launch};
use ona_scripted_model::{ModelServer, ScriptedTurn, Wire, call, say, say_and_call};
use serde_json::{Value, json};
use std::fmt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs a tour and calls `show` with each text as it is known.
pub fn run(launch: &Launch, tour: Tour, show: fn(&str)) -> Result<(), Failure> {
    let demo = Demo::prepare(launch, tour, show)?;
    ona_runtime::block_on(async {
        match tour {
            Tour::Calls => demo.tell().await,
            Tour::Phases => demo.through_all_phases().await,
        }
    })
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tour {
    /// The path of calls: hooks, rules, the planning gate.
    Calls,
    /// One conversation through all phases.
    Phases,
}

struct Demo {
    executable: PathBuf,
    project: PathBuf,
    database: PathBuf,
    env: Env,
    /// Rules for every turn.
    allowed: &'static str,
    show: fn(&str),
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
    /// A folder with an empty project, a home and a database of its own.
    fn prepare(launch: &Launch, tour: Tour, show: fn(&str)) -> Result<Self, Failure> {
        let base = PathBuf::from(launch.env.non_empty(environment::TMPDIR).unwrap_or("/tmp"));
        let root = base.join(format!("ona-demo-{}", ona_api::CallId::random()));
        let database = root.join("ona.db");
        let path = launch.env.get(environment::PATH).unwrap_or("/usr/bin:/bin");
        let env = Env::default()
            // It made the folder itself.
            .with(environment::ONA_TRUST, "always")
            .with(environment::PATH, path)
            .with(environment::HOME, root.join("home"))
            .with(environment::TMPDIR, &root)
            .with(environment::AGENT_SDLC_DB, &database);
        let executable = std::env::current_exe().map_err(not_made)?;
        // The longer tour has its rules in its settings.
        let allowed = match tour {
            Tour::Calls => "Write Bash(ls:*)",
            Tour::Phases => "Read",
        };
        // Exclusively: nobody else has a folder, or a link, of this name there.
        std::fs::DirBuilder::new().mode(0o700).create(&root).map_err(not_made)?;
        let demo = Self { executable, project: root.join("project"), database, env, allowed, show };
        std::fs::create_dir_all(&demo.project).map_err(not_made)?;
        match tour {
            Tour::Calls => demo.furnish()?,
            Tour::Phases => demo.write("../home/.ona/settings.json", &sdlc::settings())?,
        }
        Ok(demo)
    }

    /// What the tour of calls needs: files, guards and settings of a project.
    fn furnish(&self) -> Result<(), Failure> {
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
        self.write("src/greet.sh", "echo hello\n")?;
        self.write(".ona/hooks/guard.sh", GUARD)?;
        self.write(".ona/hooks/rewrite.sh", REWRITE)?;
        self.write("secret.txt", "nobody reads this\n")?;
        self.write("PLAN.md", PLAN)?;
        self.write(".ona/settings.json", &format!("{settings:#}\n"))
    }

    /// A file below the project, with its folders.
    fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let path = ona_api::path::lexical(&self.project.join(path));
        let folder = path.parent().unwrap_or(&self.project);
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)).map_err(not_made)
    }

    async fn tell(&self) -> Result<(), Failure> {
        self.line(
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
        self.line("Everything above is in one file. Three queries to try:\n");
        for query in [
            "SELECT hook_ordinal, command, exit_code, skipped_reason FROM hook_invocations",
            "SELECT tool_name, decision, reason_json FROM tool_permission_log",
            "SELECT sequence, entry_type, substr(payload_json,1,100) FROM transcript_entries ORDER BY id",
        ] {
            self.line(format_args!("  sqlite3 {db} \"{query}\""));
        }
        Ok(())
    }

    /// One prompt to the scripted model, shown as it goes.
    async fn turn<const N: usize>(
        &self,
        title: &str,
        prompt: &str,
        script: [ScriptedTurn; N],
        session: Option<&str>,
    ) -> Result<Begun, Failure> {
        let server = ModelServer::try_start(Wire::Messages, script)
            .map_err(|error| Failure::refused(format_args!("the scripted model could not be started: {error}")))?;
        let mut args = vec!["-p", prompt, "--output-format", "stream-json", "--allowedTools", self.allowed];
        if let Some(session) = session {
            args.extend(["--resume", session]);
        }
        let (code, stdout) = self.start_with(&args, &server.env()).await?;
        self.line(format_args!("{title}\n  you      {prompt}"));
        let mut begun = Begun { session: String::new(), conversation: String::new() };
        for event in stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            self.event(&event);
            if let (Some(session), Some(conversation)) =
                (event["session_id"].as_str(), event["conversation_id"].as_str())
            {
                begun = Begun { session: session.to_owned(), conversation: conversation.to_owned() };
            }
        }
        self.line("");
        if code != 0 || begun.session.is_empty() {
            return Err(Failure::refused(format_args!("the demo could not go on: {stdout}")));
        }
        Ok(begun)
    }

    async fn ona(&self, title: &str, args: &[&str]) -> Result<(), Failure> {
        let (code, said) = self.start(args).await?;
        self.line(format_args!("{title}\n  ona {}\n  exit {code}   {}\n", args.join(" "), said.trim_end()));
        Ok(())
    }

    /// This program again, as an operator would start it. stdout, or stderr if that is empty.
    async fn start(&self, args: &[&str]) -> Result<(i32, String), Failure> {
        self.start_with(args, &[]).await
    }

    async fn start_with(&self, args: &[&str], more: &[(&str, String)]) -> Result<(i32, String), Failure> {
        let (code, stdout, stderr) = self.both(args, more).await?;
        Ok((code, if stdout.is_empty() { stderr } else { stdout }))
    }

    async fn both(&self, args: &[&str], more: &[(&str, String)]) -> Result<(i32, String, String), Failure> {
        let env = more.iter().fold(self.env.clone(), |env, (name, value)| env.with(name, value));
        let command = ChildCommand {
            program: self.executable.clone().into(),
            args: args.iter().map(Into::into).collect(),
            cwd: Path::new(&self.project).to_owned(),
            env,
            stdin: Vec::new(),
            cap: 1 << 20,
            deadline: Some(Duration::from_secs(60)),
            grace: Duration::from_secs(1),
            on_death: OnDeath::Leave,
            wall: None,
        };
        let ran = ona_process::run(command, &CancellationToken::new()).await.map_err(Failure::refused)?;
        let code = match ran.end {
            ChildExit::Exited(code) => code,
            ChildExit::Signalled(_) | ChildExit::TimedOut | ChildExit::Cancelled => {
                return Err(Failure::refused(format_args!("the demo could not go on: {:?}", ran.end)));
            }
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((code, text(&ran.stdout.bytes), text(&ran.stderr.bytes)))
    }
}

fn not_made(error: std::io::Error) -> Failure {
    Failure::refused(format_args!("the demo folder cannot be made: {error}"))
}

/// Where a conversation can be found again.
struct Begun {
    session: String,
    conversation: String,
}

impl Demo {
    fn line(&self, text: impl fmt::Display) {
        (self.show)(&text.to_string());
    }

    /// One event of the stream, for a person.
    fn event(&self, event: &Value) {
        let block = &event["message"]["content"][0];
        match (event["type"].as_str(), block["type"].as_str()) {
            (Some("assistant"), Some("text")) => {
                self.line(format_args!("  model    {}", block["text"].as_str().unwrap_or_default()))
            }
            (Some("assistant"), Some("tool_use")) => {
                self.line(format_args!("  model    {} {}", block["name"].as_str().unwrap_or_default(), block["input"]));
            }
            (Some("user"), _) => {
                let mark = if block["is_error"] == true { "refused" } else { "result" };
                for line in block["content"].as_str().unwrap_or_default().lines() {
                    self.line(format_args!("  {mark:<8} {line}"));
                }
            }
            _ => {}
        }
    }
}
