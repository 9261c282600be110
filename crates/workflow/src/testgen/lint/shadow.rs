//! L09 and L10: what is put between the script and the product.

use super::location::LocationKind;
use super::rule::LintRule;
use super::state::ScriptState;
use super::syntax::{Statement, StatementKind};
use super::value::{TrackedText, is_hole};

/// Variables that load code into other programs.
const INTERPOSING: [&str; 17] = [
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELLOPTS",
];

/// Returns whether setting this variable to this loads code into the product.
pub(super) fn interposes(name: &str, value: &str) -> bool {
    let loads = |word: &str| {
        let word = word.split('=').next().unwrap_or_default();
        matches!(word, "-r" | "--require" | "--import" | "--loader" | "--experimental-loader")
    };
    match name {
        "NODE_OPTIONS" => value.contains(is_hole) || value.split_whitespace().any(loads),
        _ => INTERPOSING.contains(&name) || name.starts_with("DYLD_"),
    }
}

/// Commands assertions are made with; a function of that name must call the real one.
const CHECKING: [&str; 20] = [
    "[", "awk", "builtin", "cat", "cmp", "command", "diff", "egrep", "exit", "expr", "false", "fgrep", "grep", "jq",
    "python3", "return", "sed", "sqlite3", "test", "trap",
];

impl ScriptState<'_> {
    pub(crate) fn variable_is_set(&mut self, name: &str, value: &TrackedText, adds: bool, line: u32) {
        let line = self.outermost(line);
        let set = adds || !value.text.is_empty();
        if set && interposes(name, &value.text) {
            self.find(LintRule::L09, line, format_args!("`{name}` loads code into the product"));
        }
        match name {
            "PATH" => self.path_is_set(value, line),
            "BASH_CMDS" | "BASH_ALIASES" => {
                self.find(LintRule::L10, line, format_args!("`{name}` changes which program a name stands for"));
            }
            _ => {}
        }
    }

    fn path_is_set(&mut self, value: &TrackedText, line: u32) {
        let own = self.environment("PATH").text;
        let dirs = value.text.split(':').filter(|dir| *dir != own);
        // An empty entry is the directory the shell is in.
        for dir in dirs.map(|dir| if dir.is_empty() { "." } else { dir }) {
            let location = self.location(dir);
            let below = |key: &String| key.strip_prefix(&location.key).is_some_and(|rest| rest.starts_with('/'));
            // Where a package manager installs; harmless as long as the script puts nothing there.
            let usual = [".local/bin", "/bin", ".cargo/bin", "node_modules/.bin"].iter().any(|end| dir.ends_with(end));
            let home = self.environment("HOME").text;
            let filled = self.written.iter().any(below);
            let shadows = match location.kind {
                LocationKind::Scratch => filled || !(usual && dir.starts_with(&home)),
                LocationKind::Project => filled,
                LocationKind::System => filled,
                LocationKind::Unknown | LocationKind::Database => true,
                LocationKind::Device => false,
            };
            if shadows {
                self.find(LintRule::L10, line, "It looks for programs in a directory tests can fill");
            } else {
                self.search_path.push(location.key);
            }
        }
    }

    /// A file appears in a directory that programs are looked for in.
    pub(crate) fn fills_path(&mut self, key: &str, line: u32) {
        let dir = key.rsplit_once('/').map_or("", |(dir, _)| dir);
        if self.search_path.iter().any(|known| known == dir) {
            let line = self.outermost(line);
            self.find(LintRule::L10, line, "It puts a file where programs are looked for");
        }
    }

    pub(crate) fn shadows(&mut self, name: &str, by: &str, line: u32) {
        let line = self.outermost(line);
        if self.is_entry_name(name) || by == "`hash -p`" || name.contains(is_hole) {
            self.find(LintRule::L10, line, format_args!("{by} takes the place of `{name}`"));
        } else if CHECKING.contains(&name) {
            self.find(
                LintRule::L13,
                line,
                format_args!("{by} takes the place of `{name}`, which checks are made with"),
            );
        }
    }

    pub(crate) fn defines(&mut self, name: &str, body: &Statement, line: u32) {
        let line = self.outermost(line);
        if self.is_entry_name(name) {
            self.find(LintRule::L10, line, format_args!("a function takes the place of `{name}`"));
        } else if name == "command_not_found_handle" {
            self.find(LintRule::L10, line, "`command_not_found_handle` answers for programs that are not there");
        } else if CHECKING.contains(&name) && !calls_real(body, name) {
            self.find(
                LintRule::L13,
                line,
                format_args!("a function takes the place of `{name}`, which checks are made with"),
            );
        }
    }
}

/// `grep() { command grep -a "$@"; }`
fn calls_real(body: &Statement, name: &str) -> bool {
    match &body.kind {
        StatementKind::Group(list) => match list.as_slice() {
            [one] => calls_real(one, name),
            _ => false,
        },
        StatementKind::Command(command) => {
            let words: Vec<_> = command.words.iter().map(|word| word.literal().unwrap_or_default()).collect();
            matches!(words.as_slice(), [first, second, ..] if first == "command" && second == name)
        }
        _ => false,
    }
}
