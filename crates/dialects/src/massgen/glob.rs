//! Matchers of this dialect: names or globs between `|` (DEC-044).
//!
//! A glob is what Python's `fnmatch` makes of it: `*`, `?`, `[seq]` and `[!seq]` over
//! the whole name, case and all. No escapes, no braces, no `**`.

/// A matcher, split once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolGlob {
    Any,
    /// Any of these; none of them if there is nothing between the separators.
    Globs(Vec<Vec<GlobPart>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GlobPart {
    Char(char),
    One,
    Run,
    Set { except: bool, ranges: Vec<(char, char)> },
}

impl ToolGlob {
    pub(crate) fn new(text: &str) -> Self {
        if text.is_empty() {
            return ToolGlob::Any;
        }
        ToolGlob::Globs(text.split('|').map(str::trim).filter(|part| !part.is_empty()).map(pieces).collect())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            ToolGlob::Any => true,
            ToolGlob::Globs(globs) => {
                let name: Vec<char> = name.chars().collect();
                globs.iter().any(|glob| fits(glob, &name))
            }
        }
    }
}

fn pieces(glob: &str) -> Vec<GlobPart> {
    let chars: Vec<char> = glob.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        at += 1;
        pieces.push(match c {
            '*' => GlobPart::Run,
            '?' => GlobPart::One,
            '[' => match set(&chars[at..]) {
                Some((set, length)) => {
                    at += length;
                    set
                }
                // Without its other half a bracket is a bracket.
                None => GlobPart::Char('['),
            },
            c => GlobPart::Char(*c),
        });
    }
    pieces
}

/// Returns what follows a `[`, and how long it is with its `]`.
fn set(rest: &[char]) -> Option<(GlobPart, usize)> {
    let except = rest.first() == Some(&'!');
    let start = usize::from(except);
    // A `]` that comes first is one of the characters.
    let end = rest.iter().skip(start + 1).position(|c| *c == ']')? + start + 1;
    let mut inside = &rest[start..end];
    let mut ranges = Vec::new();
    while let Some((first, more)) = inside.split_first() {
        match more {
            ['-', last, after @ ..] => {
                ranges.push((*first, *last));
                inside = after;
            }
            _ => {
                ranges.push((*first, *first));
                inside = more;
            }
        }
    }
    Some((GlobPart::Set { except, ranges }, end + 1))
}

/// Goes back to the newest run only, so that no glob costs more than its length times the name's.
fn fits(glob: &[GlobPart], name: &[char]) -> bool {
    let (mut g, mut n) = (0, 0);
    let mut run: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some(GlobPart::Run) => {
                run = Some((g, n));
                g += 1;
            }
            Some(piece) if piece.takes(name[n]) => {
                g += 1;
                n += 1;
            }
            _ => {
                let Some((at, from)) = run else { return false };
                run = Some((at, from + 1));
                g = at + 1;
                n = from + 1;
            }
        }
    }
    glob[g..].iter().all(|piece| *piece == GlobPart::Run)
}

impl GlobPart {
    fn takes(&self, c: char) -> bool {
        match self {
            GlobPart::Char(own) => *own == c,
            GlobPart::One | GlobPart::Run => true,
            GlobPart::Set { except, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *except,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MG-4.1, MG-4.2, MG-4.3, MG-X13 and more globs.
    #[test]
    fn matchers_are_globs_between_bars() {
        let cases = [
            ("*", "anything", true),
            ("", "anything", true),
            ("Write|Edit", "Write", true),
            ("Write|Edit", "Edit", true),
            ("Write|Edit", "MultiEdit", false),
            ("Write|Edit", "NotebookEdit", false),
            ("Write|Edit", "write", false),
            (" Write | Edit ", "Edit", true),
            ("mcp__*", "mcp__fs__read", true),
            ("mcp__*", "MCP__fs__read", false),
            ("mcp__*__read", "mcp__a__b__read", true),
            ("W?ite", "Write", true),
            ("Web?etch", "WebFetch", true),
            ("[WE]*", "Write", true),
            ("[WE]*", "Read", false),
            ("[!W]*", "Write", false),
            ("[!W]*", "Read", true),
            ("[A-E]dit", "Edit", true),
            ("[]]x", "]x", true),
            ("[Write", "[Write", true),
            ("!Write", "Write", false),
            ("!Write", "Read", false),
            ("^Write$", "Write", false),
            ("Write,Edit", "Write", false),
            ("Bash(git *)", "Bash", false),
            ("|", "Write", false),
            (" | ", "Write", false),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxa", false),
        ];
        for (matcher, name, expected) in cases {
            assert_eq!(ToolGlob::new(matcher).matches(name), expected, "{matcher:?} on {name:?}");
        }
    }
}
