//! What a word becomes.

use super::place::Root;
use super::status::Status;
use super::syntax::{How, Part, Word};
use super::value::{Sources, Value};
use super::world::{File, World};

impl World<'_> {
    /// The word as one text, where bash does not split.
    pub fn single(&mut self, word: &Word) -> Value {
        let mut all = Value::default();
        for (at, part) in word.parts.iter().enumerate() {
            for (count, value) in self.part(part).into_iter().enumerate() {
                if count > 0 {
                    all.text.push(' ');
                }
                all.push(&value);
            }
            if at == 0 && all.text.starts_with('~') && !matches!(part, Part::Text { quoted: false, .. }) {
                // Only an unquoted `~` is the home directory.
                all.text.insert_str(0, "./");
            }
        }
        all
    }

    /// The words it becomes: an array is several, and so is an unquoted text with blanks.
    pub fn fields(&mut self, word: &Word) -> Vec<Value> {
        let several = |part: &Part| match part {
            Part::Variable { how: How::All, .. } => true,
            Part::Variable { quoted, .. } | Part::Output { quoted, .. } => !quoted,
            _ => false,
        };
        if !word.parts.iter().any(several) {
            return vec![self.single(word)];
        }
        let mut fields: Vec<Value> = Vec::new();
        let mut open = false;
        for part in &word.parts {
            let values = self.part(part);
            let splits = several(part);
            let whole = matches!(part, Part::Variable { how: How::All, quoted: true, .. });
            if splits && values.is_empty() {
                continue;
            }
            for (at, value) in values.into_iter().enumerate() {
                let pieces: Vec<Value> = match splits && !whole {
                    true => {
                        value.text.split_whitespace().map(|text| Value { text: text.into(), ..value.clone() }).collect()
                    }
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

    fn part(&mut self, part: &Part) -> Vec<Value> {
        match part {
            Part::Text { text, .. } => vec![Value::literal(text.as_str())],
            Part::Variable { name, how, .. } => self.expand(name, how),
            Part::Output { body, .. } => vec![self.output(body)],
            Part::File(body) => {
                let content = self.output(body);
                let path = self.hole(Root::Scratch).to_string();
                self.files.insert(path.clone(), File { content, calls: self.calls.len() });
                vec![Value::literal(path)]
            }
            Part::Number(parts) => {
                let mut from = if self.loops > 0 { Sources::AMBIENT } else { Sources::NONE };
                for part in parts {
                    self.part(part).iter().for_each(|value| from |= value.from);
                }
                vec![self.unknown(from)]
            }
            Part::List(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
        }
    }

    /// `$(…)`: what it prints.
    fn output(&mut self, body: &[super::syntax::Statement]) -> Value {
        self.captured += 1;
        let outcome = self.subshell(|world| world.list(body));
        self.captured -= 1;
        self.substituted = Status { atoms: outcome.status.all(), ..Status::default() };
        let mut out = outcome.out;
        out.text.truncate(out.text.trim_end_matches('\n').len());
        out
    }

    fn expand(&mut self, name: &str, how: &How) -> Vec<Value> {
        match how {
            How::Plain => vec![self.named(name)],
            How::All => match name {
                "@" | "*" => self.shell.parameters.clone(),
                _ => self.shell.variables.get(name).cloned().unwrap_or_else(|| vec![self.environment(name)]),
            },
            How::Else(word) => {
                let set = self.shell.variables.contains_key(name) || known_to_be_set(name);
                let positional = name.parse().ok().map(|at: usize| at <= self.shell.parameters.len());
                let value = self.named(name);
                match positional.unwrap_or(set) && !value.text.is_empty() {
                    true => vec![value],
                    false => {
                        // The environment may still say otherwise, but not to the runner.
                        let default = self.single(word);
                        vec![Value { from: default.from | Sources::AMBIENT, ..default }]
                    }
                }
            }
            How::Then(word) => {
                let value = self.named(name);
                let then = self.single(word);
                let mut unknown = self.unknown(value.from | then.from);
                if value.is_known() && !value.text.is_empty() {
                    unknown.text = then.text;
                }
                vec![unknown]
            }
            How::Without(word) => {
                let value = self.named(name);
                let ending = self.single(word);
                let text = match ending.text.as_str() {
                    "/*" => value.text.rsplit_once('/').map(|(dir, _)| dir.to_owned()),
                    ending => value.text.strip_suffix(ending).map(str::to_owned),
                };
                match text {
                    Some(text) => vec![Value { text, ..value }],
                    None => vec![self.unknown(value.from | ending.from)],
                }
            }
            How::Named => {
                let target = self.named(name);
                match target.is_known() && !target.text.is_empty() {
                    true => vec![self.named(&target.text)],
                    false => vec![self.unknown(target.from)],
                }
            }
            How::Changed(parts) => {
                let mut from = match name {
                    "#" | "@" | "*" => Sources::AMBIENT,
                    _ => {
                        let values = self.shell.variables.get(name).cloned();
                        let values = values.unwrap_or_else(|| vec![self.named(name)]);
                        values.iter().fold(Sources::NONE, |all, value| all | value.from)
                    }
                };
                for part in parts {
                    self.part(part).iter().for_each(|value| from |= value.from);
                }
                vec![self.unknown(from)]
            }
        }
    }

    fn named(&mut self, name: &str) -> Value {
        match name {
            "?" | "PIPESTATUS" => {
                self.asks += 1;
                let from = self.last.sources();
                self.unknown(from)
            }
            "@" | "*" => {
                let mut all = Value::default();
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
                Ok(_) => self.unknown(Sources::AMBIENT),
                Err(_) => self.variable(name),
            },
        }
    }
}

/// What the runner sets (DEC-122).
fn known_to_be_set(name: &str) -> bool {
    matches!(name, "SDLC_TEST_TMP" | "TMPDIR" | "HOME" | "AGENT_SDLC_DB" | "PATH" | "PWD" | "ONA_AGENT_DB")
}
