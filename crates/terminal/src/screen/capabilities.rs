//! What the terminal can do, by what the environment says of it.
//!
//! Nothing is asked of the terminal itself: its answers would come in between keys, and a start
//! would have to wait for them.

use super::Reflow;
use ona_api::{Env, environment};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Rows can be repainted. Otherwise everything is appended (plain mode).
    pub repaints: bool,
    /// The 16 colours may be used.
    pub colours: bool,
    pub reflow: Reflow,
    /// The terminal can report keys unambiguously (kitty's keyboard protocol), or at least ignores
    /// that it is asked to.
    pub keyboard_flags: bool,
}

impl Capabilities {
    pub fn of(env: &Env) -> Self {
        let term = env.get(environment::TERM).unwrap_or_default();
        let program = env.get(environment::TERM_PROGRAM).unwrap_or_default();
        let dumb = matches!(term, "" | "dumb");
        let console = term == "linux";
        let reflow = match () {
            () if env.is_set(environment::TMUX) => Reflow::All,
            () if program == "vscode" => Reflow::AllButCursorRow,
            () if console || env.is_set(environment::STY) || env.is_set(environment::XTERM_VERSION) => Reflow::Never,
            () if term.starts_with("st-") || term == "st" => Reflow::Never,
            () => Reflow::All,
        };
        Self {
            repaints: !dumb && env.non_empty(environment::ACCESSIBLE).is_none_or(|value| value == "0"),
            colours: !dumb && env.non_empty(environment::NO_COLOR).is_none(),
            reflow,
            keyboard_flags: !dumb && !console && program != "Apple_Terminal",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Capabilities {
        Capabilities::of(&Env::new(variables.iter().map(|(name, value)| (name.into(), value.into()))))
    }

    #[test]
    fn the_environment_names_the_terminal() {
        let usual = Capabilities { repaints: true, colours: true, reflow: Reflow::All, keyboard_flags: true };
        let table: [(&[(&str, &str)], Capabilities); 9] = [
            (&[("TERM", "xterm-256color")], usual),
            (&[("TERM", "xterm"), ("XTERM_VERSION", "XTerm(390)")], Capabilities { reflow: Reflow::Never, ..usual }),
            (&[("TERM", "screen"), ("STY", "1.x")], Capabilities { reflow: Reflow::Never, ..usual }),
            (&[("TERM", "screen"), ("TMUX", "/tmp/x"), ("STY", "1.x")], usual),
            (
                &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")],
                Capabilities { reflow: Reflow::AllButCursorRow, ..usual },
            ),
            (&[("TERM", "xterm"), ("NO_COLOR", "1")], Capabilities { colours: false, ..usual }),
            (&[("TERM", "xterm"), ("ACCESSIBLE", "1")], Capabilities { repaints: false, ..usual }),
            (&[("TERM", "linux")], Capabilities { reflow: Reflow::Never, keyboard_flags: false, ..usual }),
            (
                &[("TERM", "dumb")],
                Capabilities { repaints: false, colours: false, reflow: Reflow::All, keyboard_flags: false },
            ),
        ];
        for (variables, expected) in table {
            assert_eq!(of(variables), expected, "{variables:?}");
        }
    }
}
