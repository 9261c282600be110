//! Decides whether a path with unknown parts can be a certain path.
//!
//! Shell arguments have file name patterns and holes (`.e*`, `"$D"/.env`). The
//! answers err to the side of the rule: `?` and `[…]` count as `*`.

use crate::bash::words::{HOLE, class_length};
use crate::text::{folded, path_text};
use crate::wildcard::Wildcard;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Overlap {
    No,
    /// Only a running shell could tell.
    Maybe,
    Yes,
}

/// Returns the names a path consists of, comparable.
pub(crate) fn segments(path: &Path) -> Vec<String> {
    folded(&path_text(path)).split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
}

/// Returns whether a path fits a pattern, or lies below something that does.
pub(crate) fn fits(path: &[String], pattern: &[String]) -> Overlap {
    match (path, pattern) {
        (_, []) => Overlap::Yes,
        ([], [only]) if only == "**" => Overlap::No,
        (path, [first, rest @ ..]) if first == "**" => {
            let deep = if rest.is_empty() { 1 } else { 0 };
            (deep..=path.len()).map(|at| fits(&path[at..], rest)).max().unwrap_or(Overlap::No)
        }
        ([], _) => Overlap::No,
        // A hole stands for any number of names, but what follows it has to be named by the pattern.
        ([hole, path @ ..], _) if is_hole(hole) => {
            let named = (0..pattern.len()).filter(|at| pattern[*at] != "**");
            named.map(|at| fits(path, &pattern[at..])).max().unwrap_or(Overlap::No)
        }
        ([name, path @ ..], [pattern, rest @ ..]) => same_name(name, pattern).min(fits(path, rest)),
    }
}

fn is_hole(name: &str) -> bool {
    name.chars().all(|c| c == HOLE)
}

fn is_wild(name: &str) -> bool {
    name.contains(['*', '?', '[', HOLE])
}

/// Compares one name with one name of a pattern.
fn same_name(name: &str, pattern: &str) -> Overlap {
    match (is_wild(name), is_wild(pattern)) {
        (false, false) if name == pattern => Overlap::Yes,
        (false, false) => Overlap::No,
        (false, true) if stars(pattern).fits(name) => Overlap::Yes,
        (false, true) => Overlap::No,
        // A pattern of the shell does not reach hidden names by itself.
        (true, _) if pattern.starts_with('.') && name.starts_with(['*', '?', '[']) => Overlap::No,
        (true, false) if !stars(name).fits(pattern) => Overlap::No,
        (true, false) if name.contains(HOLE) => Overlap::Maybe,
        (true, false) => Overlap::Yes,
        (true, true) if stars(pattern).could_fit(&name.replace(['*', '?', '['], &HOLE.to_string()), HOLE) => {
            Overlap::Maybe
        }
        (true, true) => Overlap::No,
    }
}

/// Returns whether a pattern with any kind of uncertainty fits a name. Hidden names count.
pub(crate) fn could_be_name(pattern: &str, name: &str) -> bool {
    stars(&folded(pattern)).fits(name)
}

/// Returns the name as a pattern in which every kind of uncertainty is a star.
fn stars(name: &str) -> Wildcard {
    let mut pattern = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let length = if c == '[' { class_length(rest) } else { c.len_utf8() };
        pattern.push(if matches!(c, '?' | '[' | HOLE) { '*' } else { c });
        rest = &rest[length..];
    }
    Wildcard::new(&pattern)
}

/// Where a path stands to a single known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Elsewhere,
    /// The path itself, or something below it.
    Within,
    /// A directory the path lies in.
    Above,
}

pub(crate) fn relation(path: &[String], known: &[String]) -> Relation {
    if !path.iter().any(|name| is_wild(name)) {
        return match (path.starts_with(known), known.starts_with(path)) {
            (true, _) => Relation::Within,
            (false, true) => Relation::Above,
            (false, false) => Relation::Elsewhere,
        };
    }
    let plain = path.iter().take_while(|name| !is_wild(name)).count();
    if path[..plain.min(known.len())] != known[..plain.min(known.len())] {
        return Relation::Elsewhere;
    }
    // With a hole in it, a path is only recognised by its last name.
    let uncertain = path.iter().any(|name| name.contains(HOLE));
    if uncertain && path.last().is_none_or(|name| is_wild(name)) {
        return Relation::Elsewhere;
    }
    if fits(path, known) != Overlap::No {
        return Relation::Within;
    }
    let above = (1..known.len()).any(|at| fits(path, &known[..at]) != Overlap::No && fits_exactly(path, &known[..at]));
    if above { Relation::Above } else { Relation::Elsewhere }
}

/// Not merely below it.
fn fits_exactly(path: &[String], known: &[String]) -> bool {
    match (path.last(), known.last()) {
        (Some(name), Some(last)) => {
            same_name(name, last) != Overlap::No && (path.len() == known.len() || path.iter().any(|name| is_hole(name)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Vec<String> {
        segments(Path::new(&path.replace('_', &HOLE.to_string())))
    }

    #[test]
    fn patterns_of_the_shell_meet_patterns_of_rules() {
        use Overlap::{Maybe, No, Yes};
        for (path, pattern, expected) in [
            ("sub/.env", "**/.env", Yes),
            (".e*", "**/.env", Yes),
            (".en?", "**/.env", Yes),
            (".[e]nv", "**/.env", Yes),
            ("*", "**/.env", No),
            ("*", "**/key.pem", Yes),
            ("*", "**/*.pem", Maybe),
            ("*.rs", "**/*.pem", No),
            ("_/.env", "**/.env", Yes),
            (".e_", "**/.env", Maybe),
            ("_", "**/.env", No),
            ("_/k", "**/secrets/**", No),
            ("_/secrets/k", "**/secrets/**", Yes),
            ("secr*/k", "**/secrets/**", Yes),
            ("secrets", "**/secrets/**", No),
            ("a/b/c", "a", Yes),
        ] {
            assert_eq!(fits(&at(path), &at(pattern)), expected, "{path} {pattern}");
        }
    }

    #[test]
    fn a_directory_above_is_told_from_the_file() {
        use Relation::{Above, Elsewhere, Within};
        for (path, expected) in [
            ("/h/.claude/settings.json", Within),
            ("/h/.CLAUDE/settings.json", Within),
            ("/h/.claude", Above),
            ("/h", Above),
            ("/h/.cl*", Above),
            ("/h/.claude/*", Within),
            ("/h/*", Elsewhere),
            ("_/settings.json", Within),
            ("_/.claude", Above),
            ("_", Elsewhere),
            ("_/*", Elsewhere),
            ("/h/.claude/other", Elsewhere),
            ("/h/.claude/settings.json/x", Within),
        ] {
            assert_eq!(relation(&at(path), &at("/h/.claude/settings.json")), expected, "{path}");
        }
    }
}
