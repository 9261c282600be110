//! `headersHelper`: a command that prints the headers for a server, as a JSON object of strings.
//!
//! It runs when a connection is made, and again when the server refuses what it printed. It gets
//! none of the program's own credentials, and nothing of its output reaches an error text.

use crate::context::ServerContext;
use crate::definition::ServerDefinition;
use ona_api::environment;
use ona_process::{ChildCommand, ChildExit, OnDeath};
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const DEADLINE: Duration = Duration::from_secs(10);
const MAX_OUTPUT: usize = 64 * 1024;

pub(super) struct HeadersHelper {
    command: ChildCommand,
}

impl HeadersHelper {
    pub(super) fn new(script: &str, definition: &ServerDefinition, url: &str, around: &ServerContext) -> Self {
        let mut env = around.env.of(definition.owner).clone();
        env.set(environment::CLAUDE_CODE_MCP_SERVER_NAME, &definition.name);
        env.set(environment::CLAUDE_CODE_MCP_SERVER_URL, url);
        let command = ChildCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: around.cwd(),
            env,
            stdin: Vec::new(),
            cap: MAX_OUTPUT,
            deadline: Some(DEADLINE),
            grace: Duration::ZERO,
            on_death: OnDeath::Kill,
            wall: None,
        };
        Self { command }
    }

    pub(super) async fn headers(&self) -> Result<Vec<(String, String)>, String> {
        let ran = ona_process::run(self.command.clone(), &CancellationToken::new()).await;
        let ran = ran.map_err(|error| format!("its headersHelper was not started: {error}"))?;
        match ran.end {
            ChildExit::Exited(0) => {}
            ChildExit::Exited(code) => return Err(format!("its headersHelper ended with exit code {code}")),
            ChildExit::Signalled(signal) => return Err(format!("its headersHelper was ended by signal {signal}")),
            ChildExit::TimedOut => {
                return Err(format!("its headersHelper did not end within {} s", DEADLINE.as_secs()));
            }
            ChildExit::Cancelled => return Err("its headersHelper was interrupted".into()),
        }
        let wrong = || "its headersHelper did not print a JSON object of strings".to_owned();
        let printed: Value = serde_json::from_slice(&ran.stdout.bytes).map_err(|_| wrong())?;
        let fields = printed.as_object().ok_or_else(wrong)?;
        let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        fields.iter().map(|field| text(field).ok_or_else(wrong)).collect()
    }
}
