//! A configuration that cannot be used, and the words for it (DEC-143).

use super::redact::redact;
use super::source::PiSource;
use serde_json::{Value, json};

/// Longer reasons end in dots.
const LONGEST: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDefinition {
    pub source: PiSource,
    /// One line, no secrets, at most 160 characters.
    pub reason: String,
}

impl InvalidDefinition {
    pub fn new(source: PiSource, reason: &str) -> Self {
        let line = redact(reason).split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = match line.char_indices().nth(LONGEST) {
            Some(_) => format!("{}...", line.chars().take(LONGEST - 3).collect::<String>()),
            None => line,
        };
        Self { source, reason }
    }

    /// Scripts look for this line, so its words are fixed.
    pub fn warning(&self) -> String {
        format!(
            "Warning: invalid hook config from {} ({}). Hooks are disabled for this session.",
            self.source, self.reason
        )
    }

    pub fn record(&self) -> Value {
        json!({
            "type": "invalid_hook_config",
            "source": self.source.as_str(),
            "reason": self.reason,
            "hooksDisabledForSession": true,
            "errors": [format!("[{}] {}", self.source, self.reason)],
            "diagnostics": [{"sourceName": self.source.as_str(), "message": self.reason, "isRuntimeSource": true}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_of_at_most_160_characters() {
        let exact = "x".repeat(160);
        assert_eq!(InvalidDefinition::new(PiSource::Env, &exact).reason, exact);
        let long = InvalidDefinition::new(PiSource::Env, &format!(" a\n\tb {}", "x".repeat(160))).reason;
        assert_eq!(long, format!("a b {}...", "x".repeat(153)));
    }
}
