//! A project, a database and a session, and calls made in it.

use ona_api::permission_update::PermissionUpdate;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{Authority, CallId, Entry, Env, Group, Phase, Redactor, Row, Ruling, ToolCall, Verdict};
use ona_hookplane::{Hook, HookEngine, HookEnvironment, HookHandler, HookList, ProcessRunner, Timeouts};
use ona_orchestration::{
    EnvFile, FinishedCall, Operator, OperatorAnswer, PermissionQuestion, Pipeline, Session, TodoWrite,
};
use ona_permissions::{GuardedFiles, PermissionEngine, Rules, SessionDirs};
use ona_settings::{PermissionSettings, Settings};
use ona_store::Store;
use ona_tools::{SeenFiles, Tasks, Tool, ToolBox, ToolContext};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, RwLock};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// One question as it was put.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub call: ToolCall,
    pub by: Authority,
    pub message: String,
    pub suggestions: Vec<PermissionUpdate>,
    /// Transcript rows that were committed when it was put.
    pub entries: Vec<String>,
}

/// Answers from a list, and says no when the list is empty.
pub(crate) struct Scripted {
    database: PathBuf,
    pub answers: Mutex<VecDeque<OperatorAnswer>>,
    pub asked: Mutex<Vec<Asked>>,
    /// Called before each answer.
    pub meanwhile: Mutex<Option<Box<dyn Fn() + Send>>>,
    pub can_answer_questions: Mutex<bool>,
}

impl Operator for Scripted {
    fn can_answer_questions(&self) -> bool {
        *self.can_answer_questions.lock().unwrap()
    }

    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        self.asked.lock().unwrap().push(Asked {
            call: question.call.clone(),
            by: question.asked.by.clone(),
            message: question.asked.message.clone(),
            suggestions: question.suggestions(),
            entries: query(&self.database, "SELECT entry_type FROM transcript_entries ORDER BY sequence"),
        });
        if let Some(meanwhile) = &*self.meanwhile.lock().unwrap() {
            meanwhile();
        }
        let nobody = || Verdict::new(Ruling::Deny, Authority::Headless, "Nobody is there to answer").into();
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or_else(nobody);
        Box::pin(std::future::ready(answer))
    }
}

pub(crate) fn yes() -> OperatorAnswer {
    Verdict::new(Ruling::Allow, Authority::Human, "").into()
}

pub(crate) fn no(message: &str) -> OperatorAnswer {
    Verdict::new(Ruling::Deny, Authority::Human, message).into()
}

/// What is configured before a scene begins.
#[derive(Default)]
pub(crate) struct Setting {
    hooks: Vec<Value>,
    made: Vec<Hook>,
    permissions: Value,
}

pub(crate) fn setting() -> Setting {
    Setting { permissions: json!({}), ..Setting::default() }
}

impl Setting {
    /// A shell hook of this event for every tool.
    pub(crate) fn hook(self, event: &str, command: impl Into<String>) -> Self {
        self.hook_for(event, "", command)
    }

    pub(crate) fn hook_for(mut self, event: &str, matcher: &str, command: impl Into<String>) -> Self {
        self.hooks
            .push(json!({"hook_event_name": event, "matcher": matcher, "command": command.into(), "shell": "sh"}));
        self
    }

    /// A PreToolUse hook that rules like this.
    pub(crate) fn rules_with(self, decision: &str, reason: &str) -> Self {
        let answer = json!({
            "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
        });
        self.hook("PreToolUse", print(json!({ "hookSpecificOutput": answer })))
    }

    pub(crate) fn made(mut self, hook: Hook) -> Self {
        self.made.push(hook);
        self
    }

    /// The `permissions` object: `{"allow": […], "deny": […], "ask": […], "defaultMode": …}`.
    pub(crate) fn permissions(mut self, permissions: Value) -> Self {
        self.permissions = permissions;
        self
    }

    pub(crate) fn open(self) -> Scene {
        Scene::new(self)
    }
}

/// A shell command that prints this JSON.
pub(crate) fn print(answer: Value) -> String {
    format!("printf '%s' '{answer}'")
}

