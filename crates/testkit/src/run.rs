//! The isolated world and one run of the program in it.

use crate::model::{ModelServer, ScriptedTurn, Wire};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub struct Ona {
    program: PathBuf,
    root: TempDir,
    env: Vec<(String, String)>,
    trusts_folders: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl RunOutput {
    /// stdout as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Fails loudly unless the run ended with this code.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Ona {
    /// `program` is `env!("CARGO_BIN_EXE_ona")` of the calling test.
    pub fn new(program: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["home", "project", "tmp"] {
            std::fs::create_dir(root.path().join(folder)).expect("an empty folder");
        }
        // The machine's own policy is not part of a test's world.
        std::fs::write(root.path().join("managed-settings.json"), "{}").expect("a small file");
        Self { program: program.into(), root, env: Vec::new(), trusts_folders: true }
    }

    /// Runs as on a machine where no folder is trusted yet. Otherwise every run has
    /// ONA_TRUST=always, because most tests are about what a project's own files do.
    pub fn untrusted(mut self) -> Self {
        self.trusts_folders = false;
        self
    }

    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().expect("the folder exists")
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    pub fn db(&self) -> PathBuf {
        self.root().join("state/ona.db")
    }

    /// Sets a variable for every later run.
    pub fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Writes a file below the project, with its folders.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write_file(&self.project().join(path), content.as_ref())
    }

    /// Writes a file below HOME.
    pub fn home_file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write_file(&self.home().join(path), content.as_ref())
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn exists(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    /// Waits until a file is there, while a program that should make it runs.
    pub fn wait_for(&self, path: &str, child: &mut Child) {
        for _ in 0..4_000 {
            if self.exists(path) {
                return;
            }
            if let Some(status) = child.try_wait().expect("the child can be asked") {
                panic!("{path} was never made; the program ended with {status}");
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("{path} was not made in 20 seconds");
    }

    /// Returns the program, ready to start in the project folder.
    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        self.command_in(&self.project(), args)
    }

    pub fn command_in<A: AsRef<OsStr>>(&self, cwd: &Path, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.isolated(&self.program);
        command.args(args).current_dir(cwd);
        command
    }

    /// `bash -e` with `ona` on its search path, as the templates of the specification are run.
    pub fn shell(&self, script: &str) -> RunOutput {
        self.bash("-ec", script)
    }

    /// Runs bash without `-e`: it continues after a command that failed.
    pub fn lenient_shell(&self, script: &str) -> RunOutput {
        self.bash("-c", script)
    }

    fn bash(&self, flags: &str, script: &str) -> RunOutput {
        let mut bash = self.isolated(Path::new("/bin/bash"));
        let folder = self.program.parent().expect("the program is in a folder");
        bash.args([flags, script])
            .current_dir(self.project())
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
        finish(bash.spawn().expect("bash starts"), b"")
    }

    fn isolated(&self, program: &Path) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a test starts the program itself")]
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TMPDIR", self.tmp())
            .env("AGENT_SDLC_DB", self.db())
            .env("ONA_LOCAL_MODEL_PORTS", "")
            .env("ONA_MANAGED_SETTINGS", self.root().join("managed-settings.json"))
            .envs(self.trusts_folders.then_some(("ONA_TRUST", "always")))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> RunOutput {
        finish(self.command(args).spawn().expect("the program starts"), b"")
    }

    pub fn run_in<A: AsRef<OsStr>>(&self, cwd: &Path, args: impl IntoIterator<Item = A>) -> RunOutput {
        finish(self.command_in(cwd, args).spawn().expect("the program starts"), b"")
    }

    pub fn run_with_stdin<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>, stdin: &[u8]) -> RunOutput {
        let child = self.command(args).stdin(Stdio::piped()).spawn().expect("the program starts");
        finish(child, stdin)
    }

    /// `ona --eval` of one call; must exit 0. The printed line.
    pub fn eval(&self, tool: &str, input: Value) -> Value {
        self.eval_with(tool, input, &[])
    }

    pub fn eval_with(&self, tool: &str, input: Value, flags: &[&str]) -> Value {
        let call = json!({"tool": tool, "input": input}).to_string();
        let mut args = vec!["--eval", &call];
        args.extend(flags);
        self.run(args).expect_code(0).json()
    }

    /// Puts the effective row there by SQL, as the templates of the specification do.
    pub fn settings(&self, settings: Value) {
        if !self.db().exists() {
            self.run(["db", "init"]).expect_code(0);
        }
        self.execute(
            "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?1, datetime('now'))",
            [settings.to_string()],
        );
    }

    /// Starts a scripted model, which every later run talks to.
    pub fn model(&mut self, wire: Wire, script: impl IntoIterator<Item = ScriptedTurn>) -> ModelServer {
        let model = ModelServer::start(wire, script);
        self.talk_to(&model);
        model
    }

    /// Sets the environment in which every later run talks to this model.
    pub fn talk_to(&mut self, model: &ModelServer) {
        for (name, value) in model.env() {
            self.env(name, value);
        }
    }

    /// Puts the provider and model into the effective row by SQL; the rest of the row
    /// is what the program makes of a first use.
    pub fn use_provider(&self, provider: &str, model_id: &str) {
        self.run(["settings", "import"]).expect_code(0);
        self.execute(
            "UPDATE settings_snapshot SET json = json_set(json, '$.model_config', json(?1)) WHERE scope = 'effective'",
            [json!({"provider": provider, "model_id": model_id}).to_string()],
        );
    }
}

pub fn finish(mut child: Child, stdin: &[u8]) -> RunOutput {
    if let Some(mut pipe) = child.stdin.take() {
        // The program may end without reading; its exit code tells.
        pipe.write_all(stdin).ok();
    }
    let output = child.wait_with_output().expect("the program ends");
    RunOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn write_file(path: &Path, content: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("its folder");
    std::fs::write(path, content).expect("the file is written");
    path.to_owned()
}
