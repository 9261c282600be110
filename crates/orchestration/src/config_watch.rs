//! Settings files and skills that change while a session runs: ConfigChange.
//!
//! A session keeps the settings it began with (section 4.4), so a change takes effect at the next start;
//! hooks are notified when it is noticed. Nothing runs in the background: files are looked at by
//! their metadata between steps of a turn and while a driven session waits, and not at all while
//! no hook listens.

use crate::events::{Events, TurnEvent};
use crate::file_watch::{Stamp, stamp};
use crate::lifecycle::lifecycle;
use crate::session::Session;
use ona_api::EventName;
use ona_hookplane::HookEngine;
use ona_store::{Store, StoreError};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Entries of a folder of skills that are looked at.
const MAX_SKILLS: usize = 1000;

/// What a session was configured from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// A file, and the `source` of the event.
    Settings(PathBuf, &'static str),
    /// A folder of skills.
    Skills(PathBuf),
}

/// The files of a source as they were, in a fixed order.
type SourceState = Vec<(PathBuf, Stamp)>;

#[derive(Debug, Default)]
pub struct ConfigWatch(Vec<(ConfigSource, SourceState)>);

impl ConfigWatch {
    /// Only what happens from now on is news.
    pub fn new(sources: impl IntoIterator<Item = ConfigSource>) -> Self {
        let with_state = |source: ConfigSource| {
            let state = state(&source);
            (source, state)
        };
        Self(sources.into_iter().map(with_state).collect())
    }

    /// Returns the sources that have changed since the last look, each with a file that is different.
    fn changes(&mut self) -> Vec<(&'static str, PathBuf)> {
        let look = |(source, before): &mut (ConfigSource, SourceState)| {
            let now = state(source);
            let before = std::mem::replace(before, now.clone());
            let path = difference(&before, &now)?.to_owned();
            Some((source.name(), path))
        };
        self.0.iter_mut().filter_map(look).collect()
    }
}

impl ConfigSource {
    fn name(&self) -> &'static str {
        match self {
            ConfigSource::Settings(_, name) => name,
            ConfigSource::Skills(_) => "skills",
        }
    }
}

fn state(source: &ConfigSource) -> SourceState {
    let paths = match source {
        ConfigSource::Settings(path, _) => vec![path.clone()],
        ConfigSource::Skills(folder) => skill_files(folder),
    };
    paths.into_iter().filter_map(|path| stamp(&path).map(|stamp| (path, stamp))).collect()
}

fn skill_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.flatten().take(MAX_SKILLS).map(|entry| entry.path().join("SKILL.md")).collect();
    files.sort();
    files
}

/// Returns the first file that is new, gone or different. Both lists are in the order of the paths.
fn difference<'a>(before: &'a SourceState, now: &'a SourceState) -> Option<&'a Path> {
    let missing_in = |list: &'a SourceState, other: &SourceState| {
        list.iter().find(|entry| !other.contains(entry)).map(|(path, _)| path.as_path())
    };
    missing_in(now, before).or_else(|| missing_in(before, now))
}

/// Tells hooks of changed settings and skills, one firing for each source.
pub(crate) async fn look(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
) -> Result<(), StoreError> {
    if !hooks.listens_to(EventName::ConfigChange) {
        return Ok(());
    }
    for (source, path) in session.config.changes() {
        let fields = json!({"source": source, "file_path": path.to_string_lossy()});
        let outcome = lifecycle(store, hooks, session, events, EventName::ConfigChange, fields).await?;
        // A policy is not a hook's to reject.
        if outcome.is_denied() && source != "policy_settings" {
            let path = ona_permissions::printable(&path.to_string_lossy());
            let what = "A hook rejected a change of the configuration. This session does not use it, the next one will";
            events(TurnEvent::Message(format!("{what}; to prevent that, undo the change in {path}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_news_once_for_each_change() {
        let dir = tempfile::TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
        };
        write("user.json", "{}");
        write("skills/a/SKILL.md", "a");
        let mut watch = ConfigWatch::new([
            ConfigSource::Settings(at("user.json"), "user_settings"),
            ConfigSource::Settings(at("local.json"), "local_settings"),
            ConfigSource::Skills(at("skills")),
        ]);
        assert_eq!(watch.changes(), []);
        write("user.json", "{\"a\": 1}");
        write("local.json", "{}");
        assert_eq!(watch.changes(), [("user_settings", at("user.json")), ("local_settings", at("local.json"))]);
        assert_eq!(watch.changes(), []);
        write("skills/b/SKILL.md", "b");
        assert_eq!(watch.changes(), [("skills", at("skills/b/SKILL.md"))]);
        std::fs::remove_dir_all(at("skills/a")).unwrap();
        std::fs::remove_file(at("local.json")).unwrap();
        assert_eq!(watch.changes(), [("local_settings", at("local.json")), ("skills", at("skills/a/SKILL.md"))]);
    }
}
