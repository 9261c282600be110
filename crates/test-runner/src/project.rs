//! The project tests run in: its root, what of it builds may write, how long a test
//! may take. Settings under `sdlc` say the last two.

use ona_api::path::lexical;
use ona_api::{ConversationId, Group, Row, digest};
use ona_files::{ProjectSnapshot, SnapshotError};
use ona_settings::{SdlcSettings, SettingsProblem};
use ona_store::{Reader, StoreError};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a case may run by default (DEC-122).
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub root: PathBuf,
    /// Folders and files inside the root that tests may write and no snapshot contains.
    pub outputs: Vec<PathBuf>,
    pub timeout: Duration,
    /// The live database.
    pub database: PathBuf,
    /// Reports we wrote into the project, by path and content: they are not part of it.
    reports: BTreeMap<String, String>,
}

/// Key of `state` under which they are remembered.
const REPORTS: &str = "sdlc_test_reports";

impl Project {
    pub fn new(root: &Path, database: &Path, settings: &SdlcSettings) -> Result<Self, SettingsProblem> {
        let outputs = settings.build_outputs.clone()?;
        let outputs = outputs.iter().map(|path| output(root, path)).collect::<Result<_, _>>()?;
        let timeout = settings.test_timeout.clone()?.unwrap_or(TIMEOUT);
        Ok(Self { root: root.to_owned(), outputs, timeout, database: database.to_owned(), reports: BTreeMap::new() })
    }

    /// Returns the files of the project as they are now, without build outputs, without our
    /// own reports and without the database, should it lie there.
    pub fn snapshot(&self) -> Result<ProjectSnapshot, SnapshotError> {
        let companions = self.database_files().into_iter().chain([self.beside_database(".locks")]);
        let exclude: Vec<_> = companions.chain(self.outputs.iter().cloned()).collect();
        let mut snapshot = ona_files::snapshot(&self.root, &exclude)?;
        // Only as long as it is what we wrote: a name alone would be a place to hide.
        snapshot.files.retain(|file| self.reports.get(&file.path) != Some(&file.sha256));
        Ok(snapshot)
    }

    /// Learns which reports lie in the project.
    pub fn with_reports(mut self, reader: &Reader, conversation: &ConversationId) -> Result<Self, StoreError> {
        let known = reader.state(conversation, REPORTS)?.unwrap_or_default();
        // Without the list, a report counts as a file of the project like any other.
        self.reports = serde_json::from_str(&known).unwrap_or_default();
        Ok(self)
    }

    /// Returns the row that remembers a report; nothing for one outside the project.
    pub fn report_written(&self, path: &Path, content: &[u8]) -> Group {
        let path = lexical(path);
        let Ok(below) = path.strip_prefix(&self.root) else { return Group::default() };
        let mut reports = self.reports.clone();
        reports.insert(below.to_string_lossy().into_owned(), digest::sha256_hex(content));
        Group(vec![Row::State { key: REPORTS.to_owned(), value: json!(reports).to_string() }])
    }

    /// Returns the database with its journals.
    pub fn database_files(&self) -> Vec<PathBuf> {
        ["", "-wal", "-shm", "-journal"].iter().map(|end| self.beside_database(end)).collect()
    }

    fn beside_database(&self, end: &str) -> PathBuf {
        let mut path = self.database.as_os_str().to_owned();
        path.push(end);
        path.into()
    }
}

/// Checks one build output: a setting must not make the whole project writable, nor anything outside it.
fn output(root: &Path, path: &str) -> Result<PathBuf, SettingsProblem> {
    let full = lexical(&root.join(path));
    let git = full.starts_with(root.join(".git"));
    let inside = !path.is_empty() && full.starts_with(root) && full != root && !git;
    if inside { Ok(full) } else { Err(SdlcSettings::bad_build_output(&path.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_settings::Settings;
    use serde_json::Value;

    fn project(sdlc: Value) -> Result<Project, String> {
        let settings = Settings::read(&json!({ "sdlc": sdlc }));
        Project::new(Path::new("/p"), Path::new("/p/ona.db"), &settings.sdlc).map_err(|bad| bad.to_string())
    }

    #[test]
    fn settings_name_outputs_inside_the_project_and_a_timeout() {
        let read = project(json!({"buildOutputs": ["target", "./web/dist/"], "testTimeoutSeconds": 7})).unwrap();
        assert_eq!(read.outputs, [Path::new("/p/target"), Path::new("/p/web/dist")]);
        assert_eq!(read.timeout, Duration::from_secs(7));
        assert_eq!(project(Value::Null).unwrap().timeout, Duration::from_secs(300));
    }

    #[test]
    fn a_setting_cannot_open_the_project_or_what_is_outside() {
        for path in ["", ".", "..", "../x", "/etc", "a/../..", ".git", ".git/hooks"] {
            assert!(project(json!({ "buildOutputs": [path] })).is_err(), "{path}");
        }
        for bad in [json!({"buildOutputs": "target"}), json!({"buildOutputs": [1]}), json!({"testTimeoutSeconds": 0})] {
            assert!(project(bad.clone()).is_err(), "{bad}");
        }
    }
}
