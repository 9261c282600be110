//! The table of built-in slash commands (section 2.9, DEC-006).

/// What a command is in the terms of DEC-006.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Works here.
    Local,
    /// Needs a hosted service of the reference. The text names what comes closest here.
    Hosted(&'static str),
}

/// What runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    AddDir,
    Agents,
    Branch,
    Clear,
    Compact,
    Config,
    Context,
    Diff,
    Doctor,
    Exit,
    Export,
    Help,
    Hooks,
    /// A text for the model.
    Init,
    Keys,
    Mcp,
    Memory,
    Model,
    Permissions,
    Phase,
    Plan,
    Rate,
    Resume,
    Review,
    Rewind,
    SecurityReview,
    Skills,
    Status,
    Tasks,
    Usage,
    Vim,
    /// Nothing: the class says why.
    Unavailable,
}

impl Function {
    /// Whether the command only sends a text to the model.
    pub fn asks_the_model(self) -> bool {
        matches!(self, Function::Init | Function::Review | Function::SecurityReview)
    }
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

type Aliases = &'static [&'static str];

const fn everywhere(
    name: &'static str,
    aliases: Aliases,
    arguments: &'static str,
    help: &'static str,
    function: Function,
) -> SlashCommand {
    SlashCommand { name, aliases, arguments, help, class: Class::Local, headless: true, function }
}

const fn on_screen(
    name: &'static str,
    aliases: Aliases,
    arguments: &'static str,
    help: &'static str,
    function: Function,
) -> SlashCommand {
    SlashCommand { name, aliases, arguments, help, class: Class::Local, headless: false, function }
}

const fn hosted(name: &'static str, aliases: Aliases, closest: &'static str) -> SlashCommand {
    SlashCommand {
        name,
        aliases,
        arguments: "",
        help: "Needs a hosted service",
        class: Class::Hosted(closest),
        headless: false,
        function: Function::Unavailable,
    }
}

/// All built-in commands, in the order of the help.
pub const COMMANDS: &[SlashCommand] = &[
    everywhere("help", &[], "[command]", "List the commands, or explain one", Function::Help),
    everywhere("clear", &["reset", "new"], "", "Start a new session with an empty context", Function::Clear),
    everywhere("compact", &[], "[instructions]", "Replace the conversation so far with a summary", Function::Compact),
    everywhere("model", &[], "[model]", "Show the models, or choose the one that is asked next", Function::Model),
    everywhere("config", &["settings"], "[model=ID]", "Show the settings, or choose a model", Function::Config),
    everywhere("status", &[], "", "Session, model, credential, folder, database", Function::Status),
    everywhere("usage", &["cost", "stats"], "", "Tokens and cost of this session", Function::Usage),
    everywhere("context", &[], "", "How full the context window is", Function::Context),
    everywhere("permissions", &["allowed-tools"], "", "Rules, mode and working directories", Function::Permissions),
    everywhere("hooks", &[], "", "The hooks of this session, in the order they run", Function::Hooks),
    everywhere("phase", &[], "", "The phase of this conversation and what it allows", Function::Phase),
    everywhere("plan", &[], "[task]", "Show the plan, or have the task planned first", Function::Plan),
    everywhere("diff", &[], "", "Files that this session has changed", Function::Diff),
    on_screen(
        "rewind",
        &["checkpoint", "undo"],
        "[number] [both|conversation|files]",
        "Go back to before a prompt",
        Function::Rewind,
    ),
    on_screen("resume", &["continue"], "[session]", "Continue another session", Function::Resume),
    on_screen("branch", &["fork"], "", "Continue in a copy of this session", Function::Branch),
    everywhere("export", &[], "[file]", "Show the conversation as Markdown, or write it to a file", Function::Export),
    everywhere("rate", &[], "<1-5> [objective]", "Rate how the task went", Function::Rate),
    everywhere("memory", &[], "[text]", "List memories, or add one", Function::Memory),
    everywhere("add-dir", &[], "<folder>", "Add a working directory for this session", Function::AddDir),
    everywhere("agents", &[], "", "Agents that can be started", Function::Agents),
    everywhere("skills", &[], "", "Skills and commands of files", Function::Skills),
    everywhere("mcp", &[], "", "MCP servers, their state and tools", Function::Mcp),
    everywhere("tasks", &["bashes"], "", "What runs in the background", Function::Tasks),
    everywhere("init", &[], "", "Have the model write a CLAUDE.md for this project", Function::Init),
    everywhere("review", &["code-review"], "[what]", "Have the model review the changes", Function::Review),
    everywhere(
        "security-review",
        &[],
        "",
        "Have the model look for security problems in the changes",
        Function::SecurityReview,
    ),
    everywhere("doctor", &["checkup"], "", "Check the installation", Function::Doctor),
    on_screen("shortcuts", &[], "", "Show the keys", Function::Keys),
    on_screen("vim", &[], "", "Switch the vim keys on or off", Function::Vim),
    on_screen("exit", &["quit"], "", "Leave; the session can be continued", Function::Exit),
    hosted("advisor", &[], "/model chooses another model"),
    hosted("artifacts", &[], "/export writes the conversation to a file"),
    hosted("auto-mode-setup", &[], "permission rules decide: /permissions"),
    hosted("autofix-pr", &[], "/review looks at the changes here"),
    hosted("chrome", &[], "an MCP server can drive a browser: /mcp"),
    hosted("design-login", &["design-sync"], "nothing here comes close"),
    hosted("desktop", &["app"], "ona runs in a terminal"),
    hosted("fast", &[], "/model chooses a faster model"),
    hosted("install-github-app", &["install-slack-app"], "ona -p runs in any CI system"),
    hosted("mobile", &["ios", "android"], "ona runs in a terminal"),
    hosted("passes", &["stickers", "radio", "powerup", "upgrade"], "nothing here comes close"),
    hosted("privacy-settings", &[], "everything stays in one database on this machine: /status"),
    hosted(
        "remote-control",
        &["rc", "remote-env", "web-setup"],
        "a program can drive ona over stdin: ona -p --input-format stream-json",
    ),
    hosted("schedule", &["routines"], "cron can start ona -p"),
    hosted("teleport", &["tp"], "/resume continues a session of this machine"),
    hosted("ultrareview", &[], "/review looks at the changes here"),
    hosted("usage-credits", &[], "/usage shows what this session cost"),
    hosted("voice", &[], "nothing here comes close"),
];

