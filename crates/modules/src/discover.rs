//! Which files are hook modules, in which order (DEC-173). Nothing is run here.
//!
//! Discovered files first, by provider; a later file with the key of an earlier one is
//! hidden by it. Then configured paths. One absolute path is loaded once.

use crate::graph::normal;
use ona_files::TOO_MANY_ENTRIES;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Where to look.
#[derive(Clone, Debug)]
pub struct SearchPaths {
    pub cwd: PathBuf,
    pub home: PathBuf,
    /// `PI_CODING_AGENT_DIR`, in place of `~/.omp/agent`.
    pub agent_dir: Option<PathBuf>,
    /// Files of `.claude` folders count too.
    pub claude: bool,
    /// The project's own folders count.
    pub project: bool,
    /// Only configured paths count.
    pub nothing: bool,
}

impl SearchPaths {
    /// Returns every folder a module could be found in, whether it counts or not.
    pub fn folders(&self) -> Vec<PathBuf> {
        let all = Self { claude: true, project: true, nothing: false, ..self.clone() };
        all.sources().into_iter().flat_map(|(folder, _)| ["pre", "post"].map(|kind| folder.join(kind))).collect()
    }

    /// Returns the folders that count, in order.
    fn sources(&self) -> Vec<(PathBuf, ModuleSource)> {
        let mut folders = Vec::new();
        if self.nothing {
            return folders;
        }
        if self.project {
            folders.push((self.cwd.join(".ona/hooks"), ModuleSource::Native));
            folders.push((self.cwd.join(".omp/hooks"), ModuleSource::Native));
        }
        let agent = self.agent_dir.clone().unwrap_or_else(|| self.home.join(".omp/agent"));
        folders.push((agent.join("hooks"), ModuleSource::Native));
        if self.claude {
            folders.push((self.home.join(".claude/hooks"), ModuleSource::Claude));
            if self.project {
                folders.push((self.cwd.join(".claude/hooks"), ModuleSource::Claude));
            }
        }
        folders
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCandidate {
    pub path: PathBuf,
    pub source: ModuleSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    Native,
    Claude,
    Configured,
}

impl ModuleSource {
    pub fn as_str(self) -> &'static str {
        match self {
            ModuleSource::Native => "native",
            ModuleSource::Claude => "claude",
            ModuleSource::Configured => "configured",
        }
    }
}

/// A configured path that names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadModulePath {
    pub path: String,
    pub why: String,
}

/// Returns everything to load, in order.
pub fn candidates(places: &SearchPaths, configured: &[String]) -> (Vec<ModuleCandidate>, Vec<BadModulePath>) {
    let mut refused = Vec::new();
    let mut found = discovered(places, &mut refused);
    for text in configured {
        match resolve(text, &places.cwd, &places.home) {
            Ok(path) => found.push(ModuleCandidate { path, source: ModuleSource::Configured }),
            Err(why) => refused.push(BadModulePath { path: text.clone(), why }),
        }
    }
    let mut seen = HashSet::new();
    found.retain(|one| seen.insert(one.path.clone()));
    (found, refused)
}

fn discovered(places: &SearchPaths, refused: &mut Vec<BadModulePath>) -> Vec<ModuleCandidate> {
    let mut keys = HashSet::new();
    let mut found = Vec::new();
    for (folder, source) in places.sources() {
        for kind in ["pre", "post"] {
            for path in files(&folder.join(kind), refused) {
                if keys.insert(key(kind, &path, source)) {
                    found.push(ModuleCandidate { path, source });
                }
            }
        }
    }
    found
}

/// `type:tool:name`, by which a file hides later ones.
fn key(kind: &str, path: &Path, source: ModuleSource) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let tool = match (source, name.rsplit_once('.')) {
        (ModuleSource::Claude, Some((tool, "sh" | "bash" | "zsh" | "fish"))) => tool,
        // A module beside shell files is still known by its bare name.
        (_, Some((tool, _))) => tool,
        (_, None) => &name,
    };
    format!("{kind}:{tool}:{name}")
}

/// Plain files of a folder by name; dot-files, links and folders are left out, and what is
/// neither is refused.
fn files(folder: &Path, refused: &mut Vec<BadModulePath>) -> Vec<PathBuf> {
    let mut entries = ona_files::list_dir(folder);
    if entries.truncated {
        refused.push(BadModulePath { path: folder.display().to_string(), why: format!("it {TOO_MANY_ENTRIES}") });
    }
    entries.paths.retain(|path| {
        let hidden = path.file_name().unwrap_or_default().to_string_lossy().starts_with('.');
        let Some(kind) = path.symlink_metadata().ok().map(|meta| meta.file_type()).filter(|_| !hidden) else {
            return false;
        };
        if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
            let why =
                ona_files::open_regular(path).map_or_else(|why| format!("it {why}"), |_| "it has changed".to_owned());
            refused.push(BadModulePath { path: path.display().to_string(), why });
        }
        kind.is_file()
    });
    entries.paths
}

/// Absolute as it is, `~` at home, anything else from `cwd`.
pub fn resolve(text: &str, cwd: &Path, home: &Path) -> Result<PathBuf, String> {
    if text.contains("://") {
        return Err(format!("{text} is not a path of a file"));
    }
    let path = match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => cwd.join(text),
    };
    Ok(normal(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_at_home_or_from_here() {
        let (cwd, home) = (Path::new("/place"), Path::new("/home/me"));
        let cases = [
            ("/abs/h.ts", "/abs/h.ts"),
            ("~/h.ts", "/home/me/h.ts"),
            ("rel/../h.ts", "/place/h.ts"),
            ("~", "/home/me"),
            ("~x", "/place/~x"),
        ];
        for (text, path) in cases {
            assert_eq!(resolve(text, cwd, home), Ok(PathBuf::from(path)), "{text}");
        }
        assert!(resolve("skill://x", cwd, home).is_err());
    }
}
