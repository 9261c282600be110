//! What modules may read of the session they run in, out of the database.

use super::entries::{self, Item};
use super::host::SessionHost;
use super::sending::ModuleMessage;
use ona_api::Entry;
use ona_modules::{HostCall, HostCallError};
use serde_json::{Value, json};

impl SessionHost {
    pub(super) fn model(&self) -> Option<Value> {
        self.modules()?.context().model
    }

    /// `getCommands`, in the words of the extension API.
    pub(super) fn commands(&self) -> Value {
        let mut all = Vec::new();
        for module in self.modules().iter().flat_map(|emitter| emitter.modules()) {
            let source = json!({
                "path": module.path(), "source": "extension", "scope": "temporary", "origin": "top-level",
            });
            all.extend(module.registry().commands.into_iter().map(|command| {
                json!({
                    "name": command.name, "description": command.description, "source": "extension", "sourceInfo": source,
                })
            }));
        }
        all.into()
    }

    pub(super) fn context_usage(&self) -> Result<Value, HostCallError> {
        let Some(window) = self.lock().window else { return Ok(Value::Null) };
        let used = self.items()?.iter().rev().filter_map(Item::message).find_map(|message| {
            let keys = ["input", "output", "cacheRead", "cacheWrite"];
            let sum: u64 = keys.iter().filter_map(|key| message["usage"][key].as_u64()).sum();
            (sum > 0).then_some(sum)
        });
        let percent = used.map(|used| used as f64 * 100.0 / window as f64);
        Ok(json!({"tokens": used, "contextWindow": window, "percent": percent}))
    }

    pub(super) fn items(&self) -> Result<Vec<Item>, HostCallError> {
        let Some(place) = self.lock().place.clone() else { return Ok(Vec::new()) };
        entries::of(&self.store, &place.session).map_err(|error| HostCallError::new(error.to_string()))
    }

    pub(super) fn session(&self, what: &str, call: &HostCall) -> Result<Value, HostCallError> {
        let place = self.lock().place.clone();
        let session = place.as_ref().map(|place| place.session.0.clone());
        let entries = || Ok::<_, HostCallError>(self.items()?.iter().filter_map(Item::entry).collect::<Vec<_>>());
        Ok(match what {
            "getCwd" => self.system.cwd.to_string_lossy().into(),
            // The session has no file; the id serves where hooks pass it on (DEC-176).
            "getSessionId" | "getSessionFile" => session.into(),
            "getSessionDir" | "getArtifactsDir" | "getArtifactPath" => Value::Null,
            "getLabel" => self.noted("entry_label", |fields| fields["target"] == call.text(0))?["label"].clone(),
            "getName" => self.noted("session_name", |_| true)?["name"].clone(),
            "getLeafId" => self.items()?.last().map(Item::id).into(),
            "getLeafEntry" => entries()?.pop().into(),
            "getEntry" => entries()?.into_iter().find(|entry| entry["id"] == call.text(0)).into(),
            "getEntries" => entries()?.into(),
            "getBranch" => {
                let mut branch = entries()?;
                if let Some(at) = branch.iter().position(|entry| entry["id"] == call.text(0)) {
                    branch.truncate(at + 1);
                }
                branch.into()
            }
            "getTree" => entries()?
                .into_iter()
                .rev()
                .fold(json!([]), |children, entry| json!([{"entry": entry, "children": children}])),
            "getHeader" => {
                json!({"type": "session", "version": 3, "id": session, "cwd": self.system.cwd.to_string_lossy()})
            }
            "getUsageStatistics" => self.usage()?,
            _ => return Err(HostCallError::unknown(&call.name)),
        })
    }

    /// What was last noted about the session under this name, perhaps not written yet.
    pub(super) fn noted(&self, kind: &str, about: impl Fn(&Value) -> bool) -> Result<Value, HostCallError> {
        let state = self.lock();
        let waiting = state.sent.iter().rev().find_map(|sent| match sent {
            ModuleMessage::Entry(Entry::Attachment { attachment, .. }) => {
                let fields = Value::from(attachment.clone());
                (fields["kind"] == kind && about(&fields)).then_some(fields)
            }
            _ => None,
        });
        let place = state.place.clone();
        drop(state);
        match (waiting, place) {
            (Some(fields), _) => Ok(fields),
            (None, Some(place)) => entries::noted(&self.store, &place.session, kind, about)
                .map_err(|error| HostCallError::new(error.to_string())),
            (None, None) => Ok(Value::Null),
        }
    }

    pub(super) fn usage(&self) -> Result<Value, HostCallError> {
        let mut sums = [0u64; 4];
        for item in self.items()? {
            let Some(message) = item.message() else { continue };
            for (sum, key) in sums.iter_mut().zip(["input", "output", "cacheRead", "cacheWrite"]) {
                *sum += message["usage"][key].as_u64().unwrap_or(0);
            }
        }
        let [input, output, read, written] = sums;
        Ok(json!({
            "input": input, "output": output, "cacheRead": read, "cacheWrite": written, "premiumRequests": 0, "cost": 0,
        }))
    }
}
