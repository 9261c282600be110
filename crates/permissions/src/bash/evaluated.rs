//! Builtins that evaluate the text of an argument once more.
//!
//! `test -v 'a[$(cmd)]'`, `let`, `printf -v`, `unset`, `declare` and the like
//! take the name of an array element, and its subscript is an expression that
//! bash expands although the shell has removed the quotes already. The quoted
//! text looks like data and runs a command.

use super::ShellCommand;
use super::nesting::{close_backtick, close_paren};
use super::words::ShellWord;

const BUILTINS: [&str; 20] = [
    "let",
    "test",
    "[",
    "[[",
    "printf",
    "read",
    "unset",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "compgen",
    "complete",
    "shift",
    "((",
];

/// Returns the commands that evaluating the arguments would run.
pub(super) fn substitutions(command: &ShellCommand) -> Vec<ShellWord> {
    // A variable's value is evaluated where the variable is used in an expression, as a
    // prompt (`PS4`) or by `${name@P}`.
    let assigned = command.env.iter().flat_map(|(_, value)| inside(value, false));
    evaluated(command).flat_map(|(word, subscript)| inside(word, subscript)).chain(assigned).collect()
}

/// Returns an argument that holds a command which evaluating it would run.
pub(super) fn hides_command(command: &ShellCommand) -> Option<&ShellWord> {
    evaluated(command).find(|(word, subscript)| !inside(word, *subscript).is_empty()).map(|(word, _)| word)
}

/// Returns the arguments that are evaluated, and whether only in a subscript.
fn evaluated(command: &ShellCommand) -> impl Iterator<Item = (&ShellWord, bool)> {
    let name = command.name().unwrap_or_default();
    let first = command.words.get(1).map_or("", |word| word.text.as_str());
    let evaluates = BUILTINS.contains(&name) && (name != "printf" || first.starts_with("-v"));
    let whole = matches!(name, "let" | "compgen" | "complete" | "((");
    command.words.iter().skip(1).filter(move |_| evaluates).map(move |word| (word, !whole))
}

fn inside(word: &ShellWord, subscript: bool) -> Vec<ShellWord> {
    const MOST: usize = 16;
    let text = word.text.as_str();
    let from = if subscript { text.find('[') } else { Some(0) };
    let Some(from) = from else { return Vec::new() };
    let part =
        |from: usize, to: usize| ShellWord { fixed: false, ..ShellWord::plain(text.get(from..to).unwrap_or_default()) };
    let dollar = text.match_indices("$(").map(|(at, _)| (at, part(at + 2, close_paren(text, at + 2))));
    let backtick = text.match_indices('`').step_by(2).map(|(at, _)| (at, part(at + 1, close_backtick(text, at + 1))));
    let commands = dollar.take(MOST).chain(backtick.take(MOST));
    commands.filter(|(at, word)| *at >= from && !word.text.trim().is_empty()).map(|(_, word)| word).collect()
}
