//! Expands a word.

use super::location::HoleRoot;
use super::state::{ScriptFile, ScriptState};
use super::status::ExitStatus;
use super::syntax::{Expansion, ScriptWord, WordPart};
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    /// Returns the word as one text, where bash does not split.
    pub(crate) fn single(&mut self, word: &ScriptWord) -> TrackedText {
        let mut all = TrackedText::default();
        for (at, part) in word.parts.iter().enumerate() {
            for (count, value) in self.part(part).into_iter().enumerate() {
                if count > 0 {
                    all.text.push(' ');
                }
                all.push(&value);
            }
            if at == 0 && all.text.starts_with('~') && !matches!(part, WordPart::Text { quoted: false, .. }) {
                // Only an unquoted `~` is the home directory.
                all.text.insert_str(0, "./");
            }
        }
        all
    }

    /// Returns the words it becomes: an array is several, and so is an unquoted text with blanks.
    pub(crate) fn fields(&mut self, word: &ScriptWord) -> Vec<TrackedText> {
        let several = |part: &WordPart| match part {
            WordPart::Variable { how: Expansion::All, .. } => true,
            WordPart::Variable { quoted, .. } | WordPart::Output { quoted, .. } => !quoted,
            _ => false,
        };
        if !word.parts.iter().any(several) {
            return vec![self.single(word)];
        }
        let mut fields: Vec<TrackedText> = Vec::new();
        let mut open = false;
        for part in &word.parts {
            let values = self.part(part);
            let splits = several(part);
            let whole = matches!(part, WordPart::Variable { how: Expansion::All, quoted: true, .. });
            if splits && values.is_empty() {
                continue;
            }
            for (at, value) in values.into_iter().enumerate() {
                let pieces: Vec<TrackedText> = match splits && !whole {
                    true => value
                        .text
                        .split_whitespace()
                        .map(|text| TrackedText { text: text.into(), ..value.clone() })
                        .collect(),
                    false => vec![value],
                };
                for (count, piece) in pieces.into_iter().enumerate() {
                    match fields.last_mut() {
                        Some(last) if open && at == 0 && count == 0 => last.push(&piece),
                        _ => fields.push(piece),
                    }
                }
            }
            open = true;
        }
        fields
    }

    fn part(&mut self, part: &WordPart) -> Vec<TrackedText> {
        match part {
            WordPart::Text { text, .. } => vec![TrackedText::literal(text.as_str())],
            WordPart::Variable { name, how, .. } => self.expand(name, how),
            WordPart::Output { body, .. } => vec![self.output(body)],
            WordPart::File(body) => {
                let content = self.output(body);
                let path = self.hole(HoleRoot::Scratch).to_string();
                self.files.insert(path.clone(), ScriptFile { content, calls: self.calls.len() });
                vec![TrackedText::literal(path)]
            }
            WordPart::Number(parts) => {
                let mut from = if self.loops > 0 { Origins::AMBIENT } else { Origins::NONE };
                for part in parts {
                    self.part(part).iter().for_each(|value| from |= value.from);
                }
                vec![self.unknown(from)]
            }
            WordPart::List(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
        }
    }

    /// `$(…)`: what it prints.
    fn output(&mut self, body: &[super::syntax::Statement]) -> TrackedText {
        self.captured += 1;
        let outcome = self.subshell(|state| state.list(body));
        self.captured -= 1;
        self.substituted = ExitStatus { atoms: outcome.status.all(), ..ExitStatus::default() };
        let mut out = outcome.out;
        out.text.truncate(out.text.trim_end_matches('\n').len());
        out
    }

    fn expand(&mut self, name: &str, how: &Expansion) -> Vec<TrackedText> {
        match how {
            Expansion::Plain => vec![self.named(name)],
            Expansion::All => match name {
                "@" | "*" => self.shell.parameters.clone(),
                _ => self.shell.variables.get(name).cloned().unwrap_or_else(|| vec![self.environment(name)]),
            },
            Expansion::Else(word) => {
                let set = self.shell.variables.contains_key(name) || known_to_be_set(name);
                let positional = name.parse().ok().map(|at: usize| at <= self.shell.parameters.len());
                let value = self.named(name);
                match positional.unwrap_or(set) && !value.text.is_empty() {
                    true => vec![value],
                    false => {
                        // The environment may still say otherwise, but not to the runner.
                        let default = self.single(word);
                        vec![TrackedText { from: default.from | Origins::AMBIENT, ..default }]
                    }
                }
            }
            Expansion::Then(word) => {
                let value = self.named(name);
                let then = self.single(word);
                let mut unknown = self.unknown(value.from | then.from);
                if value.is_known() && !value.text.is_empty() {
                    unknown.text = then.text;
                }
                vec![unknown]
            }
            Expansion::Without(word) => {
                let value = self.named(name);
                let ending = self.single(word);
                let text = match ending.text.as_str() {
                    "/*" => value.text.rsplit_once('/').map(|(dir, _)| dir.to_owned()),
                    ending => value.text.strip_suffix(ending).map(str::to_owned),
                };
                match text {
                    Some(text) => vec![TrackedText { text, ..value }],
                    None => vec![self.unknown(value.from | ending.from)],
                }
            }
            Expansion::Named => {
                let target = self.named(name);
                match target.is_known() && !target.text.is_empty() {
                    true => vec![self.named(&target.text)],
                    false => vec![self.unknown(target.from)],
                }
            }
            Expansion::Changed(parts) => {
                let mut from = match name {
                    "#" | "@" | "*" => Origins::AMBIENT,
                    _ => {
                        let values = self.shell.variables.get(name).cloned();
                        let values = values.unwrap_or_else(|| vec![self.named(name)]);
                        values.iter().fold(Origins::NONE, |all, value| all | value.from)
                    }
                };
                for part in parts {
                    self.part(part).iter().for_each(|value| from |= value.from);
                }
                vec![self.unknown(from)]
            }
        }
    }

    fn named(&mut self, name: &str) -> TrackedText {
        match name {
            "?" | "PIPESTATUS" => {
                self.asks += 1;
                let from = self.last.origins();
                self.unknown(from)
            }
            "@" | "*" => {
                let mut all = TrackedText::default();
                for (at, value) in self.shell.parameters.clone().iter().enumerate() {
                    if at > 0 {
                        all.text.push(' ');
                    }
                    all.push(value);
                }
                all
            }
            _ => match name.parse::<usize>() {
                Ok(at) if at > 0 => self.shell.parameters.get(at - 1).cloned().unwrap_or_default(),
                Ok(_) => self.unknown(Origins::AMBIENT),
                Err(_) => self.variable(name),
            },
        }
    }
}

/// What the runner sets (DEC-122).
fn known_to_be_set(name: &str) -> bool {
    matches!(name, "SDLC_TEST_TMP" | "TMPDIR" | "HOME" | "AGENT_SDLC_DB" | "PATH" | "PWD" | "ONA_AGENT_DB")
}
