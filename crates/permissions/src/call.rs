//! One call, taken apart into what rules and checks look at.
//!
//! Scripts are parsed and paths resolved here, once, before anything is decided.

use crate::bash::cwd::{self, Dirs};
use crate::bash::files::{self, FileUse, Output, Reach, Role};
use crate::bash::redirect::{Direction, is_free};
use crate::bash::words::{HOLE, Word};
use crate::bash::{self, Script};
use crate::domain;
use crate::place::Place;
use crate::resolve::{Forms, LinkCache};
use ona_api::Access;
use ona_api::path::lexical;
use serde_json::Value;
use std::path::Path;
use url::Url;

pub(crate) struct Call<'a> {
    pub tool: &'a str,
    pub input: &'a Value,
    pub parts: Vec<Part>,
}

pub(crate) enum Part {
    Read(Forms),
    Search(Forms),
    Edit(Forms),
    Shell(Box<Shell>),
    /// `None`: no address that can be fetched.
    Fetch(Option<Url>),
    Plain,
}

impl<'a> Call<'a> {
    pub fn new(tool: &'a str, input: &'a Value, access: &[Access], place: &Place) -> Self {
        let mut links = LinkCache::default();
        let mut parts: Vec<Part> = access
            .iter()
            .map(|access| match access {
                Access::Read(path) => Part::Read(Forms::with(path, &mut links)),
                Access::Search(path) => Part::Search(Forms::with(path, &mut links)),
                Access::Edit(path) => Part::Edit(Forms::with(path, &mut links)),
                Access::Shell { script, cwd } => Part::Shell(Box::new(Shell::new(script, cwd, place, &mut links))),
                Access::Fetch { url } => Part::Fetch(domain::address(url)),
                Access::Plain => Part::Plain,
            })
            .collect();
        if parts.is_empty() {
            parts.push(Part::Plain);
        }
        Self { tool, input, parts }
    }

    pub fn shells(&self) -> impl Iterator<Item = &Shell> {
        self.parts.iter().filter_map(|part| match part {
            Part::Shell(shell) => Some(&**shell),
            Part::Read(_) | Part::Search(_) | Part::Edit(_) | Part::Fetch(_) | Part::Plain => None,
        })
    }
}

/// A script in a directory.
pub(crate) struct Shell {
    pub text: String,
    pub script: Script,
    /// Of every command.
    pub dirs: Vec<Dirs>,
    pub uses: Vec<Use>,
}

/// A file a command of a script is told about.
pub(crate) struct Use {
    /// Index of the command.
    pub command: usize,
    pub file: FileUse,
    pub redirected: bool,
    pub spots: Vec<Spot>,
}

/// A place a word may name.
pub(crate) struct Spot {
    pub path: Forms,
    /// Has patterns or holes in it, or hangs below an unknown directory.
    pub wild: bool,
}

impl Shell {
    fn new(text: &str, cwd: &Path, place: &Place, links: &mut LinkCache) -> Self {
        let script = bash::parse(text);
        let dirs = cwd::follow(&script, cwd, &place.home);
        let has = |name: &str| script.commands.iter().any(|command| command.name() == Some(name));
        let output = match script.unclear.is_some() || has("read") {
            _ if has("xargs") => Output::Arguments,
            true => Output::PassedOn,
            false => Output::Shown,
        };
        let mut uses = Vec::new();
        for (at, (command, dirs)) in script.commands.iter().zip(&dirs).enumerate() {
            let mut add = |file: FileUse, redirected: bool| {
                if !is_free(&file.word.text) {
                    let spots = spots(&file.word, dirs, place, links);
                    uses.push(Use { command: at, file, redirected, spots });
                }
            };
            for file in files::uses(command, output) {
                add(file, false);
            }
            for redirect in &command.redirects {
                let role = match redirect.direction {
                    Direction::Read => Role::Read,
                    Direction::Write => Role::Write,
                };
                add(FileUse { word: redirect.target.clone(), role, reach: Reach::One }, true);
            }
        }
        Self { text: text.to_owned(), script, dirs, uses }
    }
}

pub(crate) fn spots(word: &Word, dirs: &Dirs, place: &Place, links: &mut LinkCache) -> Vec<Spot> {
    let wild = word.glob || word.has_hole();
    let fixed_root = word.home || word.text.starts_with('/');
    let mut spot = |dir: &Path| {
        let path = cwd::path_of(word, dir, &place.home);
        match wild {
            true => Spot { path: Forms::unresolved(lexical(&path)), wild },
            false => Spot { path: Forms::with(&path, links), wild },
        }
    };
    if fixed_root {
        return vec![spot(Path::new("/"))];
    }
    let mut spots: Vec<Spot> = dirs.possible.iter().map(|dir| spot(dir)).collect();
    // `$D/x` may start at the root.
    if dirs.unknown || word.text.starts_with(HOLE) {
        let below = if word.text.starts_with(HOLE) { String::new() } else { HOLE.to_string() };
        let anywhere = lexical(&Path::new("/").join(below).join(&word.text));
        spots.push(Spot { path: Forms::unresolved(anywhere), wild: true });
    }
    spots
}
