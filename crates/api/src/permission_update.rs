//! Changes to permissions that a hook or a dialog may ask for (Appendix B).

use crate::Mode;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    AddRules { rules: Vec<RuleText>, behavior: Behavior, destination: Destination },
    ReplaceRules { rules: Vec<RuleText>, behavior: Behavior, destination: Destination },
    RemoveRules { rules: Vec<RuleText>, behavior: Behavior, destination: Destination },
    SetMode { mode: Mode, destination: Destination },
    AddDirectories { directories: Vec<String>, destination: Destination },
    RemoveDirectories { directories: Vec<String>, destination: Destination },
}

impl PermissionUpdate {
    pub fn destination(&self) -> Destination {
        match self {
            PermissionUpdate::AddRules { destination, .. }
            | PermissionUpdate::ReplaceRules { destination, .. }
            | PermissionUpdate::RemoveRules { destination, .. }
            | PermissionUpdate::SetMode { destination, .. }
            | PermissionUpdate::AddDirectories { destination, .. }
            | PermissionUpdate::RemoveDirectories { destination, .. } => *destination,
        }
    }
}

/// A rule in two parts, `toolName(ruleContent)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleText {
    pub tool_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

impl RuleText {
    /// The two parts of a rule's text.
    pub fn split(rule: &str) -> Self {
        match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
            Some((tool, content)) => Self { tool_name: tool.to_owned(), rule_content: Some(content.to_owned()) },
            None => Self { tool_name: rule.to_owned(), rule_content: None },
        }
    }

    pub fn joined(&self) -> String {
        match &self.rule_content {
            Some(content) => format!("{}({content})", self.tool_name),
            None => self.tool_name.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    Allow,
    Deny,
    Ask,
}

impl Behavior {
    pub fn as_str(self) -> &'static str {
        match self {
            Behavior::Allow => "allow",
            Behavior::Deny => "deny",
            Behavior::Ask => "ask",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Destination {
    UserSettings,
    ProjectSettings,
    LocalSettings,
    Session,
    CliArg,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn updates_have_the_shape_of_appendix_b() {
        let text = json!({
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "ls *"}, {"toolName": "Read"}],
            "behavior": "allow",
            "destination": "localSettings",
        });
        let update: PermissionUpdate = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&update).unwrap(), text);
        let elsewhere = json!({"type": "setMode", "mode": "plan", "destination": "elsewhere"});
        assert!(serde_json::from_value::<PermissionUpdate>(elsewhere).is_err());
        let auto = json!({"type": "setMode", "mode": "auto", "destination": "session"});
        assert!(serde_json::from_value::<PermissionUpdate>(auto).is_err());
    }
}
