//! L07, L08 and what else code in other languages can do: programs that run code.

use super::entry::shown;
use super::flow::StatementResult;
use super::foreign::{ForeignFindings, Language, look};
use super::location::LocationKind;
use super::rule::LintRule;
use super::state::ScriptState;
use super::status::{Comparison, ExitStatus};
use super::value::{Origins, TrackedText, is_hole};

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"];

/// Modules of the language that can be run as programs.
const MODULES: [&str; 12] = [
    "base64",
    "compileall",
    "gzip",
    "http.server",
    "json",
    "json.tool",
    "pprint",
    "py_compile",
    "sqlite3",
    "tarfile",
    "this",
    "zipfile",
];

impl ScriptState<'_> {
    pub(crate) fn interpreter(&mut self, words: &[TrackedText], line: u32) -> Option<StatementResult> {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        if SHELLS.contains(&name.as_str()) {
            return Some(self.shell_program(&name, &words[1..], line));
        }
        if let Some(language) = Language::of_program(&name) {
            return Some(self.program(&name, language, &words[1..], line));
        }
        if words[0].text.contains('/') {
            return self.file_as_program(words, line);
        }
        None
    }

    /// `bash -c TEXT`, `sh FILE`, `bash <<EOF`
    fn shell_program(&mut self, name: &str, arguments: &[TrackedText], line: u32) -> StatementResult {
        let mut at = 0;
        let mut text = false;
        while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with(['-', '+']) && word.text.len() > 1)
        {
            text |= !word.text.starts_with("--") && word.text.contains('c');
            at += 1 + usize::from(matches!(word.text.as_str(), "-o" | "+o" | "--rcfile" | "--init-file"));
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let errexit =
            arguments[..at.min(arguments.len())].iter().any(|w| !w.text.starts_with("--") && w.text.contains('e'));
        let (script, parameters) = match (text, rest.split_first()) {
            (true, Some((script, rest))) => (script.clone(), rest.get(1..).unwrap_or_default().to_vec()),
            (true, None) => return StatementResult::default(),
            (false, Some((file, rest))) if is_stdin(&file.text) => (self.stdin.clone(), rest.to_vec()),
            (false, Some((file, rest))) => {
                let location = self.location(&file.text);
                match self.files.get(&location.key) {
                    Some(written) => (written.content.clone(), rest.to_vec()),
                    None => {
                        self.runs_file(file, line);
                        return self.ran(Origins::NONE, Origins::AMBIENT, line);
                    }
                }
            }
            (false, None) => (self.stdin.clone(), Vec::new()),
        };
        self.subshell(|state| {
            state.shell.parameters = parameters;
            state.shell.errexit = errexit;
            state.nested(&script, line, name)
        })
    }

    /// Follows an interpreter with code on its command line, its stdin or in a file.
    fn program(&mut self, name: &str, language: Language, arguments: &[TrackedText], line: u32) -> StatementResult {
        let mut code = TrackedText::default();
        let mut rest: &[TrackedText] = &[];
        let mut found = false;
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let option = word.text.as_str();
            at += 1;
            let next = arguments.get(at);
            let short = option.starts_with('-') && !option.starts_with("--") && option.len() > 1;
            match (language, option) {
                (Language::Python, "-m") => {
                    self.module(name, next, line);
                    return self.ran(self.stdin.from, Origins::AMBIENT, line);
                }
                (Language::JavaScript, "-r" | "--require" | "--import" | "--loader" | "--experimental-loader") => {
                    let line = self.outermost(line);
                    self.find(LintRule::L09, line, format_args!("`{name} {option}` loads code into what it runs"));
                    at += 1;
                }
                (Language::Ruby | Language::Perl, _)
                    if short && (option.starts_with("-r") || option.starts_with("-I") || option.starts_with("-M")) =>
                {
                    let given = option[2..].trim_start_matches('=');
                    let module = if given.is_empty() { next.map_or("", |word| word.text.as_str()) } else { given };
                    let own = option.starts_with("-M") && look(&format!("use {module};"), language).loads.is_none()
                        || option.starts_with("-r") && look(&format!("require '{module}'"), language).loads.is_none();
                    if !own {
                        let what = format!("`{name} {}` loads a module of the project", shown(word));
                        let line = self.outermost(line);
                        self.find(LintRule::L07, line, what);
                    }
                    at += usize::from(given.is_empty());
                }
                _ if matches!(option, "--eval" | "--print" | "eval") || (short && code_follows(language, option)) => {
                    code = next.cloned().unwrap_or_default();
                    rest = arguments.get(at + 1..).unwrap_or_default();
                    found = true;
                    break;
                }
                _ if option == "-" || is_stdin(option) => {
                    code = self.stdin.clone();
                    rest = arguments.get(at..).unwrap_or_default();
                    found = true;
                    break;
                }
                _ if option.starts_with('-') => {
                    at += usize::from(matches!(option, "-W" | "-X" | "-C" | "--input-type"))
                }
                (_, "run" | "test" | "exec") if matches!(name, "deno" | "bun" | "go" | "npx") => {}
                (_, "jest" | "vitest" | "mocha" | "tsx" | "ts-node") if matches!(name, "npx" | "bunx") => {}
                _ => {
                    let location = self.location(option);
                    match self.files.get(&location.key) {
                        Some(written) => code = written.content.clone(),
                        None => self.runs_file(word, line),
                    }
                    rest = arguments.get(at..).unwrap_or_default();
                    found = true;
                    break;
                }
            }
        }
        let fed = if found { self.stdin.clone() } else { TrackedText::default() };
        if !found {
            code = self.stdin.clone();
        }
        self.judge(&code, language, rest, &fed, line)
    }

    /// Looks at code and says what running it says.
    fn judge(
        &mut self,
        code: &TrackedText,
        language: Language,
        arguments: &[TrackedText],
        fed: &TrackedText,
        line: u32,
    ) -> StatementResult {
        if code.text.chars().all(is_hole) && !code.text.is_empty() {
            let line = self.outermost(line);
            self.find(LintRule::L02, line, "The code it runs cannot be determined from the script");
            return StatementResult::default();
        }
        let seen = look(&code.text, language);
        self.report(&seen, line);
        let mut from = code.from;
        if seen.loads.is_some() || seen.fakes.is_some() {
            // What it compares is not known, only that it should not.
            from |= Origins::AMBIENT;
        }
        if !fed.from.has(Origins::AMBIENT) {
            from |= fed.from;
        }
        for word in arguments {
            from |= word.from;
            let key = self.location(&word.text).key;
            if self.files.contains_key(&key) || (!word.text.is_empty() && word.text.contains('/')) {
                from |= self.content(&word.text).from;
            }
        }
        let own: Vec<String> =
            self.files.keys().filter(|key| key.contains('/') && code.text.contains(*key)).cloned().collect();
        for key in &own {
            from |= self.content(key).from;
        }
        let touched = self.context.touched.iter().any(|path| code.text.contains(path.trim_start_matches("./")));
        if touched && seen.reads {
            from |= Origins::SOURCE;
        }
        let names = |text: &str| self.entry_points().any(|entry| quoted_word(text, entry));
        if seen.starts && names(&code.text) {
            self.call(code.text.clone());
            from |= Origins::OUTPUT;
        } else if seen.reads && own.is_empty() && !self.calls.is_empty() && !from.has(Origins::SURFACES) {
            from |= if code.text.contains("AGENT_SDLC_DB") { Origins::DATABASE } else { Origins::FILES };
        }
        let out = self.unknown(from);
        let status = match seen.checks {
            true => ExitStatus::of(Comparison::check(from, line)),
            false => ExitStatus::of(Comparison::plain(Origins::AMBIENT, line)),
        };
        StatementResult { out, status, ..StatementResult::default() }
    }

    /// Says what is wrong with code the script runs.
    pub(crate) fn report(&mut self, seen: &ForeignFindings, line: u32) {
        let at = self.outermost(line);
        if let Some((_, module)) = &seen.loads {
            self.find(LintRule::L07, at, format_args!("It loads the module `{module}`"));
        }
        if let Some((_, fake)) = &seen.fakes {
            self.find(
                LintRule::L08,
                at,
                format_args!("`{}` puts a double in the place of real code", fake.trim_end_matches('(')),
            );
        }
        if seen.interposes.is_some() {
            self.find(LintRule::L09, at, "It sets a variable that loads code into the product");
        }
        if let Some((_, target)) = &seen.talks {
            self.find(LintRule::L14, at, format_args!("It talks to `{target}`"));
        }
        for (_, path) in &seen.writes {
            self.writes_to(&TrackedText::literal(path.as_str()), line);
        }
    }

    fn module(&mut self, name: &str, module: Option<&TrackedText>, line: u32) {
        let module = module.cloned().unwrap_or_default();
        if !MODULES.contains(&module.text.as_str()) {
            let line = self.outermost(line);
            self.find(LintRule::L07, line, format_args!("`{name} -m {}` runs a module of the project", shown(&module)));
        }
    }

    /// A file the script has not written is run, and is not an entry point.
    fn runs_file(&mut self, file: &TrackedText, line: u32) {
        let line = self.outermost(line);
        match self.location(&file.text).kind {
            LocationKind::System => {}
            LocationKind::Project => self.find(
                LintRule::L07,
                line,
                format_args!("`{}` is code of the project, but no declared entry point", shown(file)),
            ),
            _ => self.find(
                LintRule::L02,
                line,
                format_args!("What is in `{}` cannot be determined from the script", shown(file)),
            ),
        }
    }

    fn file_as_program(&mut self, words: &[TrackedText], line: u32) -> Option<StatementResult> {
        let location = self.location(&words[0].text);
        let Some(file) = self.files.get(&location.key).cloned() else {
            if location.kind != LocationKind::System {
                self.runs_file(&words[0], line);
                return Some(self.ran(Origins::NONE, Origins::AMBIENT, line));
            }
            return None;
        };
        let first = file.content.text.lines().next().unwrap_or_default();
        let program = first.strip_prefix("#!").map(|rest| rest.trim().trim_start_matches("/usr/bin/env ").to_owned());
        let program = program.unwrap_or_else(|| "sh".into());
        let program = program.split_whitespace().next().unwrap_or("sh").rsplit('/').next().unwrap_or("sh").to_owned();
        let mut all = vec![TrackedText::literal(program)];
        all.extend(words.iter().cloned());
        self.interpreter(&all, line)
    }

    /// `source FILE`
    pub(crate) fn sourced(&mut self, arguments: &[TrackedText], line: u32) -> StatementResult {
        let Some(file) = arguments.first() else { return StatementResult::default() };
        if is_stdin(&file.text) {
            let text = self.stdin.clone();
            return self.nested(&text, line, "source");
        }
        let location = self.location(&file.text);
        if let Some(written) = self.files.get(&location.key).cloned() {
            return self.nested(&written.content, line, "source");
        }
        match location.kind {
            LocationKind::System | LocationKind::Device => {}
            LocationKind::Project => {
                let line = self.outermost(line);
                self.find(LintRule::L07, line, format_args!("It loads `{}` of the project", shown(file)));
            }
            _ => {
                let line = self.outermost(line);
                self.find(
                    LintRule::L02,
                    line,
                    format_args!("What is in `{}` cannot be determined from the script", shown(file)),
                );
            }
        }
        StatementResult::default()
    }

    fn ran(&mut self, from: Origins, status: Origins, line: u32) -> StatementResult {
        let out = self.unknown(from | Origins::AMBIENT);
        StatementResult { out, status: ExitStatus::of(Comparison::plain(status, line)), ..StatementResult::default() }
    }
}

fn is_stdin(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

fn code_follows(language: Language, option: &str) -> bool {
    let last = option.chars().next_back().unwrap_or_default();
    match language {
        Language::Python => last == 'c',
        Language::JavaScript => matches!(last, 'e' | 'p'),
        Language::Ruby | Language::Perl => matches!(last, 'e' | 'E'),
        Language::Php => last == 'r',
        Language::Go | Language::Other => false,
    }
}

/// `"ona"`, `'ona --eval'`, `` `ona …` ``
fn quoted_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        matches!(before, Some('\'' | '"' | '`')) && matches!(after, Some('\'' | '"' | '`' | ' '))
    })
}
