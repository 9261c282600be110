//! The `permissions` object of the settings snapshot (Appendix E), read once.
//!
//! Reading only: what a rule means is decided in `permissions`. A value that could only make
//! things laxer by being ignored is an error; the rest is reported and left out.

use ona_api::Mode;
use ona_api::mode::UnknownMode;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionSettings {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    pub default_mode: Mode,
    /// As written; `SessionDirs::directory` makes them absolute.
    pub additional_directories: Vec<String>,
    /// `disableBypassPermissionsMode: "disable"`
    pub disable_bypass: bool,
    /// `allowManagedPermissionRulesOnly`; honoured where scopes are merged.
    pub managed_only: bool,
}

/// Something in the settings that has no effect, or another one than written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionsFinding {
    /// DEC-075: ignored, and said so.
    #[error("unknown key permissions.{0} is ignored")]
    UnknownKey(String),
    #[error("permissions.{key} holds {value}, which is ignored")]
    Ignored { key: &'static str, value: String },
    #[error("defaultMode bypassPermissions is switched off by disableBypassPermissionsMode; default is used")]
    BypassDisabled,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPermissions {
    #[error("permissions must be an object, not {0}")]
    NotObject(String),
    #[error("permissions.{key} must be a list of strings, not {value}")]
    NotList { key: &'static str, value: String },
    #[error("permissions.defaultMode: {0}")]
    Mode(#[from] UnknownMode),
}

impl PermissionSettings {
    /// Absent (`null`) means `{"defaultMode": "default"}`.
    pub fn parse(permissions: &Value) -> Result<(Self, Vec<PermissionsFinding>), BadPermissions> {
        let mut settings = Self::default();
        let mut findings = Vec::new();
        let fields = match permissions {
            Value::Null => return Ok((settings, findings)),
            Value::Object(fields) => fields,
            other => return Err(BadPermissions::NotObject(other.to_string())),
        };
        for (key, value) in fields {
            match key.as_str() {
                "allow" => settings.allow = strings("allow", value, &mut findings)?,
                "deny" => settings.deny = strings("deny", value, &mut findings)?,
                "ask" => settings.ask = strings("ask", value, &mut findings)?,
                "additionalDirectories" => {
                    settings.additional_directories = strings("additionalDirectories", value, &mut findings)?;
                }
                "defaultMode" => {
                    // `auto` is not a mode here; guessing another one is not ours to do (DEC-074).
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    settings.default_mode = text.parse()?;
                }
                "disableBypassPermissionsMode" => match value.as_str() {
                    Some("disable") => settings.disable_bypass = true,
                    _ => findings.push(ignored("disableBypassPermissionsMode", value)),
                },
                "allowManagedPermissionRulesOnly" => match value.as_bool() {
                    Some(only) => settings.managed_only = only,
                    None => findings.push(ignored("allowManagedPermissionRulesOnly", value)),
                },
                other => findings.push(PermissionsFinding::UnknownKey(other.to_owned())),
            }
        }
        if settings.disable_bypass && settings.default_mode == Mode::BypassPermissions {
            settings.default_mode = Mode::Default;
            findings.push(PermissionsFinding::BypassDisabled);
        }
        Ok((settings, findings))
    }
}

fn ignored(key: &'static str, value: &Value) -> PermissionsFinding {
    PermissionsFinding::Ignored { key, value: value.to_string() }
}

fn strings(
    key: &'static str,
    value: &Value,
    findings: &mut Vec<PermissionsFinding>,
) -> Result<Vec<String>, BadPermissions> {
    let Value::Array(items) = value else {
        return Err(BadPermissions::NotList { key, value: value.to_string() });
    };
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        match item.as_str() {
            Some(text) => texts.push(text.to_owned()),
            None => findings.push(ignored(key, item)),
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_field_of_appendix_e_is_read() {
        let parsed = PermissionSettings::parse(&json!({
            "allow": ["Read"], "deny": ["Bash(rm:*)"], "ask": ["WebFetch"],
            "defaultMode": "plan",
            "additionalDirectories": ["../lib"],
            "disableBypassPermissionsMode": "disable",
            "allowManagedPermissionRulesOnly": true,
        }));
        let expected = PermissionSettings {
            allow: vec!["Read".into()],
            deny: vec!["Bash(rm:*)".into()],
            ask: vec!["WebFetch".into()],
            default_mode: Mode::Plan,
            additional_directories: vec!["../lib".into()],
            disable_bypass: true,
            managed_only: true,
        };
        assert_eq!(parsed, Ok((expected, vec![])));
        assert_eq!(PermissionSettings::parse(&Value::Null), Ok((PermissionSettings::default(), vec![])));
        assert_eq!(PermissionSettings::parse(&json!({})), Ok((PermissionSettings::default(), vec![])));
    }

    #[test]
    fn unknown_keys_are_reported_and_unusable_values_refused() {
        let (_, findings) =
            PermissionSettings::parse(&json!({"read": {"deny": ["**/.env*"]}, "allow": ["Read", 1]})).unwrap();
        assert_eq!(
            findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["unknown key permissions.read is ignored", "permissions.allow holds 1, which is ignored"]
        );
        for mode in [json!("auto"), json!("Default"), json!(1)] {
            assert!(matches!(PermissionSettings::parse(&json!({"defaultMode": mode})), Err(BadPermissions::Mode(_))));
        }
        assert!(
            PermissionSettings::parse(&json!({"deny": "Bash"})).is_err(),
            "a deny list that is none is not skipped"
        );
        assert!(PermissionSettings::parse(&json!([])).is_err());
    }

    #[test]
    fn a_disabled_bypass_falls_back_to_default() {
        let both = json!({"defaultMode": "bypassPermissions", "disableBypassPermissionsMode": "disable"});
        let (settings, findings) = PermissionSettings::parse(&both).unwrap();
        assert_eq!((settings.default_mode, findings), (Mode::Default, vec![PermissionsFinding::BypassDisabled]));
    }
}
