//! Hooks of a login: `Notification` with auth_success, `SessionEnd` with logout (DEC-063).
//!
//! Such a command has no session of its own. Where hooks listen, they run as `--fire-hook` runs
//! them, in a session made for that; where none does, no database is made. A login is not
//! undone because its hooks cannot run.

use crate::fire::fire_event;
use ona_api::EventName;
use ona_orchestration::Operator;
use ona_runtime::{Failure, Launch, Purpose, Runtime};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Fires what belongs to a login.
pub async fn fire_logged_in(launch: &Launch, operator: Arc<dyn Operator>, cancel: &CancellationToken) {
    let fields = json!({"notification_type": "auth_success", "message": "Login successful"});
    fire(launch, EventName::Notification, fields, operator, cancel).await;
}

/// Fires what belongs to a logout.
pub async fn fire_logged_out(launch: &Launch, operator: Arc<dyn Operator>, cancel: &CancellationToken) {
    fire(launch, EventName::SessionEnd, json!({"reason": "logout"}), operator, cancel).await;
}

async fn fire(
    launch: &Launch,
    event: EventName,
    mut input: Value,
    operator: Arc<dyn Operator>,
    cancel: &CancellationToken,
) {
    let fired = match listens(launch, event).await {
        Ok(true) => {
            input["hook_event_name"] = event.as_str().into();
            fire_event(launch, &input.to_string(), "auth", operator, cancel).await.map(drop)
        }
        Ok(false) => Ok(()),
        Err(failure) => Err(failure),
    };
    if let Err(failure) = fired {
        launch.note(format_args!("ona: the hooks of {event} did not run: {}", failure.message));
    }
}

async fn listens(launch: &Launch, event: EventName) -> Result<bool, Failure> {
    let open = launch.look()?;
    let mut runtime = Runtime::new(launch, &open, &launch.cwd, Purpose::Look, &CancellationToken::new())?;
    runtime.load_modules(launch, &open).await?;
    Ok(runtime.hooks.listens_to(event))
}
