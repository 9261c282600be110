//! One tool call, parsed into the parts that rules and checks look at.
//!
//! Scripts are parsed and paths resolved here, once, before anything is decided.

use crate::bash::cwd::{self, Dirs};
use crate::bash::files::{self, FileReach, FileRole, FileUse, OutputUse};
use crate::bash::redirect::{Direction, is_free};
use crate::bash::words::{HOLE, ShellWord};
use crate::bash::{self, ParsedScript};
use crate::dirs::SessionDirs;
use crate::domain;
use crate::resolve::{Forms, LinkCache};
use ona_api::Access;
use ona_api::path::lexical;
use serde_json::Value;
use std::path::Path;
use url::Url;

pub(crate) struct ParsedCall<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub parts: Vec<CallPart>,
}

pub(crate) enum CallPart {
    Read(Forms),
    Search(Forms),
    Edit(Forms),
    Shell(Box<ShellPart>),
    /// `None`: no address that can be fetched.
    Fetch(Option<Url>),
    Plain,
}

impl<'a> ParsedCall<'a> {
    pub(crate) fn new(tool: &'a str, input: &'a Value, access: &[Access], session_dirs: &SessionDirs) -> Self {
        let mut links = LinkCache::default();
        let mut parts: Vec<CallPart> = access
            .iter()
            .map(|access| match access {
                Access::Read(path) => CallPart::Read(Forms::with(path, &mut links)),
                Access::Search(path) => CallPart::Search(Forms::with(path, &mut links)),
                Access::Edit(path) => CallPart::Edit(Forms::with(path, &mut links)),
                Access::Shell { script, cwd } => {
                    CallPart::Shell(Box::new(ShellPart::new(script, cwd, session_dirs, &mut links)))
                }
                Access::Fetch { url } => CallPart::Fetch(domain::address(url)),
                Access::Plain => CallPart::Plain,
            })
            .collect();
        if parts.is_empty() {
            parts.push(CallPart::Plain);
        }
        Self { tool, input, parts }
    }

    pub(crate) fn shells(&self) -> impl Iterator<Item = &ShellPart> {
        self.parts.iter().filter_map(|part| match part {
            CallPart::Shell(shell) => Some(&**shell),
            CallPart::Read(_) | CallPart::Search(_) | CallPart::Edit(_) | CallPart::Fetch(_) | CallPart::Plain => None,
        })
    }
}

/// A script in a directory.
pub(crate) struct ShellPart {
    pub text: String,
    pub script: ParsedScript,
    /// Of every command.
    pub dirs: Vec<Dirs>,
    pub uses: Vec<ResolvedUse>,
}

/// A file that a command of a script names, with the paths it may be.
pub(crate) struct ResolvedUse {
    /// Index of the command.
    pub command: usize,
    pub file: FileUse,
    pub redirected: bool,
    pub candidates: Vec<CandidatePath>,
}

/// A path that a word may name.
pub(crate) struct CandidatePath {
    pub path: Forms,
    /// Has patterns or holes in it, or is below an unknown directory.
    pub wild: bool,
}

impl ShellPart {
    fn new(text: &str, cwd: &Path, session_dirs: &SessionDirs, links: &mut LinkCache) -> Self {
        let script = bash::parse(text);
        let dirs = cwd::follow(&script, cwd, &session_dirs.home);
        let has = |name: &str| script.commands.iter().any(|command| command.name() == Some(name));
        let output = match script.unclear.is_some() || has("read") {
            _ if has("xargs") => OutputUse::Arguments,
            true => OutputUse::PassedOn,
            false => OutputUse::Shown,
        };
        let mut uses = Vec::new();
        for (at, (command, dirs)) in script.commands.iter().zip(&dirs).enumerate() {
            let mut add = |file: FileUse, redirected: bool| {
                if !is_free(&file.word.text) {
                    let candidates = candidates(&file.word, dirs, session_dirs, links);
                    uses.push(ResolvedUse { command: at, file, redirected, candidates });
                }
            };
            for file in files::uses(command, output) {
                add(file, false);
            }
            for redirect in &command.redirects {
                let role = match redirect.direction {
                    Direction::Read => FileRole::Read,
                    Direction::Write => FileRole::Write,
                };
                add(FileUse { word: redirect.target.clone(), role, reach: FileReach::One }, true);
            }
        }
        Self { text: text.to_owned(), script, dirs, uses }
    }
}

pub(crate) fn candidates(
    word: &ShellWord,
    dirs: &Dirs,
    session_dirs: &SessionDirs,
    links: &mut LinkCache,
) -> Vec<CandidatePath> {
    let wild = word.glob || word.has_hole();
    let fixed_root = word.home || word.text.starts_with('/');
    let mut candidate = |dir: &Path| {
        let path = cwd::path_of(word, dir, &session_dirs.home);
        match wild {
            true => CandidatePath { path: Forms::unresolved(lexical(&path)), wild },
            false => CandidatePath { path: Forms::with(&path, links), wild },
        }
    };
    if fixed_root {
        return vec![candidate(Path::new("/"))];
    }
    let mut candidates: Vec<CandidatePath> = dirs.possible.iter().map(|dir| candidate(dir)).collect();
    // `$D/x` may start at the root.
    if dirs.unknown || word.text.starts_with(HOLE) {
        let below = if word.text.starts_with(HOLE) { String::new() } else { HOLE.to_string() };
        let anywhere = lexical(&Path::new("/").join(below).join(&word.text));
        candidates.push(CandidatePath { path: Forms::unresolved(anywhere), wild: true });
    }
    candidates
}
