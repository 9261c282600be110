//! Hooks of `--hooks-config`, of `PI_HOOKS_JSON` or of gastown mode, whichever `pi_session` chose.

use super::pi_session::PiSession;
use super::{LoadedSource, SourceContext};
use crate::failure::Failure;
use crate::guards::{AtStart, Finding};
use crate::launch::Launch;
use ona_api::{Group, LoggedEvent};
use ona_dialects::LoadedHooks;
use ona_dialects::pi::{self, PiContext, PiDefinition, PiLayer, PiSource};
use ona_permissions::SessionDirs;
use ona_settings::{HookSettings, Settings};
use serde_json::json;

pub(super) fn load(context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
    let session = context.pi;
    let mut loaded = match &session.layer {
        PiLayer::Hooks { source, definitions } => hooks(*source, definitions, context.settings, context.dirs),
        PiLayer::Invalid(_) | PiLayer::Nobody => LoadedHooks::default(),
    };
    loaded.files.extend(session.file.clone());
    // Printed by `announce`, and never a reason to refuse: an invalid pi source does not
    // end a run (000).
    let invalid = session.invalid().map(|invalid| Finding::new("invalid-config", invalid.warning()));
    let findings = invalid.into_iter().map(|one| Finding { at_start: AtStart::SaidElsewhere, ..one }).collect();
    Ok(LoadedSource { loaded, findings, rows: announce(context.launch, session), ..LoadedSource::default() })
}

/// The hooks of one such configuration, and the scripts they start.
pub(super) fn hooks(
    source: PiSource,
    definitions: &[PiDefinition],
    settings: &Settings,
    dirs: &SessionDirs,
) -> LoadedHooks {
    let command = |one: &PiDefinition| json!({"command": one.command, "args": one.args});
    let commands: Vec<_> = definitions.iter().map(command).collect();
    let entries = HookSettings { entries: commands.into(), ..HookSettings::default() };
    let files = ona_trust::hook_scripts(&entries, &dirs.project, &dirs.home);
    LoadedHooks { files, ..pi::hooks(source, definitions, &PiContext { settings, dirs }) }
}

/// Tells people about these hooks before the first of them could run; returns the same for the record.
fn announce(launch: &Launch, session: &PiSession) -> Group {
    let verbose = launch.options.verbose;
    let mut group = Group::default();
    if let Some(invalid) = session.invalid() {
        launch.note(invalid.warning());
        if verbose {
            launch.note(invalid.record());
        }
        group.log(LoggedEvent::HookConfigInvalid(invalid.record()));
    }
    if verbose && session.claude_off > 0 {
        let count = session.claude_off;
        launch.note(format_args!(
            "ona: {count} hook(s) of .claude files are off in this session (--claude-settings-hooks)"
        ));
    }
    if verbose
        && matches!(&session.layer, PiLayer::Hooks { source: PiSource::GastownBuiltin, definitions } if definitions.is_empty())
    {
        launch.note("ona: gastown mode has no hooks here: neither gt nor bd was found");
    }
    group
}
