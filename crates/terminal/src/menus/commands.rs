//! Which commands fit what follows the slash.
//!
//! A command fits if what is typed begins its name, an alias, or a word inside its name; `:`, `_`, `-` and
//! case do not count. Commands that only have the letters in this order are listed after a
//! typo, but none is highlighted then, so that Enter sends what was typed.

use std::sync::Arc;

/// A command as the menu shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandItem {
    /// Without the slash.
    pub name: String,
    pub aliases: Vec<String>,
    /// What may follow, for instance `[model]` or `<path>`; angle brackets mean it is needed.
    pub arguments: String,
    pub help: String,
    /// Listed only when it is typed in full.
    pub hidden: bool,
    /// A skill: several may stand in front of one text.
    pub stackable: bool,
    /// Values that the argument can have, with what they mean.
    pub choices: Vec<(String, String)>,
}

impl CommandItem {
    pub fn needs_arguments(&self) -> bool {
        self.arguments.starts_with('<')
    }
}

/// What fits, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandMatches {
    pub items: Vec<Arc<CommandItem>>,
    /// The first one is meant; otherwise the rest is only similar.
    pub firm: bool,
}

pub fn match_commands(commands: &[Arc<CommandItem>], typed: &str) -> CommandMatches {
    let wanted = plain(typed);
    let mut ranked: Vec<(u8, usize, &Arc<CommandItem>)> = Vec::new();
    for command in commands {
        if command.hidden && command.name != typed {
            continue;
        }
        if let Some(rank) = rank(command, &wanted) {
            ranked.push((rank, command.name.len(), command));
        }
    }
    let firm = ranked.iter().any(|(rank, ..)| *rank < SIMILAR);
    // Without a query the order is the table's; the sort is stable.
    if !wanted.is_empty() {
        ranked.retain(|(rank, ..)| !firm || *rank < SIMILAR);
        ranked.sort_by_key(|(rank, length, _)| (*rank, *length));
    }
    CommandMatches { items: ranked.into_iter().map(|(.., command)| Arc::clone(command)).collect(), firm }
}

const SIMILAR: u8 = 9;

fn rank(command: &CommandItem, wanted: &str) -> Option<u8> {
    let name = plain(&command.name);
    let aliases: Vec<String> = command.aliases.iter().map(|alias| plain(alias)).collect();
    let word = || {
        let starts = command.name.char_indices().filter(|(_, c)| is_filler(*c)).map(|(at, c)| at + c.len_utf8());
        starts.map(|at| plain(&command.name[at..])).any(|rest| rest.starts_with(wanted))
    };
    let similar = || {
        let mut chars = name.chars();
        wanted.len() > 1 && wanted.chars().all(|c| chars.any(|other| other == c))
    };
    match () {
        () if name == wanted => Some(0),
        () if aliases.iter().any(|alias| alias == wanted) => Some(1),
        () if name.starts_with(wanted) => Some(2),
        () if aliases.iter().any(|alias| alias.starts_with(wanted)) => Some(3),
        () if word() => Some(4),
        () if similar() => Some(SIMILAR),
        () => None,
    }
}

/// Returns the values of an argument that fit what is typed of it.
pub fn match_choices<'a>(choices: &'a [(String, String)], typed: &str) -> Vec<&'a (String, String)> {
    let wanted = plain(typed);
    let begins = |choice: &&(String, String)| plain(&choice.0).starts_with(&wanted);
    let within = |choice: &&(String, String)| !begins(choice) && plain(&choice.0).contains(&wanted);
    choices.iter().filter(begins).chain(choices.iter().filter(within)).collect()
}

fn is_filler(c: char) -> bool {
    matches!(c, ':' | '_' | '-')
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !is_filler(*c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{CommandItem, match_choices, match_commands};
    use std::sync::Arc;

    fn commands() -> Vec<Arc<CommandItem>> {
        let command = |name: &str, aliases: &[&str], hidden| {
            let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
            Arc::new(CommandItem { name: name.into(), aliases, hidden, ..CommandItem::default() })
        };
        vec![
            command("add-dir", &[], false),
            command("clear", &["reset", "new"], false),
            command("compact", &[], false),
            command("config", &["settings"], false),
            command("heapdump", &[], true),
            command("output-style", &[], false),
            command("git:tidy_up", &[], false),
            command("resume", &["continue"], false),
        ]
    }

    #[test]
    fn what_is_typed_begins_a_name_an_alias_or_a_word() {
        let commands = commands();
        for (typed, expected, firm) in [
            ("co", &["config", "compact", "resume"][..], true),
            ("CON", &["config", "resume"], true),
            ("re", &["resume", "clear"], true),
            ("reset", &["clear"], true),
            ("style", &["output-style"], true),
            ("tidyup", &["git:tidy_up"], true),
            ("adddir", &["add-dir"], true),
            ("up", &["git:tidy_up"], true),
            ("heapd", &[], false),
            ("heapdump", &["heapdump"], true),
            ("cler", &["clear"], false),
            ("xyz", &[], false),
        ] {
            let found = match_commands(&commands, typed);
            let names: Vec<_> = found.items.iter().map(|item| item.name.as_str()).collect();
            assert_eq!((names.as_slice(), found.firm), (expected, firm), "{typed}");
        }
        assert_eq!(match_commands(&commands, "").items.len(), commands.len() - 1);
    }

    #[test]
    fn choices_of_an_argument() {
        let choices: Vec<_> =
            ["opus", "sonnet", "haiku", "my-opus"].iter().map(|name| ((*name).to_owned(), String::new())).collect();
        let found: Vec<_> = match_choices(&choices, "op").into_iter().map(|choice| choice.0.as_str()).collect();
        assert_eq!(found, ["opus", "my-opus"]);
    }
}
