//! A project on disk, and permission engines for it.

use ona_api::{Access, Ruling};
use ona_permissions::{GuardedFiles, PermissionEngine, Rules, SessionDirs};
use ona_settings::PermissionSettings;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

pub(super) struct World {
    _folder: tempfile::TempDir,
    pub project: PathBuf,
    dirs: SessionDirs,
    guarded: GuardedFiles,
}

pub(super) static WORLD: LazyLock<World> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().canonicalize().expect("it exists");
    let at = |name: &str| root.join(name);
    for name in ["app/.env", "app/f.txt", "app/src/a.js", "app/.claude/settings.json", "home/x", "state/ona.db"] {
        fs::create_dir_all(at(name).parent().expect("a folder")).expect("a folder");
        fs::write(at(name), "S=1\n").expect("a file");
    }
    std::os::unix::fs::symlink(at("app/.env"), at("app/link")).expect("a link");
    let project = at("app");
    let dirs = SessionDirs { project: project.clone(), start: project.clone(), home: at("home"), extra: Vec::new() };
    let guarded = GuardedFiles::new(Some(at("state/ona.db")), [project.join(".claude/settings.json")], &dirs);
    World { _folder: folder, project, dirs, guarded }
});

impl World {
    /// The engine of a session with these lists; `None` if they cannot be read.
    pub(super) fn engine(
        &self,
        allow: &[String],
        ask: &[String],
        deny: &[String],
        mode: &str,
    ) -> Option<PermissionEngine> {
        let permissions = json!({"allow": allow, "ask": ask, "deny": deny, "defaultMode": mode});
        let (settings, _) = PermissionSettings::parse(&permissions).ok()?;
        let (rules, _) = Rules::parse(&settings);
        Some(PermissionEngine::new(rules, settings.default_mode, self.dirs.clone(), self.guarded.clone()))
    }

    pub(super) fn bash(&self, engine: &PermissionEngine, script: &str) -> Ruling {
        let access = self.shell(script);
        engine.decide("Bash", &json!({"command": script}), &access, None).ruling
    }

    pub(super) fn shell(&self, script: &str) -> [Access; 1] {
        [Access::Shell { script: script.to_owned(), cwd: self.project.clone() }]
    }

    pub(super) fn dirs(&self) -> &SessionDirs {
        &self.dirs
    }

    /// A call and what it touches.
    pub(super) fn call(&self, tool: &str, text: &str) -> (Value, Vec<Access>) {
        let path = self.project.join(text.trim_start_matches('\0'));
        match tool {
            "Read" => (json!({"file_path": text}), vec![Access::Read(path)]),
            "Edit" => (json!({"file_path": text}), vec![Access::Read(path.clone()), Access::Edit(path)]),
            "Write" => (json!({"file_path": text}), vec![Access::Edit(path)]),
            "Grep" => (json!({"path": text}), vec![Access::Search(path)]),
            "WebFetch" => (json!({"url": text}), vec![Access::Fetch { url: text.to_owned() }]),
            "Bash" => (json!({"command": text}), self.shell(text).to_vec()),
            _ => (json!({"text": text}), vec![Access::Plain]),
        }
    }
}
