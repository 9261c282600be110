//! What a menu may list: skills, commands of files, agents and output styles, as plain values.

use ona_instructions::skills::{Skill, SkillKind, SkillScope, Skills};
use ona_instructions::{AgentDefinition, Agents, OutputStyle, OutputStyles};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtensionKind {
    Skill,
    Command,
    Agent,
    OutputStyle,
}

/// Who an extension belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtensionSource {
    BuiltIn,
    User,
    Project,
    Plugin(String),
}

/// One line of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub kind: ExtensionKind,
    /// As it is typed or set.
    pub name: String,
    pub description: String,
    /// What follows the name of a skill or a command.
    pub argument_hint: Option<String>,
    pub source: ExtensionSource,
    /// Whether a person may start it.
    pub by_user: bool,
    /// Whether the model may.
    pub by_model: bool,
    /// How a screen shows an agent.
    pub color: Option<String>,
}

/// Everything there is, kind by kind, each in the order of the names.
pub fn extensions(skills: &Skills, agents: &Agents, styles: &OutputStyles) -> Vec<Extension> {
    let skills = skills.iter().map(of_skill);
    let agents = agents.iter().map(of_agent);
    let mut all: Vec<_> = skills.chain(agents).chain(styles.iter().map(of_style)).collect();
    all.sort_by_key(|one| one.kind as u8);
    all
}

fn of_skill(skill: &Skill) -> Extension {
    let source = match (&skill.plugin, skill.scope) {
        (Some(plugin), _) => ExtensionSource::Plugin(plugin.name.clone()),
        (None, SkillScope::User) => ExtensionSource::User,
        (None, SkillScope::Project) => ExtensionSource::Project,
    };
    Extension {
        kind: if skill.kind == SkillKind::Skill { ExtensionKind::Skill } else { ExtensionKind::Command },
        name: skill.name.clone(),
        description: skill.description.clone(),
        argument_hint: skill.argument_hint.clone(),
        source,
        by_user: skill.by_user,
        by_model: skill.by_model,
        color: None,
    }
}

fn of_agent(agent: &AgentDefinition) -> Extension {
    let origin = &agent.origin;
    let source = match &origin.plugin {
        Some(plugin) => ExtensionSource::Plugin(plugin.clone()),
        None if origin.file.as_os_str().is_empty() => ExtensionSource::BuiltIn,
        None if origin.of_project => ExtensionSource::Project,
        None => ExtensionSource::User,
    };
    Extension {
        kind: ExtensionKind::Agent,
        name: agent.name.clone(),
        description: agent.description.clone(),
        argument_hint: None,
        source,
        by_user: true,
        by_model: true,
        color: agent.color.clone(),
    }
}

fn of_style(style: &OutputStyle) -> Extension {
    let plugin = style.file.as_ref().and_then(|_| style.name.split_once(':')).map(|(plugin, _)| plugin.to_owned());
    let source = match (plugin, &style.file) {
        (Some(plugin), _) => ExtensionSource::Plugin(plugin),
        (None, None) => ExtensionSource::BuiltIn,
        (None, Some(_)) => ExtensionSource::User,
    };
    Extension {
        kind: ExtensionKind::OutputStyle,
        name: style.name.clone(),
        description: style.description.clone(),
        argument_hint: None,
        source,
        by_user: true,
        by_model: false,
        color: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_ins_are_listed_by_kind() {
        let agents =
            Agents::load([], Some(r#"{"mine": {"description": "d", "prompt": "p", "color": "red"}}"#)).unwrap();
        let all = extensions(&Skills::default(), &agents, &OutputStyles::load([]));
        let names: Vec<_> = all.iter().map(|one| (one.kind, one.name.as_str())).collect();
        assert_eq!(names[0], (ExtensionKind::Agent, "explore"));
        assert!(names.contains(&(ExtensionKind::OutputStyle, "learning")));
        let mine = all.iter().find(|one| one.name == "mine").unwrap();
        assert_eq!((mine.color.as_deref(), mine.by_model), (Some("red"), true));
    }
}