pub(crate) struct Scene {
    _dir: TempDir,
    pub project: PathBuf,
    pub database: PathBuf,
    pub store: Arc<Store>,
    pub operator: Arc<Scripted>,
    pub cancel: CancellationToken,
    pub session: Session,
    pub tools: ToolBox,
    hooks: Arc<HookEngine>,
    /// Updates that were to be kept.
    pub kept: Arc<Mutex<Vec<PermissionUpdate>>>,
}

impl Scene {
    fn new(setting: Setting) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (project, home) = (root.join("project"), root.join("home"));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        let database = root.join("ona.db");
        let store = Arc::new(Store::open(&database, Redactor::default()).unwrap());
        let key = SessionKey { conversation: "c1".into(), session: "s1".into(), start: SequenceStart::Zero };
        let project_dir = project.to_string_lossy().into_owned();
        store.commit_now(&key, Group(vec![Row::Conversation { project_dir }, Row::Session])).unwrap();

        let env = Env::default()
            .with("PATH", "/usr/local/bin:/usr/bin:/bin")
            .with("HOME", home.as_os_str())
            .with("TMPDIR", root.as_os_str());
        let place =
            SessionDirs { project: project.clone(), start: project.clone(), home: home.clone(), extra: Vec::new() };
        let (settings, _) = PermissionSettings::parse(&setting.permissions).unwrap();
        let (rules, dropped) = Rules::parse(&settings);
        assert!(dropped.is_empty(), "{dropped:?}");
        let guarded = GuardedFiles::new(Some(database.clone()), [], &place);
        let rules = PermissionEngine::new(rules, settings.default_mode, place.clone(), guarded);

        let cancel = CancellationToken::new();
        let (timeouts, _) = Timeouts::from_env(&env);
        let environment = HookEnvironment::new(env.clone(), project.clone(), timeouts);
        let runner = Arc::new(ProcessRunner::new(environment.clone(), cancel.clone()));
        let settings = Settings::read(&json!({ "hooks": setting.hooks }));
        let list = HookList::new(ona_dialects::load(&settings, &place, &no_others).hooks);
        let hooks = HookEngine::new(list, environment, runner, Redactor::default());
        hooks.register(setting.made);
        let hooks = Arc::new(hooks);

