//! A policy made ready before fork, and put into force in the child.

use crate::namespace::Namespace;
use crate::policy::WallPolicy;
use crate::state::Mechanism;
use crate::{filter, plan, ruleset};
use landlock::{RulesetCreated, RulesetError};
use rustix::fs::{Access, access};
use seccompiler::{BackendError, BpfProgram};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum WallError {
    #[error("{}: {error}", path.display())]
    Path { path: PathBuf, error: io::Error },
    #[error("namespaces: {0}")]
    Namespace(io::Error),
    #[error("landlock: {0}")]
    Landlock(#[from] RulesetError),
    #[error("seccomp: {0}")]
    Seccomp(#[from] BackendError),
}

/// What keeps one child in.
#[derive(Debug)]
pub struct Wall {
    namespace: Option<Namespace>,
    ruleset: Option<RulesetCreated>,
    filters: Vec<BpfProgram>,
}

impl Wall {
    /// Prepares the mechanisms that are to be used. `cwd` is where the child goes on.
    pub fn prepare(policy: &WallPolicy, cwd: &Path, mechanisms: &[Mechanism]) -> Result<Self, WallError> {
        let uses = |mechanism| mechanisms.contains(&mechanism);
        let policy = existing(policy)?;
        let namespace = uses(Mechanism::Namespaces).then(|| {
            let renamed = |path: &Path| path.parent().is_some_and(|above| access(above, Access::WRITE_OK).is_ok());
            Namespace::new(plan::mounts(&policy, renamed), cwd).map_err(WallError::Namespace)
        });
        let ruleset =
            if uses(Mechanism::Landlock) { Some(ruleset::new(&policy, !uses(Mechanism::Namespaces))?) } else { None };
        let filters = if uses(Mechanism::Seccomp) { filter::programs(&policy)? } else { Vec::new() };
        Ok(Self { namespace: namespace.transpose()?, ruleset, filters })
    }

    /// Keeps one mechanism of it.
    pub(crate) fn only(self, mechanism: Mechanism) -> Self {
        let is = |other| mechanism == other;
        Self {
            namespace: self.namespace.filter(|_| is(Mechanism::Namespaces)),
            ruleset: self.ruleset.filter(|_| is(Mechanism::Landlock)),
            filters: if is(Mechanism::Seccomp) { self.filters } else { Vec::new() },
        }
    }

    /// Puts it into force for the calling process, which must have one thread, and for all it starts.
    /// It cannot be undone. Meant for the time between fork and exec: it neither allocates nor locks.
    pub fn enter(&mut self) -> io::Result<()> {
        if let Some(namespace) = &self.namespace {
            namespace.enter()?;
        }
        rustix::thread::set_no_new_privs(true)?;
        if let Some(ruleset) = self.ruleset.take() {
            let status = ruleset.restrict_self().map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
            if status.ruleset == landlock::RulesetStatus::NotEnforced {
                return Err(io::ErrorKind::Unsupported.into());
            }
        }
        for filter in &self.filters {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        }
        Ok(())
    }
}

/// Returns the policy with paths as they are now, without those that do not exist, and with
/// what is mounted below a guarded folder.
fn existing(policy: &WallPolicy) -> Result<WallPolicy, WallError> {
    let canonical = |paths: &[PathBuf]| -> Result<Vec<PathBuf>, WallError> {
        let mut found = Vec::new();
        for path in paths {
            match path.canonicalize() {
                Ok(path) => found.push(path),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(WallError::Path { path: path.clone(), error }),
            }
        }
        Ok(found)
    };
    let mut policy = WallPolicy {
        read_only: canonical(&policy.read_only)?,
        writable_inside: canonical(&policy.writable_inside)?,
        hidden: canonical(&policy.hidden)?,
        workspace: policy.workspace.as_deref().map(canonical).transpose()?,
        ..policy.clone()
    };
    let below: Vec<PathBuf> = mount_points()
        .into_iter()
        .filter(|mounted| policy.read_only.iter().any(|path| mounted != path && mounted.starts_with(path)))
        .filter(|mounted| !policy.writable_inside.contains(mounted))
        .collect();
    policy.read_only.extend(below);
    Ok(policy)
}

/// Without /proc there are none that could be told.
fn mount_points() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').nth(4)).map(|path| PathBuf::from(unescaped(path))).collect()
}

/// The kernel writes blanks and backslashes as three octal digits.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_with_blanks_are_read() {
        assert_eq!(unescaped("/a\\040b\\134c"), "/a b\\c");
        assert_eq!(unescaped("/plain"), "/plain");
        assert!(mount_points().contains(&PathBuf::from("/")));
    }
}
