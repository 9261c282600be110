//! Chooses the configuration: the first that exists, and nothing is merged. One that cannot
//! be parsed ends the search as well, so that a typo never brings back hooks that it was
//! meant to replace.

use super::builtin::{self, Installed};
use super::config::{PiDefinition, parse};
use super::invalid::InvalidDefinition;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiSource {
    /// `--hooks-config`
    Cli,
    /// `PI_HOOKS_JSON`
    Env,
    /// `.claude/settings*.json`, on request
    ClaudeSettings,
    GastownBuiltin,
}

impl PiSource {
    pub fn as_str(self) -> &'static str {
        match self {
            PiSource::Cli => "cli",
            PiSource::Env => "env",
            PiSource::ClaudeSettings => "claude_settings",
            PiSource::GastownBuiltin => "gastown_builtin",
        }
    }

    /// For people, who know the last one as what happens by default.
    pub(super) fn plain(self) -> &'static str {
        match self {
            PiSource::GastownBuiltin => "default",
            PiSource::Cli | PiSource::Env | PiSource::ClaudeSettings => self.as_str(),
        }
    }
}

impl fmt::Display for PiSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The possible configurations of a start.
pub struct PiOffer<'a> {
    /// The text of the file, or why it could not be read.
    pub cli: Option<Result<String, String>>,
    /// An empty variable counts as unset.
    pub env: Option<&'a str>,
    pub claude: ClaudeFiles,
    /// `Some` in gastown mode, unless an orchestrator's settings supply hooks; asks which
    /// programs are there, and is asked only if it matters.
    pub builtin: Option<&'a dyn Fn() -> Installed>,
}

/// What the `.claude` files of the project say, if they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaudeFiles {
    Silent,
    /// They hold hooks, which run as hooks of settings files and in that dialect
    /// (DEC-041); here they only speak.
    Speaks,
    Unusable(String),
}

#[derive(Debug, PartialEq)]
pub enum PiLayer {
    Nobody,
    Hooks { source: PiSource, definitions: Vec<PiDefinition> },
    Invalid(InvalidDefinition),
}

pub fn choose(offered: PiOffer<'_>) -> PiLayer {
    let read = |source: PiSource, text: Result<&str, &str>| match text.map_err(str::to_owned).and_then(parse) {
        Ok(definitions) => PiLayer::Hooks { source, definitions },
        Err(why) => PiLayer::Invalid(InvalidDefinition::new(source, &why)),
    };
    if let Some(text) = &offered.cli {
        return read(PiSource::Cli, text.as_deref().map_err(String::as_str));
    }
    if let Some(text) = offered.env.filter(|text| !text.is_empty()) {
        return read(PiSource::Env, Ok(text));
    }
    match offered.claude {
        ClaudeFiles::Speaks => return PiLayer::Hooks { source: PiSource::ClaudeSettings, definitions: Vec::new() },
        ClaudeFiles::Unusable(why) => return PiLayer::Invalid(InvalidDefinition::new(PiSource::ClaudeSettings, &why)),
        ClaudeFiles::Silent => {}
    }
    match offered.builtin {
        Some(installed) => {
            PiLayer::Hooks { source: PiSource::GastownBuiltin, definitions: builtin::defaults(installed()) }
        }
        None => PiLayer::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: &str = r#"{"PreCompact":[{"command":"true"}]}"#;

    fn chosen(cli: Option<&str>, env: Option<&str>, claude: ClaudeFiles, gastown: bool) -> String {
        let both = || Installed { gt: true, bd: true };
        let cli = cli.map(|text| Ok(text.to_owned()));
        let layer = choose(PiOffer { cli, env, claude, builtin: gastown.then_some(&both) });
        match layer {
            PiLayer::Nobody => "nobody".to_owned(),
            PiLayer::Hooks { source, definitions } => format!("{source} {}", definitions.len()),
            PiLayer::Invalid(invalid) => format!("invalid {}: {}", invalid.source, invalid.reason),
        }
    }

    /// P1, P2, P4, P5, P8, P9, P11, P14.
    #[test]
    fn the_first_source_that_exists_wins_even_if_it_is_empty_or_broken() {
        use ClaudeFiles::{Silent, Speaks, Unusable};
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
