//! What a shell script would run, as far as its text tells.
//!
//! Every script is read twice. `lex` finds whatever might be a command, for
//! deny and ask rules and for the safety checks. `syntax` says whether the
//! script is understood to the last character, which is what a narrow allow
//! rule needs. Neither runs anything nor looks at the file system; where a word
//! is a path is said by `files`, which directory it starts from by `cwd`.

mod arguments;
mod braces;
pub(crate) mod commands;
pub(crate) mod cwd;
pub(crate) mod danger;
pub(crate) mod discards;
pub(crate) mod embedded;
mod evaluated;
pub(crate) mod files;
mod git;
mod heredoc;
mod inline;
mod lex;
mod nesting;
pub(crate) mod pipes;
pub(crate) mod read_only;
pub(crate) mod redirect;
mod runs;
mod syntax;
mod tree;
mod values;
pub(crate) mod words;
pub(crate) mod wrappers;

pub(crate) use commands::ShellCommand;
use std::collections::HashSet;
pub use tree::bash_tree;
use values::Variables;

#[derive(Clone, Debug, Default)]
pub(crate) struct ParsedScript {
    /// Every command that can be found, each followed by what it runs in turn.
    pub commands: Vec<ShellCommand>,
    /// Why the script is not fully understood.
    pub unclear: Option<&'static str>,
    /// Parts of the text could not be read at all.
    pub broken: bool,
    pub has_loop: bool,
    /// How much was read.
    weight: usize,
}

/// Longer texts are not read; everything about them is unknown.
const LONGEST: usize = 256 * 1024;
/// `sh -c 'sh -c …'`
const LEVELS: u8 = 4;

pub(crate) fn parse(text: &str) -> ParsedScript {
    read_script(text, &Variables::default(), 0, 0)
}

fn read_script(text: &str, outer: &Variables, level: u8, weight: usize) -> ParsedScript {
    if text.len() > LONGEST || level > LEVELS {
        return ParsedScript {
            unclear: Some("it is too long to be read"),
            broken: true,
            weight,
            ..ParsedScript::default()
        };
    }
    let mut found = lex::LexOutput::default();
    lex::read(text, 0, true, &mut found);
    let reading = syntax::read(text, &found);
    for missed in missed(&reading.commands, &found) {
        lex::read(&missed, 1, false, &mut found);
    }
    let variables = Variables::of(&found, outer);
    let script = ParsedScript {
        commands: Vec::new(),
        unclear: reading.unclear,
        broken: reading.broken || found.overflow,
        has_loop: found.has_loop,
        weight,
    };
    let mut builder = commands::CommandBuilder { text, found: &found, variables: &variables, level, script, weight };
    for simple in &found.commands {
        builder.add(simple);
    }
    let mut script = ParsedScript { weight: builder.weight, ..builder.script };
    if script.unclear.is_none() {
        let plain = |command: &ShellCommand| command.program_is_fixed() && command.words.iter().all(|word| word.fixed);
        if !script.commands.iter().filter(|command| command.own).all(plain) {
            script.unclear = Some("one of its words expands");
        }
    }
    script
}

/// `NAME=value`
pub(crate) fn is_assignment(word: &str) -> bool {
    lex::assigned(word).is_some()
}

/// Commands only the strict reader saw.
fn missed(seen: &[String], found: &lex::LexOutput) -> Vec<String> {
    let read: HashSet<String> = found
        .commands
        .iter()
        .map(|simple| {
            simple.env.iter().chain(&simple.words).map(|piece| syntax::plain(&piece.raw)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    seen.iter().filter(|text| !read.contains(*text)).cloned().collect()
}
