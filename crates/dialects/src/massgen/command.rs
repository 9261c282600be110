//! Handlers that are programs: found, told in their environment whose call it is, run
//! once for each firing.

use super::agent_list::AgentList;
use super::python::interpreter;
use ona_api::shell_words;
use ona_api::{Env, environment};
use ona_hookplane::{Argv, HandlerFuture, HookExecution, HookHandler, HookInvocation, run_process};
use ona_process::find_in_path;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct CommandHook {
    /// The files its command names beside the configuration and in the project.
    pub files: Vec<PathBuf>,
    pub label: String,
    pub handler: String,
    /// Where the configuration is.
    pub folder: PathBuf,
    pub agents: Arc<AgentList>,
}

impl HookHandler for CommandHook {
    fn label(&self) -> &str {
        &self.label
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn missing(&self, cwd: &Path, env: &Env) -> Option<String> {
        let program = argv(&self.handler, &self.folder, cwd, env).err()?;
        Some(format!("{program} is neither beside the configuration nor in the project, nor installed"))
    }

    fn run<'a>(&'a self, mut called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        let (base, env) = (&called.firing.base, &mut called.env);
        env.set(environment::MASSGEN_HOOK_TYPE, called.firing.event.as_str());
        env.set(environment::MASSGEN_TOOL_NAME, called.firing.tool().unwrap_or_default());
        env.set(environment::MASSGEN_SESSION_ID, base.session.as_str());
        env.set(environment::MASSGEN_ORCHESTRATOR_ID, base.conversation.as_str());
        env.set(environment::MASSGEN_AGENT_ID, self.agents.id(base).unwrap_or_default());
        let argv = argv(&self.handler, &self.folder, &base.cwd, env);
        Box::pin(run_process(argv, called))
    }
}

fn argv(handler: &str, folder: &Path, cwd: &Path, env: &Env) -> Argv {
    // A path with a space in it needs no quotes.
    let whole = handler.contains(char::is_whitespace).then(|| beside(handler, folder, cwd)).flatten();
    let (program, mut args) = match whole {
        Some(file) => (file, Vec::new()),
        None => {
            let mut words = shell_words::split(handler).unwrap_or_default().into_iter();
            let first = words.next().ok_or(handler)?;
            (find(&first, folder, cwd, env).ok_or(first)?, words.collect())
        }
    };
    let file = program.to_string_lossy().into_owned();
    match how(&program) {
        How::Directly => Ok((file, args)),
        How::Python => {
            args.insert(0, file);
            Ok((interpreter(env), args))
        }
        How::Sh => {
            args.insert(0, file);
            Ok(("/bin/sh".to_owned(), args))
        }
    }
}

/// A bare name is looked up as a shell would first: a file in the project must not take
/// the place of `python3`.
fn find(name: &str, folder: &Path, cwd: &Path, env: &Env) -> Option<PathBuf> {
    let installed = || find_in_path(env.get(environment::PATH).unwrap_or_default(), name);
    if name.contains('/') { beside(name, folder, cwd) } else { installed().or_else(|| beside(name, folder, cwd)) }
}

/// Next to the configuration, then in the working directory.
pub(super) fn beside(name: &str, folder: &Path, cwd: &Path) -> Option<PathBuf> {
    [folder, cwd].into_iter().map(|dir| dir.join(name)).find(|file| file.is_file())
}

enum How {
    Directly,
    Python,
    Sh,
}

fn how(file: &Path) -> How {
    let executable = std::fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    let is_python = file.extension().is_some_and(|ending| ending == "py");
    match (executable, is_python) {
        // The kernel runs text only if its first line says by what.
        (true, true) if !has_shebang(file) => How::Python,
        (true, _) => How::Directly,
        (false, true) => How::Python,
        (false, false) => How::Sh,
    }
}

fn has_shebang(file: &Path) -> bool {
    let mut start = [0; 2];
    ona_files::open_regular(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && &start == b"#!"
}
