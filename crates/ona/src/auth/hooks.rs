//! Hooks of a login: `Notification` with auth_success, `SessionEnd` with logout (DEC-063).
//!
//! Such a command has no session of its own. Where hooks listen, they run as `--fire-hook` runs
//! them, in a session made for that; where none does, no database is made. A login is not
//! undone because its hooks cannot run.

use crate::{fire_hook, output};
use ona_api::EventName;
use ona_runtime::{Failure, Launch, Purpose, Runtime, block_on};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(super) fn fire(launch: &Launch, event: &'static str, fields: Value) {
    let event: EventName = event.parse().expect("an event of the table");
    let fired = listens(launch, event).and_then(|listens| match listens {
        true => {
            let mut input = fields;
            input["hook_event_name"] = event.as_str().into();
            fire_hook::fire(launch, &input.to_string(), "auth", false).map(drop)
        }
        false => Ok(()),
    });
    if let Err(failure) = fired {
        output::note(format_args!("ona: the hooks of {event} did not run: {}", failure.message));
    }
}

fn listens(launch: &Launch, event: EventName) -> Result<bool, Failure> {
    let open = launch.look()?;
    block_on(async {
        let cancel = CancellationToken::new();
        let mut runtime = Runtime::new(launch, &open, &launch.cwd, Purpose::Look, &cancel)?;
        runtime.load_modules(launch, &open).await?;
        Ok(runtime.hooks.listens_to(event))
    })
}
