//! The hooks of one file, in place of the configured ones (`--config` of `ona hooks`).
//!
//! Which dialect a file is in shows in its shape. A wrong guess that finds no hooks would
//! pass every test, so what is neither is an error.

use super::{LoadedSource, SourceContext, massgen, pi};
use crate::failure::Failure;
use ona_api::EventName;
use ona_dialects::pi::{PiDefinition, PiSource};
use ona_settings::{Settings, keys};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Hooks as one file has them.
pub enum HookConfig {
    Settings(Box<Settings>),
    Pi(Vec<PiDefinition>),
    /// Where the configuration is.
    Massgen(PathBuf),
}

impl HookConfig {
    /// Reads a file and detects by its shape what it is.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::usage(format_args!("{} {what}", file.display()));
        let text = ona_files::read_named(file).map_err(|why| wrong(why.to_string()))?;
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("yaml" | "yml") => return Ok(HookConfig::Massgen(file.to_owned())),
            Some("ts" | "mts" | "js" | "mjs" | "cjs") => {
                let hint = format!("--hook {}", file.display());
                return Err(wrong("is a hook module, which needs no --config".into()).hint(hint));
            }
            _ => {}
        }
        let content: Value =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is not valid JSON: {error}")))?;
        let Value::Object(content) = content else { return Err(wrong("does not hold a JSON object".into())) };
        let Some(hooks) = content.get(keys::HOOKS) else {
            if content.keys().any(|key| key.parse::<EventName>().is_ok()) {
                return ona_dialects::pi::parse(&text)
                    .map(HookConfig::Pi)
                    .map_err(|why| wrong(format!("cannot be used: {why}")));
            }
            return Ok(HookConfig::Settings(Box::new(Settings::read(&content.into()))));
        };
        let entries =
            || hooks.as_object().into_iter().flat_map(|events| events.values().filter_map(Value::as_array)).flatten();
        if entries().any(|entry| entry.get("handler").is_some()) {
            return Ok(HookConfig::Massgen(file.to_owned()));
        }
        // As with --settings: groups below an event are the shape of `.claude` files (DEC-041).
        let lies_in = |folder: &str| file.components().any(|part| part.as_os_str() == folder);
        let nested = entries().any(|entry| entry.get("hooks").is_some()) && !lies_in(".ona");
        let names_dialect = content.contains_key(keys::HOOKS_DIALECT);
        let mut settings = Settings::read(&content.into());
        if (nested || lies_in(".claude")) && !names_dialect {
            settings.hooks.dialect = "claude".to_owned();
        }
        Ok(HookConfig::Settings(Box::new(settings)))
    }

    pub(crate) fn load(&self, context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
        let loaded = match self {
            HookConfig::Settings(_) => ona_dialects::load(context.settings, context.dirs, context.handlers),
            HookConfig::Pi(definitions) => pi::hooks(PiSource::Cli, definitions, context.settings, context.dirs),
            HookConfig::Massgen(path) => massgen::hooks(path, context)?,
        };
        Ok(loaded.into())
    }
}
