//! Redirections: which file a command is connected to, and in which direction.

use super::lex::RawWord;
use super::words::ShellWord;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectOp {
    In,
    Out,
    /// `<>`
    Both,
    /// `>&`, `<&`: a descriptor, or a file when a name follows.
    Dup {
        out: bool,
    },
    HereDoc {
        tabs: bool,
    },
    HereString,
    /// Not bash, or not the bash we know (`>!`, `>>|`).
    Odd,
}

#[derive(Clone, Debug)]
pub(super) struct RawRedirect {
    pub op: RedirectOp,
    pub target: Option<RawWord>,
}

/// Returns the operator the text starts with, and its length.
pub(super) fn operator(text: &str) -> (RedirectOp, usize) {
    const OPERATORS: [(&str, RedirectOp); 18] = [
        ("<<<", RedirectOp::HereString),
        ("<<-", RedirectOp::HereDoc { tabs: true }),
        ("<<", RedirectOp::HereDoc { tabs: false }),
        ("<>", RedirectOp::Both),
        ("<&", RedirectOp::Dup { out: false }),
        ("<", RedirectOp::In),
        ("&>>|", RedirectOp::Odd),
        ("&>>!", RedirectOp::Odd),
        ("&>>", RedirectOp::Out),
        ("&>|", RedirectOp::Odd),
        ("&>", RedirectOp::Out),
        (">>|", RedirectOp::Odd),
        (">>!", RedirectOp::Odd),
        (">>", RedirectOp::Out),
        (">|", RedirectOp::Out),
        (">!", RedirectOp::Odd),
        (">&", RedirectOp::Dup { out: true }),
        (">", RedirectOp::Out),
    ];
    let found = OPERATORS.iter().find(|(sign, _)| text.starts_with(sign));
    found.map_or((RedirectOp::Odd, 1), |(sign, op)| (*op, sign.len()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// A file a command is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRedirect {
    pub direction: Direction,
    pub target: ShellWord,
}

impl RawRedirect {
    /// Returns the files; `<>` opens one in both directions, a descriptor is none.
    pub(crate) fn files(&self, read: impl Fn(&str) -> ShellWord) -> Vec<FileRedirect> {
        let Some(piece) = &self.target else { return Vec::new() };
        let target = read(&piece.raw);
        let is_descriptor = target.text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit());
        let directions: &[Direction] = match self.op {
            RedirectOp::In => &[Direction::Read],
            RedirectOp::Out => &[Direction::Write],
            RedirectOp::Both | RedirectOp::Odd => &[Direction::Read, Direction::Write],
            RedirectOp::Dup { .. } if is_descriptor => &[],
            RedirectOp::Dup { out: true } => &[Direction::Write],
            RedirectOp::Dup { out: false } => &[Direction::Read],
            RedirectOp::HereDoc { .. } | RedirectOp::HereString => &[],
        };
        directions.iter().map(|direction| FileRedirect { direction: *direction, target: target.clone() }).collect()
    }
}

/// Devices that hold nothing and pass nothing on.
pub(crate) fn is_free(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/zero" | "/dev/tty" | "/dev/urandom"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|fd| !fd.is_empty() && fd.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str, target: &str) -> Vec<Direction> {
        let (op, length) = operator(text);
        assert_eq!(length, text.len(), "{text}");
        let target = Some(RawWord { raw: target.into(), span: 0..0 });
        RawRedirect { op, target }.files(ShellWord::plain).into_iter().map(|r| r.direction).collect()
    }

    #[test]
    fn every_form_of_writing_is_a_write() {
        for text in [">", ">>", ">|", "&>", "&>>", ">&", "<>", ">!", ">>|", ">>!"] {
            assert!(files(text, "f").contains(&Direction::Write), "{text}");
        }
        assert_eq!(files("<", "f"), [Direction::Read]);
        assert!(files(">&", "2").is_empty() && files(">&", "-").is_empty() && files("<&", "3-").is_empty());
        assert!(files("<<", "EOF").is_empty() && files("<<<", "text").is_empty());
    }
}
