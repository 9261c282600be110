//! Runs a case as a Bash call: hooks and rules see the script itself, so that
//! a rule against a command holds inside tests too. What runs is the recorded script
//! and nothing else; a hook that rewrites it has thereby refused it.

use crate::environment::{self, OwnPaths};
use crate::project::Project;
use crate::sandbox::Sandbox;
use crate::test_dir::TestDir;
use ona_api::testing::TestCase;
use ona_api::{Access, Env, ToolResult, ToolSpec};
use ona_process::{ChildCommand, ChildExit, ChildOutput, OnDeath, first_existing};
use ona_tools::{AnyTool, BadInput, PlannedCall, STREAM_CAP, ToolContext, join_streams, stream_text};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
const REWRITTEN: &str = "a behavioural test runs as it is recorded or not at all";

/// The context all cases of a run share.
pub(crate) struct RunContext {
    pub project: Project,
    pub sandbox: Sandbox,
    /// The operator's environment.
    pub host: Env,
    /// Where directories of tests are created.
    pub tmp: PathBuf,
    pub program_dir: Option<PathBuf>,
}

/// How one case ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseOutcome {
    pub end: Option<ChildExit>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

/// The Bash tool that runs one case.
pub(crate) struct TestShell {
    pub case: TestCase,
    pub context: Arc<RunContext>,
    /// Filled when the case has run.
    pub outcome: Arc<Mutex<Option<CaseOutcome>>>,
}

impl TestShell {
    pub(crate) fn input(case: &TestCase) -> Value {
        json!({"command": case.script, "description": format!("behavioural test {}: {}", case.id, case.title)})
    }

    async fn run(&self, cx: &ToolContext) -> ToolResult {
        let test_dir = match TestDir::new(&self.context.tmp, &self.case.script) {
            Ok(test_dir) => test_dir,
            Err(error) => return ToolResult::internal(error.to_string()),
        };
        let context = &self.context;
        let own = OwnPaths {
            home: &test_dir.home(),
            database: &test_dir.database(),
            live_database: &context.project.database,
            program_dir: context.program_dir.as_deref(),
        };
        let bash = first_existing(&["/bin/bash", "/usr/bin/bash"], "bash");
        let inner = vec![bash.into(), test_dir.script().into()];
        let (program, args) = context.sandbox.wrap(&context.project, test_dir.path(), inner);
        let command = ChildCommand {
            program,
            args,
            cwd: context.project.root.clone(),
            env: environment::of_case(&context.host, &own),
            stdin: Vec::new(),
            cap: STREAM_CAP,
            deadline: Some(context.project.timeout),
            grace: GRACE,
            on_death: OnDeath::Kill,
            wall: None,
        };
        match ona_process::run_and_clear(command, &cx.cancel).await {
            Ok(ran) => self.ran(ran),
            Err(error) => ToolResult::internal(error.to_string()),
        }
    }

    fn ran(&self, ran: ChildOutput) -> ToolResult {
        let (stdout, stderr) = (stream_text(&ran.stdout), stream_text(&ran.stderr));
        let content = join_streams(&stdout, &stderr);
        let mut data = json!({"stdout": stdout, "stderr": stderr, "interrupted": ran.end == ChildExit::Cancelled});
        let result = match ran.end {
            ChildExit::Exited(0) => ToolResult::success(content),
            ChildExit::Exited(_) | ChildExit::Signalled(_) => ToolResult::rejected(content),
            ChildExit::TimedOut => {
                let limit = self.context.project.timeout.as_secs();
                ToolResult::internal(format!("The test ran longer than {limit} s and was ended.\n{content}"))
            }
            ChildExit::Cancelled => ToolResult::rejected(format!("Interrupted.\n{content}")),
        };
        data["exit_code"] = exit_code(ran.end).into();
        let outcome = CaseOutcome { end: Some(ran.end), stdout, stderr, took: ran.took };
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        result.data(data)
    }
}

/// As a shell would report it; None for an end that was not the case's own.
pub(crate) fn exit_code(end: ChildExit) -> Option<i64> {
    match end {
        ChildExit::Exited(code) => Some(code.into()),
        ChildExit::Signalled(signal) => Some(i64::from(128 + signal)),
        ChildExit::TimedOut | ChildExit::Cancelled => None,
    }
}

impl AnyTool for TestShell {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Bash".into(),
            description: "Runs one behavioural test.".into(),
            input_schema: json!({"type": "object", "required": ["command"]}),
        }
    }

    fn plan(self: Arc<Self>, input: &Value, _: &ToolContext) -> Result<PlannedCall, BadInput> {
        if input["command"] != self.case.script.as_str() {
            return Err(BadInput::new(REWRITTEN));
        }
        let access = Access::Shell { script: self.case.script.clone(), cwd: self.context.project.root.clone() };
        Ok(PlannedCall::new(input.clone(), vec![access], move |cx| Box::pin(async move { self.run(cx).await })))
    }
}
