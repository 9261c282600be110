//! The directories of a session, which path rules are anchored at.
//!
//! Paths are handled as text here; `resolve` follows links.

use crate::resolve::Forms;
use ona_api::path::lexical;
use std::path::{Path, PathBuf};

/// The directories of a session, which path rules are anchored at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDirs {
    /// Project root, the anchor of `/x`.
    pub project: PathBuf,
    /// Directory the session started in, the anchor of `./x` and `x`.
    pub start: PathBuf,
    /// Anchor of `~/x`.
    pub home: PathBuf,
    /// `additionalDirectories`, absolute.
    pub extra: Vec<PathBuf>,
}

impl SessionDirs {
    /// Returns the working directories: what a session may work in without a rule naming it.
    pub fn working_dirs(&self) -> impl Iterator<Item = &Path> {
        [&self.project, &self.start].into_iter().chain(&self.extra).map(PathBuf::as_path)
    }

    /// Returns an entry of `additionalDirectories`: absolute, `~/x`, or relative to the project.
    ///
    /// `None` for a directory so wide that it would not be a boundary (attack L-5):
    /// the root, or anything the home directory lies in.
    pub fn directory(&self, text: &str) -> Option<PathBuf> {
        let path = match text.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(rest.trim_start_matches('/')),
            _ => self.project.join(text),
        };
        let path = lexical(&path);
        let wide = path.parent().is_none() || (self.home.starts_with(&path) && self.home != path);
        (!wide && !text.trim().is_empty()).then_some(path)
    }
}

/// The working directories in both forms, looked up once.
#[derive(Clone, Debug)]
pub(crate) struct WorkingDirs(Vec<Forms>);

impl WorkingDirs {
    pub(crate) fn of(session_dirs: &SessionDirs) -> Self {
        Self(session_dirs.working_dirs().map(Forms::of).collect())
    }

    /// Both forms of the path have to lie inside; one that cannot be resolved does not.
    pub(crate) fn contains(&self, path: &Forms) -> bool {
        let Some(real) = &path.real else { return false };
        self.below(&path.given).is_some()
            && self.0.iter().filter_map(|dir| dir.real.as_ref()).any(|d| real.starts_with(d))
    }

    /// Returns the part of a path below the working directory it lies in.
    pub(crate) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.0
            .iter()
            .flat_map(Forms::each)
            .filter_map(|dir| path.strip_prefix(dir).ok())
            .min_by_key(|rest| rest.as_os_str().len())
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().flat_map(Forms::each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session_dirs() -> SessionDirs {
        SessionDirs {
            project: "/w/app".into(),
            start: "/w/app/sub".into(),
            home: "/home/u".into(),
            extra: vec!["/data".into()],
        }
    }

    fn contains(path: &str) -> bool {
        WorkingDirs::of(&session_dirs()).contains(&Forms::of(Path::new(path)))
    }

    #[test]
    fn a_directory_with_the_same_prefix_is_outside() {
        assert!(contains("/w/app/x"));
        assert!(contains("/data/x"));
        assert!(!contains("/w/app-secrets/k"));
        assert!(!contains("/w/app/../x"));
    }

    #[test]
    fn a_directory_that_holds_everything_is_no_working_directory() {
        for wide in ["/", "/home", "..//../..", "", "~/.."] {
            assert_eq!(session_dirs().directory(wide), None, "{wide}");
        }
        assert_eq!(session_dirs().directory("../b"), Some("/w/b".into()));
        assert_eq!(session_dirs().directory("~/x"), Some("/home/u/x".into()));
        assert_eq!(session_dirs().directory("/home/u"), Some("/home/u".into()));
    }
}
