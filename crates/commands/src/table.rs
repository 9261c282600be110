//! The table of built-in slash commands (section 2.9, DEC-006).

/// What a command is in the terms of DEC-006.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Works here.
    Local,
    /// Needs a hosted service of the reference. The text names what comes closest here.
    Hosted(&'static str),
    /// About a part of the reference that ona does not have. The text says why, and what to use.
    Omitted(&'static str),
}

/// What runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    AddDir,
    Agents,
    AutoCompact,
    Background,
    Beside,
    Branch,
    Cd,
    Clear,
    Colour,
    Compact,
    Config,
    Context,
    Copy,
    Diff,
    Doctor,
    Effort,
    Exit,
    Export,
    Focus,
    Goal,
    HeapDump,
    Help,
    Hooks,
    Import,
    Init,
    Insights,
    Keybindings,
    Keys,
    ListAgents,
    Login,
    Logout,
    Mcp,
    Memory,
    Model,
    Permissions,
    Phase,
    Plan,
    Plugin,
    Rate,
    Recap,
    ReleaseNotes,
    Reload,
    ReloadSkills,
    Rename,
    Report,
    Resume,
    Review,
    Rewind,
    SecurityReview,
    Skills,
    Status,
    StatusLine,
    Stop,
    Subtask,
    Tasks,
    TerminalSetup,
    Tests,
    Theme,
    Todos,
    Usage,
    Verify,
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

impl SlashCommand {
    /// Whether nothing of it makes sense without a screen.
    pub(crate) fn needs_a_person(&self) -> bool {
        use Function::{Colour, Copy, Focus, Keybindings, Login, Logout, Reload, StatusLine, TerminalSetup, Theme};
        matches!(
            self.function,
            Login | Logout | Theme | StatusLine | Keybindings | TerminalSetup | Colour | Focus | Copy | Reload
        )
    }
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

const fn omitted(name: &'static str, why: &'static str) -> SlashCommand {
    SlashCommand { help: "Not part of ona", class: Class::Omitted(why), ..hosted(name, &[], "") }
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
    everywhere("model", &[], "[model]", "Choose the model that is asked next", Function::Model),
    everywhere("config", &["settings"], "[key=value]", "Change settings, or list them", Function::Config),
    everywhere("status", &[], "", "Session, model, credential, folder, database", Function::Status),
    everywhere("usage", &["cost", "stats"], "", "Tokens and cost of this session", Function::Usage),
    everywhere("context", &[], "", "How full the context window is", Function::Context),
    everywhere(
        "permissions",
        &["allowed-tools"],
        "[allow|ask|deny|remove RULE]",
        "Rules, mode and working directories, to look at and change",
        Function::Permissions,
    ),
    everywhere("hooks", &[], "", "The hooks of this session and what they did last", Function::Hooks),
    everywhere("phase", &[], "[phase]", "The phase of this conversation, or move to another", Function::Phase),
    everywhere("plan", &[], "[task]", "Show the plan, or have the task planned first", Function::Plan),
    everywhere("tests", &[], "[run]", "Results of the workflow's tests, or run them", Function::Tests),
    everywhere("verify", &[], "[approve]", "Compare the tests with the plan, and approve the result", Function::Verify),
    everywhere("diff", &[], "", "Files that this session has changed", Function::Diff),
    on_screen(
        "rewind",
        &["checkpoint", "undo"],
        "[number] [both|conversation|files|summary]",
        "Go back to before a prompt",
        Function::Rewind,
    ),
    on_screen("resume", &["continue"], "[session]", "Continue another session", Function::Resume),
    on_screen("branch", &["fork"], "[name]", "Continue in a copy of this session", Function::Branch),
    everywhere("rename", &[], "[name]", "Name this session; without a name the model finds one", Function::Rename),
    everywhere("export", &[], "[file]", "Show the conversation as Markdown, or write it to a file", Function::Export),
    on_screen("copy", &[], "[number]", "Copy the last reply, or the one before it", Function::Copy),
    everywhere("todos", &[], "", "What the agent still wants to do", Function::Todos),
    everywhere("recap", &[], "", "What this session was about, in a line", Function::Recap),
    everywhere("btw", &[], "<question>", "Ask beside the conversation: no tools, not remembered", Function::Beside),
    everywhere("goal", &[], "[condition|clear]", "Work on until a condition is met", Function::Goal),
    everywhere(
        "subtask",
        &[],
        "<task>",
        "Have an agent of its own do a task; its report comes back here",
        Function::Subtask,
    ),
    everywhere("background", &["bg"], "<task>", "Have an agent do a task in the background", Function::Background),
    everywhere(
        "list-agents",
        &["peers"],
        "",
        "Agents and sessions that are at work in this project",
        Function::ListAgents,
    ),
    everywhere("tasks", &["bashes"], "", "What runs in the background", Function::Tasks),
    everywhere("stop", &[], "[task]", "Stop what runs in the background", Function::Stop),
    everywhere("rate", &[], "<1-5> [objective]", "Rate how the task went", Function::Rate),
    everywhere("memory", &[], "[text]", "Memories and instruction files, or add a memory", Function::Memory),
    everywhere("add-dir", &[], "<folder>", "Add a working directory for this session", Function::AddDir),
    everywhere("cd", &[], "<folder>", "Work in another folder from now on", Function::Cd),
    everywhere("agents", &[], "", "Agents that can be started", Function::Agents),
    everywhere("skills", &[], "", "Skills and commands of files", Function::Skills),
    everywhere("reload-skills", &[], "", "Read skills and agents again", Function::ReloadSkills),
    everywhere(
        "mcp",
        &[],
        "[reconnect|enable|disable|approve|reject NAME]",
        "MCP servers: their state, tools, approval, login",
        Function::Mcp,
    ),
    everywhere(
        "plugin",
        &[],
        "[install|enable|disable|remove|show NAME]",
        "Plugins: list, install, switch, remove",
        Function::Plugin,
    ),
    on_screen(
        "reload-plugins",
        &[],
        "",
        "Start the session anew with what plugins and settings are now",
        Function::Reload,
    ),
    everywhere("init", &[], "", "Have the model write a CLAUDE.md for this project", Function::Init),
    everywhere("review", &["code-review"], "[what]", "Have the model review the changes", Function::Review),
    everywhere(
        "security-review",
        &[],
        "",
        "Have the model look for security problems in the changes",
        Function::SecurityReview,
    ),
    on_screen("login", &[], "", "Log in, or store an API key", Function::Login),
    on_screen("logout", &[], "", "Forget the stored login and leave", Function::Logout),
    everywhere(
        "effort",
        &[],
        "[low|medium|high|xhigh|max|auto]",
        "How hard to think; hooks and skills are told",
        Function::Effort,
    ),
    everywhere(
        "autocompact",
        &[],
        "[auto|off|tokens]",
        "When the conversation is summarised by itself",
        Function::AutoCompact,
    ),
    everywhere(
        "import",
        &[],
        "<codex|gemini> [--dry-run]",
        "Take over servers and instructions of another agent",
        Function::Import,
    ),
    everywhere("insights", &[], "[file]", "Write a page about how ona was used here", Function::Insights),
    everywhere("doctor", &["checkup"], "", "Check the installation", Function::Doctor),
    everywhere("release-notes", &[], "[version]", "What has changed in ona", Function::ReleaseNotes),
    everywhere("bug", &["feedback", "share"], "[text]", "Write a report about a problem into a file", Function::Report),
    everywhere("heapdump", &[], "", "Memory and files of this process", Function::HeapDump),
    on_screen("theme", &[], "[name]", "Colours of the terminal", Function::Theme),
    on_screen("color", &[], "[name]", "Colour of the lines around the composer", Function::Colour),
    on_screen("focus", &[], "", "Show prompts and replies only, or everything again", Function::Focus),
    on_screen("statusline", &[], "[command|off]", "Your own command for the status line", Function::StatusLine),
    on_screen("keybindings", &[], "", "Open the file with your keys", Function::Keybindings),
    on_screen("terminal-setup", &[], "", "How this terminal sends a new line", Function::TerminalSetup),
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
    omitted("tui", "the conversation is in the terminal's own scrollback; a full-screen mode does not exist"),
    omitted("scroll-speed", "the terminal itself scrolls, as fast as it is set to"),
    omitted("ide", "an editor's integration is an MCP server: /mcp; Ctrl+G opens the prompt in your editor"),
    omitted("workflows", "the workflow of a conversation is its phases and plan: /phase and /plan"),
    omitted("sandbox", "tools are kept in by rules and hooks, not by the kernel yet: /permissions, ona sandbox exec"),
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
    text.push_str("\n## Omitted: they say why in one line\n\n| command | why, and what to use |\n|---|---|\n");
    for command in COMMANDS {
        if let Class::Omitted(why) = command.class {
            text.push_str(&format!("| `/{}` | {why} |\n", command.name));
        }
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
    }

    /// Section 2 of the public list of commands (DEC-006), without those the reference has removed.
    const REFERENCE: &str = "add-dir advisor agents artifacts auto-mode-setup autocompact autofix-pr background bg branch \
        btw bug share feedback cd chrome clear reset new color compact config settings context copy desktop app mobile \
        ios android passes stickers radio powerup upgrade usage-credits privacy-settings design-login design-sync diff \
        effort exit quit export fast focus fork goal heapdump help hooks ide import init insights install-github-app \
        install-slack-app web-setup remote-env teleport tp remote-control rc schedule routines keybindings list-agents \
        peers login logout mcp memory model permissions allowed-tools plan plugin recap release-notes reload-plugins \
        reload-skills rename resume continue rewind checkpoint undo sandbox scroll-speed tui theme terminal-setup voice \
        statusline security-review skills status stop subtask tasks bashes usage cost stats workflows code-review review \
        doctor checkup ultrareview verify";

    #[test]
    fn no_command_of_the_reference_is_unknown() {
        let unknown: Vec<_> = REFERENCE.split_whitespace().filter(|name| find(name).is_none()).collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn what_does_not_work_here_says_why() {
        for command in COMMANDS {
            let says = match command.class {
                Class::Local => false,
                Class::Hosted(why) | Class::Omitted(why) => !why.is_empty(),
            };
            assert_eq!(says, command.function == Function::Unavailable, "{}", command.name);
        }
    }
}
