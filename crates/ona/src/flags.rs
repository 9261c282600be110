//! Flags of the reference that this build refuses, or takes only where they ask for what is so
//! anyway. None is swallowed: what would change nothing is accepted, everything else ends with
//! a sentence and exit code 2 (DEC-008).

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ona_runtime::Failure;

/// Flags whose meaning is sometimes already so.
#[derive(Debug, clap::Args)]
pub struct Reference {
    /// Disable skills and slash commands
    #[arg(long, global = true, hide = true)]
    pub disable_slash_commands: bool,

    /// Thinking of the model; only "disabled" is accepted
    #[arg(long, value_name = "HOW", global = true, hide = true)]
    thinking: Option<String>,

    /// Maximum number of thinking tokens; only 0 is accepted
    #[arg(long, value_name = "N", global = true, hide = true)]
    max_thinking_tokens: Option<u32>,

    /// Suggest the next prompt after each turn; only "false" is accepted
    #[arg(long, value_name = "BOOL", global = true, num_args = 0..=1, default_missing_value = "true", hide = true)]
    prompt_suggestions: Option<String>,

    /// Offer the tool Brief, which is always offered
    #[arg(long, global = true, hide = true)]
    brief: bool,
}

impl Reference {
    /// Refuses what this build cannot do. `tools` are those of `--tools`.
    pub fn check(&self, tools: Option<&[String]>) -> Result<(), Failure> {
        let refused = |flag: &str, value: &str, why: &str| Err(Failure::usage(format_args!("{flag} {value}: {why}")));
        let lists_brief = |tools: &[String]| {
            let mut names = tools.iter().flat_map(|names| names.split([',', ' ']));
            names.any(|name| matches!(name, "Brief" | "default"))
        };
        if self.brief && tools.is_some_and(|tools| !lists_brief(tools)) {
            return refused("--brief", "with --tools", "--tools leaves the tool Brief out; add it there");
        }
        match self.thinking.as_deref() {
            None | Some("disabled") => {}
            Some(other) => return refused("--thinking", other, "models answer without thinking here; use disabled"),
        }
        match self.max_thinking_tokens {
            None | Some(0) => {}
            Some(n) => return refused("--max-thinking-tokens", &n.to_string(), "models answer without thinking here"),
        }
        match self.prompt_suggestions.as_deref() {
            None | Some("false") => Ok(()),
            Some(other) => refused("--prompt-suggestions", other, "this build makes no suggestions"),
        }
    }
}

/// The other flags of the reference, and why each is refused.
const REFUSED: [(&str, &str); 32] = [
    ("--json-schema", "replies cannot be held to a schema yet"),
    ("--max-budget-usd", "a run is not limited by its cost; --max-turns limits it"),
    ("--task-budget", "a run is not limited by its cost; --max-turns limits it"),
    ("--fallback-model", "a run asks one model; --model names it"),
    ("--effort", "models are asked without an effort"),
    ("--thinking-display", "models answer without thinking here"),
    ("--betas", "requests use the stable interface only"),
    ("--exclude-dynamic-system-prompt-sections", "the system prompt is sent whole"),
    ("--system-prompt-snapshot", "the system prompt is made anew for every run"),
    ("--plugin-url", "nothing is fetched; --plugin-dir names a folder"),
    ("--resume-session-at", "a session goes on at its end; --fork-session keeps the original"),
    ("--resume-drops-turn", "a session goes on at its end; --fork-session keeps the original"),
    ("--session-mirror", "the record is the database; ona sessions export prints it"),
    ("--no-session-persistence", "every session is recorded; --db names another file for it"),
    ("--name", "sessions are named by their ids; --session-id chooses one"),
    ("--tmux", "start ona --worktree in a pane of tmux"),
    ("--safe-mode", "use --bare, --no-trust or --setting-sources"),
    ("--restricted", "use --tools, --disallowedTools and --setting-sources"),
    ("--autocompact", "a conversation is summarised when its context is nearly full"),
    ("--from-pr", "ona is not connected to pull requests"),
    ("--teleport", "sessions stay on this machine"),
    ("--bg", "start ona -p in the background of the shell"),
    ("--cloud", "sessions stay on this machine"),
    ("--desktop", "ona has no desktop program"),
    ("--environment", "sessions stay on this machine"),
    ("--remote-control", "sessions stay on this machine"),
    ("--remote-control-session-name-prefix", "sessions stay on this machine"),
    ("--file", "put the text on stdin, or name the file in the prompt"),
    ("--chrome", "ona cannot drive a browser"),
    ("--no-chrome", "ona cannot drive a browser"),
    ("--ide", "ona does not connect to editors"),
    ("--ax-screen-reader", "-p prints plain text"),
];

/// What to say about a flag nobody here knows, if the reference knows it.
pub(crate) fn refusal(error: &clap::Error) -> Option<Failure> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = match flag.as_str() {
        "-n" => "--name",
        long => long.split('=').next().unwrap_or(long),
    };
    let (_, why) = REFUSED.iter().find(|(known, _)| *known == flag)?;
    Some(Failure::usage(format_args!("{flag} is not there in this build: {why}")))
}
