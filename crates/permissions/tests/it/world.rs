//! A project, a home and a folder outside both, and calls made there.

use ona_api::{Access, Mode, Ruling, Verdict};
use ona_permissions::{GuardedFiles, PermissionEngine, Rules, SessionDirs};
use ona_settings::PermissionSettings;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The allow list of a new database (DEC-013).
pub(crate) const SEED: [&str; 14] = [
    "Read(./**)",
    "Glob",
    "Grep",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "AskUserQuestion",
    "Agent",
    "EnterPlanMode",
    "ListMcpResources",
    "ReadMcpResource",
    "ToolSearch",
    "Brief",
    "Bash(@read-only)",
];

pub(crate) struct World {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub project: PathBuf,
    pub home: PathBuf,
    pub outside: PathBuf,
    pub db: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let at = |name: &str| base.join(name);
        let world = Self {
            project: at("app"),
            home: at("home"),
            outside: at("outside"),
            db: at("state/ona.db"),
            base,
            _dir: dir,
        };
        for file in ["f.txt", "a b.txt", ".env", "sub/.env", "secrets/k.txt", "src/a.js", "src/c.ts", "src/deep/b.js"] {
            world.file(&world.project.join(file));
        }
        for file in [".claude/settings.json", ".git/config", "build/old"] {
            world.file(&world.project.join(file));
        }
        world.file(&world.home.join("homefile.txt"));
        world.file(&world.outside.join("o.txt"));
        world.file(&world.db);
        world
    }

    pub(crate) fn file(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "S=1\n").unwrap();
    }

    pub(crate) fn link(&self, target: &Path, link: &Path) {
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }

    pub(crate) fn place(&self) -> SessionDirs {
        SessionDirs {
            project: self.project.clone(),
            start: self.project.clone(),
            home: self.home.clone(),
            extra: Vec::new(),
        }
    }

    pub(crate) fn guarded(&self) -> GuardedFiles {
        let settings =
            [".claude/settings.json", ".claude/settings.local.json", ".ona/settings.json", ".ona/settings.local.json"];
        let project = settings.map(|file| self.project.join(file));
        let user = settings.map(|file| self.home.join(file));
        GuardedFiles::new(Some(self.db.clone()), project.into_iter().chain(user), &self.place())
    }

    /// An engine for the `permissions` object, as a session would build it.
    pub(crate) fn engine(&self, permissions: &Value) -> PermissionEngine {
        let (settings, _) = PermissionSettings::parse(permissions).unwrap();
        let (rules, _) = Rules::parse(&settings);
        let mut place = self.place();
        place.extra = settings.additional_directories.iter().filter_map(|text| place.directory(text)).collect();
        PermissionEngine::new(rules, settings.default_mode, place, self.guarded())
    }

    pub(crate) fn decide(&self, permissions: &Value, tool: &str, input: &Value) -> Verdict {
        self.decide_in(&self.project, permissions, tool, input)
    }

    pub(crate) fn decide_in(&self, cwd: &Path, permissions: &Value, tool: &str, input: &Value) -> Verdict {
        self.engine(permissions).decide(tool, input, &self.access(cwd, tool, input), None)
    }

    pub(crate) fn bash(&self, permissions: &Value, script: &str) -> Ruling {
        self.decide(permissions, "Bash", &json!({"command": self.fill(script)})).ruling
    }

    /// What the tools of the product say a call touches.
    pub(crate) fn access(&self, cwd: &Path, tool: &str, input: &Value) -> Vec<Access> {
        let path = |key: &str| input.get(key).and_then(Value::as_str).map(|text| lexical(&cwd.join(text)));
        match tool {
            "Read" => vec![Access::Read(path("file_path").unwrap())],
            "Write" => vec![Access::Edit(path("file_path").unwrap())],
            "Edit" => vec![Access::Read(path("file_path").unwrap()), Access::Edit(path("file_path").unwrap())],
            "NotebookEdit" => vec![Access::Edit(path("notebook_path").unwrap())],
            "Glob" | "Grep" => vec![Access::Search(path("path").unwrap_or_else(|| cwd.to_path_buf()))],
            "Bash" => {
                vec![Access::Shell { script: input["command"].as_str().unwrap().to_owned(), cwd: cwd.to_path_buf() }]
            }
            "WebFetch" => vec![Access::Fetch { url: input["url"].as_str().unwrap().to_owned() }],
            _ => vec![Access::Plain],
        }
    }

    /// Fills in the placeholders of both fixtures.
    pub(crate) fn fill(&self, text: &str) -> String {
        let shown = |path: &Path| path.to_str().unwrap().to_owned();
        let tmp = shown(&self.base.join("tmp"));
        [
            ("${PROJECT}", shown(&self.project)),
            ("${HOME}", shown(&self.home)),
            ("${OUTSIDE}", shown(&self.outside)),
            ("<repo>", shown(&self.project)),
            ("<home>", shown(&self.home)),
            ("<base>", shown(&self.base)),
            ("<db>", shown(&self.db)),
            ("<tmp>", tmp),
        ]
        .into_iter()
        .fold(text.to_owned(), |text, (placeholder, path)| text.replace(placeholder, &path))
    }

    pub(crate) fn fill_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fill(&value.to_string())).unwrap()
    }
}

pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// `permissions` with lists and a mode.
pub(crate) fn permissions(mode: Mode, allow: &[&str], deny: &[&str]) -> Value {
    json!({"allow": allow, "deny": deny, "defaultMode": mode.as_str()})
}
