//! Which flags each mode and each command uses.
//!
//! clap knows every flag everywhere, so that a flag may stand before or after a command's name.
//! This table says where a flag means something: help lists only those, and any other use is
//! refused with a sentence instead of being ignored.

use super::Options;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use ona_runtime::Failure;

type Ids = &'static [&'static str];

const DB: Ids = &["db"];
const CONVERSATION: Ids = &["conversation"];
const MODEL: Ids = &["model"];
const VERBOSE: Ids = &["verbose"];
/// Which settings files are read.
const FILES: Ids =
    &["settings", "setting_sources", "no_claude_settings", "bare", "ignore_bad_settings", "plugin_dir", "no_trust"];
const TRUST: Ids = &["trust"];
const GUARDS: Ids = &["strict_guards"];
const HOOKS: Ids = &[
    "hooks_config",
    "hook",
    "extension",
    "extension_flag",
    "gastown",
    "claude_settings_hooks",
    "massgen_config",
    "agent_id",
];
const MCP: Ids = &["mcp_config", "strict_mcp_config"];
const RULES: Ids = &["permission_mode", "dangerously_skip_permissions", "allowed_tools", "disallowed_tools", "add_dir"];

/// Used by what answers prompts: `-p` and the terminal.
const PROMPTS: Ids = &[
    "continue_newest",
    "resume",
    "session_id",
    "fork_session",
    "max_turns",
    "worktree",
    "agent",
    "tools",
    "system_prompt",
    "system_prompt_file",
    "append_system_prompt",
    "append_system_prompt_file",
    "append_subagent_system_prompt",
    "disable_slash_commands",
    "brief",
    "thinking",
    "max_thinking_tokens",
    "prompt_suggestions",
    "init",
    "maintenance",
    "allow_dangerously_skip_permissions",
];

/// Used by `-p` and by nothing else.
const PRINT: Ids = &[
    "output_format",
    "init_only",
    "permission_prompt_tool",
    "permission_prompts",
    "input_format",
    "include_partial_messages",
    "include_hook_events",
    "replay_user_messages",
    "forward_subagent_text",
];

/// `ona` without a mode or a command, as the table names it.
pub(super) const TERMINAL: &str = "the terminal";

