//! Serves what modules ask of the session they run in.
//!
//! Reading goes to the database, sending is kept until the next boundary: a module is
//! never the one that writes, and no transaction is open while it runs (DEC-017).

use super::entries::{self, Item};
use super::{Boundary, records};
use ona_api::row::Place;
use ona_api::{Entry, Group, Row};
use ona_modules::rules::Emitter;
use ona_modules::{BoxFuture, Call, CallError, Host, System};
use ona_store::Store;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Takes a module's log lines: which module, which level, what.
pub type Log = Arc<dyn Fn(&Path, &str, &str) + Send + Sync>;

/// A person in front of a screen. Without one modules get the documented answers of an
/// agent nobody watches and never ask.
pub trait Screen: Send + Sync {
    /// `ui.select`, `ui.confirm`, `ui.input`, `ui.editor`, `ui.custom`, `ui.getEditorText`; null is
    /// "cancelled".
    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Value>;

    /// `ui.notify`, `ui.setStatus`, `ui.setEditorText`, `ui.setTitle`, …
    fn show(&self, call: &Call);
}

pub struct SessionHost {
    system: System,
    pub(super) store: Arc<Store>,
    log: Log,
    state: Mutex<State>,
    idle: watch::Sender<bool>,
    screen: OnceLock<Arc<dyn Screen>>,
    pub(super) emitter: OnceLock<Weak<Emitter>>,
}

pub(super) struct State {
    /// The session modules run in, once it is known.
    pub(super) place: Option<Place>,
    /// A session a command has opened, for whoever runs the next prompt.
    pub(super) switched: Option<Place>,
    /// Ends the turn that runs.
    stop: CancellationToken,
    sent: Vec<Sent>,
}

/// Something a module sent.
enum Sent {
    Message { message: Value, triggers: bool, waits: bool, while_idle: bool },
    Entry(Entry),
}

impl SessionHost {
    pub fn new(system: System, store: Arc<Store>, log: Log) -> Self {
        let state = State { place: None, switched: None, stop: CancellationToken::new(), sent: Vec::new() };
        Self {
            system,
            store,
            log,
            state: Mutex::new(state),
            idle: watch::Sender::new(true),
            screen: OnceLock::new(),
            emitter: OnceLock::new(),
        }
    }

    /// Who is asked before a command changes the session.
    pub(super) fn asks(&self, emitter: &Arc<Emitter>) {
        // Set once, when the modules are put together.
        self.emitter.set(Arc::downgrade(emitter)).ok();
    }

    /// From now on somebody is there to be asked. `Moment::has_ui` tells modules.
    pub fn show_on(&self, screen: Arc<dyn Screen>) {
        // A program has one screen.
        self.screen.set(screen).ok();
    }

    /// The session a command has opened since this was last asked.
    pub fn switched(&self) -> Option<Place> {
        self.lock().switched.take()
    }

    /// From now on modules run in this session, and `abort` cancels this token.
    pub fn enter(&self, place: &Place, stop: &CancellationToken) {
        let mut state = self.lock();
        state.place = Some(place.clone());
        state.stop = stop.clone();
    }

    pub(super) fn set_idle(&self, idle: bool) {
        self.idle.send_replace(idle);
    }

    /// What was sent while nothing runs, written at once. It starts a turn if it says so.
    pub(super) fn sent_while_idle(&self) -> Group {
        if self.is_idle() { self.take(|_| true) } else { Group::default() }
    }

    pub(super) fn sent(&self, when: Boundary) -> Group {
        self.take(|sent| match sent {
            Sent::Message { waits, .. } => when == Boundary::End || !waits,
            Sent::Entry(_) => true,
        })
    }

    fn take(&self, due: impl Fn(&Sent) -> bool) -> Group {
        let mut state = self.lock();
        let (now, later) = std::mem::take(&mut state.sent).into_iter().partition(|sent| due(sent));
        state.sent = later;
        drop(state);
        let now: Vec<Sent> = now;
        let row = |sent| match sent {
            Sent::Entry(entry) => entry,
            // While a turn runs a message is always answered; otherwise only if it asks for it.
            Sent::Message { message, triggers, while_idle, .. } => records::message(&message, !while_idle || triggers),
        };
        Group(now.into_iter().map(row).map(Row::Transcript).collect())
    }

