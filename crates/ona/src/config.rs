//! `ona config get|set|unset|list`: one setting at a time.

use crate::args::{Config, ConfigScope};
use crate::output;
use ona_runtime::settings_files::{SettingSource, value_of, values, write};
use ona_runtime::{Failure, Launch};
use ona_trust::SettingsScope;
use serde_json::{Value, json};

pub(crate) fn run(launch: &Launch, command: &Config) -> Result<u8, Failure> {
    match command {
        Config::Get { key, json } => {
            let open = launch.look()?;
            let (value, sources) = value_of(launch, &open, key)?;
            if *json {
                output::json(&described(key, &value, &sources));
            } else {
                output::line(shown(&value));
                output::note(format_args!("from {}", origin(&value, &sources)));
            }
            // Scripts ask whether a setting is there.
            return Ok(u8::from(value.is_null()));
        }
        Config::List { json } => {
            let open = launch.look()?;
            let all = values(launch, &open)?;
            if *json {
                output::json(&all.iter().map(|(key, value, sources)| described(key, value, sources)).collect());
            } else {
                for (key, value, sources) in &all {
                    output::line(format_args!("{key} = {}  ({})", shown(value), origin(value, sources)));
                }
            }
        }
        Config::Set { key, value, scope } => {
            // What is not JSON is a text: `ona config set guards strict`.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
            let file = write(launch, scope_of(*scope), key, Some(value))?;
            output::line(format_args!("{key} is set in {}", file.display()));
        }
        Config::Unset { key, scope } => {
            let file = write(launch, scope_of(*scope), key, None)?;
            output::line(format_args!("{key} is not set in {}", file.display()));
        }
    }
    Ok(0)
}

fn scope_of(scope: ConfigScope) -> SettingsScope {
    match scope {
        ConfigScope::User => SettingsScope::User,
        ConfigScope::Project => SettingsScope::Project,
        ConfigScope::Local => SettingsScope::Local,
    }
}

/// A text without quotes, everything else as JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Lists and objects are put together from all files; of anything else the last file counts.
fn origin(value: &Value, sources: &[SettingSource]) -> String {
    let sources = match sources {
        [.., last] if !value.is_array() && !value.is_object() => std::slice::from_ref(last),
        all => all,
    };
    let one = |source: &SettingSource| match &source.file {
        Some(file) => format!("{} settings {}", source.scope, file.display()),
        None => source.scope.to_owned(),
    };
    match sources {
        [] => "the database or a default".to_owned(),
        some => some.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

fn described(key: &str, value: &Value, sources: &[SettingSource]) -> Value {
    let source = |one: &SettingSource| json!({"scope": one.scope, "file": one.file, "value": one.value});
    let sources: Vec<_> = sources.iter().map(source).collect();
    json!({"key": key, "value": value, "sources": sources})
}
