//! Which of the offered configurations counts: the first that speaks, and nothing
//! is merged. One that speaks and can not be read ends the search as well, so that a
//! typo never brings back hooks that somebody meant to replace.

use super::builtin::{self, Installed};
use super::config::{Definition, parse};
use super::invalid::Invalid;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `--hooks-config`
    Cli,
    /// `PI_HOOKS_JSON`
    Env,
    /// `.claude/settings*.json`, on request
    ClaudeSettings,
    GastownBuiltin,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Cli => "cli",
            Source::Env => "env",
            Source::ClaudeSettings => "claude_settings",
            Source::GastownBuiltin => "gastown_builtin",
        }
    }

    /// For people, who know the last one as what happens by default.
    pub(super) fn plain(self) -> &'static str {
        match self {
            Source::GastownBuiltin => "default",
            Source::Cli | Source::Env | Source::ClaudeSettings => self.as_str(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a start has to offer.
pub struct Offered<'a> {
    /// The text of the file, or why there is none.
    pub cli: Option<Result<String, String>>,
    /// An empty variable is none.
    pub env: Option<&'a str>,
    pub claude: Claude,
    /// `Some` in gastown mode, unless an orchestrator's settings supply hooks; asks which
    /// programs are there, and is asked only if it matters.
    pub builtin: Option<&'a dyn Fn() -> Installed>,
}

/// What the `.claude` files of the project say, if they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claude {
    Silent,
    /// They hold hooks, which run as hooks of settings files and in that dialect
    /// (DEC-041); here they only speak.
    Speaks,
    Unusable(String),
}

#[derive(Debug, PartialEq)]
pub enum Layer {
    Nobody,
    Hooks { source: Source, definitions: Vec<Definition> },
    Invalid(Invalid),
}

pub fn choose(offered: Offered<'_>) -> Layer {
    let read = |source: Source, text: Result<&str, &str>| match text.map_err(str::to_owned).and_then(parse) {
        Ok(definitions) => Layer::Hooks { source, definitions },
        Err(why) => Layer::Invalid(Invalid::new(source, &why)),
    };
    if let Some(text) = &offered.cli {
        return read(Source::Cli, text.as_deref().map_err(String::as_str));
    }
    if let Some(text) = offered.env.filter(|text| !text.is_empty()) {
        return read(Source::Env, Ok(text));
    }
    match offered.claude {
        Claude::Speaks => return Layer::Hooks { source: Source::ClaudeSettings, definitions: Vec::new() },
        Claude::Unusable(why) => return Layer::Invalid(Invalid::new(Source::ClaudeSettings, &why)),
        Claude::Silent => {}
    }
    match offered.builtin {
        Some(installed) => Layer::Hooks { source: Source::GastownBuiltin, definitions: builtin::defaults(installed()) },
        None => Layer::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: &str = r#"{"PreCompact":[{"command":"true"}]}"#;

    fn chosen(cli: Option<&str>, env: Option<&str>, claude: Claude, gastown: bool) -> String {
        let both = || Installed { gt: true, bd: true };
        let cli = cli.map(|text| Ok(text.to_owned()));
        let layer = choose(Offered { cli, env, claude, builtin: gastown.then_some(&both) });
        match layer {
            Layer::Nobody => "nobody".to_owned(),
            Layer::Hooks { source, definitions } => format!("{source} {}", definitions.len()),
            Layer::Invalid(invalid) => format!("invalid {}: {}", invalid.source, invalid.reason),
        }
    }

    /// P1, P2, P4, P5, P8, P9, P11, P14.
    #[test]
    fn the_first_source_that_speaks_wins_even_if_it_is_empty_or_broken() {
        use Claude::{Silent, Speaks, Unusable};
        let cases = [
            (Some(HOOK), Some("{}"), Speaks, true, "cli 1"),
            (None, Some(HOOK), Speaks, true, "env 1"),
            (None, Some("{}"), Speaks, true, "env 0"),
            (None, Some(""), Silent, true, "gastown_builtin 3"),
            (Some("{"), Some(HOOK), Speaks, true, "invalid cli: invalid JSON"),
            (None, Some("{"), Silent, true, "invalid env: invalid JSON"),
            (None, None, Speaks, true, "claude_settings 0"),
            (None, None, Unusable("invalid JSON".into()), true, "invalid claude_settings: invalid JSON"),
            (None, None, Silent, true, "gastown_builtin 3"),
            (None, None, Silent, false, "nobody"),
        ];
        for (cli, env, claude, gastown, expected) in cases {
            assert_eq!(chosen(cli, env, claude, gastown), expected);
        }
    }
}
