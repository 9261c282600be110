//! The interactive terminal in a real pseudo-terminal, with a scripted model.

mod first_minutes;
mod modules;
mod the_screen;
mod turns;

use ona_testkit::terminal::keys::ENTER;
use ona_testkit::{Ona, Terminal};
use serde_json::json;
use std::time::Duration;

pub fn ona() -> Ona {
    let ona = Ona::new(env!("CARGO_BIN_EXE_ona"));
    ona.settings(json!({
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    ona
}

/// Types a line and, after a moment, Enter: what arrives right behind a text belongs to it.
pub fn type_line(terminal: &Terminal, line: &str) {
    terminal.send(line);
    terminal.wait_for(line);
    enter(terminal);
}

pub fn enter(terminal: &Terminal) {
    std::thread::sleep(Duration::from_millis(50));
    terminal.send(ENTER);
}