/// Commands of the reference that do not exist here yet, and what does the same today.
pub const MISSING: &[(&str, &str)] = &[
    ("login, logout", "`ona auth login` and `ona auth logout` do it today"),
    ("tests, verify", "`ona test report` does it today"),
    ("plugin, reload-plugins", "plugins are named in settings"),
    (
        "theme, statusline, keybindings, terminal-setup, tui, scroll-speed, color, focus",
        "the screen uses the terminal's own colours",
    ),
    ("rename, recap, copy, todos", "`/export` has the whole conversation"),
    ("btw, subtask, goal, workflows, list-agents, stop, background", "`/tasks` lists what runs"),
    ("autocompact, effort", "the settings `autoCompactWindow` and `effortLevel`"),
    ("cd, ide, import, insights, release-notes, reload-skills, sandbox, heapdump", "not started"),
    ("bug, feedback", "issues of this repository"),
];

/// Returns `docs/COMMANDS.md`, which is generated from the tables above.
pub fn reference() -> String {
    let mut text = "# Slash commands\n\nGenerated from `crates/commands/src/table.rs`; a test compares.\n\n\
                    ## Implemented\n\n| command | also | without a terminal | |\n|---|---|---|---|\n"
        .to_owned();
    let also =
        |command: &SlashCommand| command.aliases.iter().map(|alias| format!("/{alias}")).collect::<Vec<_>>().join(" ");
    for command in COMMANDS.iter().filter(|command| command.class == Class::Local) {
        let arguments = command.arguments.replace('|', "\\|");
        let head = format!("/{} {arguments}", command.name);
        let headless = if command.headless { "yes" } else { "no" };
        text.push_str(&format!("| `{}` | {} | {headless} | {} |\n", head.trim(), also(command), command.help));
    }
    text.push_str("\n## Replaced: they need a hosted service, and say so in one line\n\n| command | also | instead |\n|---|---|---|\n");
    for command in COMMANDS {
        if let Class::Hosted(closest) = command.class {
            text.push_str(&format!("| `/{}` | {} | {closest} |\n", command.name, also(command)));
        }
    }
    text.push_str("\n## Not there yet\n\n| commands | today |\n|---|---|\n");
    for (names, today) in MISSING {
        let names: Vec<_> = names.split(", ").map(|name| format!("`/{name}`")).collect();
        text.push_str(&format!("| {} | {today} |\n", names.join(" ")));
    }
    text
}

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

    #[test]
    fn the_document_is_the_table() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMMANDS.md");
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == reference(), "docs/COMMANDS.md must read:\n{}", reference());
        for (names, _) in MISSING {
            assert!(names.split(", ").all(|name| find(name).is_none()), "{names}");
        }
    }

    #[test]
    fn what_needs_a_service_says_what_comes_closest() {
        for command in COMMANDS {
            let is_hosted = matches!(command.class, Class::Hosted(closest) if !closest.is_empty());
            assert_eq!(is_hosted, command.function == Function::Unavailable, "{}", command.name);
        }
    }
}
