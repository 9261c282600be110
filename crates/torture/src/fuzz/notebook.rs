//! Notebooks on disk: read, edited, read again. Laws: a file that an edit succeeded on is a notebook
//! with the other cells as they were; one that an edit was refused on has the same bytes.

use super::mutate;
use crate::random::Random;
use ona_api::{Env, ResultClass};
use ona_tools::{CallAuthor, SeenFiles, Tasks, ToolBox, ToolContext};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

const NOTEBOOK: &str = r##"{
 "cells": [
  {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
  {"cell_type": "code", "execution_count": 3, "id": "calc", "metadata": {"odd": 1.50},
   "outputs": [{"name": "stdout", "output_type": "stream", "text": ["4\n"]}], "source": ["2 + 2"]}
 ],
 "metadata": {"kernelspec": {"language": "julia"}}, "nbformat": 4, "nbformat_minor": 5
}
"##;
const WORDS: [&str; 24] = [
    "\"cells\"",
    "\"cell_type\"",
    "\"code\"",
    "\"markdown\"",
    "\"raw\"",
    "\"id\"",
    "\"source\"",
    "\"outputs\"",
    "\"text\"",
    "\"data\"",
    "\"image/png\"",
    "\"metadata\"",
    "\"nbformat\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "null",
    "1",
    "\"intro\"",
    "\"x\\n\"",
    "\u{feff}",
    "\"ename\"",
];

/// A project of one thread.
struct Project {
    context: ToolContext,
    file: PathBuf,
    runtime: Runtime,
    tools: ToolBox,
    _folder: tempfile::TempDir,
}

thread_local! {
    static PROJECT: RefCell<Project> = RefCell::new(Project::new());
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("it exists");
        let context = ToolContext {
            cwd: root.clone(),
            project: root.clone(),
            home: root.join("home"),
            extra: Vec::new(),
            env: Arc::new(Env::default().with("HOME", root.join("home").as_os_str())),
            withheld: Arc::default(),
            prelude: String::new(),
            seen: Arc::new(SeenFiles::default()),
            tasks: Arc::new(Tasks::default()),
            may_show: Arc::new(|_| true),
            guarded: Arc::new(|_| None),
            judge_address: Arc::new(|url| unreachable!("a notebook fetches nothing, but {url}")),
            author: CallAuthor::Model,
            judged: None,
            cancel: CancellationToken::new(),
            call: None,
        };
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { context, file: root.join("n.ipynb"), runtime, tools: ToolBox::builtin(), _folder: folder }
    }

    /// `None` if the input does not fit the tool.
    fn call(&self, tool: &str, input: &Value) -> Option<ResultClass> {
        let planned = self.tools.get(tool)?.plan(input, &self.context).ok()?;
        Some(self.runtime.block_on(planned.run(&self.context)).class)
    }
}

pub(super) fn edit(random: &mut Random, input: &mut String) -> Result<(), String> {
    let example: Value = serde_json::from_str(NOTEBOOK).map_err(|error| error.to_string())?;
    let bytes = match random.below(3) {
        0 => mutate::bytes(random, &[NOTEBOOK], &WORDS),
        1 => mutate::json(random, &[example], &["cells", "source", "outputs", "id", "metadata", "text"])
            .to_string()
            .into_bytes(),
        _ => NOTEBOOK.as_bytes().to_vec(),
    };
    let mut call = json!({"notebook_path": "n.ipynb", "new_source": mutate::text(random, &WORDS, 3),
        "cell_id": random.pick(&["intro", "calc", "cell-0", "cell-1", "cell-9", "", "x"])});
    if let Some(mode) = random.pick(&[None, Some("replace"), Some("insert"), Some("delete"), Some("dance")]) {
        call["edit_mode"] = json!(mode);
    }
    if random.one_in(2) {
        call["cell_type"] = json!(random.pick(&["code", "markdown"]));
    }
    *input = format!("{call} on {:?}", String::from_utf8_lossy(&bytes));
    PROJECT.with_borrow(|project| {
        std::fs::write(&project.file, &bytes).map_err(|error| error.to_string())?;
        project.call("Read", &json!({"file_path": "n.ipynb"}));
        let class = project.call("NotebookEdit", &call);
        let after = std::fs::read(&project.file).map_err(|error| error.to_string())?;
        if class != Some(ResultClass::Success) {
            return if after == bytes { Ok(()) } else { Err("a refused edit changed the file".to_owned()) };
        }
        let strip =
            |bytes: &[u8]| serde_json::from_slice::<Value>(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
        // The tool does not look into what it does not change, so it also edits what this parser
        // finds too deep.
        let Ok(before) = strip(&bytes) else { return Ok(()) };
        let Ok(after) = strip(&after) else {
            return Err("an edit that succeeded left something that is not JSON".to_owned());
        };
        let cells = |value: &Value| value["cells"].as_array().cloned().unwrap_or_default();
        let (before, after) = (cells(&before), cells(&after));
        let changed = before.iter().filter(|cell| !after.contains(cell)).count();
        if changed > 1 || after.len().abs_diff(before.len()) > 1 {
            return Err(format!("{changed} cells changed, {} of {} are left", after.len(), before.len()));
        }
        project.call("Read", &json!({"file_path": "n.ipynb"}));
        Ok(())
    })
}
