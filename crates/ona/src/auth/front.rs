//! The steps of a login in a shell: sentences on stderr, and a JSON line each for programs.

use super::terminal::Lines;
use crate::output;
use ona_permissions::printable;
use ona_runtime::login::{LoginFront, LoginStep};
use serde_json::json;
use std::future::Future;
use std::io::{IsTerminal, stdin};
use std::pin::Pin;

pub(crate) struct ShellFront {
    as_json: bool,
    /// Standard input is read once something can be pasted.
    lines: Option<Lines>,
}

impl ShellFront {
    pub(crate) fn new(as_json: bool) -> Self {
        Self { as_json, lines: None }
    }
}

impl LoginFront for ShellFront {
    fn show(&mut self, step: LoginStep<'_>) {
        match step {
            LoginStep::Approve { url } => {
                if self.as_json {
                    output::json(&json!({"event": "authorize", "url": url}));
                }
                output::note("Open this address in a browser and approve the login:");
                output::note(url);
                output::note(
                    "If the browser cannot reach this machine, paste the code, or the address it ends at, here and press Enter.",
                );
            }
            LoginStep::ApproveOnDevice { url, complete_url, code, expires_in } => {
                if self.as_json {
                    output::json(&json!({
                        "event": "device",
                        "verification_uri": url,
                        "verification_uri_complete": complete_url,
                        "user_code": code,
                        "expires_in": expires_in.as_secs(),
                    }));
                }
                let minutes = expires_in.as_secs().div_ceil(60);
                let (url, code) = (printable(url), printable(code));
                output::note(format_args!("Open this address on any device within {minutes} minutes:\n{url}"));
                output::note(format_args!("and enter this code:\n{code}"));
                if let Some(complete) = complete_url {
                    output::note(format_args!("This address has the code in it:\n{}", printable(complete)));
                }
            }
            LoginStep::PasteAgain { problem } => {
                output::note(format_args!("ona: {problem}. Make sure the whole code was copied, and paste it again."));
            }
        }
    }

    fn pasted_line(&mut self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(self.lines.get_or_insert_with(Lines::read).next())
    }

    fn can_paste_again(&self) -> bool {
        stdin().is_terminal()
    }
}
