//! The arguments of `ona mcp`. They are those people type for the compatible product.

use clap::{Args, Subcommand, ValueEnum};
use ona_runtime::Failure;
use ona_runtime::mcp::ServerScope;
use serde_json::{Map, Value, json};

const ADD_EXAMPLES: &str = "\
Examples:
  ona mcp add files npx -- -y @modelcontextprotocol/server-filesystem .
  ona mcp add issues -e TOKEN='${MY_TOKEN}' -- npx -y some-server
  ona mcp add --transport http docs https://docs.example/mcp --header 'X-Key: ${KEY}'

What begins with a dash and belongs to the program follows --.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a server: a program, or an address
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddOptions),
    /// Add a server with its definition in JSON ("-" reads stdin)
    AddJson {
        #[command(flatten)]
        server: ServerArgs,
        #[arg(value_name = "JSON", allow_hyphen_values = true)]
        definition: String,
    },
    /// Remove a server
    Remove {
        name: String,
        /// Where it is [default: the only scope that has it]
        #[arg(short, long)]
        scope: Option<Scope>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the servers and those that are not used; starts none
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one server; does not start it
    Get {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Use a server of the project's .mcp.json, as its definition is now
    Approve {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Never start a server of the project's .mcp.json
    Reject {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget what was approved and rejected in this project
    ResetProjectChoices,
    /// Log in to a server that asks for it
    Login(LoginOptions),
    /// Remove the login to a server, and tell its login server if it can be reached
    Logout {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    pub(crate) name: String,
    /// Where it is written: local (.ona/settings.local.json), project (.mcp.json), user (~/.ona/settings.json)
    #[arg(short, long, default_value = "local")]
    pub(crate) scope: Scope,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// The program, or the address
    #[arg(value_name = "COMMAND|URL")]
    target: String,
    /// Arguments of the program
    args: Vec<String>,
    /// How the server is reached [default: stdio, or http for an address]
    #[arg(short, long)]
    transport: Option<Transport>,
    /// A variable for the program, also -e; may be given several times
    // `-e` is a global option of another meaning: see `own_short_flags` in the arguments.
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header for the address; may be given several times
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// A command that prints headers as a JSON object
    #[arg(long, value_name = "COMMAND")]
    headers_helper: Option<String>,
    /// Longest time of a call, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout: Option<u64>,
    /// Id of an OAuth client that is registered already
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Port that this client is registered with
    #[arg(long, value_name = "PORT")]
    callback_port: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct LoginOptions {
    pub(crate) name: String,
    /// Print the address and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The client has a secret: MCP_CLIENT_SECRET, else it is asked for
    #[arg(long)]
    pub(crate) client_secret: bool,
    /// Print one JSON line for each step
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    Local,
    Project,
    User,
}

impl From<Scope> for ServerScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Local => Self::Local,
            Scope::Project => Self::Project,
            Scope::User => Self::User,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    Stdio,
    Http,
    Sse,
}

impl AddOptions {
    /// Returns the definition, and what is to be said about how it was understood.
    pub(crate) fn definition(&self) -> Result<(Value, Option<String>), Failure> {
        let is_address = ["http://", "https://"].iter().any(|scheme| self.target.starts_with(scheme));
        let transport = self.transport.unwrap_or(if is_address { Transport::Http } else { Transport::Stdio });
        let refused = |what: &str| Err(Failure::usage(format_args!("{what}")));
        let mut definition = match transport {
            Transport::Stdio => {
                if !self.header.is_empty() || self.headers_helper.is_some() {
                    return refused("--header and --headers-helper are for servers with an address (--transport http)");
                }
                if self.client_id.is_some() || self.callback_port.is_some() {
                    return refused(
                        "--client-id and --callback-port are for servers with an address (--transport http)",
                    );
                }
                let mut definition = json!({"type": "stdio", "command": self.target, "args": self.args});
                if !self.env.is_empty() {
                    definition["env"] = pairs(&self.env, '=', "--env")?;
                }
                definition
            }
            Transport::Http | Transport::Sse => {
                if !self.args.is_empty() {
                    return refused("a server with an address takes no arguments");
                }
                if !self.env.is_empty() {
                    return refused("--env is for servers that are programs; an address takes --header");
                }
                let kind = if transport == Transport::Http { "http" } else { "sse" };
                let mut definition = json!({"type": kind, "url": self.target});
                if !self.header.is_empty() {
                    definition["headers"] = pairs(&self.header, ':', "--header")?;
                }
                if let Some(helper) = &self.headers_helper {
                    definition["headersHelper"] = helper.clone().into();
                }
                if let Some(id) = &self.client_id {
                    definition["oauth"]["clientId"] = id.clone().into();
                }
                if let Some(port) = self.callback_port {
                    definition["oauth"]["callbackPort"] = port.into();
                }
                definition
            }
        };
        if let Some(timeout) = self.timeout {
            definition["timeout"] = timeout.into();
        }
        let remark = (is_address && self.transport == Some(Transport::Stdio))
            .then(|| "the command looks like an address; --transport http makes it one".to_owned());
        Ok((definition, remark))
    }
}

fn pairs(written: &[String], separator: char, flag: &str) -> Result<Value, Failure> {
    let mut pairs = Map::new();
    for one in written {
        let (name, value) = one.split_once(separator).filter(|(name, _)| !name.trim().is_empty()).ok_or_else(|| {
            let form = if separator == '=' { "NAME=VALUE" } else { "'NAME: VALUE'" };
            // What was written may hold a secret.
            Failure::usage(format_args!("{flag} must be {form}"))
        })?;
        let value = if separator == ':' { value.trim() } else { value };
        pairs.insert(name.trim().to_owned(), value.into());
    }
    Ok(Value::Object(pairs))
}
