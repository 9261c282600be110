//! A project that tests cannot change, where the system allows it (DEC-122).
//!
//! bubblewrap mounts the project read-only for one process tree, with the declared
//! build outputs and the test's own room writable above it, and the live database
//! read-only wherever it lies. Whether that works is found out by doing it: a program
//! of that name proves nothing in a container. Where it does not work a test can
//! change files, and its result is stale from then on.

use crate::project::Project;
use ona_api::{Env, environment};
use ona_process::scratch::{self, Purpose};
use ona_process::{ChildCommand, ChildExit, OnDeath, find_in_path};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PROBE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    Bubblewrap(PathBuf),
    None,
}

impl Sandbox {
    pub fn name(&self) -> &'static str {
        match self {
            Sandbox::Bubblewrap(_) => "bwrap",
            Sandbox::None => "none",
        }
    }

    /// What can be used here, found out by using it.
    pub(crate) async fn probe(project: &Project, tmp: &Path, env: &Env, cancel: &CancellationToken) -> Self {
        let Some(bwrap) = env.get(environment::PATH).and_then(|path| find_in_path(path, "bwrap")) else {
            return Sandbox::None;
        };
        let sandbox = Sandbox::Bubblewrap(bwrap);
        // The project must not be writable and the room must be.
        let probe = "if touch .ona-probe; then rm -f .ona-probe; exit 1; fi; touch \"$0\"/probe";
        let Ok(test_dir) = scratch::folder(Purpose::Probe, tmp) else { return Sandbox::None };
        let inner = ["/bin/sh".into(), "-c".into(), probe.into(), test_dir.path().into()];
        let (program, args) = sandbox.wrap(project, test_dir.path(), inner.to_vec());
        let command = ChildCommand {
            program,
            args,
            cwd: project.root.clone(),
            env: env.clone(),
            stdin: Vec::new(),
            cap: 1024,
            deadline: Some(PROBE),
            grace: Duration::ZERO,
            on_death: OnDeath::Kill,
            wall: None,
        };
        match ona_process::run_and_clear(command, cancel).await {
            Ok(ran) if ran.end == ChildExit::Exited(0) => sandbox,
            _ => Sandbox::None,
        }
    }

    /// Program and arguments that run `inner` in the project.
    pub(crate) fn wrap(&self, project: &Project, test_dir: &Path, inner: Vec<OsString>) -> (OsString, Vec<OsString>) {
        let Sandbox::Bubblewrap(bwrap) = self else {
            let mut inner = inner.into_iter();
            return (inner.next().unwrap_or_default(), inner.collect());
        };
        let mut args: Vec<OsString> = ["--die-with-parent", "--dev-bind", "/", "/"].map(Into::into).to_vec();
        let mut mount = |how: &str, path: &Path| args.extend([how.into(), path.into(), path.into()]);
        mount("--ro-bind", &project.root);
        for output in &project.outputs {
            mount("--bind-try", output);
        }
        mount("--bind", test_dir);
        for file in project.database_files() {
            mount("--ro-bind-try", &file);
        }
        args.extend(["--chdir".into(), project.root.clone().into(), "--".into()]);
        args.extend(inner);
        (bwrap.into(), args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outputs_and_room_are_writable_above_a_project_that_is_not() {
        let settings = ona_settings::Settings::read(&json!({"sdlc": {"buildOutputs": ["target"]}}));
        let project = Project::new(Path::new("/p"), Path::new("/p/ona.db"), &settings.sdlc).unwrap();
        let (program, args) =
            Sandbox::Bubblewrap("/usr/bin/bwrap".into()).wrap(&project, Path::new("/p/t"), vec!["bash".into()]);
        let args: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        assert_eq!(program, "/usr/bin/bwrap");
        assert_eq!(
            args.join(" "),
            "--die-with-parent --dev-bind / / --ro-bind /p /p --bind-try /p/target /p/target --bind /p/t /p/t \
             --ro-bind-try /p/ona.db /p/ona.db --ro-bind-try /p/ona.db-wal /p/ona.db-wal \
             --ro-bind-try /p/ona.db-shm /p/ona.db-shm --ro-bind-try /p/ona.db-journal /p/ona.db-journal \
             --chdir /p -- bash"
        );
        let plain = Sandbox::None.wrap(&project, Path::new("/t"), vec!["bash".into(), "x".into()]);
        assert_eq!(plain, ("bash".into(), vec!["x".into()]));
    }
}
