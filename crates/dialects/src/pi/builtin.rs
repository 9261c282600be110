//! The defaults of gastown mode, word for word as in v1 (DEC-141).
//!
//! Newer Gastown and Beads have better commands, and `bd sync` no longer exists there; to use
//! them, pass a configuration. Each default is left out when its program
//! is not installed.

use super::config::{PiDefinition, PiMatch};
use ona_api::EventName;

/// Which of the two programs a session has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    pub gt: bool,
    pub bd: bool,
}

/// The names to look for, in the order of the fields.
pub const PROBES: [&str; 2] = ["gt", "bd"];

/// Fails on every new installation, and the user can do nothing about it.
pub(super) const GONE: &str = "bd sync";

pub(super) fn defaults(installed: Installed) -> Vec<PiDefinition> {
    let all = [
        (installed.gt, EventName::SessionStart, "gt prime"),
        (installed.gt, EventName::PreToolUse, "gt tap guard"),
        (installed.bd, EventName::PreCompact, GONE),
    ];
    let present = all.into_iter().filter(|(installed, ..)| *installed);
    present.map(|(_, event, command)| PiDefinition::new(event, command, PiMatch::All)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P10 and the other defaults.
    #[test]
    fn a_default_needs_its_program() {
        let commands = |gt, bd| {
            let defaults = defaults(Installed { gt, bd });
            defaults.into_iter().map(|one| format!("{} {}", one.event, one.command)).collect::<Vec<_>>()
        };
        assert_eq!(commands(true, false), ["SessionStart gt prime", "PreToolUse gt tap guard"]);
        assert_eq!(commands(false, true), ["PreCompact bd sync"]);
        assert_eq!(commands(true, true).len(), 3);
        assert!(commands(false, false).is_empty());
    }
}
