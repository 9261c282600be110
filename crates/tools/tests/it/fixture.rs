//! A directory of its own for each test, and calls made in it.

use ona_api::{Authority, Env, Mode, ResultClass, Ruling, ToolResult, Verdict};
use ona_tools::{AddressRuling, BadInput, CallAuthor, PlannedCall, SeenFiles, Tasks, ToolBox, ToolContext};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Fixture {
    pub cx: ToolContext,
    _directory: TempDir,
}

impl Fixture {
    /// `project` is the session's directory; beside it are `home`, `extra` and `tmp`.
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let below = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let (project, home, extra, tmp) = (below("project"), below("home"), below("extra"), below("tmp"));
        let env = Env::default()
            .with("PATH", "/usr/local/bin:/usr/bin:/bin")
            .with("HOME", home.as_os_str())
            .with("TMPDIR", tmp.as_os_str());
        let cx = ToolContext {
            cwd: project.clone(),
            project,
            home,
            extra: vec![extra],
            env: Arc::new(env),
            withheld: Arc::default(),
            prelude: String::new(),
            seen: Arc::new(SeenFiles::default()),
            tasks: Arc::new(Tasks::default()),
            may_show: Arc::new(|_| true),
            guarded: Arc::new(|_| None),
            judge_address: Arc::new(|_| AddressRuling {
                verdict: Verdict::new(Ruling::Ask, Authority::Mode(Mode::Default), ""),
                named: false,
            }),
            author: CallAuthor::Model,
            judged: None,
            cancel: CancellationToken::new(),
            call: None,
        };
        Self { cx, _directory: directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.cx.project.join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn plan(&self, tool: &str, input: Value) -> Result<PlannedCall, BadInput> {
        ToolBox::builtin().get(tool).unwrap().plan(&input, &self.cx)
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> ToolResult {
        self.plan(tool, input).unwrap().run(&self.cx).await
    }

    /// The content of a call that must succeed, with the room's paths shortened.
    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input).await;
        assert_eq!(result.class, ResultClass::Success, "{}", result.content);
        self.short(&result.content)
    }

    /// The content of a call that must be rejected.
    pub(crate) async fn no(&self, tool: &str, input: Value) -> String {
        let result = self.call(tool, input).await;
        assert_eq!(result.class, ResultClass::Rejected, "{}", result.content);
        self.short(&result.content)
    }

    /// `/p` is the project, `/r` the directory around it.
    pub(crate) fn short(&self, text: &str) -> String {
        let root = self.cx.project.parent().unwrap();
        let text = text.replace(self.cx.project.to_str().unwrap(), "/p");
        text.replace(root.to_str().unwrap(), "/r")
    }
}

pub(crate) fn set_modified(path: &Path, seconds: u64) {
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
}

/// Runs async code inside a property.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
