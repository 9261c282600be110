//! Every environment variable that ona reads or sets for its children, in one table.
//!
//! `ona help environment` prints this table and `docs/ENVIRONMENT.md` is compared with it.
//! A [`Variable`] can only be made here, and [`crate::Env::get`] takes nothing else: a variable that is
//! not documented cannot be read. Names that a configuration file or a parent process chooses
//! (`${NAME}` in a server definition) are read with [`crate::Env::lookup`].
//!
//! Variables that ona knows only to protect itself from them (`LD_PRELOAD`, `GIT_SSH`) are not here:
//! see `permissions` and `trust`. The same holds for `HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, which the HTTP client reads by itself; they are listed as [`READ_BY_LIBRARIES`].

use std::fmt;

/// The heading under which a variable is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableGroup {
    /// Set by people to change what ona does.
    Control,
    /// Endpoints and credentials of model providers.
    Provider,
    /// Set by ona for hooks, commands of the agent and tests.
    Child,
    /// Names of other systems that ona understands.
    Compatible,
    /// Conventions of the operating system.
    System,
}

impl VariableGroup {
    pub const ALL: [Self; 5] = [Self::Control, Self::Provider, Self::Child, Self::Compatible, Self::System];

    /// Returns the value of `group` in the JSON form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Provider => "provider",
            Self::Child => "child",
            Self::Compatible => "compatible",
            Self::System => "system",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Control => "Variables that change what ona does",
            Self::Provider => "Model providers: endpoints and credentials",
            Self::Child => "Variables that hooks, commands of the agent and tests receive",
            Self::Compatible => "Variables of other systems that ona understands",
            Self::System => "Variables of the operating system that ona reads",
        }
    }
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    Text,
    Path,
    Url,
    /// A whole number.
    Number,
    /// A number of milliseconds above zero.
    Milliseconds,
    /// One of these words.
    Word(&'static str),
    /// On if the value is exactly `1`.
    Flag,
    Json,
    /// A credential. It is never printed and never stored.
    Secret,
}

impl fmt::Display for VariableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Url => "URL",
            Self::Number => "number",
            Self::Milliseconds => "milliseconds",
            Self::Word(words) => words,
            Self::Flag => "1",
            Self::Json => "JSON",
            Self::Secret => "secret",
        })
    }
}

/// An environment variable of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    name: &'static str,
    group: VariableGroup,
    kind: VariableKind,
    default: &'static str,
    meaning: &'static str,
}

impl Variable {
    pub const fn name(self) -> &'static str {
        self.name
    }

    pub fn group(self) -> VariableGroup {
        self.group
    }

    pub fn kind(self) -> VariableKind {
        self.kind
    }

    /// Returns what holds while the variable is not set, if there is a value to name.
    pub fn default(self) -> Option<&'static str> {
        Some(self.default).filter(|text| !text.is_empty())
    }

    pub fn meaning(self) -> &'static str {
        self.meaning
    }
}

