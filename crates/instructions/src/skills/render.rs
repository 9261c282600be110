//! Fills arguments and variables into the text of a skill.
//!
//! The commands a text asks for are found before anything is put into it: what a model or a
//! person gives as an argument is never read as a command of the skill, and never filled in
//! again. What a command may be made of is judged where it runs.

use ona_api::shell_words;

/// A part of a text: words, or a command whose output takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillPart {
    Text(String),
    Command(String),
}

/// What is put into a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkillValues<'a> {
    pub arguments: &'a str,
    /// Names of the arguments, in order.
    pub names: &'a [String],
    /// `CLAUDE_SKILL_DIR` and the like.
    pub variables: &'a [(&'static str, String)],
}

/// Returns the parts of a body. Arguments it has no place for follow at its end.
pub fn pieces(body: &str, values: SkillValues<'_>) -> Vec<SkillPart> {
    let mut filler = Filler { words: shell_words::split_lossy(values.arguments), values, used: false };
    let mut pieces: Vec<SkillPart> = raw(body)
        .into_iter()
        .map(|piece| match piece {
            SkillPart::Text(text) => SkillPart::Text(filler.fill(&text)),
            SkillPart::Command(command) => SkillPart::Command(filler.fill(&command)),
        })
        .collect();
    if !filler.used && !values.arguments.is_empty() {
        pieces.push(SkillPart::Text(format!("\n\nARGUMENTS: {}", values.arguments)));
    }
    pieces
}

/// Where commands stand: `` !`command` `` after a blank or at the start of a line, and
/// fences that begin with `` ```! ``.
fn raw(body: &str) -> Vec<SkillPart> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut fence: Option<String> = None;
    for line in body.split_inclusive('\n') {
        match &mut fence {
            Some(command) if line.trim() == "```" => {
                pieces.push(SkillPart::Command(command.trim_end().to_owned()));
                text.push_str(if line.ends_with('\n') { "\n" } else { "" });
                fence = None;
            }
            Some(command) => command.push_str(line),
            None if line.trim() == "```!" => {
                pieces.push(SkillPart::Text(std::mem::take(&mut text)));
                fence = Some(String::new());
            }
            None => inline(line, &mut text, &mut pieces),
        }
    }
    if let Some(open) = fence {
        // A fence that is not closed is text.
        text.push_str("```!\n");
        text.push_str(&open);
    }
    pieces.push(SkillPart::Text(text));
    pieces.retain(|piece| !matches!(piece, SkillPart::Text(text) if text.is_empty()));
    pieces
}

