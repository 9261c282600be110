//! Which agents this run knows: built-in, of the user, of the project, of `--agents`.

use crate::failure::Failure;
use crate::program::{Open, Program};
use ona_session::Agents;
use ona_trust::Trust;

pub fn load(program: &Program, open: &Open) -> Result<Agents, Failure> {
    let (home, project) = (program.env.home(), &program.project);
    let mut folders = Vec::new();
    for base in [&home, project] {
        if !program.options.no_claude_settings {
            folders.push(base.join(".claude/agents"));
        }
        folders.push(base.join(".ona/agents"));
    }
    // Definitions of a folder count as its settings do.
    if open.merged.trust == Trust::Withheld {
        folders.retain(|folder| !folder.starts_with(project) || folder.starts_with(&home));
    }
    if program.options.bare {
        folders.clear();
    }
    let flag = program.options.agents.as_deref().map(|text| given(program, text)).transpose()?;
    Agents::load(folders.iter().map(AsRef::as_ref), flag.as_deref()).map_err(Failure::usage)
}

/// JSON, or a file of it.
fn given(program: &Program, text: &str) -> Result<String, Failure> {
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(text.to_owned());
    }
    std::fs::read_to_string(program.cwd.join(text)).map_err(|error| {
        Failure::usage(format_args!("--agents is neither JSON nor a file that can be read: {error}: {text}"))
    })
}
