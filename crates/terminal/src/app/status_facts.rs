//! What the user's status line command reads on its stdin.

use super::App;
use crate::composer::VimMode;
use serde_json::{Value, json};
use std::time::Duration;

impl App {
    /// The facts for the status line command; `None` while it is not configured or no session is there.
    pub(super) fn status_facts(&self, now: Duration) -> Option<Value> {
        let session = self.session.as_ref()?;
        let facts = &session.status_line;
        facts.settings.as_ref()?;
        let model = session.model.as_ref().map(|model| model.model());
        let window = model.as_ref().and_then(|model| model.context());
        let spent = &self.usage.spent;
        let used = window.map(|window| self.usage.tokens as f64 * 100.0 / window.max(1) as f64);
        let round = |percent: f64| (percent.clamp(0.0, 100.0) * 10.0).round() / 10.0;
        let mut all = json!({
            "session_id": session.session,
            "conversation_id": facts.conversation,
            "cwd": session.folder,
            "version": env!("CARGO_PKG_VERSION"),
            "model": model.as_ref().map(|model| json!({
                "id": model.choice.wire_model, "display_name": model.choice.model_id,
            })),
            "workspace": {
                "current_dir": session.folder, "project_dir": facts.project, "added_dirs": facts.added,
                "git_worktree": facts.worktree,
            },
            "output_style": {"name": facts.output_style},
            "cost": {
                "total_cost_usd": spent.cost(&session.prices).unwrap_or(0.0),
                "total_duration_ms": now.as_millis() as u64,
            },
            "context_window": {
                "total_input_tokens": self.usage.input,
                "total_output_tokens": self.usage.output,
                "context_window_size": window,
                "used_percentage": used.map(round),
                "remaining_percentage": used.map(|used| round(100.0 - used)),
                "current_usage": self.usage.tokens,
            },
            "exceeds_200k_tokens": self.usage.tokens > 200_000,
            "permission_mode": self.mode().map(|mode| mode.as_str()),
            "phase": session.phase.as_str(),
        });
        optional(&mut all, self.name.as_deref(), self.composer.vim_mode(), facts.agent.as_deref());
        Some(all)
    }
}

/// Fields that are there only if they say something.
fn optional(all: &mut Value, name: Option<&str>, vim: Option<VimMode>, agent: Option<&str>) {
    if let Some(name) = name {
        all["session_name"] = json!(name);
    }
    if let Some(agent) = agent {
        all["agent"] = json!({"name": agent});
    }
    if let Some(mode) = vim {
        let mode = match mode {
            VimMode::Insert => "INSERT",
            VimMode::Normal => "NORMAL",
            VimMode::Visual => "VISUAL",
            VimMode::VisualLine => "VISUAL LINE",
        };
        all["vim"] = json!({"mode": mode});
    }
}
