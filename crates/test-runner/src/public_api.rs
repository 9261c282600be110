//! What the operator declared as the project's public interface (`sdlc.publicApi`), and
//! the texts a test generator is shown of it (DEC-123).
//!
//! `commands` are run and their output is shown, `files` are shown as they are,
//! `entryPoints` are the programs a test may call. A file is shown only if it is known
//! to be as it was before the implementation: unknown means no. History is not an interface,
//! so nothing below `.git` and no `git` command is.

use crate::environment::{OwnPaths, of_case};
use ona_api::Env;
use ona_api::path::lexical;
use ona_process::scratch::{self, Purpose};
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_settings::PublicApi;
use ona_workflow::testgen::generate::PublicText;
use ona_workflow::testgen::touched::TouchedFiles;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a command may take to say how it is used.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of one text; a longer text is not a summary of an interface.
const LONGEST: u64 = 256 * 1024;

/// Why a declared text is not shown.
#[derive(Debug, thiserror::Error)]
pub enum Withheld {
    #[error("the implementation touched it, or it is unknown whether it did: {0}")]
    Touched(String),
    #[error("the history of the project is not a public interface: {0}")]
    History(String),
    #[error("{1}: {0}")]
    Unreadable(String, std::io::Error),
    #[error("it is longer than {LONGEST} bytes: {0}")]
    TooLong(String),
    #[error("it is not text: {0}")]
    NoText(String),
    #[error("{1}: {0}")]
    NotRun(String, String),
    #[error("it says nothing: {0}")]
    Silent(String),
}

/// Where declared texts come from.
pub struct DeclarationContext<'a> {
    pub root: &'a Path,
    pub touched: &'a TouchedFiles,
    pub host: &'a Env,
    pub tmp: &'a Path,
    pub live_database: &'a Path,
    pub program_dir: Option<&'a Path>,
    pub cancel: &'a CancellationToken,
}

/// Returns everything declared, in order, commands first. One text that cannot be shown is
/// the end of it: tests written without it would not be what the operator meant.
pub async fn gather(declared: &PublicApi, context: &DeclarationContext<'_>) -> Result<Vec<PublicText>, Withheld> {
    let mut pieces = Vec::new();
    for command in &declared.commands {
        pieces.push(PublicText { name: format!("command: {command}"), text: output(command, context).await? });
    }
    for file in &declared.files {
        pieces.push(PublicText { name: format!("file: {file}"), text: content(file, context)? });
    }
    Ok(pieces)
}

fn content(file: &str, context: &DeclarationContext<'_>) -> Result<String, Withheld> {
    let unreadable = |error| Withheld::Unreadable(file.to_owned(), error);
    let given = lexical(&context.root.join(file));
    let real = given.canonicalize().map_err(unreadable)?;
    let root = context.root.canonicalize().map_err(unreadable)?;
    if [&given, &real].iter().any(|path| path.components().any(|part| part.as_os_str() == ".git")) {
        return Err(Withheld::History(file.to_owned()));
    }
    // By its own name and by the one it leads to.
    let untouched = context.touched.is_untouched(context.root, &given) && context.touched.is_untouched(&root, &real);
    if !untouched || is_another_name_of_a_touched_file(&real, context) {
        return Err(Withheld::Touched(file.to_owned()));
    }
    let mut bytes = Vec::new();
    let opened = ona_files::open_regular(&real).map_err(|why| unreadable(std::io::Error::other(why)))?;
    opened.take(LONGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Withheld::TooLong(file.to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| Withheld::NoText(file.to_owned()))
}

fn is_another_name_of_a_touched_file(file: &Path, context: &DeclarationContext<'_>) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = identity(file);
    let touched = context.touched.paths();
    touched.iter().any(|path| identity(&context.root.join(path)).is_some_and(|other| Some(other) == own))
}

async fn output(command: &str, context: &DeclarationContext<'_>) -> Result<String, Withheld> {
    let words = command.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    if words.into_iter().any(|word| word == "git") {
        return Err(Withheld::History(command.to_owned()));
    }
    let failed = |why: String| Withheld::NotRun(command.to_owned(), why);
    let test_dir = scratch::folder(Purpose::PublicApi, context.tmp);
    let test_dir = test_dir.map_err(|error| failed(error.to_string()))?;
    let database = test_dir.path().join("ona.db");
    let own = OwnPaths {
        home: test_dir.path(),
        database: &database,
        live_database: context.live_database,
        program_dir: context.program_dir,
    };
    let ran = ona_process::run_and_clear(
        ChildCommand {
            program: ona_process::first_existing(&["/bin/bash", "/usr/bin/bash"], "bash").into(),
            args: vec!["-c".into(), command.into()],
            cwd: PathBuf::from(context.root),
            env: of_case(context.host, &own),
            stdin: Vec::new(),
            cap: LONGEST as usize,
            deadline: Some(PATIENCE),
            grace: Duration::from_secs(1),
            on_death: OnDeath::Kill,
            wall: None,
        },
        context.cancel,
    );
    let ran = ran.await.map_err(|error| failed(error.to_string()))?;
    match ran.end {
        // How a program is used is often told with an exit code of its own; that the
        // shell did not find it is not an answer.
        ChildExit::Exited(126 | 127) => return Err(failed("the command was not found".to_owned())),
        ChildExit::Exited(_) => {}
        ChildExit::TimedOut => return Err(failed(format!("it did not end in {} seconds", PATIENCE.as_secs()))),
        ChildExit::Signalled(_) | ChildExit::Cancelled => return Err(failed("it was interrupted".to_owned())),
    }
    let (stdout, stderr) = (ona_tools::stream_text(&ran.stdout), ona_tools::stream_text(&ran.stderr));
    let said = if stdout.trim().is_empty() { stderr } else { stdout };
    if said.trim().is_empty() { Err(Withheld::Silent(command.to_owned())) } else { Ok(said) }
}
