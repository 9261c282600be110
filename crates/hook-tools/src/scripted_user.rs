//! The user of a fixture: answers dialogs as the fixture says and remembers what was shown.

use ona_modules::rules::StatusLine;
use ona_modules::{HostCall, HostFuture};
use ona_orchestration::ModuleUi;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct ScriptedUser(Mutex<State>);

#[derive(Default)]
struct State {
    /// By the name of the dialog; a dialog without an answer is cancelled.
    answers: Map<String, Value>,
    status: StatusLine,
    notices: Vec<Value>,
    editor: String,
}

impl ScriptedUser {
    /// Begins another fixture.
    pub fn renew(&self, answers: Map<String, Value>) {
        *self.lock() = State { answers, ..State::default() };
    }

    pub fn status(&self, width: usize) -> String {
        self.lock().status.render(width)
    }

    pub fn notices(&self) -> Value {
        self.lock().notices.clone().into()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModuleUi for ScriptedUser {
    fn prompt<'a>(&'a self, call: &'a HostCall) -> HostFuture<'a, Value> {
        let mut state = self.lock();
        let answer = match call.name.as_str() {
            "ui.getEditorText" => state.editor.clone().into(),
            name => match state.answers.get_mut(name.trim_start_matches("ui.")) {
                // One answer after another, where a dialog is opened again.
                Some(Value::Array(several)) if !several.is_empty() => several.remove(0),
                Some(Value::Array(_)) | None => Value::Null,
                Some(answer) => answer.clone(),
            },
        };
        Box::pin(std::future::ready(answer))
    }

    fn show(&self, call: &HostCall) {
        let mut state = self.lock();
        match call.name.as_str() {
            "ui.setStatus" => state.status.set(call.text(0), call.arg(1).as_str()),
            "ui.notify" => state.notices.push(json!([call.arg(1), call.arg(0)])),
            "ui.setEditorText" => state.editor = call.text(0).to_owned(),
            // Titles and widgets: fixtures have no words for them.
            _ => {}
        }
    }
}
