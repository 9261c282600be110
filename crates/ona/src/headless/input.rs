//! Messages on stdin, one JSON object per line (`--input-format stream-json`).
//!
//! User messages become prompts. Control requests this build has no answer for are
//! answered with an error, never with silence.

use super::content;
use super::render::Renderer;
use crate::output;
use ona_orchestration::Said;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines as TokioLines, Stdin};

pub struct Lines(TokioLines<BufReader<Stdin>>);

impl Lines {
    pub fn new() -> Self {
        Self(BufReader::new(tokio::io::stdin()).lines())
    }

    /// The next prompt, or `None` at the end of input.
    pub async fn next(&mut self, renderer: &Renderer) -> Option<Said> {
        while let Ok(Some(line)) = self.0.next_line().await {
            if line.trim().is_empty() {
                continue;
            }
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                output::note("ona: a line of stdin is not JSON and is left out");
                continue;
            };
            match message["type"].as_str() {
                Some("user") => {
                    let (said, complaints) = content::said(&message["message"]["content"]);
                    complaints.iter().for_each(|complaint| output::note(format_args!("ona: {complaint}")));
                    match said {
                        Some(said) => return Some(said),
                        None => output::note("ona: a user message without text is left out"),
                    }
                }
                Some("control_request") => renderer.control(&answer(&message)),
                Some("control_response" | "control_cancel_request" | "keep_alive") => {}
                _ => output::note("ona: a message of unknown type on stdin is left out"),
            }
        }
        None
    }
}

fn answer(message: &Value) -> Value {
    let id = &message["request_id"];
    match message["request"]["subtype"].as_str() {
        Some("initialize") => {
            json!({"subtype": "success", "request_id": id, "response": {"commands": [], "agents": []}})
        }
        other => json!({
            "subtype": "error", "request_id": id, "error_code": "unsupported_request",
            "error": format!("the request {} is not supported", other.unwrap_or("without a subtype")),
        }),
    }
}