impl AsRef<str> for Variable {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Read by the HTTP client and the certificate store, not by ona.
pub const READ_BY_LIBRARIES: &[(&str, &str)] = &[
    ("HTTPS_PROXY", "Proxy for https endpoints; also HTTP_PROXY and ALL_PROXY. Never used for loopback addresses."),
    ("NO_PROXY", "Hosts that are reached without a proxy."),
    ("SSL_CERT_FILE", "File of certificate authorities to trust instead of the system's."),
    ("SSL_CERT_DIR", "Folder of certificate authorities to trust instead of the system's."),
];

macro_rules! variables {
    ($($group:ident { $($name:ident: $kind:expr, $default:literal, $meaning:literal;)+ })+) => {
        $($(
            #[doc = $meaning]
            pub const $name: Variable = Variable {
                name: stringify!($name),
                group: VariableGroup::$group,
                kind: $kind,
                default: $default,
                meaning: $meaning,
            };
        )+)+

        /// The table, in the order in which it is printed.
        pub const ALL: &[Variable] = &[$($($name),+),+];
    };
}

use VariableKind::{Flag, Json, Milliseconds, Number, Path, Secret, Text, Url, Word};

variables! {
    Control {
        AGENT_SDLC_DB: Path, "a database per project below XDG_STATE_HOME",
            "Database of the session, an absolute path; --db wins. Hooks, commands and tests receive the path in use.";
        ONA_TRUST: Word("always | never"), "the recorded trust",
            "Whether files of the project folder may run code. `always` is for CI and test harnesses and records nothing. Ignored in a shell of the agent.";
        ONA_CLAUDE_SETTINGS: Word("0"), "compatible files are read",
            "`0` ignores the files below .claude and ~/.claude, like --no-claude-settings.";
        ONA_MANAGED_SETTINGS: Path, "/etc/ona/managed-settings.json",
            "Managed settings file to use on hosts without one in /etc; a managed file in /etc wins.";
        ONA_MAX_RETRIES: Number, "4",
            "How many times a failed model request is repeated.";
        ONA_READ_TIMEOUT_MS: Milliseconds, "300000",
            "How long a model server may send nothing before the request counts as failed; goes over the setting modelTimeouts.idleSeconds.";
        ONA_STDIN_WAIT_MS: Milliseconds, "3000",
            "How long -p waits for input on a silent stdin when it has a prompt.";
        ONA_LOCAL_MODEL_PORTS: Text, "1234,11434,8080",
            "Ports of this machine on which ona doctor looks for a model server; empty: none.";
        ONA_WEBSEARCH_URL: Url, "the search of the Messages API, else a public page of results",
            "Search service that WebSearch asks; it answers like SearXNG with format=json.";
        ONA_WIRE_MODEL_OVERRIDE: Text, "",
            "Pairs ID=NAME, separated by commas: the model name that is sent for a model id.";
        DISABLE_AUTO_COMPACT: Flag, "",
            "Conversations are not compacted automatically.";
        MCP_TIMEOUT: Milliseconds, "30000",
            "How long an MCP server may take to answer the first request.";
        MCP_TOOL_TIMEOUT: Milliseconds, "120000",
            "How long a call of an MCP tool may take; `timeout` of a server goes before it.";
        MCP_CLIENT_SECRET: Secret, "",
            "Secret of the OAuth client, for `ona mcp login NAME --client-secret`.";
        MCP_OAUTH_CALLBACK_PORT: Number, "",
            "Port on which `ona mcp login` waits for the browser; any free one otherwise.";
        MAX_MCP_OUTPUT_TOKENS: Number, "25000",
            "Maximum length of an MCP tool's result, in tokens of four characters.";
        SDLC_HOOK_TIMEOUT_MS: Milliseconds, "the default of the event",
            "Timeout of hooks that do not set one.";
        SDLC_SESSIONEND_HOOK_TIMEOUT_MS: Milliseconds, "the default of the event",
            "Timeout of SessionEnd hooks that do not set one.";
        SDLC_DISABLE_ALL_HOOKS: Flag, "",
            "No hook runs.";
        ONA_JS_RUNTIME: Word("embedded | bun | node | deno | PATH"), "chosen per module",
            "Engine that runs hook modules.";
        ONA_PYTHON: Path, "python3 of VIRTUAL_ENV or PATH",
            "Python interpreter for MassGen hooks.";
        ONA_MASSGEN_CONFIG: Path, "the setting massgenConfig",
            "MassGen configuration to read hooks from; --massgen-config wins.";
        ONA_LOG: Text, "nothing is written",
            "Filter of the diagnostic lines on stderr, such as ona=debug; --debug wins.";
    }
    Provider {
        ANTHROPIC_API_KEY: Secret, "",
            "API key for Anthropic.";
        ANTHROPIC_AUTH_TOKEN: Secret, "",
            "Bearer token for Anthropic or a gateway; wins over ANTHROPIC_API_KEY.";
        CLAUDE_CODE_OAUTH_TOKEN: Secret, "",
            "Long-lived OAuth token for Anthropic; used without a key and without an apiKeyHelper.";
        CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: Number, "",
            "Descriptor on which a parent process hands over an OAuth token.";
        ANTHROPIC_BASE_URL: Url, "https://api.anthropic.com",
            "Endpoint for Anthropic models.";
        ANTHROPIC_MODEL: Text, "",
            "Model of Anthropic to use while the settings name none: an id, an alias or any name of the endpoint.";
        ANTHROPIC_DEFAULT_OPUS_MODEL: Text, "claude-opus-4-20250514",
            "Name that is sent for the alias opus.";
        ANTHROPIC_DEFAULT_SONNET_MODEL: Text, "claude-sonnet-4-20250514",
            "Name that is sent for the alias sonnet.";
        ANTHROPIC_DEFAULT_HAIKU_MODEL: Text, "claude-3-5-haiku-20241022",
            "Name that is sent for the alias haiku.";
        ANTHROPIC_CUSTOM_HEADERS: Secret, "",
            "Not sent by ona. Treated as a credential: commands of the agent do not receive it.";
        ONA_OAUTH_CLIENT_ID: Text, "what the distributor built in",
            "Client id that ona auth login presents; without one only a pasted token can be stored.";
        ONA_OAUTH_AUTHORIZE_URL: Url, "what the distributor built in",
            "Page on which the operator approves a login in the browser.";
        ONA_OAUTH_TOKEN_URL: Url, "what the distributor built in",
            "Endpoint that exchanges codes and refresh tokens.";
        ONA_OAUTH_DEVICE_URL: Url, "what the distributor built in",
            "Endpoint that starts ona auth login --device.";
        ONA_OAUTH_REVOKE_URL: Url, "what the distributor built in",
            "Endpoint to which ona auth logout reports the end of a login.";
        ONA_OAUTH_SCOPES: Text, "",
            "Scopes that a login asks for, separated by spaces.";
        ONA_OAUTH_NO_BROWSER: Flag, "",
            "ona auth login prints the address and opens no browser.";
        ONA_CREDENTIAL_STORE: Word("file"), "the keychain if this build and the system have one",
            "`file` keeps a login in the encrypted file only.";
        ANTHROPIC_UNIX_SOCKET: Path, "",
            "Not supported; ona says so if it is set.";
        OPENAI_API_KEY: Secret, "",
            "API key for an OpenAI-compatible endpoint.";
        OPENAI_BASE_URL: Url, "",
            "OpenAI-compatible endpoint; required for that provider.";
        OPENAI_MODEL: Text, "",
            "Model of the OpenAI-compatible endpoint to use while the settings name none: an id or any name of the endpoint.";
        LM_STUDIO_API_KEY: Secret, "lm-studio",
            "API key for a local server.";
        LM_STUDIO_BASE_URL: Url, "http://127.0.0.1:1234/v1",
            "Endpoint of a local server.";
        LM_STUDIO_MODEL: Text, "",
            "Model name that is sent to a local server; required for that provider.";
    }
    Child {
        SDLC_HOOK: Flag, "",
            "Set for hooks.";
        CLAUDE_PROJECT_DIR: Path, "",
            "Project folder. For hooks, MCP servers, helpers and skills.";
        CLAUDE_CODE_MCP_SERVER_NAME: Text, "",
            "Name of the MCP server, for its headersHelper.";
        CLAUDE_CODE_MCP_SERVER_URL: Url, "",
            "Address of the MCP server, for its headersHelper.";
        CLAUDE_CODE_SESSION_ID: Text, "",
            "Session id, for hooks.";
        ONA_SESSION_ID: Text, "",
            "Session id, for hooks and commands of the agent.";
        CLAUDE_SESSION_ID: Text, "",
            "Session id, for commands of the agent and skills.";
        CLAUDE_ENV_FILE: Path, "",
            "File for `export` lines that apply to later commands. For SessionStart, Setup, CwdChanged and FileChanged hooks.";
        CLAUDE_PLUGIN_ROOT: Path, "",
            "Folder of the plugin, for its hooks and skills.";
        CLAUDE_PLUGIN_DATA: Path, "",
            "Folder in which a plugin may store files, for its hooks and skills.";
        CLAUDE_SKILL_DIR: Path, "",
            "Folder of the skill, for its text and its hooks.";
        CLAUDE_EFFORT: Text, "",
            "The setting effortLevel, for the text of a skill.";
        ONA_HOOK_DEPTH: Number, "0",
            "How many hooks this process is below. ona refuses to start at 3.";
        ONA_AGENT_DB: Path, "",
            "Database of the agent that started this process. An ona on that database gets no operator privileges.";
        SDLC_TEST_TMP: Path, "",
            "Scratch folder of a behavioural test; HOME and TMPDIR are the same folder.";
        GT_HOOK_SOURCE: Word("startup | resume | clear | compact"), "",
            "Why a session started or compacts, for hooks of a Gastown agent.";
        MASSGEN_HOOK_TYPE: Text, "",
            "Name of the event, for MassGen hooks.";
        MASSGEN_TOOL_NAME: Text, "",
            "Name of the tool, for MassGen hooks.";
        MASSGEN_SESSION_ID: Text, "",
            "Session id, for MassGen hooks.";
        MASSGEN_ORCHESTRATOR_ID: Text, "",
            "Conversation id, for MassGen hooks.";
        MASSGEN_AGENT_ID: Text, "",
            "Which agent of the MassGen configuration the session is, for MassGen hooks.";
    }
    Compatible {
        CLAUDE_CONFIG_DIR: Path, "~/.claude",
            "Folder of the compatible product's user files; must be absolute.";
        CLAUDE_CODE_SUBAGENT_MODEL: Text, "",
            "Model of every subagent; goes before the model of a call and of a definition. `inherit` is that of the session.";
        CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS: Number, "900000",
            "Milliseconds for which WebFetch keeps a page; 0 keeps none.";
        CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: Word("0, false"), "",
            "Switches off that files are kept for a rewind; any other value changes nothing, because they are kept anyway.";
        PI_CODING_AGENT_DIR: Path, "~/.omp/agent",
            "Folder of Oh My Pi's user files, among them hook modules.";
        PI_HOOKS_JSON: Json, "",
            "Hooks of the pi dialect, handed over by a parent process.";
        PI_GASTOWN_MODE: Flag, "",
            "Gastown mode, like --gastown.";
        PI_ENABLE_CLAUDE_SETTINGS_HOOKS: Flag, "",
            "Hooks of .claude files run also beside pi hooks and in Gastown mode, like --claude-settings-hooks.";
        GT_ROLE: Text, "",
            "Role of a Gastown agent. With GT_ROOT, settings files of the folders up to the town are read.";
        GT_ROOT: Path, "",
            "Folder of the Gastown town.";
        GT_SESSION_ID_ENV: Text, "",
            "Name of a further variable in which hooks and commands receive the session id.";
    }
    System {
        PATH: Text, "",
            "Where programs are searched.";
        HOME: Path, "/",
            "Home folder.";
        TMPDIR: Path, "/tmp",
            "Folder for temporary files.";
        PWD: Path, "",
            "Working directory if the system cannot name it.";
        LANG: Text, "C.UTF-8 for hooks",
            "Locale. Hooks get C.UTF-8 unless both LANG and LC_ALL are set.";
        LC_ALL: Text, "",
            "Locale; see LANG.";
        XDG_STATE_HOME: Path, "~/.local/state",
            "Folder below which databases of projects are created.";
        XDG_DATA_HOME: Path, "~/.local/share",
            "Folder below which a stored login is kept.";
        TERM: Text, "",
            "Kind of terminal. With dumb, or without a value, the terminal is only appended to.";
        TERM_PROGRAM: Text, "",
            "Program that shows the terminal; some wrap their rows in a way of their own.";
        VISUAL: Text, "",
            "Editor for prompts and files that the terminal opens; before EDITOR.";
        EDITOR: Text, "vi",
            "Editor for prompts and files that the terminal opens.";
        XTERM_VERSION: Text, "",
            "Set by xterm, which does not wrap its rows anew when its width changes.";
        STY: Text, "",
            "Set by GNU screen; like XTERM_VERSION.";
        TMUX: Text, "",
            "Set by tmux, which wraps its rows anew.";
        NO_COLOR: Text, "",
            "With any value, nothing is printed in colour.";
        ACCESSIBLE: Text, "",
            "With any value but 0, the terminal is only appended to, as screen readers need it; like --plain.";
        BROWSER: Text, "xdg-open or open",
            "Command that opens the page of a login; %s stands for the address.";
        DISPLAY: Text, "",
            "A graphical session; without one no browser is opened on Linux unless BROWSER is set. Images are read from its clipboard with xclip.";
        WAYLAND_DISPLAY: Text, "",
            "Like DISPLAY; its clipboard is read with wl-paste.";
        BASH_ENV: Path, "",
            "File that bash reads first; kept for commands and protected from changes.";
        ENV: Path, "",
            "File that sh reads first; protected from changes.";
        ZDOTDIR: Path, "~",
            "Folder of zsh's start-up files; protected from changes.";
        POSIXLY_CORRECT: Text, "",
            "Makes bash ignore BASH_ENV; ona then passes commands in another way.";
        VIRTUAL_ENV: Path, "",
            "Python environment whose interpreter MassGen hooks use.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_variable_is_listed_twice_or_without_a_meaning() {
        let mut seen = BTreeSet::new();
        for variable in ALL {
            assert!(seen.insert(variable.name()), "{variable} is listed twice");
            assert!(variable.meaning().ends_with('.'), "{variable}: the meaning must be a sentence");
        }
        for group in VariableGroup::ALL {
            assert!(ALL.iter().any(|variable| variable.group() == group), "{group:?} is empty");
        }
    }
}