        let operator = Scripted {
            database: database.clone(),
            answers: Mutex::default(),
            asked: Mutex::default(),
            meanwhile: Mutex::default(),
            can_answer_questions: Mutex::new(false),
        };
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeper = Arc::clone(&kept);
        let persist = Arc::new(move |update: &PermissionUpdate| {
            keeper.lock().unwrap().push(update.clone());
            Ok(Group::default())
        });
        let mut session = Session::new(
            key,
            database.to_string_lossy().into_owned(),
            ToolContext {
                cwd: project.clone(),
                project: project.clone(),
                home,
                extra: Vec::new(),
                env: Arc::new(env),
                withheld: Arc::default(),
                prelude: String::new(),
                seen: Arc::new(SeenFiles::default()),
                tasks: Arc::new(Tasks::default()),
                may_show: Arc::new(|_| true),
                guarded: Arc::new(|_| None),
                judge_address: Arc::new(|url| unreachable!("nothing is fetched here, but {url}")),
                author: ona_tools::CallAuthor::Model,
                judged: None,
                cancel: cancel.clone(),
                call: None,
            },
            Arc::new(RwLock::new(rules)),
            persist,
        );
        session.env_file = EnvFile::in_dir(&root);
        let mut tools = ToolBox::builtin();
        tools.add(Arc::new(Sql { database: database.clone() }));
        tools.add(Arc::new(TodoWrite::of(&session, &store, &hooks)));
        Self { _dir: dir, project, database, store, operator: Arc::new(operator), cancel, session, tools, hooks, kept }
    }

    /// Puts these answers behind those that are left.
    pub(crate) fn answers(self, answers: impl IntoIterator<Item = OperatorAnswer>) -> Self {
        self.operator.answers.lock().unwrap().extend(answers);
        self
    }

    pub(crate) fn in_phase(self, to: Phase) -> Self {
        self.store.commit_now(&self.session.place, Group(vec![Row::Phase { from: Phase::Idle, to }])).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) async fn call(&mut self, tool: &str, input: Value) -> FinishedCall {
        let call = ToolCall { id: CallId::random(), name: tool.to_owned(), input };
        let held = Entry::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
        let pipeline = Pipeline {
            store: Arc::clone(&self.store),
            tools: Arc::new(self.tools.clone()),
            hooks: Arc::clone(&self.hooks),
            operator: Arc::clone(&self.operator) as _,
        };
        pipeline.run(&mut self.session, call, Group(vec![Row::Transcript(held)])).await.unwrap()
    }

    pub(crate) async fn bash(&mut self, command: &str) -> FinishedCall {
        self.call("Bash", json!({ "command": command })).await
    }

    pub(crate) async fn write(&mut self, name: &str) -> FinishedCall {
        self.call("Write", json!({"file_path": self.path(name), "content": "new"})).await
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.operator.asked.lock().unwrap().clone()
    }

    pub(crate) fn sql(&self, sql: &str) -> Vec<String> {
        query(&self.database, sql)
    }

    /// Types of the transcript rows, in order.
    pub(crate) fn entries(&self) -> Vec<String> {
        self.sql("SELECT entry_type FROM transcript_entries ORDER BY sequence")
    }

    /// A field of the newest transcript row of this type.
    pub(crate) fn newest(&self, entry_type: &str) -> Value {
        let rows = self.sql(&format!(
            "SELECT payload_json FROM transcript_entries WHERE entry_type='{entry_type}' ORDER BY sequence DESC LIMIT 1"
        ));
        serde_json::from_str(rows.first().unwrap_or_else(|| panic!("no {entry_type} row"))).unwrap()
    }

    /// `decision source` of every permission row.
    pub(crate) fn decisions(&self) -> Vec<String> {
        self.sql("SELECT decision || ' ' || json_extract(reason_json,'$.source') FROM tool_permission_log ORDER BY id")
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.sql("SELECT event_type FROM events ORDER BY id")
    }

    /// Whether a tool body ran.
    pub(crate) fn ran(&self) -> bool {
        self.events().iter().any(|event| event == "tool_started")
    }

    /// `event ordinal exit` of every hook that ran.
    pub(crate) fn hook_runs(&self) -> Vec<String> {
        self.sql(
            "SELECT hook_event || ' ' || hook_ordinal || ' ' || ifnull(exit_code,skipped_reason) FROM hook_invocations ORDER BY id",
        )
    }

    /// What the newest hook of an event read.
    pub(crate) fn hook_input(&self, event: &str) -> Value {
        let rows = self.sql(&format!(
            "SELECT input_json FROM hook_invocations WHERE hook_event='{event}' ORDER BY id DESC LIMIT 1"
        ));
        serde_json::from_str(rows.first().unwrap_or_else(|| panic!("no {event} hook ran"))).unwrap()
    }
}

/// A tool that returns what a query finds while it runs.
struct Sql {
    database: PathBuf,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct SqlInput {
    sql: String,
}

impl Tool for Sql {
    type Input = SqlInput;
    const NAME: &'static str = "mcp__db__sql";
    const DESCRIPTION: &'static str = "Runs a query.";

    fn access(&self, _: &SqlInput, _: &ToolContext) -> Vec<ona_api::Access> {
        vec![ona_api::Access::Plain]
    }

    async fn run(&self, input: SqlInput, _: &ToolContext) -> ona_api::ToolResult {
        ona_api::ToolResult::success(query(&self.database, &input.sql).join("\n"))
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's own connection")]
fn query(database: &Path, sql: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(database).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok(match row.get::<_, rusqlite::types::Value>(0)? {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        })
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Only processes are made here.
fn no_others(wanted: ona_dialects::HandlerSpec) -> Result<Arc<dyn HookHandler>, String> {
    Err(format!("not made here: {wanted:?}"))
}
