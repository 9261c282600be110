//! Real folders: a home, a repository, a managed folder, and nothing of the host.

mod confine;
mod database_path;
mod discover;
mod guarded;
mod hooks;
mod import;
mod merge;
mod mirror;
mod secrets;
mod trust;

use ona_api::Env;
use ona_trust::{DiscoveredSettings, DiscoveryOptions, Merged, SettingsError, Trust};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

struct World {
    _dir: tempfile::TempDir,
    home: PathBuf,
    repo: PathBuf,
    env: Env,
    how: DiscoveryOptions,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, repo) = (base.join("home"), base.join("home/src/repo"));
        fs::create_dir_all(repo.join(".git")).unwrap();
        let mut how = DiscoveryOptions::new(&repo, Trust::Trusted);
        how.managed_dir = base.join("etc");
        let env = Env::default().with("HOME", &home);
        Self { _dir: dir, home, repo, env, how }
    }

    fn untrusted() -> Self {
        let mut world = Self::new();
        world.how.trust = Trust::Withheld;
        world
    }

    /// A world with settings per scope, in the words of the attack table;
    /// `user`, `project` and `local` are own files, `.claude` behind the name the compatible ones.
    fn with(settings: Value) -> Self {
        let world = Self::new();
        world.put_all(settings);
        world
    }

    fn put_all(&self, settings: Value) {
        for (scope, value) in settings.as_object().unwrap() {
            self.put(&self.file(scope), &format!("{value:#}"));
        }
    }

    fn file(&self, scope: &str) -> PathBuf {
        match scope {
            "managed" => self.how.managed_dir.join("managed-settings.json"),
            "user" => self.home.join(".ona/settings.json"),
            "user.claude" => self.home.join(".claude/settings.json"),
            "project" => self.repo.join(".ona/settings.json"),
            "project.claude" => self.repo.join(".claude/settings.json"),
            "local" => self.repo.join(".ona/settings.local.json"),
            "local.claude" => self.repo.join(".claude/settings.local.json"),
            other => panic!("no file for {other}"),
        }
    }

    fn put(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn try_discover(&self) -> Result<DiscoveredSettings, SettingsError> {
        ona_trust::discover(&self.how, &self.env)
    }

    fn discover(&self) -> DiscoveredSettings {
        self.try_discover().unwrap()
    }

    fn merged(&self) -> Merged {
        ona_trust::merge(&self.discover(), &self.env)
    }

    fn effective(&self) -> Value {
        self.merged().effective
    }

    /// Notices as `file:line: message`, with the folders of this world shortened.
    fn notices(&self) -> Vec<String> {
        let shorten = |text: String| {
            let text = text.replace(self.repo.to_str().unwrap(), "<repo>");
            let text = text.replace(self.home.to_str().unwrap(), "<home>");
            text.replace(self.how.managed_dir.to_str().unwrap(), "<etc>")
        };
        self.merged().notices.iter().map(|notice| shorten(notice.to_string())).collect()
    }
}
