//! `*` in the text of rules: commands, parameter values, tool names.
//!
//! `*` stands for any text, also none, also with spaces and newlines. `\*` is a
//! star. Paths have their own patterns (see `path`).

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcard(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// `\*`
    Star,
    Any,
}

impl Wildcard {
    pub(crate) fn new(pattern: &str) -> Self {
        let mut parts = Vec::with_capacity(pattern.len());
        let mut bytes = pattern.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' if bytes.peek() == Some(&b'*') => {
                    bytes.next();
                    parts.push(Part::Star);
                }
                b'*' => parts.push(Part::Any),
                byte => parts.push(Part::Byte(byte)),
            }
        }
        Self(parts)
    }

    /// Returns the text of a pattern that fits exactly this text.
    pub(crate) fn literally(text: &str) -> String {
        text.replace("\\*", "*").replace('*', "\\*")
    }

    pub(crate) fn has_star(&self) -> bool {
        self.0.contains(&Part::Any)
    }

    /// Returns the pattern with blanks for its stars.
    pub(crate) fn literal(&self) -> String {
        let byte = |part: &Part| match part {
            Part::Byte(byte) => *byte,
            Part::Star => b'*',
            Part::Any => b' ',
        };
        String::from_utf8_lossy(&self.0.iter().map(byte).collect::<Vec<_>>()).into_owned()
    }

    /// Nothing but stars and blanks.
    pub(crate) fn is_everything(&self) -> bool {
        self.has_star() && self.0.iter().all(|part| matches!(part, Part::Any | Part::Byte(b' ')))
    }

    /// Returns whether the whole text fits.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let (pattern, text) = (&self.0, text.as_bytes());
        let (mut p, mut t) = (0, 0);
        // One point to come back to is enough: the last star.
        let mut back: Option<(usize, usize)> = None;
        loop {
            let step = match pattern.get(p) {
                Some(Part::Any) => {
                    back = Some((p, t));
                    Some(0)
                }
                Some(Part::Byte(byte)) if text.get(t) == Some(byte) => Some(1),
                Some(Part::Star) if text.get(t) == Some(&b'*') => Some(1),
                Some(Part::Star) if text[t..].starts_with(b"\\*") => Some(2),
                Some(Part::Byte(_) | Part::Star) => None,
                None if t == text.len() => return true,
                None => None,
            };
            match (step, &mut back) {
                (Some(step), _) => (p, t) = (p + 1, t + step),
                (None, Some((star, from))) if *from < text.len() => {
                    *from += 1;
                    (p, t) = (*star + 1, *from);
                }
                (None, _) => return false,
            }
        }
    }

    /// As `fits`, without regard to case.
    pub(crate) fn fits_in_any_case(&self, text: &str) -> bool {
        let folded = |part: &Part| match part {
            Part::Byte(byte) => Part::Byte(byte.to_ascii_lowercase()),
            Part::Star => Part::Star,
            Part::Any => Part::Any,
        };
        Self(self.0.iter().map(folded).collect()).fits(&text.to_ascii_lowercase())
    }

    /// Returns whether some text fits, if `hole` in `text` can stand for anything.
    ///
    /// This is the question for commands of which a part cannot be determined.
    pub(crate) fn could_fit(&self, text: &str, hole: char) -> bool {
        let mut utf8 = [0; 4];
        let text: Vec<Option<u8>> = text
            .chars()
            .flat_map(|c| match c == hole {
                true => vec![None],
                false => c.encode_utf8(&mut utf8).bytes().map(Some).collect(),
            })
            .collect();
        // reach[t]: the pattern read so far and text[..t] can describe the same text.
        let mut reach = vec![false; text.len() + 1];
        reach[0] = true;
        let pass_holes = |reach: &mut Vec<bool>| {
            for t in 0..text.len() {
                reach[t + 1] |= reach[t] && text[t].is_none();
            }
        };
        pass_holes(&mut reach);
        for part in &self.0 {
            let mut next = vec![false; text.len() + 1];
            let wanted = match part {
                Part::Byte(byte) => Some(*byte),
                Part::Star => Some(b'*'),
                Part::Any => None,
            };
            let mut any = false;
            for t in 0..=text.len() {
                any |= reach[t];
                match (wanted, text.get(t)) {
                    (None, _) => next[t] = any,
                    (Some(_), Some(None)) => next[t] |= reach[t],
                    (Some(byte), Some(Some(there))) if byte == *there => next[t + 1] |= reach[t],
                    (Some(_), _) => {}
                }
            }
            pass_holes(&mut next);
            reach = next;
        }
        reach[text.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("git * main", "git checkout main", true),
            ("git * main", "git main", false),
            ("* --version", "npm --version", true),
            ("* --version", "npm --versionx", false),
            ("a*b*c", "a b b c", true),
            ("a*b*c", "a c b", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            (r"ls \*.txt", "ls *.txt", true),
            (r"ls \*.txt", r"ls \*.txt", true),
            (r"ls \*.txt", "ls a.txt", false),
        ] {
            assert_eq!(Wildcard::new(pattern).fits(text), expected, "{pattern} ~ {text}");
        }
    }

    #[test]
    fn a_hole_could_be_anything() {
        for (pattern, text, expected) in [
            ("rm *", "_ -rf x", true),
            ("rm *", "r_ x", true),
            ("rm *", "ls _", false),
            ("git push", "git _", true),
            ("git push *", "git commit -m _", false),
            ("rm", "_", true),
            ("a*z", "_b_", true),
            ("abc", "a_d", false),
        ] {
            assert_eq!(Wildcard::new(pattern).could_fit(text, '_'), expected, "{pattern} ~ {text}");
        }
    }
}
