//! A permission update applied to the text of a settings file.
//!
//! Only the array or value the update is about is rewritten; the rest of the
//! text, with its unknown keys, order and layout, stays as the person left it.

use crate::json_text::{self, JsonMember};
use crate::permissions::{DEFAULT_MODE, DIRECTORIES, anchored};
use crate::read::{self, without_bom};
use ona_api::permission_update::{PermissionUpdate, RuleText};
use ona_settings::keys;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EditError {
    #[error("{message}")]
    NotSettings { line: Option<usize>, message: String },
    #[error("`permissions.{0}` cannot be changed, because it is not an array of strings")]
    NotAList(&'static str),
    #[error("`permissions` cannot be changed, because it is not an object")]
    NotAnObject,
}

/// What a single leading slash in a path rule stands for. A row anchors it at
/// the project root, a user's file at its own folder.
#[derive(Clone, Copy, Debug)]
pub struct RuleAnchors<'a> {
    pub row: &'a Path,
    pub file: &'a Path,
}

/// Returns the text with the update applied; the same text if it changes nothing.
pub fn apply(original: &str, update: &PermissionUpdate, anchors: RuleAnchors<'_>) -> Result<String, EditError> {
    let text = without_bom(original);
    let mut settings =
        read::parse(text).map_err(|error| EditError::NotSettings { line: error.line, message: error.message })?;
    let slot = settings.entry("permissions").or_insert(Value::Null);
    if slot.is_null() {
        *slot = Map::new().into();
    }
    let permissions = slot.as_object_mut().ok_or(EditError::NotAnObject)?;
    let (key, value) = changed(permissions, update, anchors)?;
    if permissions.get(key) == Some(&value) || permissions.get(key).is_none() && value == Value::Array(Vec::new()) {
        return Ok(original.to_owned());
    }
    permissions.insert(key.to_owned(), value.clone());
    let edited = set(text, key, &value);
    match edited.filter(|edited| read::parse(edited).is_ok_and(|read| read == settings)) {
        Some(edited) => Ok(edited),
        // The layout is one that is not understood: the content is what matters.
        None => Ok(laid_out(&Value::Object(settings), "  ", "") + "\n"),
    }
}

/// Returns the member of `permissions` an update is about, and its new value.
fn changed(
    permissions: &Map<String, Value>,
    update: &PermissionUpdate,
    anchors: RuleAnchors<'_>,
) -> Result<(&'static str, Value), EditError> {
    let list = |key: &'static str| match permissions.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>().ok_or(EditError::NotAList(key))
        }
        Some(_) => Err(EditError::NotAList(key)),
    };
    let written = |rule: &RuleText| match anchors.row == anchors.file {
        true => rule.joined(),
        false => anchored(&rule.joined(), anchors.row),
    };
    let same = |one: &str, other: &str| anchored(one, anchors.file) == anchored(other, anchors.file);
    let rules = |rules: &[RuleText]| rules.iter().map(written).collect::<Vec<_>>();
    let plus = |mut list: Vec<String>, more: Vec<String>| {
        for text in more {
            if !list.iter().any(|known| same(known, &text)) {
                list.push(text);
            }
        }
        list
    };
    let minus = |mut list: Vec<String>, less: &[String]| {
        list.retain(|known| !less.iter().any(|text| same(known, text)));
        list
    };
    Ok(match update {
        PermissionUpdate::AddRules { rules: new, behavior, .. } => {
            (behavior.as_str(), plus(list(behavior.as_str())?, rules(new)).into())
        }
        PermissionUpdate::ReplaceRules { rules: new, behavior, .. } => {
            (behavior.as_str(), plus(Vec::new(), rules(new)).into())
        }
        PermissionUpdate::RemoveRules { rules: old, behavior, .. } => {
            (behavior.as_str(), minus(list(behavior.as_str())?, &rules(old)).into())
        }
        PermissionUpdate::SetMode { mode, .. } => (DEFAULT_MODE, mode.as_str().into()),
        PermissionUpdate::AddDirectories { directories, .. } => {
            (DIRECTORIES, plus(list(DIRECTORIES)?, directories.clone()).into())
        }
        PermissionUpdate::RemoveDirectories { directories, .. } => {
            (DIRECTORIES, minus(list(DIRECTORIES)?, directories).into())
        }
    })
}

/// Puts `permissions.<key>` into the text.
fn set(text: &str, key: &str, value: &Value) -> Option<String> {
    let unit = indent_unit(text);
    if let Some(member) = json_text::find(text, &["permissions", key]) {
        let value = laid_out(value, unit, line_indent(text, member.key));
        return Some(replaced(text, &member, &value));
    }
    if let Some(permissions) = json_text::find(text, &[keys::PERMISSIONS]) {
        return inserted(text, permissions.value.start, key, value, unit);
    }
    let whole = Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    inserted(text, text.find('{')?, "permissions", &whole, unit)
}

fn replaced(text: &str, member: &JsonMember, value: &str) -> String {
    format!("{}{value}{}", &text[..member.value.start], &text[member.value.end..])
}

/// Inserts a new last member into the object that starts at `object`.
fn inserted(text: &str, object: usize, key: &str, value: &Value, unit: &str) -> Option<String> {
    let key = Value::from(key);
    match json_text::members(text, object)?.last() {
        Some(last) => {
            let (before, after) = text.split_at(last.value.end);
            let inline = !text[object..last.key].contains('\n');
            let indent = line_indent(text, last.key);
            Some(match inline {
                true => format!("{before}, {key}: {value}{after}"),
                false => format!("{before},\n{indent}{key}: {}{after}", laid_out(value, unit, indent)),
            })
        }
        None => {
            let close = object + text[object..].find('}')?;
            let outer = line_indent(text, object);
            let indent = format!("{outer}{unit}");
            let member = format!("{key}: {}", laid_out(value, unit, &indent));
            Some(format!("{}{{\n{indent}{member}\n{outer}}}{}", &text[..object], &text[close + 1..]))
        }
    }
}

/// Returns the white space a line starts with.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns how far the first key of the file is indented.
fn indent_unit(text: &str) -> &str {
    let first = json_text::members(text, 0).and_then(|members| members.first().map(|member| member.key));
    match first.map(|key| line_indent(text, key)) {
        Some(indent) if !indent.is_empty() => indent,
        _ => "  ",
    }
}

/// JSON on several lines, all but the first starting with `indent`.
fn laid_out(value: &Value, unit: &str, indent: &str) -> String {
    let mut bytes = Vec::new();
    let layout = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, layout);
    value.serialize(&mut serializer).expect("a JSON value has a text");
    let text = String::from_utf8(bytes).expect("JSON text is UTF-8");
    text.replace('\n', &format!("\n{indent}"))
}
