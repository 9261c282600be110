//! Hooks that come with a session and not with its settings, after those of the
//! settings and of plugins and in the order of DEC-060: pi, massgen, omp.

use crate::findings;
use crate::output;
use crate::pi_session::PiSession;
use ona_api::{EventKind, Group};
use ona_dialects::Loaded;
use ona_dialects::pi::{self, Layer, Surroundings};
use ona_permissions::Place;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The hooks of `--hooks-config`, `PI_HOOKS_JSON` or gastown mode. The files that decide
/// about them, which the agent may not change.
pub fn pi(session: &PiSession, settings: &Value, place: &Place, loaded: &mut Loaded) -> Vec<PathBuf> {
    let mut guarded: Vec<_> = session.file.iter().cloned().collect();
    if let Layer::Hooks { source, definitions } = &session.layer {
        let words = |one: &pi::Definition| json!({"command": one.command, "args": one.args});
        let commands: Vec<_> = definitions.iter().map(words).collect();
        guarded.extend(ona_trust::hook_scripts(&json!({ "hooks": commands }), &place.project, &place.home));
        let made = pi::hooks(*source, definitions, &Surroundings { settings, place });
        made.hooks.into_iter().for_each(|hook| loaded.list.push(hook));
        loaded.rejected.extend(made.rejected);
        loaded.idle.extend(made.idle);
    }
    guarded
}

/// What people are told about these hooks before the first of them could run.
pub fn announce(session: &PiSession, loaded: &Loaded, verbose: bool) -> Group {
    let mut group = Group::default();
    if let Some(invalid) = session.invalid() {
        output::note(invalid.warning());
        if verbose {
            output::note(invalid.record());
        }
        group.event(EventKind::HookConfigInvalid, invalid.record());
    }
    if verbose && session.claude_off > 0 {
        let count = session.claude_off;
        output::note(format_args!(
            "ona: {count} hook(s) of .claude files are off in this session (--claude-settings-hooks)"
        ));
    }
    if verbose
        && matches!(&session.layer, Layer::Hooks { source: pi::Source::GastownBuiltin, definitions } if definitions.is_empty())
    {
        output::note("ona: gastown mode has no hooks here: neither gt nor bd was found");
    }
    for matcher in &loaded.idle {
        output::note(findings::idle_matcher(matcher));
    }
    group
}
