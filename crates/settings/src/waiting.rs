//! What happens while a session waits, and where it works: `idlePromptSeconds`, `worktree`.

use crate::keys;
use crate::problem::Checked;
use serde_json::Value;
use std::time::Duration;

const IDLE_SECONDS: f64 = 60.0;
const MAX_SECONDS: f64 = 86_400.0;

/// How long a session waits for a prompt until hooks are notified of it; `None` for never.
pub(crate) fn idle_prompt(value: &Value) -> Checked<Option<Duration>> {
    let default = Some(Duration::from_secs_f64(IDLE_SECONDS));
    match value {
        Value::Null => Checked::ok(default),
        value => match value.as_f64().filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds)) {
            Some(seconds) => Checked::ok((seconds > 0.0).then(|| Duration::from_secs_f64(seconds))),
            None => {
                let message = format!(
                    "the setting idlePromptSeconds must be a number from 0 (never) to {MAX_SECONDS}, not {value}; \
                     {IDLE_SECONDS} is used"
                );
                Checked::wrong(default, keys::IDLE_PROMPT_SECONDS, message)
            }
        },
    }
}

/// Whether a new worktree starts from the default branch of `origin` instead of the checkout's commit.
pub(crate) fn worktree_from_origin(value: &Value) -> Checked<bool> {
    let wrong = |from_origin, message: String| Checked::wrong(from_origin, keys::WORKTREE, message);
    let from_origin = match &value["baseRef"] {
        Value::Null => false,
        Value::String(word) if word == "head" => false,
        Value::String(word) if word == "fresh" => true,
        other => {
            return wrong(false, format!("worktree.baseRef must be \"head\" or \"fresh\", not {other}; head is used"));
        }
    };
    let unused: Vec<_> =
        value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).filter(|key| *key != "baseRef").collect();
    match unused.is_empty() {
        true => Checked::ok(from_origin),
        false => wrong(from_origin, format!("worktree has baseRef; without effect: {}", unused.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_count_or_are_named() {
        for (value, seconds, problem) in [
            (json!(null), Some(60.0), false),
            (json!(0), None, false),
            (json!(0.5), Some(0.5), false),
            (json!("1"), Some(60.0), true),
            (json!(-1), Some(60.0), true),
        ] {
            let read = idle_prompt(&value);
            assert_eq!(
                (read.value.map(|limit| limit.as_secs_f64()), read.problem.is_some()),
                (seconds, problem),
                "{value}"
            );
        }
        for (value, from_origin, problem) in [
            (json!(null), false, false),
            (json!({"baseRef": "fresh"}), true, false),
            (json!({"baseRef": "head"}), false, false),
            (json!({"baseRef": "main"}), false, true),
            (json!({"baseRef": "fresh", "sparsePaths": []}), true, true),
        ] {
            let read = worktree_from_origin(&value);
            assert_eq!((read.value, read.problem.is_some()), (from_origin, problem), "{value}");
        }
    }
}