/// The modes and commands, and what each uses.
const TABLE: &[(&str, &[Ids])] = &[
    (
        TERMINAL,
        &[PROMPTS, &["plain"], DB, CONVERSATION, MODEL, VERBOSE, &["agents"], FILES, TRUST, GUARDS, HOOKS, MCP, RULES],
    ),
    ("-p", &[PROMPTS, PRINT, DB, CONVERSATION, MODEL, VERBOSE, &["agents"], FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("--eval", &[DB, CONVERSATION, VERBOSE, &["agents", "yes"], FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("--fire-hook", &[DB, CONVERSATION, VERBOSE, &["yes"], FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    // Entering the test phase writes and runs tests.
    ("--transition", &[DB, CONVERSATION, MODEL, VERBOSE, &["approve"], FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("--hook-schema", &[]),
    ("demo", &[]),
    ("doctor", &[DB, MODEL, FILES, TRUST, HOOKS, MCP, RULES]),
    ("status", &[DB, MODEL, FILES, TRUST, HOOKS, MCP, RULES]),
    ("config get", &[DB, FILES, TRUST]),
    ("config set", &[]),
    ("config unset", &[]),
    ("config list", &[DB, FILES, TRUST]),
    ("init", &[]),
    ("phase", &[DB, CONVERSATION, MODEL, VERBOSE, FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("conversations list", &[DB]),
    ("conversations new", &[DB, FILES]),
    ("auth login", &[DB, FILES]),
    ("auth logout", &[DB, FILES]),
    ("auth status", &[DB, FILES]),
    ("db init", &[DB]),
    ("db check", &[DB]),
    ("db recover", &[DB]),
    ("db path", &[DB]),
    ("audit verify", &[DB]),
    ("audit anchor", &[DB]),
    ("audit export", &[DB]),
    ("settings show", &[DB, FILES, TRUST]),
    ("settings import", &[DB, FILES, TRUST]),
    ("sandbox status", &[]),
    ("sandbox exec", &[DB, FILES, TRUST, HOOKS, &["add_dir"]]),
    ("plan list", &[DB, CONVERSATION, FILES]),
    ("plan show", &[DB, CONVERSATION, FILES]),
    ("plan approve", &[DB, CONVERSATION, FILES]),
    ("plan import", &[DB, CONVERSATION, FILES]),
    ("sessions list", &[DB, CONVERSATION]),
    ("sessions show", &[DB]),
    ("sessions export", &[DB]),
    ("sessions rewind", &[DB, CONVERSATION, FILES, TRUST, &["add_dir"]]),
    ("memory add", &[DB, FILES]),
    ("memory list", &[DB, FILES]),
    ("memory search", &[DB, FILES]),
    ("memory import", &[DB, FILES]),
    ("memory rm", &[DB, FILES]),
    ("hooks list", &[DB, &["agents"], FILES, TRUST, HOOKS, MCP]),
    ("hooks types", &[]),
    ("hooks explain", &[DB]),
    ("hooks test", &[DB, VERBOSE, FILES, TRUST, HOOKS, MCP, RULES]),
    ("hooks lint", &[DB, FILES, TRUST, HOOKS, MCP]),
    ("hooks replay", &[DB, VERBOSE, FILES, TRUST, HOOKS, MCP, RULES]),
    ("hooks import", &[]),
    ("mcp add", &[DB, FILES]),
    ("mcp add-json", &[DB, FILES]),
    ("mcp remove", &[DB, FILES]),
    ("mcp list", &[DB, FILES, TRUST, MCP]),
    ("mcp get", &[DB, FILES, TRUST, MCP]),
    ("mcp approve", &[DB, FILES]),
    ("mcp reject", &[DB, FILES]),
    ("mcp reset-project-choices", &[DB, FILES]),
    ("mcp login", &[DB, FILES, TRUST, MCP]),
    ("mcp logout", &[DB, FILES, TRUST, MCP]),
    ("plugin install", &[DB, &["yes"]]),
    ("plugin list", &[DB]),
    ("plugin show", &[DB]),
    ("plugin enable", &[DB]),
    ("plugin disable", &[DB]),
    ("plugin remove", &[DB]),
    ("worktree list", &[DB, FILES]),
    ("worktree remove", &[DB, FILES]),
    ("worktree prune", &[DB, FILES]),
    ("gastown install", &[]),
    ("test lint", &[]),
    ("test add", &[DB, CONVERSATION, FILES, TRUST]),
    ("test generate", &[DB, CONVERSATION, MODEL, VERBOSE, FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("test run", &[DB, CONVERSATION, VERBOSE, FILES, TRUST, GUARDS, HOOKS, MCP, RULES]),
    ("test report", &[DB, CONVERSATION, FILES, TRUST]),
    ("completions", &[]),
    ("man", &[]),
    ("help", &[]),
];

/// Used by everything that looks at a project.
const DIAGNOSTICS: Ids = &["debug", "debug_file"];

fn honours(mode: &str, id: &str) -> bool {
    if DIAGNOSTICS.contains(&id) {
        return !["--hook-schema", "help", "completions", "man"].contains(&mode);
    }
    let row = TABLE.iter().find(|(name, _)| *name == mode);
    row.is_some_and(|(_, lists)| lists.iter().any(|list| list.contains(&id)))
}

/// Hides what a command does not use from its help. Runs when the command is the one in use.
pub(super) fn hide_unused(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let below: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let flags: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let hidden_in = |command: Command, mode: &str| {
        let unused = flags.iter().filter(|flag| !honours(mode, flag.get_id().as_str()));
        command.args(unused.map(|flag| flag.clone().hide(true)))
    };
    let mut command = command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        let used = match below.is_empty() {
            true => honours(&name, id),
            false => below.iter().any(|one| honours(&format!("{name} {one}"), id)),
        };
        let hidden = arg.is_hide_set() || arg.is_global_set() && !used;
        arg.hide(hidden)
    });
    for one in &below {
        command = command.mut_subcommand(one, |command| hidden_in(command, &format!("{name} {one}")));
    }
    command
}

/// Refuses the first flag that was given to a mode or command that does not use it.
pub(super) fn check(mode: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let all = Options::augment_args(Command::new("ona"));
    let unused = all.get_arguments().find(|flag| {
        let id = flag.get_id().as_str();
        given(id) && !honours(mode, id)
    });
    let Some(flag) = unused else { return Ok(()) };
    let name = flag.get_long().unwrap_or_default();
    let command = match mode {
        TERMINAL => "ona without -p".to_owned(),
        mode if mode.starts_with('-') => mode.to_owned(),
        mode => format!("ona {mode}"),
    };
    let failure = Failure::usage(format_args!("--{name} cannot be used with {command}"));
    let others: Vec<&str> =
        TABLE.iter().filter(|(mode, _)| honours(mode, flag.get_id().as_str())).map(|row| row.0).collect();
    Err(failure.hint(match others[..] {
        [] | [_, _, _, _, _, ..] if mode.starts_with('-') || mode == TERMINAL => {
            "ona --help lists the options by topic".to_owned()
        }
        [] | [_, _, _, _, _, ..] => format!("ona help {mode}"),
        _ => format!("it is an option of {}", others.join(", ")),
    }))
}

#[cfg(test)]
mod tests;
