//! The table of built-in slash commands (section 2.9, DEC-006).

/// What a command is in the terms of DEC-006.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Works here.
    Local,
    /// Needs a hosted service of the reference: the text says so and names what comes closest.
    Hosted(&'static str),
}

/// What runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Clear,
    Compact,
    Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// What follows the name, as help shows it.
    pub arguments: &'static str,
    /// One line for menus and help.
    pub help: &'static str,
    pub class: Class,
    /// Whether a run without a terminal may have it.
    pub headless: bool,
    pub function: Function,
}

const fn local(
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    headless: bool,
    function: Function,
) -> SlashCommand {
    SlashCommand { name, aliases, arguments, help, class: Class::Local, headless, function }
}

/// All built-in commands, in the order of the help.
pub const COMMANDS: &[SlashCommand] = &[
    local("clear", &["reset", "new"], "", "Start a new session with an empty context", true, Function::Clear),
    local("compact", &[], "[instructions]", "Replace the conversation so far with a summary", true, Function::Compact),
    local("exit", &["quit"], "", "Leave; the session can be continued", false, Function::Exit),
];

/// Returns the command of this name or alias, without the slash.
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_is_taken_once() {
        let mut seen = BTreeSet::new();
        for command in COMMANDS {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "{name} is there twice");
                assert_eq!(find(name), Some(command));
            }
        }
        assert_eq!(find("clearly"), None);
    }
}