    fn is_idle(&self) -> bool {
        *self.idle.borrow()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn items(&self) -> Result<Vec<Item>, CallError> {
        let Some(place) = self.lock().place.clone() else { return Ok(Vec::new()) };
        entries::of(&self.store, &place.session).map_err(|error| CallError::new(error.to_string()))
    }

    fn session(&self, what: &str, call: &Call) -> Result<Value, CallError> {
        let place = self.lock().place.clone();
        let session = place.as_ref().map(|place| place.session.0.clone());
        let entries = || Ok::<_, CallError>(self.items()?.iter().filter_map(Item::entry).collect::<Vec<_>>());
        Ok(match what {
            "getCwd" => self.system.cwd.to_string_lossy().into(),
            // There is no file; the id serves where hooks pass it on (DEC-176).
            "getSessionId" | "getSessionFile" => session.into(),
            "getSessionDir" | "getArtifactsDir" | "getLabel" | "getName" | "getArtifactPath" => Value::Null,
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
            _ => return Err(CallError::unknown(&call.name)),
        })
    }

    fn usage(&self) -> Result<Value, CallError> {
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

impl Host for SessionHost {
    fn call<'a>(&'a self, _: &'a Path, call: Call) -> BoxFuture<'a, Result<Value, CallError>> {
        Box::pin(async move {
            if System::serves(&call.name) {
                return self.system.call(call).await;
            }
            if let (Some(screen), true) = (self.screen.get(), call.name.starts_with("ui.")) {
                return Ok(screen.ask(&call).await);
            }
            if let Some(what) = call.name.strip_prefix("session.") {
                return self.session(what, &call);
            }
            match call.name.as_str() {
                "context.isIdle" => Ok(self.is_idle().into()),
                "context.hasQueuedMessages" => {
                    Ok(self.lock().sent.iter().any(|sent| matches!(sent, Sent::Message { .. })).into())
                }
                "models.find" | "flags.get" => Ok(Value::Null),
                "models.available" | "models.all" | "tools.active" | "tools.all" | "commands.all" => Ok(json!([])),
                "command.waitForIdle" => {
                    // The sender lives as long as this host.
                    self.idle.subscribe().wait_for(|idle| *idle).await.ok();
                    Ok(Value::Null)
                }
                "command.newSession" => self.new_session(call.arg(0)).await,
                "command.branch" => self.branch(call.text(0)).await,
                "command.navigateTree" => self.navigate(call.text(0), call.arg(1)).await,
                "command.enterSession" => self.enter_session(call.text(0)).await,
                name => match name.strip_prefix("setup.") {
                    Some(what) => self.set_up(what, &call),
                    None => Err(CallError::unknown(name)),
                },
            }
        })
    }

    fn tell(&self, module: &Path, call: Call) {
        let while_idle = self.is_idle();
        let mut state = self.lock();
        match call.name.as_str() {
            "sendMessage" => {
                let options = call.arg(1);
                state.sent.push(Sent::Message {
                    message: call.arg(0).clone(),
                    triggers: options["triggerTurn"] == true,
                    waits: options["deliverAs"] == "followUp",
                    while_idle,
                });
            }
            "sendUserMessage" => {
                let message = json!({"customType": "user", "content": call.arg(0), "display": true});
                let waits = call.arg(1)["deliverAs"] == "followUp";
                state.sent.push(Sent::Message { message, triggers: true, waits, while_idle });
            }
            "appendEntry" => state.sent.push(Sent::Entry(records::entry(call.arg(0), call.arg(1)))),
            "context.abort" => state.stop.cancel(),
            "log" => {
                drop(state);
                (self.log)(module, call.text(0), call.text(1));
            }
            name if name.starts_with("ui.") => {
                drop(state);
                if let Some(screen) = self.screen.get() {
                    screen.show(&call);
                }
            }
            // Labels and names of sessions, which are not kept.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::{Env, Redactor};

    struct Person(Mutex<Vec<String>>);

    impl Screen for Person {
        fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Value> {
            Box::pin(async move { json!([call.name, call.arg(0)]) })
        }

        fn show(&self, call: &Call) {
            self.0.lock().unwrap().push(call.name.clone());
        }
    }

    /// OM-36.
    #[tokio::test]
    async fn a_screen_is_asked_and_shown_to() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("a.db"), Redactor::default()).unwrap();
        let system = System { env: Env::default(), cwd: dir.path().to_owned() };
        let host = SessionHost::new(system, Arc::new(store), Arc::new(|_, _, _| ()));
        let call = |name: &str| Call { name: name.into(), args: vec![json!("t")], cancel: CancellationToken::new() };
        assert!(host.call(Path::new("m"), call("ui.confirm")).await.is_err());
        let person = Arc::new(Person(Mutex::default()));
        host.show_on(Arc::clone(&person) as Arc<dyn Screen>);
        assert_eq!(host.call(Path::new("m"), call("ui.confirm")).await, Ok(json!(["ui.confirm", "t"])));
        host.tell(Path::new("m"), call("ui.setStatus"));
        assert_eq!(*person.0.lock().unwrap(), ["ui.setStatus"]);
    }
}