fn inline(line: &str, text: &mut String, pieces: &mut Vec<SkillPart>) {
    let mut rest = line;
    while let Some(at) = rest.find("!`") {
        let free = rest[..at]
            .chars()
            .next_back()
            .map_or(text.is_empty() || text.ends_with(char::is_whitespace), char::is_whitespace);
        let command = rest[at + 2..].split_once('`').filter(|(command, _)| free && !command.trim().is_empty());
        match command {
            Some((command, after)) => {
                text.push_str(&rest[..at]);
                pieces.push(SkillPart::Text(std::mem::take(text)));
                pieces.push(SkillPart::Command(command.trim().to_owned()));
                rest = after;
            }
            None => {
                text.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    text.push_str(rest);
}

struct Filler<'a> {
    words: Vec<String>,
    values: SkillValues<'a>,
    /// Some argument has found its place.
    used: bool,
}

impl Filler<'_> {
    fn fill(&mut self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let escaped = rest[..at].ends_with('\\');
            let before = if escaped { &rest[..at - 1] } else { &rest[..at] };
            match self.placeholder(&rest[at + 1..]) {
                Some((length, _)) if escaped => {
                    filled.push_str(before);
                    filled.push_str(&rest[at..at + 1 + length]);
                    rest = &rest[at + 1 + length..];
                }
                Some((length, Place::Argument(value))) => {
                    self.used = true;
                    filled.push_str(before);
                    filled.push_str(&value);
                    rest = &rest[at + 1 + length..];
                }
                Some((length, Place::Variable(value))) => {
                    filled.push_str(before);
                    filled.push_str(&value);
                    rest = &rest[at + 1 + length..];
                }
                None => {
                    filled.push_str(&rest[..=at]);
                    rest = &rest[at + 1..];
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// Returns what follows a `$`: the length of the placeholder, and its value.
    fn placeholder(&self, after: &str) -> Option<(usize, Place)> {
        if let Some(inner) = after.strip_prefix('{') {
            let name = &inner[..inner.find('}')?];
            let (_, value) = self.values.variables.iter().find(|(known, _)| *known == name)?;
            return Some((name.len() + 2, Place::Variable(value.clone())));
        }
        let word = |index: &str| index.parse().ok().and_then(|index: usize| self.words.get(index)).cloned();
        if let Some(rest) = after.strip_prefix("ARGUMENTS") {
            if let Some(index) = rest.strip_prefix('[').and_then(|rest| Some(&rest[..rest.find(']')?])) {
                // An index without an argument is left as it is written.
                return Some(("ARGUMENTS".len() + index.len() + 2, Place::Argument(word(index)?)));
            }
            return ends(rest).then(|| ("ARGUMENTS".len(), Place::Argument(self.values.arguments.to_owned())));
        }
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && ends(&after[digits..]) {
            return Some((digits, Place::Argument(word(&after[..digits])?)));
        }
        let named = self.values.names.iter().enumerate();
        let (index, name) = named
            .filter(|(_, name)| after.strip_prefix(name.as_str()).is_some_and(ends))
            .max_by_key(|(_, name)| name.len())?;
        Some((name.len(), Place::Argument(self.words.get(index).cloned().unwrap_or_default())))
    }
}

enum Place {
    Argument(String),
    Variable(String),
}

/// Returns whether a name can end before this text.
fn ends(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(body: &str, arguments: &str) -> String {
        let names = ["issue".to_owned(), "branch".to_owned()];
        let variables = [("CLAUDE_SKILL_DIR", "/s".to_owned())];
        let parts = pieces(body, SkillValues { arguments, names: &names, variables: &variables });
        let text = |piece| match piece {
            SkillPart::Text(text) => text,
            SkillPart::Command(command) => format!("<{command}>"),
        };
        parts.into_iter().map(text).collect()
    }

    #[test]
    fn arguments_and_surroundings_find_their_places() {
        let cases = [
            ("Fix $ARGUMENTS.", "a b", "Fix a b."),
            ("$0 then $1", "'one two' three", "one two then three"),
            ("$ARGUMENTS[1]-$ARGUMENTS[7]", "a b", "b-$ARGUMENTS[7]"),
            ("$issue on $branch!", "12", "12 on !"),
            ("costs $5, \\$0 and \\$ARGUMENTS", "a", "costs $5, $0 and $ARGUMENTS\n\nARGUMENTS: a"),
            ("${CLAUDE_SKILL_DIR}/x ${HOME} $HOME \\$HOME", "", "/s/x ${HOME} $HOME \\$HOME"),
            ("No place.", "", "No place."),
            ("No place.", "x y", "No place.\n\nARGUMENTS: x y"),
            ("$ARGUMENTS", "$0 ${CLAUDE_SKILL_DIR} !`id`", "$0 ${CLAUDE_SKILL_DIR} !`id`"),
            ("$ARGUMENTSX $0x", "a", "$ARGUMENTSX $0x\n\nARGUMENTS: a"),
            ("ends with $", "", "ends with $"),
        ];
        for (body, arguments, expected) in cases {
            assert_eq!(filled(body, arguments), expected, "{body} {arguments}");
        }
    }

    #[test]
    fn commands_are_what_the_text_says_and_not_what_it_is_given() {
        let cases = [
            ("Status: !`git status`.", "", "Status: <git status>."),
            ("!`a` !`b $0`", "x", "<a> <b x>"),
            ("no!`a` and `!`", "", "no!`a` and `!`"),
            ("!`never closed", "", "!`never closed"),
            ("x\n```!\none\ntwo $0\n```\ny", "z", "x\n<one\ntwo z>\ny"),
            ("```!\nopen", "", "```!\nopen"),
            ("```sh\nls\n```", "", "```sh\nls\n```"),
        ];
        for (body, arguments, expected) in cases {
            assert_eq!(filled(body, arguments), expected, "{body} {arguments}");
        }
    }
}
